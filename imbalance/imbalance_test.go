package imbalance

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/ufm"
)

// random draws a small problem, with penalties around those at which classes come to coincide.
func random(t *rapid.T) Config {
	c := Config{Loss: rapid.SampledFrom([]Loss{CE, LS, MSE}).Draw(t, "loss"), D: 8}
	if c.Loss == LS {
		c.Smoothing = rapid.Float64Range(0, 0.5).Draw(t, "α")
	}
	for range rapid.IntRange(1, 4).Draw(t, "J") {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		c.Counts = append(c.Counts, slices.Repeat([]int{n}, rapid.IntRange(1, 3).Draw(t, "K_j"))...)
	}
	if len(c.Counts) < 2 {
		c.Counts = append(c.Counts, 7)
	}
	price := c.Apart(slices.Max(c.Counts)) * math.Exp(rapid.Float64Range(-4, 0.3).Draw(t, "log price"))
	tilt := math.Exp(rapid.Float64Range(-1, 1).Draw(t, "tilt"))
	c.LW, c.LH = price*tilt, price/tilt
	return c
}

func solved(t testing.TB, c Config) Optimum {
	t.Helper()
	o, err := c.Solve(context.Background())
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return o
}

// TestBalancedClasses compares equal counts with package ufm.
func TestBalancedClasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		K, n := rapid.IntRange(2, 8).Draw(rt, "K"), rapid.IntRange(1, 50).Draw(rt, "n")
		c := Config{Loss: rapid.SampledFrom([]Loss{CE, LS, MSE}).Draw(rt, "loss"), Counts: slices.Repeat([]int{n}, K), D: K,
			LW: math.Exp(rapid.Float64Range(-9, -1).Draw(rt, "lw")), LH: math.Exp(rapid.Float64Range(-9, -1).Draw(rt, "lh"))}
		u := ufm.Config{Model: ufm.Model(c.Loss), K: K, N: n, D: K, LW: c.LW, LH: c.LH, LB: ufm.NoBias}
		if c.Loss == LS {
			c.Smoothing = 0.2
			u.Smoothing = 0.2
		}
		want, err := u.Exact()
		if err != nil || !want.Available {
			rt.Fatalf("%v %v", want, err)
		}
		got := solved(t, c)
		if !(math.Abs(got.Objective-float64(want.Objective)) < 1e-9) || !(got.Gap < 1e-9) {
			rt.Fatalf("%+v: %.15g with gap %g, ufm has %.15g", c, got.Objective, got.Gap, float64(want.Objective))
		}
		if cos := got.CosMeans[0][0]; c.Loss == CE && cos != nil && got.Rank == K-1 && !(math.Abs(*cos+1/float64(K-1)) < 1e-6) {
			rt.Fatalf("%+v: cosine %g", c, *cos)
		}
	})
}

// TestNoSearchEndsLower: descents in W and H from random starts, which know nothing of groups, reach the optimum and not less.
func TestNoSearchEndsLower(t *testing.T) {
	longtest.Only(t)
	started, reached := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		const starts = 3
		c := random(rt)
		c.D = rapid.IntRange(1, 9).Draw(rt, "d")
		o := solved(t, c)
		if !(o.Gap <= 1e-9) {
			rt.Fatalf("%+v: gap %g", c, o.Gap)
		}
		found, err := c.Search(context.Background(), o, starts, 1, nil)
		if err != nil {
			rt.Fatal(err)
		}
		if !(found.Best >= o.Objective-1e-9) {
			rt.Fatalf("%+v: %.12g lies below %.12g", c, found.Best, o.Objective)
		}
		if c.D >= len(c.Counts) && found.Reached == 0 {
			rt.Fatalf("%+v: no start reaches %.12g, the best ends at %.12g", c, o.Objective, found.Best)
		}
		started, reached = started+starts, reached+found.Reached
	})
	if 3*reached < started { // nearly all do; in the few checks of go test -short chance leaves more than a third, too
		t.Errorf("only %d of %d starts reached the optimum", reached, started)
	}
}

