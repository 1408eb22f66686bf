package theory

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse/internal/chart"
	"collapse/optim"
	"collapse/ufm"
)

const (
	biasDraws   = 300 // biases of each case whose bounds are looked at
	biasSolved  = 12  // of them, how many have W and H fitted
	biasSamples = 101 // places of a curve over q
)

// biasNotes say what is ours in runBiases.
var biasNotes = []string{
	"Our reading: the printed text of the lemma was not at hand. The proof of Theorem 3.1 fits W and H with b held and then chooses b; " +
		"for that it needs to know what b does to the singular values of Y − b1ᵀ. The two bounds here are enough for the theorem at every d and λ_b.",
	"With a = 1 − 1ᵀb and T = K‖b − b̄1‖², p = σ_1/√n and q = σ_K/√n: pq = |a|, (p+q)² = (1+|a|)² + T, (p−q)² = (1−|a|)² + T, and K‖b‖² = T + (1−a)². " +
		"So p ≥ 1 ≥ q and K‖b‖² ≥ (p−q)² ≥ (1−q)²; what a singular value costs grows with it, which leaves a function of q in [0,1] alone.",
}

// drawnBias is a bias with what it leaves and costs, singular values by decomposition.
type drawnBias struct {
	b         []float64
	sum, norm float64 // 1ᵀb and √K‖b‖
	p, q      float64 // σ_1/√n and σ_K/√n
	off       float64 // largest |σ_i − closed form|/σ_1
	value     float64 // ufm's HeldBias
}

// runBiases is ZH Lemma B.3 as we read it: the singular values of Y − b1ᵀ, the bounds (25)–(26) on them, and that they
// give Theorem 3.1.
func runBiases(ctx context.Context, r *Recipe, opt Options, p *Page) error {
	p.Notes = append(p.Notes, biasNotes...)
	spectra := chart.Figure{ID: "spectrum", Title: "What a bias leaves to fit", Columns: 2, Caption: "Every point is a random bias b, of the first setting.", Panels: []chart.Panel{
		{ID: "ends", Title: "Largest and smallest singular value of Y − b1ᵀ", X: chart.Axis{Label: "√K‖b‖", Scale: chart.Log}, Y: chart.Axis{Label: "σ/√n", Zero: true}},
		{ID: "spread", Title: "Their distance", X: chart.Axis{Label: "√K‖b‖", Scale: chart.Log}, Y: chart.Axis{Label: "(σ_1 − σ_K)/(√N‖b‖)", Zero: true}},
	}}
	values := chart.Figure{ID: "value", Title: "Least objective over W and H with b held", Columns: 3,
		Caption: "Points: random biases. Line: the bound by q = σ_K/√n alone, which b = (1−q)/K·1 reaches. Its lowest place is f* of Theorem 3.1."}
	var all []drawnBias
	for i, row := range r.Cases {
		cfg, err := row.config()
		if err != nil {
			return err
		}
		exact, err := cfg.Exact()
		if err != nil {
			return err
		}
		draws, err := drawBiases(cfg, rand.New(rand.NewPCG(opt.Seed, uint64(i)+31)))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("K=%d, n=%d, d=%d, λ_W=%g, λ_H=%g, λ_b=%g", cfg.K, cfg.N, cfg.D, cfg.LW, cfg.LH, cfg.LB)
		all = append(all, draws...)
		solved, err := solvedClaim(ctx, cfg, draws[:biasSolved], opt.Seed, name)
		if err != nil {
			return err
		}
		p.Claims = append(p.Claims, solved, optimumClaim(cfg, exact, draws, name))
		values.Panels = append(values.Panels, valuePanel(cfg, exact, draws, i))
	}
	p.Claims = append(spectrumClaims(all), p.Claims...)
	drawSpectra(&spectra, all[:biasDraws])
	p.Figures = append(p.Figures, spectra, values)
	p.Facts = append(p.Facts, centringFacts()...)
	return nil
}

