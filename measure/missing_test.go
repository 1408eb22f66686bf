package measure

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

// tiny is two classes in the plane, two samples each, with test features, noise and everything else.
func tiny() Input[float64] {
	return Input[float64]{
		Classes: 2, W: []float64{1, 0, 0, 1}, B: []float64{.5, .25},
		Train:   Memory([]float64{2, 0, 4, 0, 0, 2, 0, 6}, 2, []int32{0, 0, 1, 1}),
		Test:    Memory([]float64{3, 0, 5, 0, 0, 1, 0, 3}, 2, []int32{0, 0, 1, 1}),
		True:    []int32{0, 1, 1, 1},
		Redrawn: []bool{false, true, true, false},
		OOD:     &Rows[float64]{H: []float64{1, 1, 1, 1}, D: 2},
	}
}

// Every value of tiny by hand. Means (3,0) and (0,4), residuals ±1 and ±2 along them, h_G = (1.5,2).
func TestByHand(t *testing.T) {
	r := mustMeasure(t, tiny(), Options{KeepMargins: true})
	atTest := math.Hypot(4, 2) // ‖(4,0) − h*‖ is from the flipped sample 1, true class 1, to (0,2)
	for key, want := range map[string]float64{
		KeyTraceWithin: (2*1 + 2*4) / 4., KeyTraceBetween: 25 / 4., KeyNC1TraceRatio: 2.5 / 6.25,
		// Σ_B = ½·2·(c cᵀ), c = (1.5,−2), its only eigenvector c/2.5, value 6.25; Σ_W = diag(.5, 2).
		KeyNC1Pinv: (.5*2.25 + 2*4) / 6.25 / 6.25 / 2, KeyRankBetween: 1,
		KeyCDNV: (1 + 4.) / 2 / 25, KeyNC4Bias: math.Hypot(2, 2.25), KeyAccuracy: 1, KeyNC4NCCMismatch: 0, KeyNCCAccuracy: 1,
		KeyMemFlipped: atTest, KeyMemRedrawn: atTest + 0, KeyMemMean: atTest, KeyMemNormalised: atTest / math.Hypot(4, 2),
		KeyNC5OOD: math.Sqrt(.5), KeyTestAccuracy: 1, KeyMeanNormRatio: .75, KeyConfSmallestEntry: 0, KeyConfMaxCos: 0, KeyConfOverlap: 0,
		// Test means (4,0), (0,2), Σ_W = diag(.5,.5), c = (2,−1).
		KeyDilation: math.Sqrt(.5 / 5 / 2), KeyTestNC1Ratio: 1 / 5.,
		KeyNC2NormCV: 0, KeyNC2CosDeviation: 0, KeyGNC2Distance: 0, KeyGNC2Log: 0,
	} {
		if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("%s: got %.17g (missing %q), want %.17g", key, got, r.Missing[key], want)
		}
	}
	if len(r.Margins) != 4 || r.Margins[0] != r.Measures.of[KeyMarginMin] || r.Margins[3] != r.Measures.of[KeyMarginMax] {
		t.Errorf("sorted margins %g, from %g to %g", r.Margins, r.Measures.of[KeyMarginMin], r.Measures.of[KeyMarginMax])
	}
	if q, ok := r.MarginQuantile(.5); !ok || q != (r.Margins[1]+r.Margins[2])/2 {
		t.Errorf("median margin %g of %g", q, r.Margins)
	}
}

// The redrawn sample 2 kept its label: its distance to h* enters the redrawn sum only.
func TestRedrawnButKept(t *testing.T) {
	in := tiny()
	in.Test = Memory([]float64{3, 0, 5, 0, 0, 1, 0, 2}, 2, []int32{0, 0, 1, 1}) // h* of class 1: (0,1.5)
	r := mustMeasure(t, in, Options{})
	flipped := math.Hypot(4, 1.5)
	if got := r.Measures.of[KeyMemFlipped]; !(math.Abs(got-flipped) <= 1e-14) {
		t.Errorf("flipped: %g, want %g", got, flipped)
	}
	if got := r.Measures.of[KeyMemRedrawn]; !(math.Abs(got-flipped-.5) <= 1e-14) {
		t.Errorf("redrawn: %g, want %g", got, flipped+.5)
	}
}

