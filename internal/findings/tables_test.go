package findings

import (
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
)

func TestLimitsLeaveDegenerateRunsOut(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Jitter = []string{"ce"}, []float64{0}, 0
	runs := m.Runs(t)
	bad := m.Run(t, "ce", 0, 9)
	judgetest.SetFinal(&bad, "train", "mean_norm_ratio", 0.01)
	judgetest.SetFinal(&bad, "train", "nc3_centred", 5)
	gs, _ := judge.Experiments(append(runs, bad))
	limits, note := limits(gs[0])
	if limits.Rows[1][2] != "0.05 ± 0" || !strings.Contains(note, "1 degenerate run") {
		t.Errorf("limits %q, note %q", limits.Rows[1], note)
	}
}

// The table has NC1 to NC4; with two classes NC2 is left out, which their sizes fix.
func TestLimitsAreOfNC1ToNC4(t *testing.T) {
	for classes, want := range map[int]string{2: "NC1 NC3 NC4", 10: "NC1 NC2 NC3 NC4"} {
		m := judgetest.Common()
		m.Losses, m.Noises, m.Classes = []string{"ce"}, []float64{0}, classes
		gs, _ := judge.Experiments(m.Runs(t))
		table, _ := limits(gs[0])
		var names []string
		for _, row := range table.Rows {
			names = append(names, row[0][:3])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d classes: %s, want %s", classes, got, want)
		}
	}
}

// TestSecondsOfAnInterruptedScript are those of all its epochs, not of its last attempt.
func TestSecondsOfAnInterruptedScript(t *testing.T) {
	now := time.Now()
	values := []store.Value{{Key: script.ReportKey, Step: 1, Value: 2}, {Key: script.ReportKey, Step: 2, Value: 3}, {Key: store.Key{Series: "epoch", Measure: "f1"}, Step: 2, Value: 1}}
	run, err := judge.NewRun(store.Run{Hash: strings.Repeat("a", 64), Kind: store.Script, Status: store.Done, HasEpochs: true, LastEpoch: 2, Started: now, Finished: now.Add(time.Second)}, values)
	if err != nil {
		t.Fatal(err)
	}
	table := scriptTable([]*judge.JudgedRun{judge.JudgeRun(&run)}, nil)
	if last := table.Rows[0][len(table.Rows[0])-1]; last != "5.00" || table.Columns[len(table.Columns)-1] != "seconds in all" {
		t.Errorf("%q, %q", table.Columns, table.Rows[0])
	}
}
