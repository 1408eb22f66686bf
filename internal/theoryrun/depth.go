package theoryrun

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/deep"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
)

// depth is where points of low rank lie below neural collapse.
type depth struct {
	*recipe.Recipe
	lowest []lowRank // by layers, then K: the q at which the best known point lies furthest below
	shares [][]float64
	safe   []few   // searches with few classes where nothing lower is known
	beaten []few   // searches with few classes where points lie lower
	linear float64 // least end of descents in linear models against their exact optimum
}

// lowRank is a problem with its best known point.
type lowRank struct {
	L, K   int
	q      float64
	known  deep.Known
	placed float64 // objective at the point itself
}

// few is a search with few classes.
type few struct {
	L, K     int
	collapse float64
	deep.Explored
}

// below is the share by which it found something lower than neural collapse, beyond rounding.
func (f few) below() float64 {
	if share := 1 - f.Objective/f.collapse; share > 1e-6 {
		return share
	}
	return 0
}

// below is how far the point lies below neural collapse, as a share of that; 0 if it does not by more than rounding, or not where its
// costs say.
func (l lowRank) below() float64 {
	share := 1 - l.placed/l.known.Collapse
	if !l.known.Lower || share < 1e-6 || math.Abs(l.placed-l.known.Objective) > 1e-9 {
		return 0
	}
	return share
}

// rectified is a model with one sample per class, all widths K and all penalties q/K, q as a share of the threshold of zero.
func rectified(L, K int, share float64) (deep.Config, float64) {
	c := deep.Config{K: K, N: 1, ReLU: true}
	q := share * deep.Threshold(L)
	for range L {
		c.Widths, c.Lambdas = append(c.Widths, K), append(c.Lambdas, q/float64(K))
	}
	c.Lambdas = append(c.Lambdas, q/float64(K))
	return c, q
}

func runDepth(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	s, out := r.Depth, &depth{Recipe: r}
	for _, L := range s.Layers {
		for _, K := range s.K {
			best, row, err := scanPenalties(ctx, s, L, K)
			if err != nil {
				return nil, err
			}
			out.lowest, out.shares = append(out.lowest, best), append(out.shares, row)
		}
		opt.progressf("%s: %d layers", r.ID, L)
	}
	return out, out.search(ctx, opt)
}

// scanPenalties returns the problem at which the best known point lies furthest below neural collapse, and by how much it does at each q.
func scanPenalties(ctx context.Context, s recipe.Depth, L, K int) (best lowRank, row []float64, err error) {
	for i := range s.Steps {
		share := s.Q[0] + (s.Q[1]-s.Q[0])*float64(i)/float64(max(1, s.Steps-1))
		c, q := rectified(L, K, share)
		known, err := c.Known()
		if err != nil {
			return best, nil, err
		}
		one := lowRank{L, K, q, known, c.Eval(c.Place(known), nil)}
		if row = append(row, one.below()); i == 0 || one.below() > best.below() {
			best = one
		}
		if ctx.Err() != nil {
			return best, nil, ctx.Err()
		}
	}
	return best, row, nil
}

// search explores models with ReLUs of few classes, and descends in linear ones.
func (d *depth) search(ctx context.Context, opt Options) error {
	s := d.Depth
	d.linear = math.Inf(1)
	for _, L := range s.Layers {
		for _, K := range append(slices.Clone(s.Safe), s.Beaten...) {
			one, err := explore(ctx, L, K, deep.Effort{Starts: s.Starts, Seed: opt.Seed})
			if err != nil {
				return err
			}
			if slices.Contains(s.Safe, K) {
				d.safe = append(d.safe, one)
			} else {
				d.beaten = append(d.beaten, one)
			}
			if err := d.descendLinear(ctx, L, K, opt.Seed); err != nil {
				return err
			}
		}
	}
	return nil
}

// explore searches at half of the threshold of zero.
func explore(ctx context.Context, L, K int, effort deep.Effort) (few, error) {
	c, _ := rectified(L, K, 0.5)
	known, err := c.Known()
	if err != nil {
		return few{}, err
	}
	found, err := c.Explore(ctx, c.Place(known), known.Collapse, effort, nil)
	return few{L, K, known.Collapse, found}, err
}

func (d *depth) descendLinear(ctx context.Context, L, K int, seed uint64) error {
	c, _ := rectified(L, K, 0.5)
	c.ReLU = false
	exact, err := c.Solve()
	if err != nil {
		return err
	}
	found, err := c.Search(ctx, exact.Objective, nil, min(20, d.Depth.Starts), seed, nil)
	d.linear = min(d.linear, found.Least-exact.Objective)
	return err
}

func (d *depth) claims() []judge.Claim {
	out := []judge.Claim{d.theoremClaim()}
	for i, l := range d.deepest() {
		out = append(out, claim(numbered("below", i), format.Sprintf("%d layers: a point of low rank lies below neural collapse, so that is not optimal", l.L), l.below() > 0,
			"K = %d, q = %.4g: neural collapse %.8g, %s %.8g, %.3g %% lower, features of rank %d", l.K, l.q, l.known.Collapse, l.known.Name, l.placed, 100*l.below(), l.known.Rank))
	}
	return append(out, d.safeClaim(), d.beatenClaim(),
		claim("linear", "linear models: no descent goes below the exact optimum, and some arrive", math.Abs(d.linear) < 1e-8, "the lowest end is %.1g from it", d.linear))
}