// drawBiases draws biases of all sizes, a third of them along the ones vector.
func drawBiases(cfg ufm.Config, rng *rand.Rand) ([]drawnBias, error) {
	out := make([]drawnBias, biasDraws)
	for i := range out {
		d := drawnBias{b: make([]float64, cfg.K)}
		size := math.Pow(10, 2.5*rng.Float64()-2) / math.Sqrt(float64(cfg.K))
		along := rng.NormFloat64()
		for k := range d.b {
			d.b[k] = size * along
			if i%3 > 0 {
				d.b[k] = size * (along + rng.NormFloat64())
			}
			d.sum += d.b[k]
			d.norm = math.Hypot(d.norm, math.Sqrt(float64(cfg.K))*d.b[k])
		}
		var svd mat.SVD
		if !svd.Factorize(residual(cfg, d.b), mat.SVDNone) {
			return nil, fmt.Errorf("theory: the singular values of Y − b1ᵀ did not converge for b = %v", d.b)
		}
		sigma, closed := svd.Values(nil), cfg.BiasSpectrum(d.b)
		d.p, d.q, d.value = sigma[0]/closed.Middle, sigma[cfg.K-1]/closed.Middle, cfg.HeldBias(d.b)
		for j, s := range sigma {
			want := closed.Middle
			switch j {
			case 0:
				want = closed.First
			case cfg.K - 1:
				want = closed.Last
			}
			d.off = math.Max(d.off, math.Abs(s-want)/sigma[0])
		}
		out[i] = d
	}
	return out, nil
}

// residual is Y − b1ᵀ, K×N.
func residual(cfg ufm.Config, b []float64) *mat.Dense {
	out := mat.NewDense(cfg.K, cfg.K*cfg.N, nil)
	for k := range cfg.K {
		for i := range cfg.K * cfg.N {
			out.Set(k, i, -b[k])
		}
		for i := range cfg.N {
			out.Set(k, k*cfg.N+i, 1-b[k])
		}
	}
	return out
}

// spectrumClaims judge the closed form and the two bounds on decompositions.
func spectrumClaims(draws []drawnBias) []Claim {
	off, above, below, equal := 0.0, math.Inf(1), math.Inf(1), 0.0
	spread, strict := math.Inf(1), math.Inf(1)
	for _, d := range draws {
		off = math.Max(off, d.off)
		above, below = math.Min(above, d.p-1), math.Min(below, 1-d.q)
		gap := (d.norm - (d.p - d.q)) / d.p
		spread = math.Min(spread, gap)
		if d.sum <= 1 {
			equal = math.Max(equal, gap)
		} else {
			strict = math.Min(strict, gap)
		}
	}
	return []Claim{
		{"the singular values of Y − b1ᵀ are σ_1, √n (K−2 times) and σ_K as in closed form", judge(off < 1e-12),
			fmt.Sprintf("largest difference %.1g of σ_1 over %d random b", off, len(draws))},
		{"(25) as we read it: σ_1 ≥ √n ≥ σ_K", judge(above > -1e-12 && below > -1e-12),
			fmt.Sprintf("smallest σ_1/√n − 1 = %.1g, smallest 1 − σ_K/√n = %.1g", above, below)},
		{"(26) as we read it: σ_1 − σ_K ≤ √N‖b‖, with equality where 1ᵀb ≤ 1 only", judge(spread > -1e-12 && equal < 1e-12 && strict > 0),
			fmt.Sprintf("smallest (√N‖b‖ − σ_1 + σ_K)/σ_1 = %.1g; largest where 1ᵀb ≤ 1 %.1g, smallest where 1ᵀb > 1 %.2g", spread, equal, strict)},
	}
}

// held is a problem whose bias does not move.
type held struct{ *ufm.Problem }

func (h held) Eval(x, grad []float64) float64 {
	value := h.Problem.Eval(x, grad)
	clear(h.View(grad).B)
	return value
}

// solvedClaim fits W and H by L-BFGS from random starts with b held, and compares with the closed form.
func solvedClaim(ctx context.Context, cfg ufm.Config, draws []drawnBias, seed uint64, name string) (Claim, error) {
	problem, err := ufm.NewProblem(cfg, nil)
	if err != nil {
		return Claim{}, err
	}
	worst := 0.0
	for i, d := range draws {
		at := cfg.Start(ufm.InitScale{W: .5, H: .5}, seed+uint64(i))
		copy(at.B, d.b)
		found := optim.LBFGS(ctx, held{problem}, at.X, optim.LBFGSConfig{Memory: 20, Iterations: 5000, Gradient: 1e-12})
		worst = math.Max(worst, math.Abs(found.Value-d.value)/math.Max(1, d.value))
	}
	return Claim{"with b held, the least objective over W and H is the sum of what each singular value costs (" + name + ")", judge(worst < 1e-9),
		fmt.Sprintf("largest difference from L-BFGS over %d biases %.1g", len(draws), worst)}, ctx.Err()
}

