package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// scaledSet is a set with a classifier, test and out-of-distribution samples, all features times a factor, and W divided by it.
func scaledSet(factor float64) Input[float64] {
	r := rand.New(rand.NewPCG(45, 1))
	const k, d, n = 4, 6, 12
	means := make([]float64, k*d)
	for i := range means {
		means[i] = r.NormFloat64()
	}
	split := func() Split[float64] {
		h, labels := make([]float64, k*n*d), make([]int32, k*n)
		for i := range labels {
			labels[i] = int32(i % k)
			for j := range d {
				h[i*d+j] = factor * (means[i%k*d+j] + .3*r.NormFloat64())
			}
		}
		return Memory(h, d, labels)
	}
	in := Input[float64]{Train: split(), Test: split(), OOD: split().Features, W: make([]float64, k*d)}
	in.True = append([]int32(nil), in.Train.Labels...)
	in.True[3] = 0
	for i := range in.W {
		in.W[i] = (means[i] + .2*r.NormFloat64()) / factor
	}
	return in
}

// TestScaleChangesNothing measures features times powers of two whose fourth powers leave the range of float64: measures keep every digit,
// and those with a unit are multiplied by it.
func TestScaleChangesNothing(t *testing.T) {
	opt := Options{Measures: []string{"all"}, Uncertainty: true, Null: 3, KeepMeans: true, KeepSpectrum: true}
	want := mustMeasure(t, scaledSet(1), opt)
	if want.Measures.Len() < 50 {
		t.Fatalf("%d measures", want.Measures.Len())
	}
	for _, exp := range []int{-270, -200, 200, 256, 270} {
		got := mustMeasure(t, scaledSet(math.Ldexp(1, exp)), opt)
		for key, v := range want.Measures.All() {
			power := PowerOf(key)
			x, ok := got.Value(key)
			if scaled := math.Ldexp(x, -power*exp); !ok || scaled != v {
				t.Errorf("2^%d: %s is %g (%v), want %g", exp, key, scaled, ok, v)
			}
			if a, b := math.Ldexp(got.Uncertainty[key], -power*exp), want.Uncertainty[key]; a != b {
				t.Errorf("2^%d: the uncertainty of %s is %g, want %g", exp, key, a, b)
			}
			null := got.Null[key]
			for _, x := range []*float64{&null.Low, &null.Median, &null.High} {
				*x = math.Ldexp(*x, -power*exp)
			}
			if null != want.Null[key] {
				t.Errorf("2^%d: the null of %s is %+v, want %+v", exp, key, null, want.Null[key])
			}
		}
		same := func(name string, got, want []float64, power int) {
			scaled := times2(got, -power*exp)
			if len(got) == 0 || !slices.Equal(scaled, want) {
				t.Errorf("2^%d: %s is %v, want %v", exp, name, scaled, want)
			}
		}
		for name, v := range want.PerClass {
			same(name, got.PerClass[name], v, vectorPowers[name])
		}
		same("class means", got.ClassMeans, want.ClassMeans, 1)
		same("global mean", got.GlobalMean, want.GlobalMean, 1)
		same("test class means", got.TestClassMeans, want.TestClassMeans, 1)
		same("eigenvalues", got.Eigenvalues, want.Eigenvalues, 2)
		same("spread", got.Facts.Spread, want.Facts.Spread, 2)
		same("lengths", got.Facts.Lengths, want.Facts.Lengths, 1)
		same("apart", got.Facts.Apart, want.Facts.Apart, 2)
		same("between", []float64{got.Facts.Between}, []float64{want.Facts.Between}, 2)
	}
}

// TestAUROCOfTinyLogits scores inputs by logits that softmax in float64 cannot tell apart: their order is that of larger logits.
func TestAUROCOfTinyLogits(t *testing.T) {
	var last float64
	for i, factor := range []float64{1e-6, 1e-30, 1e-60} {
		in := scaledSet(1)
		scale(in.W, factor)
		v, ok := mustMeasure(t, in, Options{}).Value(KeyOODMaxSoftmax)
		if !ok || v == .5 || i > 0 && math.Abs(v-last) > 1e-3 {
			t.Errorf("logits of size %g: %g (%v), before %g", factor, v, ok, last)
		}
		last = v
	}
}