// safeClaim is of what was searched, and no more.
func (d *depth) safeClaim() judge.Claim {
	starts, arrive, lower := 0, 0, 0
	for _, f := range d.safe {
		starts, arrive = starts+f.Starts, arrive+f.Arrive
		if f.below() > 0 {
			lower++
		}
	}
	return claim("safe", fmt.Sprintf("for K = %s this search finds nothing below neural collapse (which proves nothing)", list(d.Depth.Safe)), lower == 0 && arrive > 0 && d.noneBelow(),
		"%d random starts of several sizes, widths and dimensions at half the threshold of q, with 2 to %d layers: %d end at the lowest value, and %d of %d searches end below neural collapse", starts, slices.Max(d.Depth.Layers), arrive, lower, len(d.safe))
}

// beatenClaim names the depths at which few classes already have points below neural collapse.
func (d *depth) beatenClaim() judge.Claim {
	lower, words := false, []string(nil)
	for _, f := range d.beaten {
		lower = lower || f.below() > 0
		words = append(words, format.Sprintf("L = %d: collapse %.8g, lowest found %.8g, %.3g %% lower, ranks of W_L to H %v", f.L, f.collapse, f.Objective, 100*f.below(), f.Ranks))
	}
	return claim("beaten", fmt.Sprintf("for K = %s points of low rank lie below neural collapse at some depth", list(d.Depth.Beaten)), lower, "%s", strings.Join(words, "; "))
}

// theoremClaim is what the papers' simplest hope says.
func (d *depth) theoremClaim() judge.Claim {
	worst := d.lowest[0]
	for _, l := range d.lowest {
		if l.below() > worst.below() {
			worst = l
		}
	}
	return claim("collapse", "neural collapse is optimal in every ReLU model of this list", worst.below() == 0,
		"against it: %d layers, K = %d, q = %.4g: %s lies %.3g %% below", worst.L, worst.K, worst.q, worst.known.Name, 100*worst.below())
}

// deepest are the problems furthest below neural collapse, one for each number of layers.
func (d *depth) deepest() []lowRank {
	var out []lowRank
	for _, l := range d.lowest {
		if n := len(out); n == 0 || out[n-1].L != l.L {
			out = append(out, l)
		} else if l.below() > out[n-1].below() {
			out[n-1] = l
		}
	}
	return out
}

func (d *depth) noneBelow() bool {
	for _, l := range d.lowest {
		for _, K := range d.Depth.Safe {
			if l.K == K && l.below() > 0 {
				return false
			}
		}
	}
	return true
}

func (d *depth) figures() []chart.Figure {
	f := chart.Figure{ID: d.ID, Title: d.Title, Caption: "How far the best point of the list (polygons and edges) lies below neural collapse; a search finds lower ones. Left at the q where that is most, right over q, relative to the q from which zero is optimal.", Columns: 2}
	most := chart.Panel{ID: "most", Title: "At the penalty where it is most", X: chart.Axis{Label: "classes K"}, Y: chart.Axis{Label: "% below neural collapse", Zero: true}}
	over := chart.Panel{ID: "penalty", Title: format.Sprintf("K = %d, over the penalty", d.shown()), X: chart.Axis{Label: "q over its threshold"}, Y: most.Y}
	for i, L := range d.Depth.Layers {
		line := chart.Series{ID: fmt.Sprintf("layers-%d", L), Label: fmt.Sprintf("L = %d", L), Kind: chart.LinePoints, Marker: chart.MarkerFor(i), Color: chart.ColorFor(i)}
		along := line
		for j, l := range d.lowest {
			if l.L != L {
				continue
			}
			line.X, line.Y = append(line.X, float64(l.K)), append(line.Y, 100*l.below())
			if l.K == d.shown() {
				for k, share := range d.shares[j] {
					along.X, along.Y = append(along.X, d.Depth.Q[0]+(d.Depth.Q[1]-d.Depth.Q[0])*float64(k)/float64(max(1, d.Depth.Steps-1))), append(along.Y, 100*share)
				}
			}
		}
		most.Series, over.Series = append(most.Series, line), append(over.Series, along)
	}
	f.Panels = []chart.Panel{most, over}
	return []chart.Figure{f}
}

// shown is the number of classes whose curve over the penalty is drawn: the first of at least ten, or the last.
func (d *depth) shown() int {
	for _, K := range d.Depth.K {
		if K >= 10 {
			return K
		}
	}
	return d.Depth.K[len(d.Depth.K)-1]
}

func (d *depth) facts() []theoryfig.Fact {
	var out []theoryfig.Fact
	for _, l := range d.deepest() {
		out = append(out, theoryfig.Number(fmt.Sprintf("L = %d: most below neural collapse, in %% (K = %d, %s)", l.L, l.K, l.known.Name), 100*l.below(), 4, "computed here"))
	}
	return out
}

func (d *depth) notes() []string {
	return []string{"The points are polygons and edges of up to eight points, alone or side by side; searches find lower ones (`collapse solve deep --relu`), from K = 3 on. What is proved of each is that it lies where it is said to lie."}
}