// TestNarrowSquares: with squared error and a width below the rank, the formula is what descents find.
func TestNarrowSquares(t *testing.T) {
	c := Config{Loss: MSE, Counts: []int{40, 40, 40, 20, 20, 5}, D: 2, LW: 0.004, LH: 0.009}
	for d, kept := range map[int][]int{1: {1, 0, 0}, 2: {2, 0, 0}, 4: {3, 1, 0}, 6: {3, 2, 1}} {
		c.D = d
		c.LW = 0.0004
		o := solved(t, c)
		found, err := c.Search(context.Background(), o, longtest.Of(8, 20), 3, nil)
		if err != nil || !(math.Abs(found.Best-o.Objective) < 1e-9) || o.Rank != d {
			t.Errorf("d = %d: %v, the best of %+v should be %.12g of rank %d", d, err, found, o.Objective, o.Rank)
		}
		for j, g := range o.Groups {
			if g.Kept == 0 && (g.Classifier != 0 || g.Mean != 0 || g.Logit != 0) {
				t.Errorf("d = %d: group %d keeps no class, but has %+v", d, j, g)
			}
			if g.Kept != kept[j] {
				t.Errorf("d = %d: group %d keeps %d classes, wanted %d", d, j, g.Kept, kept[j])
			}
		}
	}
}

// whole is M of m and C, entry by entry, with the classes in the order of the groups.
func whole(groups []Group, m, C []float64) *mat.Dense {
	var of []int
	for j, g := range groups {
		of = append(of, slices.Repeat([]int{j}, g.Classes)...)
	}
	M := mat.NewDense(len(of), len(of), nil)
	M.Apply(func(a, b int, _ float64) float64 {
		i, j := of[a], of[b]
		v := C[i*len(groups)+j] / math.Sqrt(float64(groups[i].Classes*groups[j].Classes))
		if i == j {
			v -= m[j] / float64(groups[j].Classes)
		}
		if a == b {
			v += m[j]
		}
		return v
	}, M)
	return M
}

// TestBlocksAreTheWholeProblem compares value, penalty, gap and geometry of the reduced problem with those of the K×K matrix.
func TestBlocksAreTheWholeProblem(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := random(rt)
		slices.Sort(c.Counts)
		slices.Reverse(c.Counts)
		b, rng := c.blocks(), rand.New(rand.NewPCG(2, rapid.Uint64().Draw(rt, "seed")))
		x := make([]float64, b.size())
		for i := range x {
			x[i] = 2 * rng.NormFloat64()
		}
		f := b.eval(x, nil)
		M := whole(b.groups, b.m, b.c)
		loss, K := 0.0, len(c.Counts)
		G := mat.NewDense(K, K, nil)
		for k, n := range c.Counts {
			z := mat.Col(nil, k, M)
			for i := range z {
				z[i] /= math.Sqrt(float64(n))
			}
			value, slope := c.sample(k, z)
			loss += float64(n) / c.Samples() * value
			for i, s := range slope {
				G.Set(i, k, s*math.Sqrt(float64(n))/c.Samples())
			}
		}
		if got := b.loss(); !near(got, loss, 1e-12) {
			rt.Fatalf("loss %v, of the matrix %v", got, loss)
		}
		sum := 0.0
		for _, s := range singular(M) {
			sum += s
		}
		var parts float64
		for _, s := range singular(b.matrix(b.c)) {
			parts += s
		}
		for j, g := range b.groups {
			parts += float64(g.Classes-1) * b.m[j]
		}
		if !near(parts, sum, 1e-12) || !(f >= loss+c.Mu()*sum-1e-9) {
			rt.Fatalf("nuclear norm %v, of the matrix %v; objective %v with factors, %v without", parts, sum, f, loss+c.Mu()*sum)
		}
		if top := singular(G)[0]; !near(b.gap(0), dual(c, G, min(1, c.Mu()/top)), 1e-9) {
			rt.Fatalf("dual value %v, of the matrix %v", b.gap(0), dual(c, G, min(1, c.Mu()/top)))
		}
		checkGeometry(rt, c, b, M)
	})
}

