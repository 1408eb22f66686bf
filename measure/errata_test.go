package measure

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// What the papers say of the measures and why it fails.

// TB (77) takes B⁺A⁺ for (AB)⁺, and so NC1 of W1·H for that of H: true for an orthogonal W1
// (TestInvariances), false for an invertible one when d ≥ K.
func TestPrintedNC1OfProductFails(t *testing.T) {
	in := formulaFeatures(4, 5, 6)
	h, err := in.Train.Features.Read(nil, 0, 20)
	if err != nil {
		t.Fatal(err)
	}
	w1 := mat.NewDense(6, 6, nil)
	for i := range 6 {
		for j := range 6 {
			w1.Set(i, j, math.Sin(float64(2*i+3*j+i*j)))
		}
		w1.Set(i, i, w1.At(i, i)+3)
	}
	if cond := mat.Cond(w1, 2); !(cond < 20) {
		t.Fatalf("W1 has condition %g", cond)
	}
	before := mustMeasure(t, in, Options{}).Measures.of[KeyNC1Pinv]
	mapped := times(h, 20, 6, w1)
	after := mustMeasure(t, Input[float64]{Classes: 4, Train: Memory(mapped, 6, in.Train.Labels)}, Options{}).Measures.of[KeyNC1Pinv]
	if !(math.Abs(after-before) > .2*before) {
		t.Errorf("NC1 of H is %g, of W1·H %g", before, after)
	}
	var inverse mat.Dense // and back
	if err := inverse.Inverse(w1); err != nil {
		t.Fatal(err)
	}
	back := mustMeasure(t, Input[float64]{Classes: 4, Train: Memory(times(mapped, 20, 6, &inverse), 6, in.Train.Labels)}, Options{}).Measures.of[KeyNC1Pinv]
	if !(math.Abs(back-before) <= 1e-10) {
		t.Errorf("NC1 of W1⁻¹W1·H is %g, of H %g", back, before)
	}
}

// MD: r/‖h1−h2‖ "models a similar quantity" to √NC1. With two classes √NC1 is √2·σ/‖h1−h2‖, σ the spread along h1 − h2
// alone: spread across it does not count.
func TestRootOfNC1IsNotDilation(t *testing.T) {
	const distance = 3.0
	for _, spread := range [][2]float64{{.5, 0}, {.3, .4}, {.1, .5}} {
		var h []float64
		var labels []int32
		for k := range 2 {
			for i := range 4 { // ±spread in both coordinates
				x, y := spread[0]*float64(1-2*(i&1)), spread[1]*float64(1-(i&2))
				h = append(h, distance*float64(k)+x, y)
				labels = append(labels, int32(k))
			}
		}
		got := math.Sqrt(mustMeasure(t, Input[float64]{Classes: 2, Train: Memory(h, 2, labels)}, Options{}).Measures.of[KeyNC1Pinv])
		if want := math.Sqrt2 * spread[0] / distance; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("spread %v: √NC1 is %g, wanted %g", spread, got, want)
		}
		if r := math.Hypot(spread[0], spread[1]); !(math.Abs(got-r/distance) > .02) {
			t.Errorf("spread %v: √NC1 is %g, as r/‖h1−h2‖ is", spread, got)
		}
	}
}
