package theory

import (
	"context"
	"errors"
	"fmt"
	"math"

	"collapse/internal/chart"
	"collapse/measure"
	"collapse/ufm"
)

// runDescent is plain gradient descent as Tirer & Bruna run it, with the exact limits drawn in.
func runDescent(ctx context.Context, r *Recipe, opt Options, p *Page) error {
	cfg, err := r.Model.config()
	if err != nil {
		return err
	}
	exact, err := cfg.Exact()
	if err != nil {
		return err
	}
	iterations := r.Descent.Iterations
	if opt.Quick && r.Descent.Quick > 0 {
		iterations = r.Descent.Quick
		p.Notes = append(p.Notes, fmt.Sprintf("Quick: %d iterations instead of %d.", iterations, r.Descent.Iterations))
	}
	problem, err := ufm.NewProblem(cfg, nil)
	if err != nil {
		return err
	}
	found, end, err := descendSeeds(ctx, r, opt, p, problem, exact, iterations)
	if err != nil {
		return err
	}
	if r.Descent.Expect == "doomed" {
		p.Claims = append(p.Claims, deadEntries(problem.Start(ufm.InitScale{W: r.Descent.Init[0], H: r.Descent.Init[1]}, opt.Seed).H, end.H))
	}
	p.Figures = append(p.Figures, r.descentFigure(cfg, exact, found))
	r.judgeDescent(cfg, exact, found, p)
	optimum := Fact{"f*", number(float64(exact.Objective)), "exact (" + string(exact.Status) + ": " + exact.Source + ")"}
	if !exact.Available {
		optimum = Fact{"infimum of f", "0", "exact: without penalties no minimiser is singled out"}
	}
	source := "paper"
	if r.Descent.Expect != "" { // what the text says of the model, without a figure
		source = "ours, after the paper's Fig. 1"
	}
	p.Facts = append(p.Facts,
		Fact{"objective", cfg.Words(), "paper"},
		Fact{"setting", r.Model.words(), source},
		Fact{"descent", fmt.Sprintf("step %g, start N(0,1) times %v", r.Descent.Step, r.Descent.Init), source},
		optimum,
		Fact{"final objective", fmt.Sprintf("%.10g", float64(found.Objective)), "computed here"},
		Fact{"time", fmt.Sprintf("%.2g s for %d iterations", found.Seconds, found.Iterations), "computed here"})
	return nil
}

// descendSeeds runs seeds until one ends in the optimum; with one seed it takes what comes.
func descendSeeds(ctx context.Context, r *Recipe, opt Options, p *Page, problem *ufm.Problem, exact ufm.Exact, iterations int) (ufm.Found, ufm.Point, error) {
	scale, err := initScale(r.Descent.Init)
	if err != nil {
		return ufm.Found{}, ufm.Point{}, err
	}
	run := ufm.Run{Method: ufm.GD, Iterations: iterations, Step: r.Descent.Step, Init: scale}
	run.TraceAt = traceAt(iterations, max(1, min(r.Descent.Every, iterations/20)))
	var found ufm.Found
	var end ufm.Point
	for try := range max(1, r.Descent.Seeds) {
		run.Seed = opt.Seed + uint64(try)
		if found, end, err = problem.Solve(ctx, nil, exact, run); err != nil {
			return found, end, err
		}
		opt.progressf("seed %d: f = %.8g after %d iterations, %.1f s", run.Seed, float64(found.Objective), found.Iterations, found.Seconds)
		// A dead sample costs σ/(2N); a run above half of that is stuck.
		stuck := 0.5 * float64(exact.Sigma) / float64(2*problem.K*problem.N)
		if r.Descent.Seeds <= 1 || !(float64(found.Gap) > stuck) {
			if try > 0 {
				p.Notes = append(p.Notes, fmt.Sprintf("The figure shows seed %d.", run.Seed))
			}
			return found, end, nil
		}
		p.Notes = append(p.Notes, fmt.Sprintf("Seed %d is stuck: %s (2N(f − f*) = %.3g).", run.Seed, found.Trap, 2*float64(problem.K*problem.N)*float64(found.Gap)))
	}
	return found, end, nil
}

// deadEntries judges that no entry of H under a ReLU comes back from below 0.
func deadEntries(start, end []float64) Claim {
	negative, back := 0, 0
	for i, v := range start {
		if v < 0 {
			negative++
			if end[i] > 0 {
				back++
			}
		}
	}
	return Claim{"entries of H that start negative never turn positive", judge(negative > 0 && back == 0),
		fmt.Sprintf("%d of %d entries start negative, %d of them end positive", negative, len(start), back)}
}

