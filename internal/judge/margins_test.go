package judge

import (
	"math"
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
