package page

import (
	"fmt"
	"strings"
	"testing"

	"collapse/internal/judge"
	"collapse/internal/judge/judgetest"
)

func TestLimitsLeaveDegenerateRunsOut(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Jitter = []string{"ce"}, []float64{0}, 0
	runs := m.Runs(t)
	bad := m.Run(t, "ce", 0, 9)
	judgetest.SetFinal(&bad, "train", "mean_norm_ratio", 0.01)
	judgetest.SetFinal(&bad, "train", "nc2_means_etf_centred", 5)
	gs, _ := judge.Experiments(append(runs, bad))
	limits, note := limits(gs[0])
	if limits.Rows[1][2] != "0.0200 ± 0" || !strings.Contains(note, "1 degenerate run") {
		t.Errorf("limits %q, note %q", limits.Rows[1], note)
	}
}

// TestLimitsOfTwoClasses: two centred class means are antipodal whatever the model, so that their angles agree with no theory.
func TestLimitsOfTwoClasses(t *testing.T) {
	for classes, want := range map[string]bool{"2": false, "10": true} {
		m := judgetest.Common()
		m.Losses, m.Noises, m.Jitter = []string{"ce"}, []float64{0}, 0
		runs := m.Runs(t)
		for i := range runs {
			judgetest.SetFinal(&runs[i], "train", "nc2_cos_deviation", 1e-13)
		}
		gs, _ := judge.Experiments(runs)
		gs[0].Settings["data.classes"] = classes
		table, _ := limits(gs[0])
		rows := fmt.Sprint(table.Rows)
		if got := strings.Contains(rows, "angles of centred class means"); got != want || !strings.Contains(rows, "self-duality") {
			t.Errorf("%s classes: %s", classes, rows)
		}
	}
}