// traceAt lists every such iteration, and in the first ten of these intervals, where curves bend, ten
// places each.
func traceAt(iterations, every int) []int {
	var out []int
	for i := 0; i <= iterations; {
		out = append(out, i)
		if i < 10*every {
			i += max(1, every/10)
		} else {
			i += every
		}
	}
	return out
}

func initScale(s []float64) (ufm.InitScale, error) {
	switch len(s) {
	case 2:
		return ufm.InitScale{W: s[0], H: s[1]}, nil
	case 3:
		return ufm.InitScale{W: s[0], W1: s[1], H: s[2]}, nil
	}
	return ufm.InitScale{}, errors.New("theory: descent.init wants the scales of W and H, or of W2, W1 and H1")
}

// nc2Key is the NC2 that the figure shows.
func (r *Recipe) nc2Key() (key, name string) {
	if r.Descent.Frame == "etf" {
		return measure.KeyNC2MeansETF, "a simplex ETF"
	}
	return measure.KeyNC2MeansOF, "an orthogonal frame"
}

// descentFigure has the panels of TB's figures: objective, NC1, NC2, NC3.
func (r *Recipe) descentFigure(cfg ufm.Config, exact ufm.Exact, found ufm.Found) chart.Figure {
	nc2, frame := r.nc2Key()
	features := "H"
	if cfg.ThreeFactor() {
		features = "H2 = W1·H1"
		if cfg.Model == ufm.ReLU3 {
			features = "H2 = relu(W1·H1)"
		}
	}
	objective := chart.Panel{ID: "objective", Title: "Objective", X: iterationAxis(), Y: chart.Axis{Label: "f", Scale: chart.Log}}
	line := chart.Series{ID: "f", Label: features, Kind: chart.Line, Color: chart.ColorFor(0)}
	for _, t := range found.Trace {
		line.X, line.Y = append(line.X, float64(t.Iteration)), append(line.Y, float64(t.Objective))
	}
	objective.Series = append(objective.Series, line)
	if exact.Available {
		objective.Series = append(objective.Series, chart.Series{ID: "f-star", Label: "exact optimum f*", Kind: chart.HLine, Color: chart.Muted, Dashed: true, Y: chart.Numbers{float64(exact.Objective)}})
	}
	f := chart.Figure{ID: r.ID, Title: r.Title, Columns: 2, Caption: r.Caption, Panels: []chart.Panel{objective}}
	for _, panel := range []struct{ id, title, key, label string }{
		{"nc1", "NC1", measure.KeyNC1Pinv, "tr(Σ_W Σ_B⁺)/K"},
		{"nc2", "NC2, distance to " + frame, nc2, "‖U(H̄ᵀH̄) − frame‖"},
		{"nc3", "NC3", measure.KeyNC3Direct, "‖U(W) − U(H̄ᵀ)‖"},
	} {
		q := chart.Panel{ID: panel.id, Title: panel.title, X: iterationAxis(), Y: chart.Axis{Label: panel.label, Scale: chart.Log}}
		q.Series = append(q.Series, traceSeries(found, panel.key, features, 0))
		if cfg.ThreeFactor() && panel.id != "nc3" {
			q.Series = append(q.Series, traceSeries(found, "h1_"+panel.key, "H1", 1))
		}
		if limit, ok := exact.Measures[panel.key]; ok && limit > 0 {
			q.Series = append(q.Series, chart.Series{ID: panel.id + "-limit", Label: "exact limit", Kind: chart.HLine, Color: chart.Muted, Dashed: true, Y: chart.Numbers{limit}})
		}
		f.Panels = append(f.Panels, q)
	}
	f.Notes = append(f.Notes, r.limitNote(exact))
	return f
}

// limitNote says what a logarithmic axis cannot show.
func (r *Recipe) limitNote(exact ufm.Exact) string {
	if !exact.Available {
		return "Without penalties there is no exact limit to draw."
	}
	if r.Descent.Expect == "doomed" {
		return "At the exact optimum NC1, NC2 and NC3 are 0; a logarithmic axis cannot show 0."
	}
	return "Dashed: exact. The exact limits of NC1, NC2 and NC3 of the last features are 0, which a logarithmic axis cannot show; curves end in rounding, about 1e-30 for NC1 and 1e-14 for NC2 and NC3."
}

func iterationAxis() chart.Axis { return chart.Axis{Label: "iteration"} }

func traceSeries(found ufm.Found, key, label string, color int) chart.Series {
	s := chart.Series{ID: key, Label: label, Kind: chart.Line, Color: chart.ColorFor(color)}
	for _, t := range found.Trace {
		if v, ok := t.Measures[key]; ok {
			s.X, s.Y = append(s.X, float64(t.Iteration)), append(s.Y, v)
		}
	}
	return s
}

