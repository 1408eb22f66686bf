package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestWhichSizesAreExtreme: powers of two beyond 2^±160 are taken out, down to half of that; zero and infinity tell nothing.
func TestWhichSizesAreExtreme(t *testing.T) {
	for x, want := range map[float64]int{0: 0, 1: 0, math.Ldexp(1, extreme-1): 0, math.Ldexp(1, extreme): extreme + 1 - extreme/2, math.Ldexp(1, 1000): 1001 - extreme/2,
		math.Ldexp(1, -extreme-1): 0, math.Ldexp(1, -extreme-2): -extreme - 1 + extreme/2, math.Inf(1): 0, math.NaN(): 0} {
		if got := extremeExponent([]float64{x / 4, -x, x / 2}); got != want {
			t.Errorf("%g: 2^%d, want 2^%d", x, got, want)
		}
	}
	big := math.Ldexp(1, 500)
	if exp, err := exponent[float64](&Rows[float64]{H: []float64{1, big}, D: 2}); err != nil || exp != 501-extreme/2 {
		t.Errorf("%d, %v", exp, err)
	}
	if exp, err := exponent[float32](&Rows[float32]{H: []float32{math.MaxFloat32}, D: 1}); err != nil || exp != 0 {
		t.Errorf("float32: %d, %v", exp, err)
	}
	if _, err := exponent[float64](&failing{chunked: chunked[float64]{Rows: Rows[float64]{H: []float64{1}, D: 1}}}); !errors.Is(err, errBroken) {
		t.Errorf("a source that breaks: %v", err)
	}
	h := &head{w: []float64{big, 1}}
	if got := h.ofSize1(); !slices.Equal(got, []float64{math.Ldexp(1, extreme/2-1), math.Ldexp(1, extreme/2-501)}) || h.w[0] != big {
		t.Errorf("%g", got)
	}
	if times2(nil, 3) != nil || !slices.Equal(times2([]float64{1, -3}, 3), []float64{8, -24}) {
		t.Error("another product")
	}
}

// TestReportsOfRescaledSets: what has a unit is multiplied back, with all that is said of it; what leaves the range is dropped with a reason.
func TestReportsOfRescaledSets(t *testing.T) {
	key, power := "", 0
	for i := range definitions {
		if p := definitions[i].power; p == 2 {
			key, power = definitions[i].Key, p
			break
		}
	}
	fresh := func(v float64) *Report {
		return &Report{Measures: NewValues(map[string]float64{key: v, KeyAccuracy: .5}), Missing: map[string]string{}, Conventions: map[string]Convention{key: {}}, Reason: map[string]string{key: "x"},
			Uncertainty: map[string]float64{key: 1}, InputRounding: map[string]float64{key: 2}, Null: map[string]Null{key: {1, 2, 3}},
			PerClass:   map[string]Vector{"within_trace": {1}, "test_within_trace": {1}, "mean_norm": {1}, "centred_norm": {1}, "weight_norm": {1}, "other": {1}},
			ClassMeans: []float64{1}, GlobalMean: []float64{1}, TestClassMeans: []float64{1}, Eigenvalues: Vector{1}, Facts: Facts{Between: 1, Spread: Vector{1}, Apart: Vector{1}, Lengths: Vector{1}}}
	}
	r := fresh(3)
	r.rescale(10)
	if power != 2 || r.Measures.of[key] != 3<<20 || r.Measures.of[KeyAccuracy] != .5 || r.Uncertainty[key] != 1<<20 || r.InputRounding[key] != 2<<20 || r.Null[key] != (Null{1 << 20, 2 << 20, 3 << 20}) {
		t.Errorf("%+v", r)
	}
	if got := fmt.Sprint(r.PerClass, r.ClassMeans, r.GlobalMean, r.TestClassMeans, r.Eigenvalues, r.Facts.Between, r.Facts.Spread, r.Facts.Apart, r.Facts.Lengths); got !=
		"map[centred_norm:[1024] mean_norm:[1024] other:[1] test_within_trace:[1.048576e+06] weight_norm:[0.0009765625] within_trace:[1.048576e+06]] [1024] [1024] [1024] [1.048576e+06] 1.048576e+06 [1.048576e+06] [1.048576e+06] [1024]" {
		t.Error(got)
	}
	for exp, v := range map[int]float64{600: 3, -600: 3} {
		r := fresh(v)
		r.rescale(exp)
		if _, there := r.Measures.of[key]; there || r.Missing[key] != outOfRange || len(r.Uncertainty)+len(r.InputRounding)+len(r.Reason)+len(r.Null)+len(r.Conventions) != 0 {
			t.Errorf("2^%d: %+v", exp, r)
		}
	}
	zero := fresh(0)
	if zero.rescale(-600); len(zero.Missing) != 0 {
		t.Errorf("zero stays zero: %v", zero.Missing)
	}
}

