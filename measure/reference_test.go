package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/internal/longtest"
)

// naive computes the measures as the papers write them, with d×d covariances, outer products and a
// pseudo-inverse, in float64: the second algorithm.
type naive struct {
	h      [][]float64
	labels []int32
	k, d   int
	im     Imbalance
	count  []float64
	mean   [][]float64
	centre []float64
}

func newNaive(h []float64, d int, labels []int32, k int, im Imbalance) *naive {
	n := &naive{labels: labels, k: k, d: d, im: im, count: make([]float64, k), centre: make([]float64, d)}
	for i := range labels {
		n.h = append(n.h, h[i*d:][:d])
	}
	for range k {
		n.mean = append(n.mean, make([]float64, d))
	}
	for i, c := range labels {
		n.count[c]++
		for j, x := range n.h[i] {
			n.mean[c][j] += x
		}
	}
	for c, m := range n.mean {
		for j := range m {
			if im == PerSample {
				n.centre[j] += m[j] / float64(len(labels))
			} else {
				n.centre[j] += m[j] / n.count[c] / float64(k)
			}
			m[j] /= n.count[c]
		}
	}
	return n
}

// weight is what a sample of class c counts for.
func (n *naive) weight(c int32) float64 {
	if n.im == PerClass {
		return 1 / (float64(n.k) * n.count[c])
	}
	return 1 / float64(len(n.labels))
}

func addOuter(to *mat.Dense, x, y []float64, w float64) {
	for i, a := range x {
		for j, b := range y {
			to.Set(i, j, to.At(i, j)+w*a*b)
		}
	}
}

func minus(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range z {
		z[i] = x[i] - y[i]
	}
	return z
}

func (n *naive) covariances() (within, between *mat.Dense) {
	within, between = mat.NewDense(n.d, n.d, nil), mat.NewDense(n.d, n.d, nil)
	for i, c := range n.labels {
		r := minus(n.h[i], n.mean[c])
		addOuter(within, r, r, n.weight(c))
	}
	for _, m := range n.mean {
		r := minus(m, n.centre)
		addOuter(between, r, r, 1/float64(n.k))
	}
	return within, between
}

