package theory

import (
	"context"
	"fmt"
	"math"
	"slices"

	"collapse/internal/chart"
	"collapse/ufm"
)

// reluTable is what a recipe of kind relu scans.
type reluTable struct {
	KMax        int        `toml:"k_max"`
	Q           [2]float64 `toml:"q"`
	Steps       int        `toml:"steps"`
	Lines       []int      `toml:"lines"` // classes drawn as curves
	Safe        []int      `toml:"safe"`
	SafeQ       []float64  `toml:"safe_q"`
	Starts      int        `toml:"starts"`
	QuickStarts int        `toml:"quick_starts"`
}

// lowerBy is how far below the theorem's value a point must lie to contradict it.
const lowerBy = 1e-6

// runReLU is TB Theorem 4.2: where points lie below the orthogonal frame, where none was found, and the steps of
// the proof at such a point.
func runReLU(ctx context.Context, r *Recipe, opt Options, p *Page) error {
	worst, evidence := 0.0, ""
	var rows []Claim
	for _, row := range r.Cases {
		found, err := r.below(ctx, row, opt)
		if err != nil {
			return err
		}
		rows = append(rows, found.claim)
		if found.below > worst {
			worst, evidence = found.below, found.claim.Evidence
		}
		opt.progressf("%s: %s", r.ID, found.claim.Evidence)
	}
	p.Claims = append(p.Claims, Claim{"TB Theorem 4.2: every global minimiser has relu(W1·H1) an orthogonal frame", judge(worst <= lowerBy),
		"the lowest against the theorem: " + evidence})
	p.Claims = append(p.Claims, rows...)
	safe, err := r.noneBelow(ctx, opt)
	if err != nil {
		return err
	}
	p.Claims = append(p.Claims, safe)
	if err := r.proofSteps(p); err != nil {
		return err
	}
	return r.windows(p)
}

// withQ is K classes with equal penalties and the given q, one sample each and d = K + 1.
func withQ(model ufm.Model, K int, q float64) ufm.Config {
	l := q / float64(K)
	return ufm.Config{Model: model, K: K, N: 1, D: K + 1, L2: l, L1: l, LH1: l}
}

// theoremValue is that of Theorem 4.2, which is the linear model's, with zero's where that is lower.
func theoremValue(cfg ufm.Config) (float64, error) {
	cfg.Model = ufm.Linear3
	e, err := cfg.Exact()
	return float64(e.Objective), err
}

type belowFrame struct {
	below float64
	claim Claim
}

// below solves one setting and says how far below the theorem's value it ends.
func (r *Recipe) below(ctx context.Context, row modelTable, opt Options) (belowFrame, error) {
	cfg, err := row.config()
	if err != nil {
		return belowFrame{}, err
	}
	theorem, err := theoremValue(cfg)
	if err != nil {
		return belowFrame{}, err
	}
	exact, err := cfg.Exact()
	if err != nil {
		return belowFrame{}, err
	}
	problem, err := ufm.NewProblem(cfg, nil)
	if err != nil {
		return belowFrame{}, err
	}
	found, at, err := problem.Solve(ctx, nil, exact, ufm.Run{Seed: opt.Seed, NoTrace: true})
	if err != nil {
		return belowFrame{}, err
	}
	value := float64(found.Objective)
	cert := problem.Certify(at.X, exact)
	return belowFrame{theorem - value, Claim{
		fmt.Sprintf("K = %d, d = %d, n = %d, q = %.4g: a point lies below the frame and below zero", cfg.K, cfg.D, cfg.N, float64(exact.Q)),
		judge(theorem-value > lowerBy && float64(cert.Residual) < 1e-4),
		fmt.Sprintf("theorem %.6f, found %.6f (%.2f %% lower): %s; gradient with the best slopes at kinks %.1g", theorem, value, 100*(theorem-value)/theorem, exact.Regime, float64(cert.Residual)),
	}}, nil
}

