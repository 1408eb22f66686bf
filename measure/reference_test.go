package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
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
			if got, ok := r.Measures[key]; !ok || !(math.Abs(got-v) <= tolerance) {
				t.Fatalf("%s: got %.17g (missing %q), naive %.17g, condition %g", key, got, r.Missing[key], v, condition)
			}
		}
	})
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
				if got := r.Measures[KeyNC1Pinv]; !(math.Abs(got-want) <= 1e-8*want) {
					t.Errorf("%s: NC1 %.12g, want %.12g", name, got, want)
				}
				if got := r.Measures[KeyRankBetween]; got != float64(min(c.d, c.k-1)) {
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
