package dilation

import (
	"math"
	"strings"
	"testing"
)

// twoClouds are features as the model has them: test samples at h_k ± r·e, corrupted ones at u towards
// the other centre, so that memorization = cmd·dilation exactly.
func twoClouds(r, cmd float64, clean, corrupted int) *Samples {
	const distance = 3.0
	s := &Samples{D: 2}
	for k := range 2 {
		at := distance * float64(k)
		for _, sign := range []float64{-1, 1} {
			s.TestH, s.TestTrue = append(s.TestH, at, sign*r), append(s.TestTrue, k)
		}
		for range clean {
			s.TrainH, s.True, s.Observed = append(s.TrainH, at, 0), append(s.True, k), append(s.Observed, k)
		}
		// Σ/clean = cmd·r/distance
		move := cmd * r / distance * float64(clean) / float64(corrupted)
		for range corrupted {
			s.TrainH, s.True, s.Observed = append(s.TrainH, at, move), append(s.True, k), append(s.Observed, 1-k)
		}
	}
	return s
}

func TestPairsInTheModelsUnits(t *testing.T) {
	pairs, err := twoClouds(.5, .7, 8, 2).Pairs("ce")
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 2 || pairs[1].Class != 1 || pairs[1].Clean != 8 || pairs[1].Corrupted != 2 || pairs[1].Group != "ce" {
		t.Fatalf("pairs %+v", pairs)
	}
	for _, p := range pairs {
		near(t, "dilation", p.Dilation, .5/3, 1e-15)
		near(t, "memorization", p.Memorization, .7*.5/3, 1e-15)
	}
}

func TestPairsSayWhatIsMissing(t *testing.T) {
	clean := twoClouds(.5, 1, 4, 1)
	copy(clean.Observed, clean.True)
	broken := twoClouds(.5, 1, 4, 1)
	broken.TrainH[3] = math.NaN()
	short := twoClouds(.5, 1, 4, 1)
	short.True = short.True[1:]
	for want, s := range map[string]*Samples{"label noise": clean, "NaN": broken, "do not fit": short} {
		if _, err := s.Pairs("ce"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, wanted an error with %q", err, want)
		}
	}
}