// dual is the conjugate at θ·G of the loss by M, where that is positive.
func dual(c Config, G *mat.Dense, theta float64) (sum float64) {
	for k, n := range c.Counts {
		for i := range c.Counts {
			target := c.Smoothing / float64(len(c.Counts))
			if i == k {
				target += 1 - c.Smoothing
			}
			v := theta * G.At(i, k) * c.Samples() / math.Sqrt(float64(n))
			switch q := v + target; {
			case c.Loss == MSE:
				sum += float64(n) / c.Samples() * (v*v/2 + v*target)
			case q > 0:
				sum += float64(n) / c.Samples() * q * math.Log(q)
			}
		}
	}
	return max(sum, 0)
}

func checkGeometry(rt *rapid.T, c Config, b *blocks, M *mat.Dense) {
	got := c.geometry(b.groups, b.m, b.matrix(b.c))
	left, right := roots(M)
	scale, first := math.Sqrt(c.LH/c.LW), 0
	for j, g := range b.groups {
		w, h := math.Sqrt(scale*left.At(first, first)), math.Sqrt(right.At(first, first)/scale/float64(g.Count))
		if !near(got.Groups[j].Classifier, w, 1e-9) || !near(got.Groups[j].Mean, h, 1e-9) {
			rt.Fatalf("norms of group %d: %+v, of the matrix %v and %v", j, got.Groups[j], w, h)
		}
		if g.Classes > 1 && got.CosW[j][j] != nil {
			want := left.At(first, first+1) / left.At(first, first)
			if !near(*got.CosW[j][j], want, 1e-8) {
				rt.Fatalf("cosine in group %d: %v, of the matrix %v", j, *got.CosW[j][j], want)
			}
		}
		if j > 0 && got.CosMeans[0][j] != nil {
			want := right.At(0, first) / math.Sqrt(right.At(0, 0)*right.At(first, first))
			if !near(*got.CosMeans[0][j], want, 1e-8) {
				rt.Fatalf("cosine to group %d: %v, of the matrix %v", j, *got.CosMeans[0][j], want)
			}
		}
		first += g.Classes
	}
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*(1+math.Abs(b)) }

func singular(m mat.Matrix) []float64 {
	var svd mat.SVD
	svd.Factorize(m, mat.SVDNone)
	return svd.Values(nil)
}

// TestDerivatives compares gradients and products with the Hessian with differences.
func TestDerivatives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := random(rt)
		c.D = 3
		rng := rand.New(rand.NewPCG(3, rapid.Uint64().Draw(rt, "seed")))
		b := c.blocks()
		slopes := func(name string, size int, eval func(x, grad []float64) float64) ([]float64, []float64) {
			x, v := make([]float64, size), make([]float64, size)
			for i := range x {
				x[i], v[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			grad := make([]float64, size)
			eval(x, grad)
			const h = 1e-5
			if got := (eval(along(x, v, h), nil) - eval(along(x, v, -h), nil)) / (2 * h); !near(got, dot(grad, v), 1e-6) {
				rt.Fatalf("%s %+v: slope %v, by differences %v", name, c, dot(grad, v), got)
			}
			return x, v
		}
		slopes("whole", 2*c.D*len(c.Counts), c.eval)
		x, v := slopes("blocks", b.size(), b.eval)
		const h = 1e-5
		product, up, down := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		b.eval(along(x, v, h), up)
		b.eval(along(x, v, -h), down)
		b.eval(x, nil)
		b.hessian(x, v, product)
		for i := range x {
			if want := (up[i] - down[i]) / (2 * h); !near(product[i], want, 1e-5) {
				rt.Fatalf("%+v: entry %d of the Hessian's product is %v, by differences %v", c, i, product[i], want)
			}
		}
	})
}

func along(x, v []float64, t float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] += t * v[i]
	}
	return out
}

