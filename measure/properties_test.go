package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/parallel"
)

// scaleFree are the measures that neither rotation nor common scaling of features and W changes.
var scaleFree = []string{
	KeyNC1Pinv, KeyNC1TraceRatio, KeyCDNV, KeyRankBetween, KeyNC2W, KeyNC2MeansETF, KeyNC2MeansCentred, KeyNC2MeansOF, KeyNC2NormCV,
	KeyNC2CosDeviation, KeyNC2CosMax, KeyNC2RankD, KeyGNC2Distance, KeyGNC2Log, KeyNC3Gram, KeyNC3Direct, KeyNC3RankD, KeyNC3Duality,
	KeyNumericalRank, KeyMarginMean, KeyMarginMin, KeyMarginMax, KeyNCCAccuracy, KeyMeanNormRatio, KeyConfMaxCos,
}

// same fails unless both reports hold the same values of keys within a relative tolerance, or both lack them.
func same(t *rapid.T, what string, a, b *Report, tolerance float64, keys []string) {
	for _, key := range keys {
		x, okX := a.Measures.of[key]
		y, okY := b.Measures.of[key]
		if okX != okY || !(math.Abs(x-y) <= tolerance*(1+math.Abs(x))) {
			t.Fatalf("%s: %s: %.17g (missing %q) and %.17g (missing %q)", what, key, x, a.Missing[key], y, b.Missing[key])
		}
	}
}

func measureRapid(t *rapid.T, in Input[float64], opt Options) *Report {
	r, err := Measure(in, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// condition is the condition number of Σ_B, by which rounding in the input is amplified in NC1.
func condition(t *rapid.T, in Input[float64]) float64 {
	r := measureRapid(t, in, Options{KeepSpectrum: true})
	if len(r.Eigenvalues) == 0 {
		t.Skip("no spectrum")
	}
	return r.Eigenvalues[0] / r.Eigenvalues[len(r.Eigenvalues)-1]
}

func TestInvariances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		if condition(t, in) > 1e5 {
			t.Skip("Σ_B nearly rank-deficient")
		}
		rows := in.Train.Features.(*Rows[float64])
		n, d := rows.Size()
		before := measureRapid(t, in, Options{})
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "turn"), 2))

		turn := etf.RandomOrthonormal(d, d, rng)
		turned := in
		turned.W = times(in.W, in.Classes, d, turn)
		turned.Train = Memory(times(rows.H, n, d, turn), d, in.Train.Labels)
		same(t, "rotation", before, measureRapid(t, turned, Options{}), 1e-8, append(scaleFree, KeyNC4Bias, KeyAccuracy, KeyNC4NCCMismatch, KeyTraceWithin))

		factor := math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "log scale"))
		scaled := in
		scaled.B = nil
		noBias := in
		noBias.B = nil
		scaled.Train = Memory(times(rows.H, n, d, scaledIdentity(d, factor)), d, in.Train.Labels)
		same(t, "scaling", measureRapid(t, noBias, Options{}), measureRapid(t, scaled, Options{}), 1e-8, append(scaleFree, KeyAccuracy, KeyNC4NCCMismatch))

		order := rng.Perm(n)
		h, labels := make([]float64, 0, n*d), make([]int32, 0, n)
		for _, i := range order {
			h = append(h, rows.H[i*d:][:d]...)
			labels = append(labels, in.Train.Labels[i])
		}
		permuted := in
		permuted.Train = Memory(h, d, labels)
		same(t, "permutation", before, measureRapid(t, permuted, Options{}), 1e-8, append(scaleFree, KeyAccuracy, KeyNC4NCCMismatch))
	})
}

func times(x []float64, n, d int, by mat.Matrix) []float64 {
	var out mat.Dense
	out.Mul(mat.NewDense(n, d, append([]float64(nil), x...)), by)
	return append([]float64(nil), out.RawMatrix().Data...)
}

func scaledIdentity(d int, by float64) mat.Matrix {
	m := mat.NewDense(d, d, nil)
	for i := range d {
		m.Set(i, i, by)
	}
	return m
}

// A sample at its class mean adds no scatter: Σ_W shrinks by N/(N+1) and, classes weighted alike,
// Σ_B stays.
func TestSampleAtMeanLowersNC1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		rows := in.Train.Features.(*Rows[float64])
		before := measureRapid(t, in, Options{Imbalance: PerClass, KeepMeans: true})
		if condition(t, in) > 1e5 {
			t.Skip("Σ_B nearly rank-deficient")
		}
		c := rapid.IntRange(0, in.Classes-1).Draw(t, "class")
		n := float64(before.ClassCounts[c])
		more := in
		more.Train = Memory(append(append([]float64(nil), rows.H...), before.ClassMeans[c*rows.D:][:rows.D]...), rows.D,
			append(append([]int32(nil), in.Train.Labels...), int32(c)))
		after := measureRapid(t, more, Options{Imbalance: PerClass})
		was, is := before.Measures.of[KeyNC1Pinv], after.Measures.of[KeyNC1Pinv]
		if !(is < was) {
			t.Fatalf("NC1 %g, was %g", is, was)
		}
		v, w := before.PerClass["within_trace"][c], after.PerClass["within_trace"][c]
		if !(math.Abs(w-v*n/(n+1)) <= 1e-9*v) {
			t.Fatalf("variance of class %d: %g, want %g·%g/%g", c, w, v, n, n+1)
		}
	})
}

