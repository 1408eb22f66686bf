package dd

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func random(rng *rand.Rand, m, n int) [][]DD {
	x := make([][]DD, m)
	for i := range x {
		x[i] = make([]DD, n)
		for j := range x[i] {
			x[i][j] = Of(rng.NormFloat64())
		}
	}
	return x
}

// unit returns n orthonormal rows of length n (modified Gram–Schmidt, twice).
func unit(rng *rand.Rand, n int) [][]DD {
	x := random(rng, n, n)
	for range 2 {
		for i, row := range x {
			for _, u := range x[:i] {
				p := Dot(row, u)
				for j := range row {
					row[j] = row[j].Sub(p.Mul(u[j]))
				}
			}
			inverse := Of(1).Div(Norm(row))
			for j := range row {
				row[j] = row[j].Mul(inverse)
			}
		}
	}
	return x
}

// built returns Σ values_k u_kᵀ v_k, u and v the first rows of orthonormal sets (m and n long), and v.
func built(rng *rand.Rand, values []float64, m, n int) (x, v [][]DD) {
	u, v := unit(rng, m), unit(rng, n)
	x = make([][]DD, m)
	for i := range x {
		x[i] = make([]DD, n)
		for k, s := range values {
			f := u[k][i].Times(s)
			for j := range x[i] {
				x[i][j] = x[i][j].Add(f.Mul(v[k][j]))
			}
		}
	}
	return x, v
}

// A matrix built from known singular values gives them back, the small ones too.
func TestSingularValuesKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "columns")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		condition := rapid.Float64Range(0, 14).Draw(t, "log condition")
		want := make([]float64, min(m, n))
		for k := range want {
			want[k] = math.Pow(10, -condition*float64(k)/float64(max(1, len(want)-1)))
		}
		x, v := built(rng, want, m, n)
		got, directions := Singular(x, DD{})
		tolerance := 1e-29 * math.Pow(10, condition)
		for k, s := range SingularValues(x, DD{}) {
			if !(s.Sub(got[k]).Abs().Hi <= tolerance*want[k]) {
				t.Fatalf("value %d alone: %v, with directions %v", k, s, got[k])
			}
		}
		for k, s := range want {
			if e := got[k].Sub(Of(s)).Abs().Hi; !(e <= tolerance*s) {
				t.Fatalf("singular value %d of %d×%d: %v, want %g, condition 1e%.1f", k, m, n, got[k], s, condition)
			}
			if e := Dot(directions[k], v[k]).Abs().Sub(Of(1)).Abs().Hi; len(want) > 1 && condition < 1 {
				continue // values lie close together
			} else if !(e <= 1e-20) {
				t.Fatalf("direction %d is off by %g", k, e)
			}
		}
	})
}

// A direction below the floor is zero and does not disturb the rest.
func TestSingularFloor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, _ := built(rng, []float64{3, 2, 1}, 6, 9) // three of six values are rounding
	values, directions := Singular(x, Of(1e-28))
	for k, want := range []float64{3, 2, 1, 0, 0, 0} {
		if !(values[k].Sub(Of(want)).Abs().Hi <= 1e-29) {
			t.Errorf("value %d: %v", k, values[k])
		}
	}
	if got := Norm(directions[3]); got.Hi != 0 {
		t.Errorf("a direction below the floor has length %v", got)
	}
}

func TestEigenvaluesKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		u, want := unit(rng, n), make([]float64, n)
		for k := range want {
			want[k] = float64(n/2-k) * 1.25
		}
		a := make([][]DD, n)
		for i := range a {
			a[i] = make([]DD, n)
			for j := range a[i] {
				for k, s := range want {
					a[i][j] = a[i][j].Add(u[k][i].Times(s).Mul(u[k][j]))
				}
			}
		}
		for k, got := range Eigenvalues(a) {
			if e := got.Sub(Of(want[k])).Abs().Hi; !(e <= 1e-28) {
				t.Fatalf("eigenvalue %d: %v, want %g", k, got, want[k])
			}
		}
	})
}

func TestVectors(t *testing.T) {
	x, y := Vector([]float64{3, 0}), Vector([]float64{0, 4})
	if Norm(Difference(x, y)) != Of(5) || Distance2(x, y) != Of(25) || Dot(x, y) != (DD{}) {
		t.Errorf("3-4-5: %v, %v", Norm(Difference(x, y)), Distance2(x, y))
	}
}

// The sizes that the comparison of measures reaches must not take long.
func BenchmarkSingular(b *testing.B) {
	x := random(rand.New(rand.NewPCG(1, 1)), 59, 200)
	for b.Loop() {
		SingularValues(x, DD{})
	}
}

// RᵀR = xᵀx, and Rᵀy = b.
func TestTriangle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	x := random(rng, 9, 5)
	r := Triangle(x)
	columns, back := Transpose(x), Transpose(r)
	for i := range columns {
		for j := range columns {
			if e := Dot(columns[i], columns[j]).Sub(Dot(back[i], back[j])).Abs().Hi; !(e <= 1e-29) {
				t.Errorf("RᵀR is off by %g at %d, %d", e, i, j)
			}
			if i > j && r[i][j] != (DD{}) {
				t.Errorf("R has %v below the diagonal", r[i][j])
			}
		}
	}
	b := random(rng, 1, 5)[0]
	y := SolveTransposed(r, b)
	for i := range b {
		if e := Dot(back[i], y).Sub(b[i]).Abs().Hi; !(e <= 1e-28) {
			t.Errorf("Rᵀy is off by %g at %d", e, i)
		}
	}
}