// TestMinorityCollapse: classes of n samples coincide from the price of Apart on, whatever the others are; the solver does not know it.
func TestMinorityCollapse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := random(rt)
		n := rapid.IntRange(1, 40).Draw(rt, "minority")
		c.Counts = append(c.Counts, n, n)
		c.D = len(c.Counts) // a narrow width keeps fewer classes
		for scale, want := range map[float64]bool{0.97: false, 1.03: true} {
			price := c.Apart(n) * scale
			c.LW, c.LH = 2*price, price/2
			for j, g := range solved(t, c).Groups {
				if g.Count == n && g.Same != want {
					rt.Fatalf("%+v: %d classes of %d samples: same is %t at %g times the price", c, g.Classes, n, g.Same, scale)
				}
				if size := c.Critical(j); !math.IsInf(size, 1) { // the equation that it solves
					reach, rest := 1-c.Smoothing, c.Samples()-float64(g.Classes*g.Count)
					if price := c.Mu() * (rest + float64(g.Classes)*size); !near(reach*math.Sqrt(size), price, 1e-9) {
						rt.Fatalf("%+v: critical size %g of group %d: %g against a price of %g", c, size, j, reach*math.Sqrt(size), price)
					}
				}
			}
		}
	})
}

// TestSELI: as the penalty vanishes, the optimum tends to the limit's geometry, whose largest margins are proved for all of
// these counts. With half of K classes in the minority the norms have a closed form.
func TestSELI(t *testing.T) {
	counts := []int{100, 100, 30, 30, 8, 3}
	before := math.Inf(1)
	for _, lambda := range []float64{1e-3, 1e-5, 1e-7, 1e-9, 1e-11} {
		c := Config{Loss: CE, Counts: counts, D: 6, LW: lambda, LH: lambda}
		limit := c.SELI()
		w, h := c.Distance(solved(t, c).Geometry, limit.Geometry)
		if !limit.Proved || !(w < before) || !(h < 2*before+1e-3) {
			t.Errorf("λ = %g: distances %g and %g, before %g; proved: %t", lambda, w, h, before, limit.Proved)
		}
		before = w
	}
	if before > 0.05 {
		t.Errorf("the last distance is %g", before)
	}
	for _, R := range []int{1, 4, 25} {
		const K = 8
		c := Config{Loss: CE, Counts: append(slices.Repeat([]int{R}, K/2), slices.Repeat([]int{1}, K/2)...), D: K, LW: 1, LH: 1}
		g := c.SELI().Groups
		between := math.Sqrt(float64(R+1)/2) / K
		major, minor := (1-2.0/K)*math.Sqrt(float64(R))+between, (1-2.0/K)+between
		if !near(math.Pow(g[0].Classifier, 2), major, 1e-12) || !near(math.Pow(g[len(g)-1].Classifier, 2), minor, 1e-12) {
			t.Errorf("R = %d: %+v, wanted %g and %g squared", R, g, major, minor)
		}
	}
	balanced := Config{Loss: CE, Counts: []int{5, 5, 5, 5}, D: 3, LW: 1, LH: 1}.SELI()
	if cos := balanced.CosW[0][0]; !balanced.Proved || cos == nil || !near(*cos, -1.0/3, 1e-12) {
		t.Errorf("four equal classes: %+v", balanced)
	}
}

// TestGapOfAHardProblem: thirty classes of thirty sizes and small penalties, to the last digits.
func TestGapOfAHardProblem(t *testing.T) {
	counts, err := LongTailed(30, 5000, 100)
	if err != nil {
		t.Fatal(err)
	}
	if o := solved(t, Config{Loss: CE, Counts: counts, D: 30, LW: 1e-6, LH: 1e-6}); !(o.Gap < 1e-11*o.Objective) || o.Rank != 29 {
		t.Errorf("gap %g of %g, rank %d", o.Gap, o.Objective, o.Rank)
	}
}

// TestLargestMarginsCanFail: diag(√n) has no larger margins than other logits, and its polar factor, 1, says so.
func TestLargestMarginsCanFail(t *testing.T) {
	groups := []Group{{9, 1}, {4, 2}}
	if largestMargins(groups, simplexLabels(groups, true)) || !largestMargins(groups, simplexLabels(groups, false)) {
		t.Error("the condition does not tell labels from simplex-encoded labels")
	}
}

