package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomSymmetric makes Q diag(1 … largest) Qᵀ for a random reflection Q.
func randomSymmetric(n int, largest float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	scale(v, math.Sqrt2/norm(v))
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = math.Pow(largest, float64(i)/float64(n-1))
	}
	reflectRows(a, v, n, n)
	for i := range n {
		reflectVector(a[i*n:][:n], v)
	}
	return a
}

func TestSpectralBound(t *testing.T) {
	for _, n := range []int{5, 80, 300} {
		for _, largest := range []float64{1, 1e3, 1e9} {
			bound := spectralBound(nil, randomSymmetric(n, largest, 4), n)
			most := math.Pow(float64(n), 1./16)
			if n <= jacobiLimit {
				most = math.Sqrt(float64(n))
			}
			if !(bound >= largest*(1-1e-12) && bound <= largest*most*(1+1e-8)) {
				t.Errorf("n=%d: bound %g of %g, want at most %.3g times as much", n, bound, largest, most)
			}
		}
	}
}

// Many classes with means of very different size are solved without eigenvalues, and classes that
// repeat are cut and counted.
func TestRankOfManyClasses(t *testing.T) {
	const k, d = 90, 120
	in := gaussian[float64](4*k, d, k, .05, 3)
	rows := in.Train.Features.(*Rows[float64])
	r := mustMeasure(t, in, Options{})
	if r.Measures.of[KeyRankBetween] != k-1 || r.Measures.of[KeyRankCut] != 0 {
		t.Fatalf("rank %g, cut %g", r.Measures.of[KeyRankBetween], r.Measures.of[KeyRankCut])
	}
	for i, c := range in.Train.Labels { // the last class becomes the mean of two others
		if c == k-1 {
			for j := range d {
				rows.H[i*d+j] = 0
			}
		}
	}
	sum := make([]float64, 2*d)
	for i, c := range in.Train.Labels {
		if c < 2 {
			axpy(sum[int(c)*d:][:d], .25, rows.H[i*d:][:d])
		}
	}
	for i, c := range in.Train.Labels {
		if c == k-1 {
			axpy(rows.H[i*d:][:d], .5, sum[:d])
			axpy(rows.H[i*d:][:d], .5, sum[d:])
			sign := 1 - 2*float64(i/k%2)
			rows.H[i*d] += sign * .01
		}
	}
	r = mustMeasure(t, in, Options{KeepSpectrum: true})
	if r.Measures.of[KeyRankBetween] != k-2 || r.Measures.of[KeyRankCut] != 1 || len(r.Eigenvalues) != k-1 {
		t.Fatalf("rank %g, cut %g, %d eigenvalues", r.Measures.of[KeyRankBetween], r.Measures.of[KeyRankCut], len(r.Eigenvalues))
	}
	if !(r.Measures.of[KeyNC1Pinv] < 1) {
		t.Errorf("NC1 %g: the cut direction counts", r.Measures.of[KeyNC1Pinv])
	}
}

// The square of shifted rows is that of the rows themselves, whatever their centre is.
func TestShiftedSquare(t *testing.T) {
	const k, d = 40, 7
	rng := rand.New(rand.NewPCG(2, 3))
	x, y, h, want := make([]float64, k*d), make([]float64, k*d), make([]float64, d), make([]float64, d*d)
	for j := range h {
		h[j] = 3 * rng.NormFloat64()
	}
	for i := range y {
		y[i] = 1 + rng.NormFloat64()
		x[i] = y[i] + h[i%d]
	}
	squareInto(nil, want, x, k, d)
	var g gram
	g.of(nil, x, x, k, d).shifted(x, y, h)
	for i, got := range g.square(x) {
		if !(math.Abs(got-want[i]) <= 1e-12*norm(want)) {
			t.Fatalf("element %d is %g, want %g", i, got, want[i])
		}
	}
	if got, want := g.total(), dot(g.rowSum(x), g.rowSum(x)); got != want || !(got > 0) {
		t.Errorf("1ᵀG1 = %g, want %g", got, want)
	}
}
