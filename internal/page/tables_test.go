package page

import (
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
	judgetest.SetFinal(&bad, "train", "nc2_w", 5)
	gs, _ := judge.Experiments(append(runs, bad))
	limits, note := limits(gs[0])
	if limits.Rows[1][2] != "0.0200 ± 0" || !strings.Contains(note, "1 degenerate run") {
		t.Errorf("limits %q, note %q", limits.Rows[1], note)
	}
}
