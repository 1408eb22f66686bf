package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
)

// gramCase is a row of the Gram matrix of vectors about a shared one, with the vectors themselves.
type gramCase struct {
	row     GramRow
	own     GramVector
	g       []float64
	centred [][]float64
	shared  []float64
}

func newGramCase(rng *rand.Rand, n, d int) *gramCase {
	c := &gramCase{shared: make([]float64, d)}
	for p := range c.shared {
		c.shared[p] = rng.NormFloat64()
	}
	vector := func() ([]float64, GramVector) {
		x, v := make([]float64, d), GramVector{}
		whole := 0.0
		for p := range x {
			x[p] = 3 * rng.NormFloat64()
			v.Square += x[p] * x[p]
			v.Shift += x[p]*c.shared[p] + c.shared[p]*c.shared[p]/2
			whole += (x[p] + c.shared[p]) * (x[p] + c.shared[p])
		}
		v.Unit, v.Whole = 1/math.Sqrt(v.Square), 1/math.Sqrt(whole)
		return x, v
	}
	own, v := vector()
	c.own = v
	for range n {
		x, v := vector()
		c.centred = append(c.centred, x)
		c.row.Unit, c.row.Whole = append(c.row.Unit, v.Unit), append(c.row.Whole, v.Whole)
		c.row.Shift, c.row.Square = append(c.row.Shift, v.Shift), append(c.row.Square, v.Square)
		c.g = append(c.g, Dot(own, x))
	}
	c.row.Distance, c.row.Inverse = make([]float64, n), make([]float64, n)
	c.centred = append(c.centred, own)
	return c
}

func closely(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }

// TestGramRow compares with what the vectors themselves say.
func TestGramRow(t *testing.T) {
	const n, d, ideal = 53, 7, .02
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		c := newGramCase(rand.New(rand.NewPCG(1, 2)), n, d)
		if !c.row.Walk(c.g, c.own, ideal, 1e-6) {
			t.Fatalf("%s: a row of random vectors is not exact", name)
		}
		var want GramRow
		want.LeastSquared = math.Inf(1)
		own := c.centred[n]
		for j, x := range c.centred[:n] {
			apart, unit, whole := 0.0, 0.0, 0.0
			for p := range x {
				apart += (x[p] - own[p]) * (x[p] - own[p])
				u := x[p]*c.row.Unit[j] - own[p]*c.own.Unit
				unit += u * u
				whole += (x[p] + c.shared[p]) * (own[p] + c.shared[p])
			}
			cosine := c.g[j] * c.row.Unit[j] * c.own.Unit
			want.Away += math.Abs(cosine + ideal)
			want.MostAway = max(want.MostAway, math.Abs(cosine+ideal))
			want.MostCosine = max(want.MostCosine, math.Abs(whole)*c.row.Whole[j]*c.own.Whole)
			want.InverseSum += 1 / apart
			want.MostInverse = max(want.MostInverse, 1/apart)
			want.LeastSquared = min(want.LeastSquared, unit)
			if !closely(c.row.Distance[j], math.Sqrt(unit)) || !closely(c.row.Inverse[j], 1/apart) {
				t.Fatalf("%s: element %d: %g and %g, want %g and %g", name, j, c.row.Distance[j], c.row.Inverse[j], math.Sqrt(unit), 1/apart)
			}
		}
		got := c.row
		for _, v := range [][2]float64{{got.Away, want.Away}, {got.MostAway, want.MostAway}, {got.MostCosine, want.MostCosine},
			{got.InverseSum, want.InverseSum}, {got.MostInverse, want.MostInverse}, {got.LeastSquared, want.LeastSquared}} {
			if !closely(v[0], v[1]) {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// TestGramRowMatchesGeneric wants the bits of the generic version, and its refusal of what cancels wherever it stands.
func TestGramRowMatchesGeneric(t *testing.T) {
	for _, name := range isa.Available()[1:] {
		for n := range 3*kernel.Parts + 2 {
			walk := func(set string, change func(c *gramCase)) (GramRow, bool) {
				kerneltest.Use(t, set)
				c := newGramCase(rand.New(rand.NewPCG(3, uint64(n))), n, 12)
				change(c)
				exact := c.row.Walk(c.g, c.own, .1, 1e-6)
				return c.row, exact
			}
			got, exact := walk(name, func(*gramCase) {})
			want, _ := walk("generic", func(*gramCase) {})
			if !exact {
				t.Fatalf("%s, n=%d: not exact", name, n)
			}
			for _, v := range [][2]float64{{got.Away, want.Away}, {got.MostAway, want.MostAway}, {got.MostCosine, want.MostCosine},
				{got.InverseSum, want.InverseSum}, {got.MostInverse, want.MostInverse}, {got.LeastSquared, want.LeastSquared}} {
				if v[0] != v[1] {
					t.Fatalf("%s, n=%d: %.17g, want %.17g", name, n, v[0], v[1])
				}
			}
			for j := range n {
				if got.Distance[j] != want.Distance[j] || got.Inverse[j] != want.Inverse[j] {
					t.Fatalf("%s, n=%d: element %d has other bits", name, n, j)
				}
				same := func(c *gramCase) { c.g[j], c.row.Unit[j], c.row.Square[j] = c.own.Square, c.own.Unit, c.own.Square }
				none := func(c *gramCase) { c.g[j] = math.NaN() }
				squares := func(c *gramCase) { // alone: no vectors do that
					c.g[j] = math.Abs(c.g[j])
					c.row.Square[j] = 2*c.g[j] - c.own.Square
				}
				for what, change := range map[string]func(*gramCase){"one vector twice": same, "NaN": none, "squares that cancel": squares} {
					if _, exact := walk(name, change); exact {
						t.Fatalf("%s, n=%d: %s at %d passes for exact", name, n, what, j)
					}
				}
			}
		}
	}
}
