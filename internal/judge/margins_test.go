package judge

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The margins of a run whose features sit on the axes, classifier aligned: 1 for everything but the corrupted samples.
func TestMarginCurve(t *testing.T) {
	var r Run
	if got := MarginCurve(&r); got != nil {
		t.Errorf("margins without features: %v", got)
	}
	r.SetFeatures(&Features{D: 2, K: 2, TrainH: []float64{1, 0, 1, 0, 0, 1, 0, 1}, Observed: []int{0, 0, 1, 1}, Weight: []float64{1, 0, 0, 1}, Bias: []float64{0, 0}}, "")
	got := MarginCurve(&r)
	if len(got) != MarginPoints {
		t.Fatalf("%d points", len(got))
	}
	for _, v := range got {
		if !(math.Abs(v-2) < 1e-12) {
			t.Errorf("margin %g, wanted cos 0 − cos π = 2", v)
		}
	}
}

// TestMarginCurveIsQuantiles: of margins that all differ, the curve begins at the least, ends at the largest and never falls.
func TestMarginCurveIsQuantiles(t *testing.T) {
	var r Run
	f := &Features{D: 2, K: 2, Weight: []float64{1, 0, 0, 1}}
	for i := range 201 {
		at := math.Pi / 2 * float64(i) / 200
		f.TrainH, f.Observed = append(f.TrainH, math.Cos(at), math.Sin(at)), append(f.Observed, i%2)
	}
	r.SetFeatures(f, "")
	all, curve := JudgeRun(&r).sortedMargins(), MarginCurve(&r)
	if len(all) != 201 || !slices.IsSorted(curve) || curve[0] != all[0] || curve[MarginPoints-1] != all[200] {
		t.Fatalf("%d margins from %g to %g; curve %v", len(all), all[0], all[len(all)-1], curve)
	}
	for i, v := range curve {
		if !(v >= all[max(2*i-2, 0)] && v <= all[min(2*i+2, 200)]) {
			t.Errorf("quantile %d is %g, between %g and %g", i, v, all[max(2*i-2, 0)], all[min(2*i+2, 200)])
		}
	}
}

func TestMarginShare(t *testing.T) {
	var a, b, c Run
	wide := &Features{D: 2, K: 2, TrainH: []float64{1, 0, 1, 0, 0, 1, 0, 1}, Observed: []int{0, 0, 1, 1}, Weight: []float64{1, 0, 0, 1}}
	wrong := *wide
	wrong.Observed = []int{0, 1, 0, 1} // one sample of each class labelled as the other: the means are equal
	wrong.TrainH = []float64{1, 0, 1, 0, 0, 1, 0, 2}
	a.SetFeatures(wide, "")
	b.SetFeatures(&wrong, "")
	of := func(limit float64, runs ...*JudgedRun) float64 {
		v, err := sample{runs: runs}.marginShare(limit)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	one, two := JudgeRun(&a), JudgeRun(&b)
	if got := of(1.9, one); got != 0 {
		t.Errorf("share %g of aligned samples, wanted 0", got)
	}
	if got := of(2.1, one); got != 1 {
		t.Errorf("share %g below 2.1, wanted 1", got)
	}
	if got := of(0, two); got != 0.5 {
		t.Errorf("share %g of wrong samples, wanted 0.5", got)
	}
	if got := of(0, one, two); got != 0.25 {
		t.Errorf("mean share %g, wanted 0.25", got)
	}
	if _, err := (sample{runs: []*JudgedRun{JudgeRun(&c)}}).marginShare(0); err == nil || !strings.Contains(err.Error(), "features") {
		t.Errorf("without features: %v", err)
	}
}
