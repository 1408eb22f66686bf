package deep

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/internal/longtest"
)

// TestExploreGoesBelowPointsFoundElsewhere: the values are those of points that independent descents (scipy's L-BFGS-B from hundreds of random
// starts) found, all below neural collapse.
func TestExploreGoesBelowPointsFoundElsewhere(t *testing.T) {
	longtest.Only(t)
	type row struct {
		K, L, d   int
		lambda    float64
		elsewhere float64
	}
	whole := []row{
		{3, 4, 3, 0.02103665897711624, 0.15218670},
		{3, 4, 3, 0.06871975265857971, 0.47292785},
		{3, 4, 3, 0.035061098295193736, 0.25035795},
		{3, 4, 3, 0.049085537613271224, 0.34554280},
		{3, 4, 3, 0.06310997693134872, 0.43731014},
		{3, 4, 4, 0.05, 0.35164355},
		{3, 4, 8, 0.004, 0.02925866},
		{4, 5, 8, 0.005, 0.05530216},
		{10, 4, 12, 0.01, 0.20733209},
	}
	for _, r := range longtest.Of(whole[:2], whole) {
		c := rectified(r.L, r.K, r.d, r.lambda*float64(r.K))
		k := known(t, c)
		found, err := c.Explore(t.Context(), c.Place(k), k.Collapse, Effort{Starts: -1}, nil)
		if err != nil || !(found.Objective <= r.elsewhere+2e-8) || !(k.Collapse > r.elsewhere) {
			t.Errorf("%+v: found %.10g from %s, collapse %.10g, %v", r, found.Objective, found.From, k.Collapse, err)
		}
		if f := c.Eval(found.Point, nil); !(math.Abs(f-found.Objective) < 1e-12) || found.Below == 0 || *found.Descent < found.Objective-1e-12 {
			t.Errorf("%+v: its point has %.12g: %+v", r, f, found)
		}
	}
}

// TestExploreFindsTheGrid: six classes in two rows and three columns, told apart by features of rank 4. Of 200 plain descents in scipy the
// lowest ended at 0.37122.
func TestExploreFindsTheGrid(t *testing.T) {
	c := rectified(3, 6, 16, 6*0.033113472448735554)
	k := known(t, c)
	found, err := c.Explore(t.Context(), nil, k.Collapse, Effort{Starts: 2}, nil)
	if err != nil || !(found.Objective <= 0.36898884) || !strings.Contains(found.From, "classes in 2 rows") {
		t.Fatalf("found %.10g from %s, collapse %.10g, %v", found.Objective, found.From, k.Collapse, err)
	}
	if f := c.Eval(found.Point, nil); !(math.Abs(f-found.Objective) < 1e-12) || found.Ranks[3] != 4 {
		t.Errorf("its point has %.12g, ranks %v", f, found.Ranks)
	}
}

// TestExploreOfOtherPenalties: moving weights between layers changes no value, so samples and unequal penalties of the same product give the same point.
func TestExploreOfOtherPenalties(t *testing.T) {
	longtest.Only(t)
	a := rectified(4, 3, 4, 0.15)
	b := Config{K: 3, N: 2, Widths: a.Widths, ReLU: true, Lambdas: []float64{0.1, 0.025, 0.05, 0.1, 0.0125}}
	var ends []float64
	for _, c := range []Config{a, b} {
		k := known(t, c)
		found, err := c.Explore(t.Context(), nil, k.Collapse, Effort{Starts: 12, Seed: 3}, nil)
		if f := c.Eval(found.Point, nil); err != nil || !(math.Abs(f-found.Objective) < 1e-12) || found.Descent != nil || found.Starts != 12 {
			t.Errorf("%+v: %v, at the point %.12g", found, err, f)
		}
		ends = append(ends, found.Objective)
	}
	if !(math.Abs(ends[0]-ends[1]) < 1e-6) {
		t.Errorf("ends %.12g", ends)
	}
}

// TestExploreStops: its time ends a search, which says so, and a linear model has none.
func TestExploreStops(t *testing.T) {
	c := rectified(4, 6, 8, 0.1)
	k := known(t, c)
	found, err := c.Explore(t.Context(), c.Place(k), k.Collapse, Effort{Starts: 100, Time: time.Nanosecond}, nil)
	if err != nil || !found.Stopped || found.Starts != 0 || !(found.Objective <= k.Objective+1e-12) {
		t.Errorf("%+v, %v", found, err)
	}
	plain, err := c.Search(t.Context(), 0, c.Place(k), 0, 1, nil) // one descent, and nothing after it
	if err != nil || !(math.Abs(found.Objective-*plain.Descent) < 1e-12) {
		t.Errorf("%.12g, a descent ends at %.12g, %v", found.Objective, *plain.Descent, err)
	}
	c.ReLU = false
	if _, err := c.Explore(t.Context(), nil, 1, Effort{}, nil); err == nil {
		t.Error("a linear model is explored")
	}
}