func TestImbalance(t *testing.T) {
	// Class 0: three samples ±1 around (3,0) with one at it; class 1: two samples ±2 around (0,4).
	in := Input[float64]{W: []float64{1, 0, 0, 1}, Train: Memory([]float64{2, 0, 4, 0, 3, 0, 0, 2, 0, 6}, 2, []int32{0, 0, 0, 1, 1})}
	in.B = []float64{0, 3} // the first sample, (2,0), becomes an error
	for im, want := range map[Imbalance]map[string]float64{
		PerSample: {KeyTraceWithin: 10 / 5., KeyAccuracy: 4 / 5., KeyNC4NCCMismatch: 1 / 5., KeyNC4Bias: math.Hypot(9/5., 3+8/5.)},
		PerClass:  {KeyTraceWithin: (2/3. + 4) / 2, KeyAccuracy: (2/3. + 1) / 2, KeyNC4NCCMismatch: 1 / 6., KeyNC4Bias: math.Hypot(3/2., 3+2.)},
	} {
		r := mustMeasure(t, in, Options{Imbalance: im})
		for key, v := range want {
			if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-v) <= 1e-14) {
				t.Errorf("%s, per %s: got %.17g, want %.17g", key, im, got, v)
			}
			if c := r.Conventions[key]; c.Weighting == "" || c.Formula == "" {
				t.Errorf("%s, per %s: convention %+v", key, im, c)
			}
		}
	}
	if d, _ := Lookup(KeyTraceWithin); d.Sample == d.Class {
		t.Error("the registry gives one text for both weightings of Σ_W")
	}
}

