package theoryfig

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// Explored is the exact optimum of an unconstrained-features model, for a page whose reader turns its parameters.
type Explored struct {
	Exact   ufm.Exact
	Says    string // the optimum in a sentence; "" without a closed form
	Facts   []Fact
	Means   []float64 // K×d, one placement of the optimal class means; nil without a closed form
	Figures []chart.Figure
}

// exploreSteps is how many values of the penalty the curve has.
const exploreSteps = 81

// Explore solves a model and draws how its optimum changes with the penalty. It returns what Validate says of a configuration.
func Explore(c ufm.Config) (*Explored, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	exact, err := c.Exact()
	if err != nil {
		return nil, err
	}
	out := &Explored{Exact: exact, Says: inWords(c, exact), Facts: exactFacts(c, exact), Figures: []chart.Figure{penaltyFigure(c, exact)}}
	if !exact.Available {
		return out, nil
	}
	one, err := c.Instance(exact, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		return out, nil // the optimum is known, a placement of it is not
	}
	// Every sample of a class is its mean at the optimum; columns are class-major.
	N := c.K * c.N
	for k := range c.K {
		for j := range c.D {
			out.Means = append(out.Means, one.H[j*N+k*c.N])
		}
	}
	return out, nil
}

// inWords says what the optimum looks like.
func inWords(c ufm.Config, e ufm.Exact) string {
	shape := map[string]string{
		"zero":             "The penalties are too strong: the optimum is zero, and every class is at the origin.",
		"etf":              "The class means are a simplex ETF: equally long, and every pair at the same, largest possible angle.",
		"full":             "Without a bias the class means are orthogonal: equally long, every pair at a right angle.",
		"orthogonal-frame": "The class means are an orthogonal frame: equally long, every pair at a right angle.",
		"tight-frame":      "There are more classes than dimensions: the class means are a tight frame.",
		"rank-d":           "There are more classes than dimensions: the optimum keeps d directions, all equally strong, and gives up the others.",
	}[e.Regime]
	if !e.Available || shape == "" {
		return ""
	}
	text := shape + " " + format.Sprintf("The objective is %.4g.", float64(e.Objective))
	if length := math.Sqrt(float64(e.ClassMeanNorm2)); e.Regime != "zero" && e.ClassMeanNorm2.Known() {
		text += format.Sprintf(" Each of the %d has length %.4g.", c.K, length)
	}
	return text
}

func exactFacts(c ufm.Config, e ufm.Exact) []Fact {
	const closed = "exact (closed form)"
	if !e.Available {
		return []Fact{{Name: "no closed form", Value: e.Reason, From: closed}}
	}
	out := []Fact{{Name: "regime", Value: e.Regime, From: e.Source}, {Name: "rank of the outputs", Value: fmt.Sprint(e.Rank), From: closed}}
	for _, v := range []struct {
		name  string
		value ufm.Number
	}{{"objective f*", e.Objective}, {"margin zₖ − zⱼ", e.Margin}, {"‖W‖²", e.WNorm2}, {"‖H‖²", e.HNorm2}, {"‖hₖ‖²", e.ClassMeanNorm2},
		{"bias β", e.Bias}, {"singular value of the outputs σ", e.Sigma}, {"κ", e.Kappa}, {"c = K√(nλ_Wλ_H)", e.C}} {
		if v.value.Known() {
			out = append(out, Number(v.name, float64(v.value), 6, closed))
		}
	}
	if e.GramDiag.Known() && e.GramOffdiag.Known() && e.GramDiag > 0 {
		out = append(out, Number("cosine of two class means", float64(e.GramOffdiag/e.GramDiag), 6, closed),
			Number("−1/(K−1)", -1/float64(c.K-1), 6, "a simplex ETF"))
	}
	for _, key := range []string{measure.KeyNC2W, measure.KeyNC2MeansETF, measure.KeyNC2MeansOF, measure.KeyNC3Gram, measure.KeyNC3Direct} {
		if v, ok := e.Measures.Get(key); ok {
			out = append(out, Number("limit of "+key, v, 6, closed))
		}
	}
	return out
}