func TestProfiles(t *testing.T) {
	step, err := Step(5, 100, 2, 10)
	if err != nil || !slices.Equal(step, []int{100, 100, 100, 10, 10}) {
		t.Error(step, err)
	}
	tail, err := LongTailed(3, 100, 100)
	if err != nil || !slices.Equal(tail, []int{100, 10, 1}) {
		t.Error(tail, err)
	}
	if groups := (Config{Counts: []int{3, 9, 3}}).Groups(); !slices.Equal(groups, []Group{{9, 1}, {3, 2}}) {
		t.Error(groups)
	}
	for want, call := range map[string]func() ([]int, error){
		"K is 1":       func() ([]int, error) { return LongTailed(1, 5, 2) },
		"n is 0":       func() ([]int, error) { return LongTailed(3, 0, 2) },
		"ratio is 0.5": func() ([]int, error) { return Step(3, 5, 1, 0.5) },
		"ratio is NaN": func() ([]int, error) { return Step(3, 5, 1, math.NaN()) },
		"4 of 3":       func() ([]int, error) { return Step(3, 5, 4, 2) },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestBadProblems(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`loss is "hinge"`:     func(c *Config) { c.Loss = "hinge" },
		"smoothing is 0.1":    func(c *Config) { c.Smoothing = 0.1 },
		"smoothing is NaN":    func(c *Config) { c.Loss, c.Smoothing = LS, math.NaN() },
		"smoothing is 1":      func(c *Config) { c.Loss, c.Smoothing = LS, 1 },
		"1 classes":           func(c *Config) { c.Counts = []int{5} },
		"class 1 has 0":       func(c *Config) { c.Counts = []int{5, 0} },
		"d is 0":              func(c *Config) { c.D = 0 },
		"only an infimum":     func(c *Config) { c.LH = 0 },
		"NaN":                 func(c *Config) { c.LW = math.NaN() },
		"different numbers":   func(c *Config) { c.Counts = manyCounts(MaxGroups + 1) },
		"1000001 classes, wa": func(c *Config) { c.Counts = make([]int, MaxClasses+1) },
	} {
		c := Config{Loss: CE, Counts: []int{5, 5}, D: 2, LW: 0.1, LH: 0.1}
		change(&c)
		if _, err := c.Solve(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	c := Config{Loss: CE, Counts: manyCounts(1200), D: 2, LW: 0.1, LH: 0.1}
	if _, err := c.Search(context.Background(), Optimum{}, 1, 1, nil); err == nil || !strings.Contains(err.Error(), "too many numbers") {
		t.Error(err)
	}
}

func manyCounts(n int) (out []int) {
	for k := range n {
		out = append(out, k+1)
	}
	return out
}

func TestStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := Config{Loss: CE, Counts: manyCounts(50), D: 50, LW: 1e-5, LH: 1e-5}
	if _, err := c.Solve(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Search(ctx, Optimum{}, 5, 1, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSameBits: a problem has one answer, in any order of its classes.
func TestSameBits(t *testing.T) {
	a := solved(t, Config{Loss: CE, Counts: []int{3, 50, 3, 20}, D: 4, LW: 1e-3, LH: 1e-3})
	b := solved(t, Config{Loss: CE, Counts: []int{20, 3, 50, 3}, D: 4, LW: 1e-3, LH: 1e-3})
	if a.Objective != b.Objective || *a.CosW[0][1] != *b.CosW[0][1] {
		t.Errorf("%v %v", a.Objective, b.Objective)
	}
}

func BenchmarkHundredClasses(b *testing.B) {
	counts, err := LongTailed(100, 5000, 100)
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		if o := solved(b, Config{Loss: CE, Counts: counts, D: 100, LW: 5e-6, LH: 5e-6}); !(o.Gap < 1e-8) {
			b.Fatal(o.Gap)
		}
	}
}