// judgeDescent judges what the paper says of this figure.
func (r *Recipe) judgeDescent(cfg ufm.Config, exact ufm.Exact, found ufm.Found, p *Page) {
	add := func(statement string, ok bool, format string, args ...any) {
		p.Claims = append(p.Claims, Claim{statement, judge(ok), fmt.Sprintf(format, args...)})
	}
	last := func(key string) float64 {
		if v, ok := found.Measures[key]; ok {
			return v
		}
		return math.NaN()
	}
	gap, nc1 := float64(found.Gap), last(measure.KeyNC1Pinv)
	switch r.Descent.Expect {
	case "doomed":
		add("ReLU directly on the plain model is doomed: f stays far above f*", gap > .02, "f = %.6g, f* = %.6g", float64(found.Objective), float64(exact.Objective))
		return
	case "no-collapse":
		add("without regularisation the loss reaches zero", float64(found.Objective) < 1e-5, "f = %.3g", float64(found.Objective))
		add("and the features do not collapse", nc1 > .01, "NC1 = %.3g", nc1)
		return
	}
	nc2, frame := r.nc2Key()
	// The slowest mode, the ratio of norms of unequal penalties, only decays like exp(−2tλ·iterations).
	add("the objective reaches the exact optimum, to 1e-3 of it", math.Abs(gap) < 1e-3*float64(exact.Objective), "f* = %.8g, f − f* = %.2g", float64(exact.Objective), gap)
	add("NC1 tends to 0", nc1 < 1e-5, "NC1 = %.2g", nc1)
	bound := 1e-3
	if cfg.Model == ufm.ReLU3 {
		bound = 3e-2 // about 1/t with ReLU: below 1e-2 only after 40,000–100,000 iterations
	}
	add("the class means tend to "+frame, last(nc2) < bound, "NC2 = %.2g (below %.0e)", last(nc2), bound)
	add("the classifier aligns with them", last(measure.KeyNC3Direct) < bound, "NC3 = %.2g", last(measure.KeyNC3Direct))
	if !cfg.ThreeFactor() {
		return
	}
	p.Claims = append(p.Claims, r.pace(cfg, found))
	h1, h2 := last("h1_"+nc2), last(nc2)
	if cfg.Model == ufm.ReLU3 {
		p.Notes = append(p.Notes, fmt.Sprintf("With ReLU the geometry of H1 is not determined: its NC2 is 0 for an orthogonal frame, %.4f for a simplex ETF, more where classes pair up; here %.3g.", math.Sqrt(2-2*math.Sqrt(float64(cfg.K-1)/float64(cfg.K))), h1))
		return
	}
	add("without ReLU, H1 has the same geometry", h1 < bound, "NC2 of H1 = %.2g, of H2 = %.2g", h1, h2)
}

// pace compares how fast both layers collapse: the iterations after which NC1 stays below 1e-4.
func (r *Recipe) pace(cfg ufm.Config, found ufm.Found) Claim {
	const level, apart = 1e-4, 1.5
	claim := Claim{Statement: "without ReLU, NC1 of H1 and of H2 fall together", Verdict: CannotTell}
	if cfg.Model == ufm.ReLU3 {
		claim.Statement = "with ReLU, NC1 of H1 and of H2 run apart"
	}
	h1, ok1 := staysBelow(found, "h1_"+measure.KeyNC1Pinv, level)
	h2, ok2 := staysBelow(found, measure.KeyNC1Pinv, level)
	if !ok1 || !ok2 {
		claim.Evidence = fmt.Sprintf("not both below %g within %d iterations", level, found.Iterations)
		return claim
	}
	ratio := float64(max(h1, h2)) / float64(min(h1, h2))
	claim.Verdict = judge((ratio > apart) == (cfg.Model == ufm.ReLU3))
	claim.Evidence = fmt.Sprintf("below %g for good after %d iterations (H1) and %d (H2): a factor of %.2f; called apart above %.1f (ours), with ReLU it varies from seed to seed, and this is one", level, h1, h2, ratio, apart)
	return claim
}

// staysBelow returns the first traced iteration from which on a measure is below a level.
func staysBelow(found ufm.Found, key string, level float64) (iteration int, ok bool) {
	for _, t := range found.Trace {
		v, has := t.Measures[key]
		switch {
		case !has || !(v < level):
			ok = false
		case !ok:
			iteration, ok = t.Iteration, true
		}
	}
	return iteration, ok
}
