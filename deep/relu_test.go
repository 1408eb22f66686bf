package deep

import (
	"flag"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/ufm"
)

// rectified is a problem with ReLUs, one width, one penalty and q as asked.
func rectified(L, K, d int, q float64) Config {
	c := uniform(L, K, 1, d, q/float64(K))
	c.ReLU = true
	return c
}

func known(t interface {
	Helper()
	Fatalf(string, ...any)
}, c Config) Known {
	t.Helper()
	k, err := c.Known()
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return k
}

// fewer lets rapid draw so many cases in the share of a long test, unless they are counted on the command line.
func fewer(t *testing.T, checks int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if longtest.Whole() || testing.Short() || f.Value.String() != f.DefValue {
		return
	}
	f.Value.Set(strconv.Itoa(checks))
	t.Cleanup(func() { f.Value.Set(f.DefValue) })
}

// TestKnownPointsAreThere: the point of the blocks, put through the layers, has the objective that their costs add up to.
func TestKnownPointsAreThere(t *testing.T) {
	fewer(t, 12)
	rapid.Check(t, func(rt *rapid.T) {
		L, K := rapid.IntRange(2, 5).Draw(rt, "L"), rapid.IntRange(2, 12).Draw(rt, "K")
		c := Config{K: K, N: rapid.IntRange(1, 3).Draw(rt, "n"), ReLU: true}
		for range L {
			c.Widths = append(c.Widths, rapid.IntRange(2, 14).Draw(rt, "d"))
		}
		for range L + 1 {
			c.Lambdas = append(c.Lambdas, math.Exp(rapid.Float64Range(-6.5, -3).Draw(rt, "log λ")))
		}
		k := known(rt, c)
		if f := c.Eval(c.Place(k), nil); !(math.Abs(f-k.Objective) < 1e-10) || !(k.Objective <= k.Collapse+1e-12) {
			rt.Fatalf("%+v: %s has %.12g at its point, its costs add to %.12g; collapse %.12g", c, k.Name, f, k.Objective, k.Collapse)
		}
	})
}

// TestTwoLayersAreThoseOfUFM: for L = 2 the pentagon and the hexagon are those below the orthogonal frame of Tirer & Bruna's theorem.
func TestTwoLayersAreThoseOfUFM(t *testing.T) {
	for _, row := range []struct {
		K    int
		q    float64
		name string
	}{{6, .38, "turned hexagon"}, {6, .396, "turned hexagon"}, {5, .38, "turned pentagon"}, {12, .39, "2 turned hexagons"}, {4, .3, "4 orthogonal columns"}, {6, .3, "6 orthogonal columns"}} {
		k := known(t, rectified(2, row.K, row.K+2, row.q))
		l := row.q / float64(row.K)
		want, err := ufm.Config{Model: ufm.ReLU3, K: row.K, N: 1, D: row.K + 2, L2: l, L1: l, LH1: l}.Exact()
		if err != nil || !(math.Abs(k.Objective-float64(want.Objective)) < 1e-9) || k.Name != row.name {
			t.Errorf("K = %d, q = %g: %s with %.12g, ufm has %s with %.12g", row.K, row.q, k.Name, k.Objective, want.Regime, float64(want.Objective))
		}
		if want := map[string]int{"turned hexagon": 2, "2 turned hexagons": 4}[row.name]; want > 0 && k.Rank != want {
			t.Errorf("%s: rank %d, wanted %d", k.Name, k.Rank, want)
		}
	}
}

