package measure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/internal/longtest"
)

// withClassifier draws means and a classifier for a rank-d comparison, k classes of two samples each.
func withClassifier(k, d int, seed uint64) Input[float64] {
	in := gaussian[float64](2*k, d, k, .1, seed)
	rng := rand.New(rand.NewPCG(seed, 7))
	in.W = make([]float64, k*d)
	for i := range in.W {
		in.W[i] = rng.NormFloat64()
	}
	return in
}

// The symmetric part of W H_c often has fewer than d positive eigenvalues on the complement of 1; direction 1 must not
// lend its zero. package etf builds the nearest projection itself.
func TestRankDStaysAboveMinimum(t *testing.T) {
	for _, shape := range [][2]int{{6, 4}, {4, 2}, {5, 3}, {12, 3}, {9, 7}} {
		k, d := shape[0], shape[1]
		for seed := range uint64(40) {
			in := withClassifier(k, d, seed)
			r := mustMeasure(t, in, Options{KeepMeans: true, Measures: []string{"all"}})
			var g mat.Dense
			centred := mat.NewDense(k, d, nil)
			for i := range k {
				centred.SetRow(i, minus(r.ClassMeans[i*d:][:d], r.GlobalMean))
			}
			g.Mul(mat.NewDense(k, d, in.W), centred.T())
			if got, want := r.Measures.of[KeyNC3RankD], etf.DistanceRank(&g, d); !(math.Abs(got-want) <= 1e-9) {
				t.Fatalf("K=%d d=%d seed %d: %.12g, nearest projection at %.12g", k, d, seed, got, want)
			}
		}
	}
}

// For K = 4, d = 2 a projection with Q1 = 0 is P − uuᵀ: all u on the half sphere are tried.
func TestRankDByBruteForce(t *testing.T) {
	const k, d = 4, 2
	basis := mat.NewDense(3, k, []float64{.5, .5, -.5, -.5, .5, -.5, .5, -.5, .5, -.5, -.5, .5})
	for seed := range longtest.Of[uint64](4, 10) {
		in := withClassifier(k, d, seed)
		r := mustMeasure(t, in, Options{KeepMeans: true, Measures: []string{"all"}})
		centred := mat.NewDense(k, d, nil)
		for i := range k {
			centred.SetRow(i, minus(r.ClassMeans[i*d:][:d], r.GlobalMean))
		}
		var g mat.Dense
		g.Mul(mat.NewDense(k, d, in.W), centred.T())
		g.Scale(1/mat.Norm(&g, 2), &g)
		best := math.Inf(1)
		for a := 0.; a <= math.Pi; a += .01 {
			for b := 0.; b <= math.Pi; b += .01 {
				var u mat.VecDense
				u.MulVec(basis.T(), mat.NewVecDense(3, []float64{math.Sin(a) * math.Cos(b), math.Sin(a) * math.Sin(b), math.Cos(a)}))
				sum := 0.0
				for i := range k {
					for j := range k {
						q := -1./k - u.AtVec(i)*u.AtVec(j)
						if i == j {
							q++
						}
						sum += math.Pow(g.At(i, j)-q/math.Sqrt2, 2)
					}
				}
				best = min(best, math.Sqrt(sum))
			}
		}
		if got := r.Measures.of[KeyNC3RankD]; !(got <= best+1e-12 && got >= best-1e-4) {
			t.Errorf("seed %d: %.6f, the best of the grid %.6f", seed, got, best)
		}
	}
}

