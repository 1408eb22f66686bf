package page

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

// TestReel films the first run with label noise that kept enough frames: six stills, the first and the last epoch among them.
func TestReel(t *testing.T) {
	film := func(epochs int, noise float64) judge.Run {
		r := judgetest.Common().Run(t, "ce", noise, 1)
		dir := t.TempDir()
		for e := 1; e <= epochs; e++ {
			judgetest.WriteFrame(t, dir, 10*e, 3, 4, float64(e), 0.1)
		}
		r.FeaturesIn(dir)
		return r
	}
	of := func(runs ...judge.Run) *reel {
		groups, _ := judge.Experiments(runs)
		if len(groups) != 1 {
			t.Fatalf("%d groups", len(groups))
		}
		return reelOf(groups[0])
	}
	r := of(film(9, 0), film(reelStills-1, 0.1), film(9, 0.2))
	if r == nil || !strings.Contains(r.Title, "η = 0.2") || len(r.Stills) != reelStills || len(r.Legend) < 4 {
		t.Fatalf("%+v", r)
	}
	for i, s := range r.Stills {
		if i > 0 && s.Epoch <= r.Stills[i-1].Epoch || !strings.HasPrefix(string(s.Panel), "<svg") {
			t.Errorf("still %d: epoch %d, %.60s", i, s.Epoch, s.Panel)
		}
	}
	if first, last := r.Stills[0].Epoch, r.Stills[reelStills-1].Epoch; first != 10 || last != 90 {
		t.Errorf("from epoch %d to %d", first, last)
	}
	if !r.Noisy {
		t.Error("a run with label noise is said to have none")
	}
	if r := of(film(reelStills, 0)); r == nil || r.Stills[1].Epoch != 20 || r.Noisy {
		t.Errorf("as many frames as stills: %+v", r)
	}
	bare := judgetest.Common().Run(t, "ce", 0.1, 1)
	if r := of(bare); r != nil {
		t.Errorf("a run without a folder is filmed: %+v", r)
	}
}