// chunked is a source that is not in memory: it fills the caller's buffer.
type chunked[T float32 | float64] struct{ Rows[T] }

func (c *chunked[T]) Read(buf []T, from, to int) ([]T, error) {
	return append(buf[:0], c.H[from*c.D:to*c.D]...), nil
}

// Bits must not depend on the number of threads nor on where rows come from.
func TestSameBits(t *testing.T) {
	sameBitsOf(t, 3000, 2, 2)
	sameBitsOf(t, longtest.Of(1300, 4100), 64, 10)
	sameBitsOf(t, longtest.Of(900, 5000), 300, 9)
}

// Class sums beyond partialLimit are added in another order, and that, too, is the same for any number of threads.
func TestSameBitsOfWideClassSums(t *testing.T) {
	longtest.Only(t)
	if longtest.Whole() {
		sameBitsOf(t, 300, 8200, 130)
	}
	sameBitsOf(t, 48, 33000, 32)
}

// sameBitsOf measures n rows of d columns and k classes from memory and from chunks, on teams of several sizes.
func sameBitsOf(t *testing.T, n, d, k int) {
	t.Helper()
	in := gaussian[float32](n, d, k, .3, 9)
	in.Test = in.Train
	in.True, in.Redrawn = append([]int32(nil), in.Train.Labels...), make([]bool, n)
	for i := range min(50, n/5) {
		in.True[i*5], in.Redrawn[i*3] = int32(i%k), true
	}
	opt := Options{KeepMeans: true, KeepMargins: true}
	want := mustMeasure(t, in, opt)
	sources := []Source[float32]{in.Train.Features, &chunked[float32]{*in.Train.Features.(*Rows[float32])}, in.Train.Features}
	for i, threads := range []int{1, 2, 7} {
		opt.Team = parallel.NewTeam(threads)
		in.Train.Features, in.Test.Features = sources[i], sources[i]
		equalBits(t, want, mustMeasure(t, in, opt))
		opt.Team.Close()
	}
}

func equalBits(t *testing.T, want, got *Report) {
	t.Helper()
	if len(got.Measures.of) != len(want.Measures.of) || len(want.Measures.of) < 30 {
		t.Fatalf("%d measures, want %d, at least 30", len(got.Measures.of), len(want.Measures.of))
	}
	for key, v := range want.Measures.of {
		if w, ok := got.Measures.of[key]; !ok || math.Float64bits(v) != math.Float64bits(w) {
			t.Errorf("%s: %.17g, want the bits of %.17g", key, w, v)
		}
	}
	vectors := [][2]Vector{{want.Margins, got.Margins}, {want.ClassMeans, got.ClassMeans}}
	for name, v := range want.PerClass {
		vectors = append(vectors, [2]Vector{v, got.PerClass[name]})
	}
	for _, v := range vectors {
		if len(v[0]) != len(v[1]) || len(v[0]) == 0 {
			t.Fatalf("vectors of %d and %d elements", len(v[0]), len(v[1]))
		}
		for i := range v[0] {
			if math.Float64bits(v[0][i]) != math.Float64bits(v[1][i]) {
				t.Fatalf("vector element %d: %g, want %g", i, v[1][i], v[0][i])
			}
		}
	}
}

// One engine used for other shapes in between gives what a fresh one gives.
func TestEngineReuse(t *testing.T) {
	e, err := NewEngine[float64](Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ n, d, k int }{{600, 40, 7}, {50, 3, 5}, {2000, 5, 3}, {600, 40, 7}} {
		in := gaussian[float64](c.n, c.d, c.k, .4, uint64(c.n))
		got, err := e.Measure(in)
		if err != nil {
			t.Fatal(err)
		}
		for key, v := range mustMeasure(t, in, Options{}).Measures.of {
			if got.Measures.of[key] != v {
				t.Errorf("%v %s: %g, fresh %g", c, key, got.Measures.of[key], v)
			}
		}
	}
}

// A warm engine must not allocate with the number of samples.
func TestNoGarbagePerSample(t *testing.T) {
	// The least of several runs: a collection empties pools in the middle of some.
	allocations := func(n int) float64 {
		in := gaussian[float32](n, 32, 4, .2, 3)
		e, err := NewEngine[float32](Options{})
		if err != nil {
			t.Fatal(err)
		}
		run := func() {
			if _, err := e.Measure(in); err != nil {
				t.Fatal(err)
			}
		}
		least := math.Inf(1)
		for range 10 {
			least = min(least, testing.AllocsPerRun(1, run))
		}
		return least
	}
	small, large := allocations(500), allocations(8000)
	if large > small+8 { // what collections in the middle add
		t.Fatalf("%g allocations for 8000 samples, %g for 500", large, small)
	}
}
