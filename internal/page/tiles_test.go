package page

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
	for i, want := range []string{"finished run", "loss", "noise level", "seed"} {
		if got := tiles(gs, Result{Runs: 1})[i]; got.Value != "1" || got.Name != want {
			t.Errorf("%s %s, wanted 1 %s", got.Value, got.Name, want)
		}
	}
}