// penaltyFigure is the optimum against λ_W, all else as it is: where the classes fall into one point.
func penaltyFigure(c ufm.Config, e ufm.Exact) chart.Figure {
	f := chart.Figure{ID: "penalty", Title: "The optimum against the penalty", Columns: 2,
		Caption: "The penalty of W moves, everything else stays; the vertical line is the setting above. Where the curve reaches zero the penalty has pulled all classes into one point."}
	x := chart.Axis{Label: "penalty λ of W", Scale: chart.Log}
	size := chart.Series{ID: "size", Label: "‖hₖ‖", Kind: chart.Line, Color: chart.ColorFor(0), Width: 2}
	margin := chart.Series{ID: "margin", Label: "margin zₖ − zⱼ", Kind: chart.Line, Color: chart.ColorFor(1), Width: 2}
	objective := chart.Series{ID: "objective", Label: "f*", Kind: chart.Line, Color: chart.ColorFor(2), Width: 2}
	for i := range exploreSteps {
		at := c
		at.LW = math.Pow(10, -6+7*float64(i)/(exploreSteps-1))
		s, err := at.Exact()
		if err != nil || !s.Available {
			continue
		}
		add := func(series *chart.Series, v ufm.Number) {
			if v.Known() {
				series.X, series.Y = append(series.X, at.LW), append(series.Y, float64(v))
			}
		}
		add(&size, ufm.Number(math.Sqrt(math.Max(0, float64(s.ClassMeanNorm2)))))
		add(&margin, s.Margin)
		add(&objective, s.Objective)
	}
	here := chart.Series{ID: "here", Label: "here", Kind: chart.VLine, Color: chart.Ink, Dashed: true, X: chart.Numbers{c.LW}}
	panel := func(id, title, y string, series ...chart.Series) {
		var shown []chart.Series
		for _, s := range series {
			if len(s.X) > 0 {
				shown = append(shown, s)
			}
		}
		if len(shown) > 0 {
			f.Panels = append(f.Panels, chart.Panel{ID: id, Title: title, X: x, Y: chart.Axis{Label: y, Zero: true}, Series: append(shown, here)})
		}
	}
	panel("size", "Size of the class means and margin", "length; difference of logits", size, margin)
	panel("objective", "Objective", "f*", objective)
	if !e.Available {
		f.Notes = append(f.Notes, e.Reason)
	}
	return f
}

// SweepNoise solves the memorization–dilation model over noise levels around a setting, on every processor, and draws dilation
// against memorization, as MD Fig. 1 does for trained networks.
func SweepNoise(ctx context.Context, p dilation.Params, here *dilation.Solution) (chart.Figure, error) {
	f := chart.Figure{ID: "predicted", Title: "Dilation against noise and memorization, as the model predicts", Columns: 1,
		Caption: "Each point is a noise level η between 0.005 and 0.5; the rings are the setting above. Compare the same picture of trained networks on a study's page."}
	var settings []dilation.Params
	for i := range 7 {
		at := p
		at.Eta = 0.005 * math.Pow(100, float64(i)/6)
		settings = append(settings, at)
	}
	points, err := dilation.Sweep(ctx, settings)
	if err != nil {
		return f, err
	}
	noise := chart.Panel{ID: "noise", X: chart.Axis{Label: "noise η", Scale: chart.Log}, Y: chart.Axis{Label: "dilation r*/‖h₁−h₂‖", Zero: true}}
	memory := chart.Panel{ID: "predicted", X: chart.Axis{Label: "memorization η‖h₂−u₁‖", Zero: true}, Y: noise.Y}
	for i, of := range []func(*dilation.Solution) *dilation.Side{func(s *dilation.Solution) *dilation.Side { return s.CE }, func(s *dilation.Solution) *dilation.Side { return s.LS }} {
		one := chart.Series{ID: []string{"ce", "ls"}[i], Label: []string{"cross entropy", "label smoothing"}[i], Kind: chart.LinePoints,
			Marker: []chart.Marker{chart.Circle, chart.Square}[i], Size: 5, Color: chart.ColorFor(i), Dashed: i == 1}
		other := one
		for j, pt := range points {
			if pt.Err != nil {
				return f, pt.Err
			}
			side := of(pt.Solution)
			one.X, one.Y = append(one.X, settings[j].Eta), append(one.Y, side.Normalised)
			other.X, other.Y = append(other.X, side.Memorization), append(other.Y, side.Normalised)
		}
		noise.Series, memory.Series = append(noise.Series, one), append(memory.Series, other)
	}
	now := chart.Series{ID: "here", Label: "here", Kind: chart.Points, Marker: chart.Ring, Size: 13, Color: chart.Ink}
	then := now
	for _, side := range []*dilation.Side{here.CE, here.LS} {
		now.X, now.Y = append(now.X, p.Eta), append(now.Y, side.Normalised)
		then.X, then.Y = append(then.X, side.Memorization), append(then.Y, side.Normalised)
	}
	noise.Series, memory.Series = append(noise.Series, now), append(memory.Series, then)
	f.Panels = []chart.Panel{noise, memory}
	return f, nil
}