// noneBelow looks for lower points where the theorem seems to hold.
func (r *Recipe) noneBelow(ctx context.Context, opt Options) (Claim, error) {
	starts := r.ReLU.Starts
	if opt.Quick && r.ReLU.QuickStarts > 0 {
		starts = r.ReLU.QuickStarts
	}
	lowest, reached := math.Inf(1), 0
	for _, K := range r.ReLU.Safe {
		for _, q := range r.ReLU.SafeQ {
			cfg := withQ(ufm.ReLU3, K, q)
			theorem, err := theoremValue(cfg)
			if err != nil {
				return Claim{}, err
			}
			problem, err := ufm.NewProblem(cfg, nil)
			if err != nil {
				return Claim{}, err
			}
			for i := range starts {
				size := 1 + float64(i%4)/2
				width := size / math.Sqrt(float64(cfg.D))
				run := ufm.Run{Method: ufm.LBFGS, Seed: opt.Seed + uint64(i), Init: ufm.InitScale{W: width, W1: width, H: size}, Iterations: 2000, NoTrace: true}
				found, _, err := problem.Solve(ctx, nil, ufm.Exact{}, run)
				if err != nil {
					return Claim{}, err
				}
				above := float64(found.Objective) - theorem
				lowest = math.Min(lowest, above)
				if math.Abs(above) < 1e-6 {
					reached++
				}
			}
		}
	}
	total := starts * len(r.ReLU.Safe) * len(r.ReLU.SafeQ)
	return Claim{fmt.Sprintf("for K = %s the theorem seems to hold: no start ends below its value (seen, not proved)", list(r.ReLU.Safe)),
		judge(lowest > -lowerBy && reached > 0),
		fmt.Sprintf("%d random starts at q = %s, of which %d end at its value; the lowest end is %.1g from it", total, list(r.ReLU.SafeQ), reached, lowest)}, nil
}

func list[T any](values []T) string {
	out := ""
	for i, v := range values {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprint(v)
	}
	return out
}

// proofSteps judges the two steps of Appendix E that fail, at the hexagon of the first case.
func (r *Recipe) proofSteps(p *Page) error {
	cfg, err := r.Cases[0].config()
	if err != nil {
		return err
	}
	e, err := cfg.Exact()
	if err != nil {
		return err
	}
	K, border := float64(cfg.K), float64(cfg.K)*cfg.L2
	mean, outside := 0.0, 0
	ratios := ""
	for i, s := range e.Gram {
		mean += s / K
		if !(s > border) {
			outside++
		}
		if i > 0 {
			ratios += ", "
		}
		ratios += fmt.Sprintf("%.2f", s/border)
	}
	name := fmt.Sprintf("%s, K = %d, q = %.4g", e.Regime, cfg.K, float64(e.Q))
	p.Claims = append(p.Claims, Claim{"Appendix E: every s_k² of relu(H̄) lies where g is convex, above Kλ_2, because g(Kλ_2) = ½ = f(0)", judge(outside == 0),
		fmt.Sprintf("%s: s_k²/(Kλ_2) = %s. Only the mean of g must be below ½: single s_k² may be 0 or lie where g is concave, and %d of %d do", name, ratios, outside, cfg.K)})
	flat := proofG(mean, border)
	p.Claims = append(p.Claims, Claim{"Appendix E: by Jensen a flat spectrum of the same mean gives (86) no larger value", judge(flat <= float64(e.Objective)),
		fmt.Sprintf("%s: the mean of g(s_k²) is f = %.6f, g of the mean %.6f", name, float64(e.Objective), flat)})
	// A frame with singular value s has the nuclear norm √n·K·s and λ_2‖W2‖² = λ_2·K·s²/(s² + Kλ_2)².
	s := math.Sqrt(mean)
	left := math.Sqrt(float64(cfg.N)*cfg.L1*cfg.LH1) * K * s
	right := cfg.L2 * K * mean / ((mean + border) * (mean + border))
	p.Claims = append(p.Claims, Claim{"Appendix E: that flat spectrum is feasible in (86)", judge(math.Abs(left-right) < 1e-6*right),
		fmt.Sprintf("%s: an orthogonal relu(H) of this spectrum has √(λ_1λ_H1)‖H‖_* = %.4f, where the constraint asks for λ_2‖W2‖² = %.4f. Jensen's step drops the constraint, so that it would not be enough even where every s_k² is above Kλ_2: without it g falls to 0 as s_k grows",
			name, left, right)})
	nuclear, classifier := cfg.LH1*float64(e.HNorm2), cfg.L2*float64(e.WNorm2)
	p.Claims = append(p.Claims, Claim{"the counterexample is feasible in (86): its pre-activations have a nuclear norm that no orthogonal relu(H) has",
		judge(math.Abs(nuclear-classifier) < 1e-6*classifier),
		fmt.Sprintf("%s: √(λ_1λ_H1)‖H‖_* = %.6f = λ_2‖W2‖² = %.6f", name, nuclear, classifier)})
	p.Figures = append(p.Figures, r.proofFigure(e, border, name))
	return nil
}

// proofG is g(z) of Appendix E with a = Kλ_2: (a/2)(a + 3z)/(z + a)².
func proofG(z, a float64) float64 { return a / 2 * (a + 3*z) / ((z + a) * (z + a)) }