// nc1 is tr(Σ_W pinv(Σ_B))/K with singular values up to rcond·max cut.
func nc1(within, between mat.Matrix, k int, rcond float64) float64 {
	var svd mat.SVD
	if !svd.Factorize(between, mat.SVDThin) {
		panic("svd")
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	sum := 0.0
	for j, s := range svd.Values(nil) {
		if s <= rcond*svd.Values(nil)[0] {
			continue
		}
		var t mat.VecDense
		t.MulVec(within, v.ColView(j))
		sum += mat.Dot(u.ColView(j), &t) / s
	}
	return sum / float64(k)
}

func (n *naive) logits(h, w, b []float64) []float64 {
	z := make([]float64, n.k)
	for c := range z {
		for j, x := range h {
			z[c] += w[c*n.d+j] * x
		}
		if b != nil {
			z[c] += b[c]
		}
	}
	return z
}

func argmax(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

func cosine(x, y []float64) float64 { return plainDot(x, y) / math.Sqrt(plainDot(x, x)*plainDot(y, y)) }

func plainDot(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// measures fills what can be compared.
func (n *naive) measures(w, b []float64) map[string]float64 {
	within, between := n.covariances()
	out := map[string]float64{
		KeyNC1Pinv: nc1(within, between, n.k, 1e-11), KeyTraceWithin: mat.Trace(within), KeyTraceBetween: mat.Trace(between),
		KeyNC1TraceRatio: mat.Trace(within) / mat.Trace(between),
	}
	wCentre := make([]float64, n.d)
	for c := range n.k {
		for j := range n.d {
			wCentre[j] += w[c*n.d+j] / float64(n.k)
		}
	}
	out[KeyMarginMin], out[KeyMarginMax] = math.Inf(1), math.Inf(-1)
	for i, c := range n.labels {
		z := n.logits(n.h[i], w, b)
		distance, cos := make([]float64, n.k), make([]float64, n.k)
		other := math.Inf(-1)
		for j := range n.k {
			r := minus(n.h[i], n.mean[j])
			distance[j] = -plainDot(r, r)
			cos[j] = cosine(minus(n.h[i], n.centre), minus(w[j*n.d:][:n.d], wCentre))
			if j != int(c) {
				other = math.Max(other, cos[j])
			}
		}
		if argmax(z) == int(c) {
			out[KeyAccuracy] += n.weight(c)
		}
		if argmax(distance) == int(c) {
			out[KeyNCCAccuracy] += n.weight(c)
		}
		if argmax(distance) != argmax(z) {
			out[KeyNC4NCCMismatch] += n.weight(c)
		}
		margin := cos[c] - other
		out[KeyMarginMean] += n.weight(c) * margin
		out[KeyMarginMin], out[KeyMarginMax] = math.Min(out[KeyMarginMin], margin), math.Max(out[KeyMarginMax], margin)
	}
	n.pairs(out, w)
	return out
}

// pairs fills what compares classes.
func (n *naive) pairs(out map[string]float64, w []float64) {
	variance := make([]float64, n.k)
	for i, c := range n.labels {
		r := minus(n.h[i], n.mean[c])
		variance[c] += plainDot(r, r) / n.count[c]
	}
	pairs, k := 0.0, float64(n.k)
	for i := range n.k {
		for j := range i {
			r := minus(n.mean[i], n.mean[j])
			out[KeyCDNV] += (variance[i] + variance[j]) / 2 / plainDot(r, r)
			c := math.Abs(cosine(minus(n.mean[i], n.centre), minus(n.mean[j], n.centre)) + 1/(k-1))
			out[KeyNC2CosDeviation] += c
			out[KeyNC2CosMax] = math.Max(out[KeyNC2CosMax], c)
			out[KeyConfMaxCos] = math.Max(out[KeyConfMaxCos], math.Abs(cosine(n.mean[i], n.mean[j])))
			pairs++
		}
	}
	out[KeyCDNV] /= pairs
	out[KeyNC2CosDeviation] /= pairs
	norms, mean, least, most := make([]float64, n.k), 0.0, math.Inf(1), 0.0
	for c, m := range n.mean {
		r := minus(m, n.centre)
		norms[c] = math.Sqrt(plainDot(r, r))
		mean += norms[c] / k
		least, most = math.Min(least, math.Sqrt(plainDot(m, m))), math.Max(most, math.Sqrt(plainDot(m, m)))
		out[KeyConfWeightAngle] = math.Max(out[KeyConfWeightAngle], math.Acos(math.Max(-1, math.Min(1, cosine(r, w[c*n.d:][:n.d])))))
	}
	spread := 0.0
	for _, x := range norms {
		spread += (x - mean) * (x - mean) / k
	}
	out[KeyNC2NormCV], out[KeyMeanNormRatio] = math.Sqrt(spread)/mean, least/most
	cosines, average := make([]float64, n.k), 0.0
	for c := range cosines {
		cosines[c] = cosine(minus(n.mean[c], n.centre), w[c*n.d:][:n.d])
		average += cosines[c] / k
	}
	for _, x := range cosines {
		out[KeyNC3Duality] += (x - average) * (x - average) / k
	}
}

// drawInput draws an unbalanced setting with at least two samples in every class.
func drawInput(t *rapid.T) Input[float64] {
	k := rapid.IntRange(2, 7).Draw(t, "K")
	d := rapid.IntRange(1, 9).Draw(t, "d")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	spread := math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "log spread"))
	in := Input[float64]{Classes: k}
	means := make([]float64, k*d)
	for i := range means {
		means[i] = rng.NormFloat64()
		in.W = append(in.W, means[i]+.3*rng.NormFloat64())
	}
	var h []float64
	var labels []int32
	for c := range k {
		in.B = append(in.B, .1*rng.NormFloat64())
		for range 2 + rng.IntN(12) {
			labels = append(labels, int32(c))
		}
	}
	rng.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	for _, c := range labels {
		for j := range d {
			h = append(h, means[int(c)*d+j]+spread*rng.NormFloat64())
		}
	}
	in.Train = Memory(h, d, labels)
	return in
}

func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		im := rapid.SampledFrom([]Imbalance{PerSample, PerClass}).Draw(t, "imbalance")
		rows := in.Train.Features.(*Rows[float64])
		want := newNaive(rows.H, rows.D, in.Train.Labels, in.Classes, im).measures(in.W, in.B)
		r, err := Measure(in, Options{Imbalance: im, KeepSpectrum: true})
		if err != nil {
			t.Fatal(err)
		}
		condition := 1.0 // NC1's error grows with the condition number of Σ_B, in both algorithms
		if n := min(rows.D, in.Classes-1); n > 0 {
			condition = r.Eigenvalues[0] / r.Eigenvalues[n-1]
		}
		if condition > 1e7 {
			t.Skip("Σ_B is too close to rank deficiency for the naive pseudo-inverse")
		}
		for key, v := range want {
			tolerance := 1e-10 * (1 + math.Abs(v))
			switch key {
			case KeyNC1Pinv:
				tolerance = 1e-13 * condition * (1 + math.Abs(v))
			case KeyConfWeightAngle, KeyConfMaxCos:
				tolerance = 1e-7 // the naive arccos loses half the digits near 0
			}
			if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-v) <= tolerance) {
				t.Fatalf("%s: got %.17g (missing %q), naive %.17g, condition %g", key, got, r.Missing[key], v, condition)
			}
		}
	})
}