// A class of one sample has no spread to add, and only that: nothing else is missing.
func TestSingleSampleClass(t *testing.T) {
	in := gaussian[float64](61, 5, 4, .3, 3)
	keep := make([]bool, 61)
	ones := 0
	for i, c := range in.Train.Labels {
		keep[i] = c != 2 || ones == 0
		if c == 2 {
			ones++
		}
	}
	in.Only = keep
	var h []float64
	var labels []int32
	for i, row := 0, in.Train.Features.(*Rows[float64]).H; i < 61; i++ {
		if keep[i] {
			h, labels = append(h, row[i*5:][:5]...), append(labels, in.Train.Labels[i])
		}
	}
	for _, im := range []Imbalance{PerSample, PerClass} {
		r := mustMeasure(t, in, Options{Imbalance: im})
		want := newNaive(h, 5, labels, 4, im).measures(in.W, in.B)
		for _, key := range []string{KeyNC1Pinv, KeyNC1TraceRatio, KeyTraceWithin, KeyCDNV, KeyRankBetween} {
			w, known := want[key]
			if key == KeyRankBetween {
				w, known = 3, true
			}
			if got, ok := r.Measures.of[key]; !ok || !known || !(math.Abs(got-w) <= 1e-12*(1+w)) {
				t.Errorf("per %s, %s: %g (missing %q), want %g (%t)", im, key, got, r.Missing[key], w, known)
			}
		}
	}
	m := momentsOf(t, Input[float64]{Classes: 4, Train: Memory(h, 5, labels)}, true, 0, len(labels))
	r, err := m.Report(nil, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Measures.of[KeyNC1Pinv], mustMeasure(t, in, Options{}).Measures.of[KeyNC1Pinv]; !(math.Abs(got-want) <= 1e-12*want) || want == 0 {
		t.Errorf("of moments: NC1 %g (%q), want %g", got, r.Missing[KeyNC1Pinv], want)
	}
}

// One sample in every class: no spread is seen, but means and rank are.
func TestSingleSamplesEverywhere(t *testing.T) {
	in := gaussian[float64](4, 6, 4, .3, 5)
	in.Train.Labels = []int32{0, 1, 2, 3}
	r := mustMeasure(t, in, Options{})
	for _, key := range []string{KeyNC1Pinv, KeyTraceWithin, KeyCDNV, KeyNC1TraceRatio} {
		if !strings.Contains(r.Missing[key], "single sample") {
			t.Errorf("%s: %g, reason %q", key, r.Measures.of[key], r.Missing[key])
		}
	}
	if r.Measures.of[KeyRankBetween] != 3 || !(r.Measures.of[KeyTraceBetween] > 0) {
		t.Errorf("rank %g (%q), between %g", r.Measures.of[KeyRankBetween], r.Missing[KeyRankBetween], r.Measures.of[KeyTraceBetween])
	}
}

// reversed returns three classes: the same samples twice, in reversed order, and another one. With alone the third is
// left out.
func reversed(n, d int, offset float64, alone bool, seed uint64) Input[float64] {
	rng := rand.New(rand.NewPCG(seed, 5))
	var h []float64
	var labels []int32
	for i := range n {
		for range d {
			h = append(h, offset+rng.NormFloat64())
		}
		labels = append(labels, int32(i/n))
	}
	for i := n - 1; i >= 0; i-- {
		h = append(h, h[i*d:][:d]...)
		labels = append(labels, 1)
	}
	if !alone {
		for range n * d {
			h = append(h, 3*offset+5+rng.NormFloat64())
		}
		for range n {
			labels = append(labels, 2)
		}
	}
	return Input[float64]{Train: Memory(h, d, labels)}
}

// Sums in another order differ by rounding: such means are one mean.
func TestMeansThatDifferByRounding(t *testing.T) {
	for _, n := range []int{30, 500, 3000} {
		for _, offset := range []float64{0, 1, 1e5} {
			for seed := range uint64(3) {
				r := mustMeasure(t, reversed(n, 7, offset, false, seed), Options{})
				for key, reason := range map[string]string{KeyCDNV: "classes 0 and 1 have the same mean", KeyGNC2Log: "same direction", KeyGNC2Riesz: "same direction"} {
					if !strings.Contains(r.Missing[key], reason) {
						t.Errorf("n=%d offset %g: %s: %g, reason %q", n, offset, key, r.Measures.of[key], r.Missing[key])
					}
				}
				if _, ok := r.Measures.of[KeyNC1TraceRatio]; !ok {
					t.Errorf("n=%d: the trace ratio is missing: %q", n, r.Missing[KeyNC1TraceRatio])
				}
				r = mustMeasure(t, reversed(n, 7, offset, true, seed), Options{})
				for _, key := range []string{KeyCDNV, KeyNC1Pinv, KeyNC1TraceRatio, KeyNC2NormCV, KeyNC2MeansCentred, KeyGNC2Log} {
					if v, ok := r.Measures.of[key]; ok {
						t.Errorf("n=%d offset %g, two classes: %s is %g", n, offset, key, v)
					}
				}
			}
		}
	}
}

// Means a thousand times further apart than rounding are two means.
func TestMeansThatNearlyCoincide(t *testing.T) {
	const n, d = 40, 6
	rng := rand.New(rand.NewPCG(1, 1))
	var h []float64
	for i := range 2 * n {
		for j := range d {
			x := 1 + rng.NormFloat64()
			if i >= n {
				x = h[(i-n)*d+j] + 1e-9
			}
			h = append(h, x)
		}
	}
	labels := make([]int32, 2*n)
	for i := n; i < 2*n; i++ {
		labels[i] = 1
	}
	r := mustMeasure(t, Input[float64]{Train: Memory(h, d, labels)}, Options{})
	variance := r.Measures.of[KeyTraceWithin]
	if got, want := r.Measures.of[KeyCDNV], variance/(d*1e-18); !(math.Abs(got/want-1) <= 1e-5) {
		t.Errorf("cdnv %g (%q), want %g", got, r.Missing[KeyCDNV], want)
	}
}

// Spread 1e-5 beside a mean of length √d: squares of the small singular values are below the rounding of the large one's.
func TestRanksKeepSmallSingularValues(t *testing.T) {
	for _, c := range []struct {
		n, d   int
		spread float64
	}{{longtest.Of(300, 600), longtest.Of(256, 512), 1e-5}, {60, 200, 1e-5}, {200, 40, 1e-7}, {40, 40, 1e-4}} {
		rng := rand.New(rand.NewPCG(2, uint64(c.n)))
		x := mat.NewDense(c.n, c.d, nil)
		for i := range c.n {
			for j := range c.d {
				x.Set(i, j, 1+c.spread*rng.NormFloat64())
			}
		}
		var svd mat.SVD
		svd.Factorize(x, mat.SVDNone)
		sum, square, entropy := 0.0, 0.0, 0.0
		for _, s := range svd.Values(nil) {
			sum += s
			square += s * s
		}
		for _, s := range svd.Values(nil) {
			entropy -= s / sum * math.Log(s/sum)
		}
		r := mustMeasure(t, Input[float64]{Train: Memory(x.RawMatrix().Data, c.d, make([]int32, c.n))}, Options{Measures: []string{KeyNumericalRank}})
		if got, want := r.Measures.of[KeyNumericalRank], sum*sum/square; !(math.Abs(got-want) <= 1e-11*want) {
			t.Errorf("%+v: numerical rank %.15g, by SVD %.15g", c, got, want)
		}
		if got, want := r.PerClass["effective_rank"][0], math.Exp(entropy); !(math.Abs(got-want) <= 1e-10*want) {
			t.Errorf("%+v: effective rank %.15g, by SVD %.15g", c, got, want)
		}
		if got, want := r.PerClass["stable_rank"][0], square/svd.Values(nil)[0]/svd.Values(nil)[0]; !(math.Abs(got-want) <= 1e-13*want) {
			t.Errorf("%+v: stable rank %.17g, by SVD %.17g", c, got, want)
		}
	}
}