// optimumClaim judges that the bounds end in Theorem 3.1.
func optimumClaim(cfg ufm.Config, exact ufm.Exact, draws []drawnBias, name string) Claim {
	star := float64(exact.Objective)
	lowest, slack := math.Inf(1), math.Inf(1)
	for _, d := range draws {
		slack = math.Min(slack, d.value-cfg.BiasBound(d.q))
	}
	for i := range biasSamples {
		lowest = math.Min(lowest, cfg.BiasBound(float64(i)/(biasSamples-1))-star)
	}
	b := make([]float64, cfg.K)
	for k := range b {
		b[k] = float64(exact.Bias)
	}
	at := cfg.HeldBias(b) - star
	return Claim{"by the two bounds the objective is at least a function of σ_K alone, whose least value is f* of Theorem 3.1, regime " + exact.Regime + " (" + name + ")",
		judge(slack > -1e-12 && lowest > -1e-12 && math.Abs(at) < 1e-12),
		fmt.Sprintf("smallest distance of a random bias above the bound %.1g; of the bound above f* = %.8g on a grid %.1g; value at the exact bias minus f* %.1g", slack, star, lowest, at)}
}

func drawSpectra(f *chart.Figure, draws []drawnBias) {
	series := func(id, label string, color int) chart.Series {
		return chart.Series{ID: id, Label: label, Kind: chart.Points, Marker: chart.Dot, Size: 4, Color: chart.ColorFor(color)}
	}
	first, last := series("first", "σ_1", 0), series("last", "σ_K", 1)
	below, above := series("below", "1ᵀb ≤ 1", 2), series("above", "1ᵀb > 1", 3)
	for _, d := range draws {
		first.X, first.Y = append(first.X, d.norm), append(first.Y, d.p)
		last.X, last.Y = append(last.X, d.norm), append(last.Y, d.q)
		to := &below
		if d.sum > 1 {
			to = &above
		}
		to.X, to.Y = append(to.X, d.norm), append(to.Y, (d.p-d.q)/d.norm)
	}
	line := chart.Series{ID: "bound", Label: "bound", Kind: chart.HLine, Color: chart.Ink, Dashed: true, Y: chart.Numbers{1}}
	f.Panels[0].Series = []chart.Series{first, last, line}
	line.ID = "bound-spread"
	f.Panels[1].Series = []chart.Series{below, above, line}
}

// valuePanel draws the objective of the drawn biases against q, with the bound and f*.
func valuePanel(cfg ufm.Config, exact ufm.Exact, draws []drawnBias, i int) chart.Panel {
	id := fmt.Sprintf("case-%d", i+1)
	points := chart.Series{ID: id + "-draws", Label: "random b", Kind: chart.Points, Marker: chart.Dot, Size: 4, Color: chart.ColorFor(0)}
	bound := chart.Series{ID: id + "-bound", Label: "bound", Kind: chart.Line, Width: 2, Color: chart.ColorFor(1)}
	star := chart.Series{ID: id + "-star", Label: "f* of Theorem 3.1", Kind: chart.HLine, Dashed: true, Color: chart.Ink, Y: chart.Numbers{float64(exact.Objective)}}
	top := 0.0
	for j := range biasSamples {
		q := float64(j) / (biasSamples - 1)
		bound.X, bound.Y = append(bound.X, q), append(bound.Y, cfg.BiasBound(q))
		top = math.Max(top, cfg.BiasBound(q))
	}
	for _, d := range draws {
		if d.value < 1.5*top { // the others are far above
			points.X, points.Y = append(points.X, d.q), append(points.Y, d.value)
		}
	}
	return chart.Panel{ID: id, Title: fmt.Sprintf("K=%d, d=%d, λ_b=%g: %s", cfg.K, cfg.D, cfg.LB, exact.Regime),
		X: chart.Axis{Label: "q = σ_K/√n"}, Y: chart.Axis{Label: "objective"}, Series: []chart.Series{points, bound, star}}
}

// centringFacts show why convexity in b is not enough below d = K: a bias can be better than its own mean.
func centringFacts() []Fact {
	cfg := ufm.Config{Model: ufm.MSE, K: 5, N: 2, D: 3, LW: .001, LH: .002, LB: .1}
	b := []float64{.3, -.3, 0, 0, 0}
	return []Fact{
		{"objective at b = (.3, −.3, 0, 0, 0), K=5, n=2, d=3, λ_W=.001, λ_H=.002, λ_b=.1", number(cfg.HeldBias(b)), "computed here"},
		{"objective at its mean b = 0", number(cfg.HeldBias(make([]float64, cfg.K))), "computed here: higher, so for d < K the bias cannot simply be averaged over the classes"},
	}
}
