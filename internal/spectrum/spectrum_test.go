package spectrum

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Eigenvalues are those that gonum finds beside vectors.
func TestOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		x := rapid.SliceOfN(rapid.Float64Range(-1, 1), n*n, n*n).Draw(t, "x")
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, x[i*n+j])
			}
		}
		var beside mat.EigenSym
		if !beside.Factorize(a, true) {
			t.Skip("gonum does not converge")
		}
		want := beside.Values(nil)
		columns := slices.Clone(a.RawSymmetric().Data)
		found, solved := Vectors(columns, n)
		if !solved || !near(found, want) {
			t.Fatalf("%v, %v, wanted %v", found, solved, want)
		}
		for i := range n { // a V = V diag
			for j := range n {
				sum := 0.0
				for l := range n {
					sum += a.At(i, l) * columns[l*n+j]
				}
				if !(math.Abs(sum-found[j]*columns[i*n+j]) <= 1e-13*float64(n)) {
					t.Fatalf("eigenvector %d: entry %d is %g, wanted %g times it", j, i, sum, found[j])
				}
			}
		}
		got, ok := Of(slices.Clone(a.RawSymmetric().Data), n)
		if !ok || len(got) != n {
			t.Fatalf("%v, %v", got, ok)
		}
		if !near(got, want) {
			t.Errorf("%g, wanted %g", got, want)
		}
	})
	if got, ok := Of(nil, 0); !ok || len(got) != 0 {
		t.Errorf("of nothing: %v, %v", got, ok)
	}
}

// near reports whether values that are of size 1 agree but for rounding.
func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) <= 1e-13*float64(len(want)) })
}

func TestSingular(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := rapid.IntRange(1, 9).Draw(t, "m"), rapid.IntRange(1, 9).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Float64Range(-1, 1), m*n, m*n).Draw(t, "a")
		var beside mat.SVD
		if !beside.Factorize(mat.NewDense(m, n, slices.Clone(a)), mat.SVDNone) {
			t.Skip("gonum does not converge")
		}
		want := beside.Values(nil)
		if got, _, ok := Singular(slices.Clone(a), m, n, false); !ok || !near(got, want) {
			t.Fatalf("%v, %v, wanted %v", got, ok, want)
		}
		got, rows, ok := Singular(slices.Clone(a), m, n, true)
		if !ok || !near(got, want) || len(rows) != min(m, n)*n {
			t.Fatalf("with vectors: %v, %v, wanted %v", got, ok, want)
		}
		for i := range got { // aᵀ(a v) = s² v
			v, back := rows[i*n:][:n], make([]float64, n)
			for r := range m {
				sum := 0.0
				for j, x := range v {
					sum += a[r*n+j] * x
				}
				for j := range back {
					back[j] += sum * a[r*n+j]
				}
			}
			for j, x := range v {
				if !(math.Abs(back[j]-got[i]*got[i]*x) <= 1e-12*float64(m*n)) {
					t.Fatalf("vector %d: entry %d is %g, wanted %g", i, j, back[j], got[i]*got[i]*x)
				}
			}
			if size := dot(v, v); !(math.Abs(size-1) <= 1e-12) {
				t.Fatalf("vector %d has the squared length %g", i, size)
			}
		}
	})
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