// TestLowRankBeatsCollapse: with four layers and ten classes the edges of five points, of rank 5, lie far below neural collapse, and
// descents from there go no more than a little lower.
func TestLowRankBeatsCollapse(t *testing.T) {
	type setting struct {
		L, K, rank int
		q, share   float64
	}
	whole := []setting{{4, 10, 5, .1, .1}, {4, 15, 6, .1, .15}, {5, 15, 6, .05, .2}}
	for _, row := range longtest.Of(whole[:1], whole) {
		c := rectified(row.L, row.K, row.K+2, row.q)
		k := known(t, c)
		if !k.Lower || !strings.HasPrefix(k.Name, "edges of ") || k.Rank != row.rank || !(k.Objective < k.Collapse*(1-row.share)) {
			t.Errorf("L = %d, K = %d: %+v", row.L, row.K, k)
		}
		found, err := c.Search(t.Context(), k.Objective, c.Place(k), 0, 1, nil)
		if err != nil || !(*found.Descent <= k.Objective+1e-9) || !(*found.Descent > 0.8*k.Objective) {
			t.Errorf("L = %d, K = %d: a descent from %.8g ends at %.8g, %v", row.L, row.K, k.Objective, *found.Descent, err)
		}
		linear := c
		linear.ReLU = false
		if e, err := linear.Solve(); err != nil || e.Objective != k.Collapse || e.Regime != "collapse" {
			t.Errorf("neural collapse is %g, that of the linear model %+v", k.Collapse, e)
		}
	}
}

// TestNarrowLayersAreKept: low rank lets more classes through a narrow layer, and no block needs more rows than there are.
func TestNarrowLayersAreKept(t *testing.T) {
	c := Config{K: 10, N: 1, Widths: []int{10, 5, 5, 5}, Lambdas: []float64{.001, .001, .001, .001, .001}, ReLU: true}
	k := known(t, c)
	if strings.Contains(k.Name, "zero") || k.Rank > 5 || !(k.Objective < k.Collapse/2) {
		t.Errorf("five rows: %+v", k)
	}
	c.Widths[0] = 4
	if k := known(t, c); !strings.Contains(k.Name, "6 at zero") {
		t.Errorf("four rows before W_L: %+v", k)
	}
}

// TestGradient compares with central differences, with ReLUs and with cross entropy, and without.
func TestGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := random(t)
		c.ReLU, c.CE = rapid.Bool().Draw(t, "relu"), rapid.Bool().Draw(t, "ce")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		x, v, at := c.start(rng), c.start(rng), make([]float64, c.size())
		grad := make([]float64, c.size())
		c.Eval(c.point(x), c.point(grad))
		value := func(h float64) float64 {
			for i := range at {
				at[i] = x[i] + h*v[i]
			}
			return c.Eval(c.point(at), nil)
		}
		along := 0.0
		for i := range v {
			along += grad[i] * v[i]
		}
		h, tolerance := 1e-5, 1e-7
		if c.ReLU {
			h, tolerance = 1e-7, 1e-5 // short, so that kinks are seldom crossed; one that is crossed bends by little
		}
		if d := (value(h) - value(-h)) / (2 * h); !(math.Abs(d-along) < tolerance*(1+math.Abs(along))) {
			t.Fatalf("%+v: slope %g, by differences %g", c, along, d)
		}
	})
}

// TestCrossEntropyIsTheMeanOverClasses, with its value at zero and that of one layer.
func TestCrossEntropy(t *testing.T) {
	c := uniform(1, 4, 3, 6, 0.01)
	c.CE = true
	s, err := c.Symmetric()
	want, errU := ufm.Config{Model: ufm.CE, K: 4, N: 3, D: 6, LW: 0.01, LH: 0.01, LB: ufm.NoBias}.Exact()
	if err != nil || errU != nil || !(math.Abs(s.Objective-float64(want.Objective)) < 1e-9) || !(math.Abs(s.Margin-float64(want.Margin)) < 1e-6) {
		t.Errorf("one layer: %+v (%v), ufm has %.12g and margin %g (%v)", s, err, float64(want.Objective), float64(want.Margin), errU)
	}
	zero := c.point(make([]float64, c.size()))
	if f := c.Eval(zero, nil); !(math.Abs(f-math.Log(4)) < 1e-15) || c.AtZero() != math.Log(4) {
		t.Errorf("zero: %g", f)
	}
	three := uniform(3, 3, 2, 4, 0.002)
	three.CE = true
	s, err = three.Symmetric()
	if err != nil {
		t.Fatal(err)
	}
	found, err := three.Search(t.Context(), s.Objective, nil, 10, 1, nil)
	if err != nil || found.Reached == 0 || !(found.Best >= s.Objective-1e-9) {
		t.Errorf("three layers, three classes: symmetric %.10g, found %+v, %v", s.Objective, found, err)
	}
	large := uniform(3, 3, 1, 4, 10)
	large.CE = true
	if s, err := large.Symmetric(); err != nil || s.Margin != 0 || s.Objective != math.Log(3) {
		t.Errorf("large penalties: %+v, %v", s, err)
	}
}