// TestExploreTells: each stage is told of, in order, with the lowest value so far; that of blocks is not one of their smaller models.
func TestExploreTells(t *testing.T) {
	c := rectified(2, 4, 4, 0.3)
	k := known(t, c)
	var stages []string
	lowest := math.Inf(1)
	found, err := c.Explore(t.Context(), c.Place(k), k.Collapse, Effort{Starts: 4, Seed: 1}, func(s Step) {
		if len(stages) == 0 || stages[len(stages)-1] != s.Stage {
			stages = append(stages, s.Stage)
		}
		if s.Ended < 1 || s.Ended > s.Of || s.Lowest > lowest {
			t.Errorf("%+v after %g", s, lowest)
		}
		lowest = s.Lowest
	})
	if err != nil || !(lowest > found.Objective-1e-12) || !(lowest < found.Objective+1e-3) {
		t.Errorf("told of %g, found %+v, %v", lowest, found, err)
	}
	all := strings.Join(stages, "; ")
	for _, want := range []string{"blocks of 2 classes, random starts; ", "; random starts; settling the lowest ends; disturbing the lowest point, round 1"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %q", want, all)
		}
	}
}

// TestPiecesAddUp: blocks of few classes side by side cost what their models cost at the same q, weighted by their classes.
func TestPiecesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &explorer{Config: rectified(rapid.IntRange(2, 4).Draw(t, "L"), 5, 6, rapid.Float64Range(.02, .3).Draw(t, "q"))}
		two := Config{K: 2, N: 1, Widths: slices.Repeat([]int{2}, e.Layers()), ReLU: true, Lambdas: slices.Repeat([]float64{e.q() / 2}, e.Layers()+1)}
		p := two.point(two.start(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))))
		block := piece{2, 2 * two.Eval(p, nil), p}
		one := Config{K: 1, N: 1, Widths: slices.Repeat([]int{1}, e.Layers()), ReLU: true, Lambdas: slices.Repeat([]float64{e.q()}, e.Layers()+1)}
		single := one.single()
		got, want := e.Eval(e.compose([]piece{block, single, block}), nil), (2*block.cost+single.cost)/5
		if !(math.Abs(got-want) < 1e-12) {
			t.Fatalf("%g, by parts %g", got, want)
		}
	})
	e := &explorer{Config: rectified(3, 5, 6, .15), ctx: t.Context()}
	var pieces []piece
	want := 0.0
	for _, m := range []int{3, 2} { // those that a search makes
		one, err := e.piece(m)
		if err != nil || one.m != m {
			t.Fatalf("%+v, %v", one, err)
		}
		pieces, want = append(pieces, one), want+one.cost/5
	}
	if got := e.Eval(e.compose(pieces), nil); !(math.Abs(got-want) < 1e-12) {
		t.Errorf("%g, by parts %g", got, want)
	}
}

// TestRoundedReLU: its slope is that of its values, and it tends to the ReLU.
func TestRoundedReLU(t *testing.T) {
	c := Config{soft: 0.1}
	for _, z := range []float64{-300, -3, -0.2, -1e-3, 0, 0.05, 2} {
		const h = 1e-6
		d := (c.relu(z+h) - c.relu(z-h)) / (2 * h)
		exact := new(big.Float).SetPrec(200).SetFloat64(z * z)
		exact.Add(exact, new(big.Float).SetFloat64(c.soft*c.soft)).Sqrt(exact).Add(exact, new(big.Float).SetFloat64(z))
		if want, _ := exact.Float64(); !(math.Abs(c.relu(z)-want/2) <= 1e-12*want) {
			t.Errorf("at %g: %g, want %g", z, c.relu(z), want/2)
		}
		if got := c.slope(c.relu(z)); !(math.Abs(got-d) < 1e-7) || !(c.relu(z)-max(0, z) <= 0.05+1e-15) {
			t.Errorf("at %g: slope %g, by differences %g", z, got, d)
		}
	}
}

// TestRefitKeepsTheStrongest: neurons without weights, wherever they stand, are what a narrower model leaves out.
func TestRefitKeepsTheStrongest(t *testing.T) {
	wide, narrow := rectified(3, 3, 7, 0.1), rectified(3, 3, 4, 0.1)
	rng := rand.New(rand.NewPCG(5, 5))
	p := narrow.point(narrow.start(rng))
	grown := wide.refit(p, narrow, 0, rng)
	for i, f := range grown { // neurons in reverse order, so that those without weights come first
		reversed, at := mat.DenseCopyOf(f), func(j, n int, inner bool) int {
			if inner {
				return n - 1 - j
			}
			return j
		}
		rows, columns := f.Dims()
		reversed.Apply(func(r, k int, _ float64) float64 {
			return f.At(at(r, rows, i > 0), at(k, columns, i < wide.Layers()))
		}, reversed)
		f.Copy(reversed)
	}
	want := narrow.Eval(p, nil)
	if got := wide.Eval(grown, nil); !(math.Abs(got-want) < 1e-12) {
		t.Errorf("%g, in a wider model %g", want, got)
	}
	if got := narrow.Eval(narrow.refit(grown, wide, 0, rng), nil); !(math.Abs(got-want) < 1e-12) {
		t.Errorf("%g, in a wider model and back %g", want, got)
	}
}