// numericalRank is the mean over classes of the squared ratio of nuclear and Frobenius norm.
func (n *naive) numericalRank() float64 {
	mean := 0.0
	for c := range n.k {
		class := mat.NewDense(int(n.count[c]), n.d, nil)
		row := 0
		for i, label := range n.labels {
			if int(label) == c {
				class.SetRow(row, n.h[i])
				row++
			}
		}
		var svd mat.SVD
		svd.Factorize(class, mat.SVDNone)
		nuclear, square := 0.0, 0.0
		for _, s := range svd.Values(nil) {
			nuclear += s
			square += s * s
		}
		mean += nuclear * nuclear / square / float64(n.k)
	}
	return mean
}

// Enough rows for several parts and blocks, enough classes for Gram forms, and class sums so large that columns are shared out.
func TestLargeAgainstNaive(t *testing.T) {
	longtest.Only(t)
	type shape struct{ n, d, k int }
	for _, c := range []shape{{3000, 40, 3}, {700, 12, 70}, longtest.Of(shape{80, partialLimit/37 + 1, 37}, shape{400, partialLimit/130 + 1, 130})} {
		if testing.Short() && c.d > 1000 {
			continue
		}
		in := gaussian[float64](c.n, c.d, c.k, 2.5, 21)
		rows := in.Train.Features.(*Rows[float64])
		n := newNaive(rows.H, c.d, in.Train.Labels, c.k, PerSample)
		r := mustMeasure(t, in, Options{Measures: []string{"all"}, KeepMeans: true})
		for i, m := range n.mean {
			for j, x := range m {
				if got := r.ClassMeans[i*c.d+j]; !(math.Abs(got-x) <= 1e-12) {
					t.Fatalf("%v: mean of class %d, column %d: %g, want %g", c, i, j, got, x)
				}
			}
		}
		if c.d > 100 {
			continue // d×d covariances of this width are out of reach
		}
		want := n.measures(in.W, in.B)
		want[KeyNumericalRank] = n.numericalRank()
		if accuracy := want[KeyNCCAccuracy]; accuracy == 1 || accuracy < .2 {
			t.Fatalf("%v: nearest-centre accuracy %g decides nothing", c, accuracy)
		}
		for key, v := range want {
			tolerance := 1e-9 * (1 + math.Abs(v))
			if key == KeyConfWeightAngle {
				tolerance = 1e-7
			}
			if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-v) <= tolerance) {
				t.Errorf("%v %s: got %.17g (missing %q), naive %.17g", c, key, got, r.Missing[key], v)
			}
		}
	}
}