// TestWhatIsNotKnown: each answer says for which problems it is one.
func TestWhatIsNotKnown(t *testing.T) {
	mse, ce, relu := uniform(3, 4, 1, 5, 0.01), uniform(3, 4, 1, 5, 0.01), rectified(3, 4, 5, 0.1)
	ce.CE = true
	narrow := ce
	narrow.Widths = []int{5, 2, 5}
	one, many := rectified(1, 4, 5, 0.1), rectified(2, mostClasses+1, 5, 0.1)
	for want, err := range map[string]error{
		"squared error without a ReLU":  second(relu.Solve()),
		"without a ReLU":                second(ce.Solve()),
		"of cross entropy":              second(mse.Symmetric()),
		"width 2 is below K − 1":        second(narrow.Symmetric()),
		"at least 2 layers":             second(one.Known()),
		"squared error with a ReLU":     second(mse.Known()),
		"wanted at most 1000 with a Re": second(many.Known()),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestBlockShapes: T has orthonormal rows but for their common direction, and features at the bound have a zero and nothing below it.
func TestBlockShapes(t *testing.T) {
	for _, b := range blockShapes() {
		p, m := b.t.Dims()
		for _, turned := range []*mat.Dense{b.t, b.u} {
			var frame, sums mat.Dense
			frame.Mul(turned, turned.T())
			ones := mat.NewDense(m, 1, nil)
			ones.Apply(func(int, int, float64) float64 { return 1 }, ones)
			sums.Mul(turned, ones)
			for i := range p {
				for j := range p {
					want := -1 / float64(p)
					if i == j {
						want++
					}
					if !(math.Abs(frame.At(i, j)-want) < 1e-12) || !(math.Abs(sums.At(i, 0)) < 1e-12) {
						t.Fatalf("%s: TTᵀ has %g at %d, %d; row sum %g", b.name, frame.At(i, j), i, j, sums.At(i, 0))
					}
				}
			}
		}
		least := math.Inf(1)
		for _, v := range b.t.RawMatrix().Data {
			least = min(least, b.need/math.Sqrt(float64(p*m))+v)
		}
		if !(math.Abs(least) < 1e-15) || !(b.need <= 2+1e-12 || strings.HasPrefix(b.name, "edges")) {
			t.Errorf("%s needs %g: the least entry is %g", b.name, b.need, least)
		}
	}
}

// TestChainDerivatives compares the slopes of a block's cost with differences, for every kind of block and depth.
func TestChainDerivatives(t *testing.T) {
	for L := 2; L <= 5; L++ {
		for _, b := range []block{polygon(5, true), polygon(6, false), edges(5)} {
			c := rectified(L, 10, 12, 0.1)
			for i := range c.Lambdas {
				c.Lambdas[i] *= 1 + float64(i)/3
			}
			chain, rng := c.chain(b), rand.New(rand.NewPCG(8, uint64(L)))
			x := chain.start(-0.4)
			for i := range x {
				x[i] += 0.1 * rng.NormFloat64()
			}
			grad := make([]float64, len(x))
			chain.eval(x, grad)
			for i := range x {
				const h = 1e-6
				at := x[i]
				x[i] = at + h
				up := chain.eval(x, nil)
				x[i] = at - h
				down := chain.eval(x, nil)
				x[i] = at
				if d := (up - down) / (2 * h); !(math.Abs(d-grad[i]) < 1e-7*(1+math.Abs(d))) {
					t.Errorf("L = %d, %s: slope %d is %g, by differences %g", L, b.name, i, grad[i], d)
				}
			}
		}
	}
}
