package spectrum

import (
	"math"
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
		got, ok := Of(a)
		if !ok || len(got) != n {
			t.Fatalf("%v, %v", got, ok)
		}
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-13*float64(n)) {
				t.Errorf("eigenvalue %d: %g, wanted %g", i, got[i], want[i])
			}
		}
	})
	if got, ok := Of(new(mat.SymDense)); !ok || len(got) != 0 {
		t.Errorf("of nothing: %v, %v", got, ok)
	}
}