func TestMissing(t *testing.T) {
	plane := func(labels ...int32) Split[float64] {
		return Memory([]float64{2, 0, 4, 0, 0, 2, 0, 6, 1, 1, 3, 2}[:2*len(labels)], 2, labels)
	}
	for _, c := range []struct {
		name   string
		change func(*Input[float64])
		reason string
		keys   []string
	}{
		{"one class", func(in *Input[float64]) {
			*in = Input[float64]{Train: plane(0, 0, 0), W: []float64{1, 2}}
		}, "one class", []string{KeyNC1Pinv, KeyNC1TraceRatio, KeyCDNV, KeyNC2W, KeyNC2MeansETF, KeyNC3Gram, KeyMarginMean, KeyNC4NCCMismatch, KeyTraceBetween, KeyRankBetween}},
		{"one class of two", func(in *Input[float64]) {
			*in = Input[float64]{Train: plane(1, 1, 1), W: []float64{1, 2, 3, 4}}
		}, "one class", []string{KeyNC1Pinv, KeyCDNV, KeyNC2W, KeyNC3Gram, KeyMarginMean, KeyNC4NCCMismatch}},
		{"one test class", func(in *Input[float64]) {
			in.Test = plane(0, 0)
		}, "one class", []string{KeyDilation}},
		{"a true class without test samples", func(in *Input[float64]) {
			in.Test = plane(0, 0)
		}, "2 corrupted samples have a true class without test samples", []string{KeyMemFlipped, KeyMemRedrawn, KeyMemMean}},
		{"no test sample left", func(in *Input[float64]) {
			in.Test.Labels = []int32{-100, -100, -100, -100}
		}, "no test sample is left", []string{KeyDilation, KeyTestNC1Ratio, KeyTestAccuracy, KeyMemFlipped}},
		{"single samples", func(in *Input[float64]) {
			in.Train, in.True, in.Redrawn = Memory([]float64{2, 0, 0, 6}, 2, []int32{0, 1}), nil, nil
		}, "every class has a single sample", []string{KeyNC1Pinv, KeyTraceWithin, KeyNC1TraceRatio, KeyCDNV}},
		{"one mean", func(in *Input[float64]) {
			in.Train = Memory([]float64{1, 0, -1, 0, 0, 1, 0, -1}, 2, []int32{0, 0, 1, 1})
		}, "coincide", []string{KeyNC1Pinv, KeyNC1TraceRatio, KeyNC2MeansCentred, KeyNC2NormCV, KeyNC2CosDeviation, KeyNC3Gram, KeyNC3Duality, KeyConfWeightAngle}},
		{"zero means", func(in *Input[float64]) {
			in.Train = Memory([]float64{1, 0, -1, 0, 0, 1, 0, -1}, 2, []int32{0, 0, 1, 1})
		}, "all class means are zero", []string{KeyNC2MeansETF, KeyNC2MeansOF, KeyNC3Direct, KeyMeanNormRatio}},
		{"zero features", func(in *Input[float64]) {
			in.Train = Memory(make([]float64, 8), 2, []int32{0, 0, 1, 1})
		}, "zero", []string{KeyNumericalRank, KeyNC2MeansETF, KeyConfMaxCos}},
		{"a mean at the centre", func(in *Input[float64]) {
			*in = Input[float64]{W: []float64{1, 0, 0, 1, -1, 0}, Train: Memory([]float64{2, 0, 4, 0, -1, 0, 1, 0, -2, 0, -4, 0}, 2, []int32{0, 0, 1, 1, 2, 2})}
		}, "global mean", []string{KeyNC2CosDeviation, KeyNC2CosMax, KeyGNC2Distance, KeyGNC2Log}},
		{"two means in one direction", func(in *Input[float64]) {
			*in = Input[float64]{Train: Memory([]float64{1, 0, 1, 0, 3, 0, 3, 0, -4, 0, -4, 0}, 2, []int32{0, 0, 1, 1, 2, 2})}
		}, "same direction", []string{KeyGNC2Log}},
		{"two classes with one mean", func(in *Input[float64]) {
			*in = Input[float64]{Train: Memory([]float64{1, 0, 3, 0, 1, 0, 3, 0, -4, 0, -4, 0}, 2, []int32{0, 0, 1, 1, 2, 2})}
		}, "classes 0 and 1 have the same mean", []string{KeyCDNV}},
		{"no W", func(in *Input[float64]) { in.W, in.B = nil, nil }, "no classifier weight", []string{KeyNC2W, KeyNC3Gram, KeyNC3Direct, KeyNC3Duality, KeyNC4Bias, KeyNC4NCCMismatch, KeyAccuracy, KeyTestAccuracy, KeyMarginMax, KeyConfWeightAngle}},
		{"zero W", func(in *Input[float64]) { in.W = make([]float64, 4) }, "zero", []string{KeyNC2W, KeyNC3Gram, KeyNC3Direct, KeyMarginMean}},
		{"W orthogonal to the means", func(in *Input[float64]) {
			*in = Input[float64]{W: []float64{0, 1, 0, 2}, Train: Memory([]float64{1, 5, 3, 5, -1, 5, -3, 5}, 2, []int32{0, 0, 1, 1})}
		}, "orthogonal", []string{KeyNC3Gram}},
		{"sample at the centre", func(in *Input[float64]) {
			*in = Input[float64]{W: []float64{1, 0, 0, 1}, Train: Memory([]float64{0, 0, 2, 0, -1, 0, -1, 0}, 2, []int32{0, 0, 1, 1})}
		}, "1 samples lie at the global mean", []string{KeyMarginMean, KeyMarginMin, KeyMarginMax}},
		{"no test", func(in *Input[float64]) { in.Test = Split[float64]{} }, "no test features", []string{KeyDilation, KeyTestAccuracy, KeyMemFlipped, KeyMemMean}},
		{"no true labels", func(in *Input[float64]) { in.True = nil }, "no true labels", []string{KeyMemFlipped, KeyMemRedrawn, KeyMemMean, KeyMemNormalised}},
		{"no mask", func(in *Input[float64]) { in.Redrawn = nil }, "no mask", []string{KeyMemRedrawn}},
		{"nothing flipped", func(in *Input[float64]) { in.True = in.Train.Labels }, "no measured sample is flipped", []string{KeyMemMean, KeyMemNormalised}},
		{"no ood", func(in *Input[float64]) { in.OOD = nil }, "no out-of-distribution", []string{KeyNC5OOD}},
		{"zero ood", func(in *Input[float64]) { in.OOD = &Rows[float64]{H: []float64{1, 1, -1, -1}, D: 2} }, "zero", []string{KeyNC5OOD}},
		{"full ETF", func(*Input[float64]) {}, "is not below K−1", []string{KeyNC2RankD, KeyNC3RankD}},
		{"test means in one place", func(in *Input[float64]) {
			in.Test = Memory([]float64{1, 0, -1, 0, 0, 1, 0, -1}, 2, []int32{0, 0, 1, 1})
		}, "coincide", []string{KeyDilation, KeyMemNormalised}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := tiny()
			c.change(&in)
			r := mustMeasure(t, in, Options{IgnoreLabels: []int32{-100}})
			for _, key := range c.keys {
				if reason := r.Missing[key]; !strings.Contains(reason, c.reason) {
					t.Errorf("%s: value %g, reason %q, want one with %q", key, r.Measures.of[key], reason, c.reason)
				}
			}
			if len(r.Measures.of)+len(r.Missing) != len(definitions) {
				t.Errorf("%d values and %d reasons for %d measures", len(r.Measures.of), len(r.Missing), len(definitions))
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBudget(t *testing.T) {
	in := gaussian[float64](200, 40, 4, .2, 1)
	if r := mustMeasure(t, in, Options{Budget: 1}); !strings.Contains(r.Missing[KeyNumericalRank], "not requested: about") {
		t.Errorf("over budget: %q", r.Missing[KeyNumericalRank])
	} else if _, ok := r.Measures.of[KeyMarginMin]; !ok { // O(N·K·d): part of default whatever the size
		t.Errorf("margins: %q", r.Missing[KeyMarginMin])
	}
	for _, list := range [][]string{{"all"}, {KeyNumericalRank}} {
		r := mustMeasure(t, in, Options{Budget: 1, Measures: list})
		if _, ok := r.Measures.of[KeyNumericalRank]; !ok {
			t.Errorf("%q: %q", list, r.Missing[KeyNumericalRank])
		}
		if len(list) == 1 && list[0] == KeyNumericalRank && len(r.Measures.of) != 1 {
			t.Errorf("one asked, got %v", r.Measures.of)
		}
	}
	var unknown *UnknownMeasureError
	if _, err := NewEngine[float64](Options{Measures: []string{"default", "nc1", "nc9"}}); !errors.As(err, &unknown) || len(unknown.Keys) != 2 {
		t.Errorf("unknown keys: %v", err)
	}
}

func TestDegenerate(t *testing.T) {
	in := tiny()
	if bad, known := mustMeasure(t, in, Options{}).Degenerate(); bad || !known {
		t.Errorf("means (3,0) and (0,4): degenerate %t, known %t", bad, known)
	}
	in.Train = Memory([]float64{.2, 0, .2, 0, 3, 4, 3, 4}, 2, []int32{0, 0, 1, 1})
	if bad, known := mustMeasure(t, in, Options{}).Degenerate(); !bad || !known {
		t.Errorf("means (.2,0) and (3,4): degenerate %t, known %t", bad, known)
	}
	in.Train = Memory(make([]float64, 8), 2, []int32{0, 0, 1, 1})
	if bad, known := mustMeasure(t, in, Options{}).Degenerate(); bad || known {
		t.Errorf("zero means: degenerate %t, known %t", bad, known)
	}
}
