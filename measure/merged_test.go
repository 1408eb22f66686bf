package measure_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/measure/measuretest"
)

// drawTight draws a few classes whose spread is 10⁻¹² to 1 of the size of their means.
func drawTight(r *rand.Rand) (*measuretest.Set, float64) {
	k, d := 2+r.IntN(5), 1+r.IntN(8)
	spread := math.Pow(10, -12*r.Float64())
	s := &measuretest.Set{D: d, Train: measuretest.Split{K: k}}
	for c := range k {
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = r.NormFloat64()
		}
		for range 4 + r.IntN(60) {
			for _, x := range mean {
				s.Train.H = append(s.Train.H, x+spread*r.NormFloat64())
			}
			s.Train.Labels = append(s.Train.Labels, int32(c))
		}
	}
	n := len(s.Train.Labels)
	r.Shuffle(n, func(i, j int) {
		s.Train.Labels[i], s.Train.Labels[j] = s.Train.Labels[j], s.Train.Labels[i]
		for q := range d {
			s.Train.H[i*d+q], s.Train.H[j*d+q] = s.Train.H[j*d+q], s.Train.H[i*d+q]
		}
	})
	return s, spread
}

// inParts adds up the moments of a set in parts, merged in any order.
func inParts(t *testing.T, r *rand.Rand, s *measuretest.Set, parts int) *measure.Moments {
	t.Helper()
	var made []*measure.Moments
	n := len(s.Train.Labels)
	for p := range parts {
		from, to := p*n/parts, (p+1)*n/parts
		m := measure.NewMoments(s.Train.K, s.D, true)
		if err := measure.AddRows(m, nil, s.Train.H[from*s.D:to*s.D], s.Train.Labels[from:to]); err != nil {
			t.Fatal(err)
		}
		made = append(made, m)
	}
	for len(made) > 1 {
		i := r.IntN(len(made) - 1)
		if err := made[i].Merge(made[i+1]); err != nil {
			t.Fatal(err)
		}
		made = append(made[:i+1], made[i+2:]...)
	}
	return made[0]
}

// TestMergedMomentsHoldTheirUncertainty compares what moments of parts give with the definitions: no error is outside its uncertainty,
// however tight the classes are, and nine in ten are at most a hundred times the error.
func TestMergedMomentsHoldTheirUncertainty(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	useful, all := 0, 0
	for i := range longtest.Of(40, 500) {
		s, spread := drawTight(r)
		parts := 2 + r.IntN(49)
		report, err := inParts(t, r, s, parts).Report(nil, nil, measure.Options{Uncertainty: true})
		if err != nil {
			t.Fatal(err)
		}
		rank, _ := report.Value(measure.KeyRankBetween)
		for key, exact := range measuretest.New(s).Values(measuretest.Ranks{Train: int(rank)}) {
			v, ok := report.Value(key)
			if !ok || exact.Undefined != "" || exact.TooExpensive {
				continue
			}
			stated, known := report.Uncertainty[key]
			off := max(0, errorOf(v, exact)-oracleError(key, exact))
			if !known || !(off <= stated) {
				t.Errorf("set %d (K = %d, d = %d, spread %.1g, %d parts), %s: %.17g ± %.3g (%v), exact %.17g, off by %.3g", i, s.Train.K, s.D, spread, parts, key, v, stated, known, exact.V.Hi, off)
			}
			if all++; stated <= usefulFactor*max(off, least(key, v, exact)) {
				useful++
			}
		}
	}
	if all == 0 || float64(useful) < usefulShare*float64(all) {
		t.Errorf("%d of %d uncertainties are useful", useful, all)
	}
}
