package measure

import (
	"math"
	"testing"
)

// TestASampleAtTheCentreHasNoPrincipalPart: NECO divides by ‖h − h_G‖; its score there is 0, below that of every other sample.
func TestASampleAtTheCentreHasNoPrincipalPart(t *testing.T) {
	h := []float64{4, 0, 1, 4, 0, -1, -2, 3, 1, -2, 3, -1, -2, -3, 1, -2, -3, -1} // three classes of two samples, whose mean is exactly 0
	in := Input[float64]{Train: Memory(h, 3, []int32{0, 0, 1, 1, 2, 2}), OOD: &Rows[float64]{H: []float64{0, 0, 0}, D: 3}}
	for _, scale := range []float64{1, 1 << 20} {
		for i := range h {
			h[i] *= scale
		}
		r := mustMeasure(t, in, Options{Measures: []string{KeyOODNECO}})
		if got, ok := r.Measures.of[KeyOODNECO]; !ok || got != 1 {
			t.Errorf("at scale %g: %g (%q)", scale, got, r.Missing[KeyOODNECO])
		}
	}
}

// TestRoundingOfMemorizationHasNoUnit: features that are a power of two larger have the same measure but for that factor, and so has the
// rounding that is stated of it.
func TestRoundingOfMemorizationHasNoUnit(t *testing.T) {
	stated := func(scale float64) (value, own map[string]float64) {
		in := gaussian[float64](120, 6, 4, .5, 21)
		in.Test = gaussian[float64](60, 6, 4, .5, 22).Train
		in.True = append([]int32(nil), in.Train.Labels...)
		for i := 0; i < len(in.True); i += 7 {
			in.True[i] = (in.True[i] + 1) % 4
		}
		for _, s := range []Split[float64]{in.Train, in.Test} {
			for i := range s.Features.(*Rows[float64]).H {
				s.Features.(*Rows[float64]).H[i] *= scale
			}
		}
		r := mustMeasure(t, in, Options{Uncertainty: true})
		return r.Measures.of, r.Uncertainty
	}
	v1, own1 := stated(1)
	v2, own2 := stated(1 << 10)
	for _, key := range []string{KeyMemFlipped, KeyMemMean} {
		for what, x := range map[string][2]float64{"value": {v1[key], v2[key]}, "rounding": {own1[key], own2[key]}} {
			if want := (1 << 10) * x[0]; !(x[0] > 0) || !(math.Abs(x[1]-want) <= 1e-9*want) {
				t.Errorf("%s, %s: %g, wanted %g", key, what, x[1], want)
			}
		}
	}
}

// TestRoundingOfDilation: as √x it has the rounding of x, NC1 of the test samples, over 2 √x, where all rows are measured again as where means
// are perturbed. Both are drawn: their mean ratio is near 1.
func TestRoundingOfDilation(t *testing.T) {
	for name, c := range map[string]struct{ n, draws int }{"all rows": {200, 40}, "means": {1 + wholeElements/4, 12}} {
		sum := 0.0
		for i := range uint64(c.draws) {
			in := gaussian[float32](c.n, 6, 4, .15, 2*i)
			in.Test = gaussian[float32](c.n, 6, 4, .15, 2*i+1).Train
			r := mustMeasure(t, in, Options{Uncertainty: true})
			alone := mustMeasure(t, Input[float32]{Train: in.Test}, Options{Uncertainty: true})
			sum += math.Log(r.InputRounding[KeyDilation] * 2 * math.Sqrt(alone.Measures.of[KeyNC1Pinv]) / alone.InputRounding[KeyNC1Pinv])
		}
		if ratio := math.Exp(sum / float64(c.draws)); !(ratio > .7) || !(ratio < 1.4) {
			t.Errorf("%s: the mean ratio is %g", name, ratio)
		}
	}
}