// TestWhatUncertaintiesSay: the reason for a digit that is open, by its source, and what was cut from NC1.
func TestWhatUncertaintiesSay(t *testing.T) {
	for _, c := range []struct {
		arithmetic, given float64
		single            bool
		b                 between
		want              string
	}{
		{4e-6, 1e-6, true, between{rank: 3, full: 3}, ""},
		{4e-6, 1.1e-6, true, between{rank: 3, full: 3}, "class means are so nearly dependent, or so close together for their size, that float64 sums lose digits"},
		{1e-6, 1e-5, true, between{rank: 3, full: 3}, "the features have 24 significant bits, and rounding them moves this measure"},
		{.3, .2, false, between{rank: 3, full: 3}, "rounding alone gives a value of this size: the features have 53 significant bits"},
		{0, 0, false, between{rank: 2, full: 3}, "1 of 3 directions between class means are within the rounding of the features (53 significant bits) and are left out"},
		{0, 0, false, between{rank: 1, full: 3, chosen: true}, "2 of 3 directions between class means lie below the chosen rcond and are left out"},
		{.3, .2, true, between{rank: 2, full: 3, chosen: true}, "1 of 3 directions between class means lie below the chosen rcond and are left out; rounding alone gives a value of this size: the features have 24 significant bits"},
	} {
		r := &Report{Measures: NewValues(map[string]float64{KeyNC1Pinv: -1, KeyRankBetween: 2})}
		r.startUncertainty()
		r.Uncertainty[KeyNC1Pinv], r.InputRounding[KeyNC1Pinv] = c.arithmetic, c.given
		r.explain(&c.b, c.single)
		bits := 53
		if c.single {
			bits = 24
		}
		cut := float64(c.b.full - c.b.rank)
		if c.b.chosen {
			cut = 0
		}
		if r.Reason[KeyNC1Pinv] != c.want || r.SignificantBits != bits || r.Uncertainty[KeyRankBetween] != cut {
			t.Errorf("%+v: %q, %d bits, rank ± %g", c, r.Reason[KeyNC1Pinv], r.SignificantBits, r.Uncertainty[KeyRankBetween])
		}
		if open, known := r.Open(KeyNC1Pinv); !known || open != c.arithmetic+c.given {
			t.Errorf("open %g, %v", open, known)
		}
		if _, known := r.Open("other"); known {
			t.Error("an uncertainty that was not estimated")
		}
	}
	m := newMoved(map[string]float64{"a": 3, "b": 5})
	m.add(map[string]float64{"a": 5, "b": 5}, 1)
	m.add(map[string]float64{"a": 3}, .5)
	if m.size("a") != math.Sqrt(2) || m.size("b") != math.Sqrt(25*.5/2) || certainty(6) != 12 || certainty(16) != 6*(1+6./16) {
		t.Errorf("moved by %g and %g, %g", m.size("a"), m.size("b"), certainty(6))
	}
	if finiteOr(math.NaN(), 1) != 1 || finiteOr(math.Inf(1), 1) != 1 || finiteOr(2, 1) != 2 {
		t.Error("another number")
	}
	r := &Report{Measures: NewValues(map[string]float64{"x": 1}), blurred: map[string]float64{"x": .25}}
	r.startUncertainty()
	if r.state("x", .5, math.Inf(1)); r.Uncertainty["x"] != .75 || r.InputRounding["x"] != math.MaxFloat64 {
		t.Errorf("%g, %g", r.Uncertainty["x"], r.InputRounding["x"])
	}
}

// TestSmallSums: matrices, supports and compensated sums by hand.
func TestSmallSums(t *testing.T) {
	x, out := make([]float64, 35*40), make([]float64, 35*40)
	for i := range x {
		x[i] = float64(i)
	}
	transpose(out, x, 35, 40)
	for i := range 35 {
		for j := range 40 {
			if out[j*35+i] != x[i*40+j] {
				t.Fatalf("element %d, %d", i, j)
			}
		}
	}
	if got := compensated([]float64{1, 1e100, 1, -1e100}); got != 2 {
		t.Errorf("the sum is %g", got)
	}
	var c, d carried
	for _, v := range []float64{1, 1e100} {
		c.add(v)
	}
	for _, v := range []float64{1, -1e100} {
		d.add(v)
	}
	if c.merge(d); c.value() != 2 {
		t.Errorf("the sum of two is %g", c.value())
	}
	if got, ok := supportOverlap([]float64{1, -1, 0, 0, 1, 3, 0, 0, 5}, 3, 3); !ok || got != 3./4 {
		t.Errorf("overlap %g, %v", got, ok)
	}
	if _, ok := supportOverlap([]float64{1, 0, 0, 0}, 2, 2); ok {
		t.Error("a mean of zero has a support")
	}
	if lead(1.5, -1.5) != 2 || lead(.5, .25) != .25 || lead(-2, 2) != -2 {
		t.Error("cosines go beyond 1")
	}
	if nearestMean([]float64{4, 2, 2}, []float64{0, 0, 0}) != 1 || nearestMean([]float64{4, 2, 2}, []float64{3, 0, 0}) != 0 || largestSum([]float64{1, 2, 2}, []float64{0, 0, 0}) != 1 || largestSum([]float64{1, 2, 2}, []float64{0, 0, 1}) != 2 {
		t.Error("ties go to the lower")
	}
	cut := newCutoff(true, .5, []float64{1, 2, 3, 4}, []float64{1, 0}, 2, 2)
	if u2 := roundoff24 * roundoff24; cut.relative != .5 || cut.coordinate[0] != u2*12 || cut.coordinate[1] != u2*20 || cut.total != u2*32 || cut.largest != u2*20 || cut.along([]float64{.5, 1}) != u2*23 {
		t.Errorf("%+v", cut)
	}
	if double := newCutoff(false, 0, []float64{1}, []float64{0}, 1, 1); double.total != 64*roundoff64*roundoff64 {
		t.Errorf("%+v", double)
	}
	if !allFloat32([]float64{.5, math.NaN(), math.Inf(1)}) || allFloat32([]float64{.5, .1}) || !allFloat32([]float32{.1}) {
		t.Error("float32 holds other numbers")
	}
}
