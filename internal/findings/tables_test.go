package findings

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
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
	if limits.Rows[1][2] != "0.0500 ± 0" || !strings.Contains(note, "1 degenerate run") {
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