// Σ_B with eigenvalues 1 and 1e-10 and noise along the first only: Cholesky of the Gram matrix would lose
// six digits. Rounded to float32 the second direction is still told from zero, and what is added to NC1 is the rounding's;
// the same numbers give the same as float32 and as float64. A direction of 1e-9 is not told from zero in float32.
func TestIllConditioned(t *testing.T) {
	const d, e, small = 6, 1e-3, 1e-5
	u := etf.RandomOrthonormal(d, 2, rand.New(rand.NewPCG(8, 8)))
	a := [3][2]float64{{1 / math.Sqrt2, 1 / math.Sqrt(6)}, {-1 / math.Sqrt2, 1 / math.Sqrt(6)}, {0, -2 / math.Sqrt(6)}}
	var h []float64
	var labels []int32
	for c := range 3 {
		for _, sign := range []float64{1, -1} {
			for j := range d {
				h = append(h, (a[c][0]+sign*e)*u.At(j, 0)+small*a[c][1]*u.At(j, 1))
			}
			labels = append(labels, int32(c))
		}
	}
	r := mustMeasure(t, Input[float64]{Train: Memory(h, d, labels)}, Options{})
	if got := r.Measures.of[KeyNC1Pinv]; !(math.Abs(got-e*e) <= 1e-10*e*e) || r.Measures.of[KeyRankBetween] != 2 {
		t.Errorf("NC1 %.17g of rank %g, want %.17g of rank 2", got, r.Measures.of[KeyRankBetween], e*e)
	}
	narrow, wide := make([]float32, len(h)), make([]float64, len(h))
	for i, x := range h {
		narrow[i] = float32(x)
		wide[i] = float64(narrow[i])
	}
	single := mustMeasure(t, Input[float32]{Train: Memory(narrow, d, labels)}, Options{})
	double := mustMeasure(t, Input[float64]{Train: Memory(wide, d, labels)}, Options{})
	for key, v := range single.Measures.of {
		if got := double.Measures.of[key]; got != v {
			t.Errorf("%s: %.17g as float32, %.17g as float64", key, v, got)
		}
	}
	if got := single.Measures.of[KeyNC1Pinv]; single.Measures.of[KeyRankBetween] != 2 || !(got > e*e && got < 2*e*e) {
		t.Errorf("float32: NC1 %.9g of rank %g, want between %g and %g of rank 2", got, single.Measures.of[KeyRankBetween], e*e, 2*e*e)
	}
	cut := mustMeasure(t, Input[float32]{Train: Memory(narrow, d, labels)}, Options{RankCutoff: 1e-6})
	if got := cut.Measures.of[KeyNC1Pinv]; !(math.Abs(got-e*e) <= 1e-4*e*e) || cut.Measures.of[KeyRankBetween] != 1 {
		t.Errorf("with a cut-off of 1e-6: NC1 %.9g of rank %g, want %.9g of rank 1", got, cut.Measures.of[KeyRankBetween], e*e)
	}
}

func TestTies(t *testing.T) {
	if got := nearestMean([]float64{1, 0, 0}, []float64{0, 1, 1}); got != 1 {
		t.Errorf("nearest of two equal means: %d, want the lower, 1", got)
	}
	if got := largestSum([]float64{0, 1, 2}, []float64{0, 2, 1}); got != 1 {
		t.Errorf("largest of two equal logits: %d, want the lower, 1", got)
	}
}

// The operator from Cholesky, from Jacobi rotations and from eigenvectors gives one NC1.
func TestNC1Operators(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{60, 20, 5}, {60, 3, 6}, {400, 90, 80}, {400, 70, 80}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			in := gaussian[float64](c.n, c.d, c.k, .3, 7)
			plain := mustMeasure(t, in, Options{Measures: []string{KeyNC1Pinv, KeyRankBetween}})
			spectrum := mustMeasure(t, in, Options{Measures: []string{KeyNC1Pinv, KeyRankBetween}, KeepSpectrum: true})
			rows := in.Train.Features.(*Rows[float64])
			within, between := newNaive(rows.H, c.d, in.Train.Labels, c.k, PerSample).covariances()
			want := nc1(within, between, c.k, 1e-11)
			for name, r := range map[string]*Report{"cholesky": plain, "singular values": spectrum} {
				if got := r.Measures.of[KeyNC1Pinv]; !(math.Abs(got-want) <= 1e-8*want) {
					t.Errorf("%s: NC1 %.12g, want %.12g", name, got, want)
				}
				if got := r.Measures.of[KeyRankBetween]; got != float64(min(c.d, c.k-1)) {
					t.Errorf("%s: rank %g, want %d", name, got, min(c.d, c.k-1))
				}
			}
			for j := range min(c.d, c.k-1) {
				var eigen mat.EigenSym
				sym := mat.NewSymDense(c.d, nil)
				for a := range c.d {
					for b := range c.d {
						sym.SetSym(a, b, between.At(a, b))
					}
				}
				eigen.Factorize(sym, false)
				want := eigen.Values(nil)[c.d-1-j]
				if got := spectrum.Eigenvalues[j]; !(math.Abs(got-want) <= 1e-11*eigen.Values(nil)[c.d-1]) {
					t.Errorf("eigenvalue %d of Σ_B: got %g, want %g", j, got, want)
				}
			}
		})
	}
}