// proofFigure draws g over z/(Kλ_2) with the spectrum of the counterexample on it.
func (r *Recipe) proofFigure(e ufm.Exact, border float64, name string) chart.Figure {
	g := chart.Series{ID: "g", Label: "g(z)", Kind: chart.Line, Color: chart.ColorFor(0)}
	for i := range 161 {
		z := float64(i) / 40
		g.X, g.Y = append(g.X, z), append(g.Y, proofG(z, 1))
	}
	points := chart.Series{ID: "spectrum", Label: "s_k² of the " + name, Kind: chart.Points, Marker: chart.Circle, Size: 8, Color: chart.ColorFor(1)}
	for _, s := range e.Gram {
		points.X, points.Y = append(points.X, s/border), append(points.Y, proofG(s/border, 1))
	}
	return chart.Figure{ID: "proof", Title: "The step of the proof that fails", Columns: 1,
		Caption: "g is convex to the right of Kλ_2 only. The proof puts every s_k² there, because g ≤ ½ there alone; but the mean over k must be below ½, not each term.",
		Panels: []chart.Panel{{ID: "g", X: chart.Axis{Label: "z/(Kλ_2)", Zero: true}, Y: chart.Axis{Label: "g(z)", Range: chart.Range(.25, .6)}, Series: []chart.Series{g,
			{ID: "half", Label: "f(0) = ½", Kind: chart.HLine, Dashed: true, Color: chart.Muted, Y: chart.Numbers{.5}},
			{ID: "border", Label: "z = Kλ_2", Kind: chart.VLine, Dashed: true, Color: chart.ColorFor(2), X: chart.Numbers{1}}, points}}}}
}

// windows draws how far the best known point lies below the theorem's value, over q and K, and lists between which q.
func (r *Recipe) windows(p *Page) error {
	t := r.ReLU
	heat := &chart.Heat{Columns: t.Steps, Rows: t.KMax - 1, X: t.Q, Y: [2]float64{1.5, float64(t.KMax) + .5}, Label: "% below the theorem's value"}
	curves := chart.Panel{ID: "curves", Title: "Over q, for some K", X: chart.Axis{Label: "q"}, Y: chart.Axis{Label: "% below the theorem's value", Zero: true}}
	colour := 0
	for K := 2; K <= t.KMax; K++ {
		curve := chart.Series{ID: fmt.Sprintf("k-%d", K), Label: fmt.Sprintf("K = %d", K), Kind: chart.Line}
		first, last := math.NaN(), math.NaN()
		for i := range t.Steps {
			q := t.Q[0] + (t.Q[1]-t.Q[0])*(float64(i)+.5)/float64(t.Steps)
			share, err := shareBelow(K, q)
			if err != nil {
				return err
			}
			heat.Z = append(heat.Z, share)
			curve.X, curve.Y = append(curve.X, q), append(curve.Y, share)
			if share > 0 {
				last = q
				if math.IsNaN(first) {
					first = q
				}
			}
		}
		if slices.Contains(t.Lines, K) {
			curve.Color, colour = chart.ColorFor(colour), colour+1
			curves.Series = append(curves.Series, curve)
			p.Facts = append(p.Facts, windowFact(K, first, last))
		}
	}
	threshold := chart.Series{ID: "threshold", Label: "zero beats the frame to the right", Kind: chart.VLine, Dashed: true, Color: chart.Muted, X: chart.Numbers{math.Pow(2, -4.0/3)}}
	curves.Series = append(curves.Series, threshold)
	p.Figures = append([]chart.Figure{{ID: r.ID, Title: r.Title, Columns: 2,
		Caption: "How far the best known point lies below the smaller of the frame's value and zero's. Dark: the theorem seems to hold.",
		Panels:  []chart.Panel{{ID: "map", Title: "Over q and K", X: chart.Axis{Label: "q"}, Y: chart.Axis{Label: "classes K"}, Series: []chart.Series{{ID: "below", Kind: chart.HeatMap, Heat: heat}}}, curves}}},
		p.Figures...)
	p.Notes = append(p.Notes, "Best known means: the least of the frame, zero and compositions of eight circulants found by descent (of 5, 6, 9, 10, 13, 15, 20 and 21 classes); a longer search may find lower points, "+
		"and at smaller q: the window widens with K.")
	return nil
}

// shareBelow is the best known value against the theorem's, in percent below it.
func shareBelow(K int, q float64) (float64, error) {
	cfg := withQ(ufm.ReLU3, K, q)
	theorem, err := theoremValue(cfg)
	if err != nil {
		return 0, err
	}
	e, err := cfg.Exact()
	if err != nil {
		return 0, err
	}
	if share := 100 * (1 - float64(e.Objective)/theorem); share > 1e-9 {
		return share, nil
	}
	return 0, nil
}

func windowFact(K int, first, last float64) Fact {
	name := fmt.Sprintf("K = %d: q for which the theorem fails", K)
	if math.IsNaN(first) {
		return Fact{name, "none known", "computed here"}
	}
	return Fact{name, fmt.Sprintf("%.3f to %.3f", first, last), "computed here, on the grid of the figure"}
}
