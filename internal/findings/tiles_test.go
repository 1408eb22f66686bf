package findings

import (
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// TestTilesCount: one is one, more are many.
func TestTilesCount(t *testing.T) {
	m := judgetest.Common()
	m.Losses, m.Noises, m.Seeds = m.Losses[:1], m.Noises[:1], 1
	gs, _ := judge.Experiments(m.Runs(t))
	if m.Noises[0] != 0 {
		t.Fatalf("the first noise is %g", m.Noises[0])
	}
	for i, want := range []string{"finished run", "loss", "seed"} {
		if got := (StudyFindings{Study: Study{Runs: make([]judge.Run, 1)}}).tiles(gs)[i]; got.Value != "1" || got.Name != want {
			t.Errorf("%s %s, wanted 1 %s", got.Value, got.Name, want)
		}
	}
	m.Noises = []float64{0.2}
	gs, _ = judge.Experiments(m.Runs(t))
	if got := (StudyFindings{Study: Study{Runs: make([]judge.Run, 1)}}).tiles(gs)[2]; got.Value != "1" || got.Name != "noise level" {
		t.Errorf("%s %s, wanted 1 noise level", got.Value, got.Name)
	}
}
