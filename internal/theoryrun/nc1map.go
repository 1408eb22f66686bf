package theoryrun

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/measure"
)

// nc1Map is TB Appendix D: NC1(W1·H1) = NC1(H1) fails for a generic invertible W1 and holds for an orthogonal one.
type nc1Map struct {
	silent
	*recipe.Recipe
	cases []mappedFeatures
}

// mappedFeatures are features before and after random maps.
type mappedFeatures struct {
	before              float64   // NC1(H1)
	generic, orthogonal []float64 // NC1(W1·H1) of every draw of W1
}

func runNC1Map(_ context.Context, r *recipe.Recipe, opt Options) (results, error) {
	out := &nc1Map{Recipe: r}
	for _, row := range r.Clusters {
		rng := rand.New(rand.NewPCG(opt.Seed+row.Seed, 3))
		h := clusters(row, rng)
		before, err := nc1(h, row)
		if err != nil {
			return nil, err
		}
		c := mappedFeatures{before: before}
		if c.generic, err = mapped(h, row, rng, true); err != nil {
			return nil, err
		}
		if c.orthogonal, err = mapped(h, row, rng, false); err != nil {
			return nil, err
		}
		out.cases = append(out.cases, c)
	}
	return out, nil
}

// mapped returns NC1(W1·H1) for twenty draws of W1, generic or orthogonal.
func mapped(h []float64, row recipe.Clusters, rng *rand.Rand, generic bool) ([]float64, error) {
	var out []float64
	for range 20 {
		w := etf.RandomOrthonormal(row.D, row.D, rng)
		if generic {
			w = gaussian(row.D, rng)
		}
		var product mat.Dense
		product.Mul(mat.NewDense(row.K*row.N, row.D, h), w.T())
		after, err := nc1(product.RawMatrix().Data, row)
		if err != nil {
			return nil, err
		}
		out = append(out, after)
	}
	return out, nil
}

// clusters draws K·n features of width d around random means.
func clusters(row recipe.Clusters, rng *rand.Rand) []float64 {
	h := make([]float64, 0, row.K*row.N*row.D)
	for range row.K {
		mean := make([]float64, row.D)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for range row.N {
			for _, m := range mean {
				h = append(h, m+.2*rng.NormFloat64())
			}
		}
	}
	return h
}

func gaussian(d int, rng *rand.Rand) *mat.Dense {
	w := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			w.Set(i, j, rng.NormFloat64())
		}
	}
	return w
}

func nc1(h []float64, row recipe.Clusters) (float64, error) {
	labels := make([]int32, row.K*row.N)
	for i := range labels {
		labels[i] = int32(i / row.N)
	}
	report, err := measure.Measure(measure.Input[float64]{Classes: row.K, Train: measure.Memory(h, row.D, labels)}, measure.Options{Measures: []string{measure.KeyNC1Pinv}})
	if err != nil {
		return 0, err
	}
	v, ok := report.Value(measure.KeyNC1Pinv)
	if !ok {
		return 0, fmt.Errorf("NC1 of these features is not defined: %s", report.Missing[measure.KeyNC1Pinv])
	}
	return v, nil
}

func (m *nc1Map) claims() []judge.Claim {
	var out []judge.Claim
	for i, c := range m.cases {
		generic, orthogonal := c.farthest(c.generic), c.farthest(c.orthogonal)
		const evidence = "largest |ratio − 1| of %d draws: %.2g (NC1(H1) = %.4g)"
		out = append(out,
			claim(numbered("generic", i), "NC1(W1·H1) = NC1(H1) for a generic invertible W1", generic < 1e-9, evidence, len(c.generic), generic, c.before),
			claim(numbered("orthogonal", i), "NC1(W1·H1) = NC1(H1) for an orthogonal W1", orthogonal < 1e-9, evidence, len(c.orthogonal), orthogonal, c.before))
	}
	return out
}

// farthest is the largest |NC1(W1·H1)/NC1(H1) − 1|.
func (c mappedFeatures) farthest(after []float64) float64 {
	worst := 0.0
	for _, v := range after {
		worst = max(worst, math.Abs(v/c.before-1))
	}
	return worst
}

func (m *nc1Map) figures() []chart.Figure {
	panel := chart.Panel{ID: "ratio", Title: "NC1(W1·H1)/NC1(H1)", X: chart.Axis{Label: "draw of W1"}, Y: chart.Axis{Label: "ratio", Scale: chart.Log}}
	for _, c := range m.cases {
		for i, of := range []struct {
			label string
			after []float64
		}{{"generic invertible W1", c.generic}, {"orthogonal W1", c.orthogonal}} {
			s := chart.Series{ID: fmt.Sprintf("kind-%d", i), Label: of.label, Kind: chart.Points, Marker: chart.MarkerFor(i), Color: chart.ColorFor(i)}
			for draw, v := range of.after {
				s.X, s.Y = append(s.X, float64(draw+1)), append(s.Y, v/c.before)
			}
			panel.Series = append(panel.Series, s)
		}
	}
	panel.Series = append(panel.Series, chart.Series{ID: "one", Label: "TB (77)", Kind: chart.HLine, Dashed: true, Color: chart.Muted, Y: chart.Numbers{1}})
	return []chart.Figure{{ID: m.ID, Title: m.Title, Caption: m.Caption, Columns: 1, Panels: []chart.Panel{panel}}}
}
