package theoryrun

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/optim"
	"collapse.example/collapse/ufm"
)

const (
	biasDraws   = 300 // biases per case whose bounds are checked
	biasSolved  = 12  // of these, the number with fitted W and H
	biasSamples = 101 // points of a curve over q
)

// biases is ZH Lemma B.3: the singular values of Y − b1ᵀ and the bounds (25)–(26) on them as printed; and two bounds of ours, which
// yield Theorem 3.1.
type biases struct{ cases []biasCase }

// biasCase is a problem with random biases.
type biasCase struct {
	setting
	draws  []drawnBias
	fitted []float64 // least objective over W and H by L-BFGS, for the first draws
	bound  []float64 // as a function of q alone, at biasSamples values of q in [0,1]
	atStar float64   // objective with the bias held at that of the exact optimum
}

// drawnBias is a bias with the singular values that it leaves, by decomposition, and its costs.
type drawnBias struct {
	b         []float64
	sum, norm float64 // 1ᵀb and √K‖b‖
	p, q      float64 // σ_1/√n and σ_K/√n
	off       float64 // largest |σ_i − closed form|/σ_1
	value     float64 // ufm's HeldBias
	bound     float64 // ufm's BiasBound at q
}

func runBiases(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	out := &biases{}
	for i, row := range r.Cases {
		at, err := settingOf(row)
		if err != nil {
			return nil, err
		}
		c, cfg := biasCase{setting: at}, at.cfg
		if c.draws, err = drawBiases(cfg, rand.New(rand.NewPCG(opt.Seed, uint64(i)+31))); err != nil {
			return nil, err
		}
		if c.fitted, err = fitHeld(ctx, cfg, c.draws[:biasSolved], opt.Seed); err != nil {
			return nil, err
		}
		for i := range biasSamples {
			c.bound = append(c.bound, cfg.BiasBound(biasPlace(i)))
		}
		b := make([]float64, cfg.K)
		for k := range b {
			b[k] = float64(c.exact.Bias)
		}
		c.atStar = cfg.HeldBias(b)
		out.cases = append(out.cases, c)
	}
	return out, nil
}

// biasPlace returns the q of a point of a curve.
func biasPlace(i int) float64 { return float64(i) / (biasSamples - 1) }

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
		if err := d.decompose(cfg); err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// decompose sets the singular values that the bias leaves, and its costs.
func (d *drawnBias) decompose(cfg ufm.Config) error {
	var svd mat.SVD
	if !svd.Factorize(residual(cfg, d.b), mat.SVDNone) {
		return fmt.Errorf("theoryrun: the singular values of Y − b1ᵀ did not converge for b = %v", d.b)
	}
	sigma, closed := svd.Values(nil), cfg.BiasSpectrum(d.b)
	d.p, d.q, d.value = sigma[0]/closed.Middle, sigma[cfg.K-1]/closed.Middle, cfg.HeldBias(d.b)
	d.bound = cfg.BiasBound(d.q)
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
	return nil
}

// residual returns Y − b1ᵀ, K×N.
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

// held is a problem whose bias is fixed.
type held struct{ *ufm.Problem }

func (h held) Eval(x, grad []float64) float64 {
	value := h.Problem.Eval(x, grad)
	clear(h.View(grad).B)
	return value
}

// fitHeld fits W and H by L-BFGS from random starts with b held.
func fitHeld(ctx context.Context, cfg ufm.Config, draws []drawnBias, seed uint64) ([]float64, error) {
	problem, err := ufm.NewProblem(cfg, nil)
	if err != nil {
		return nil, err
	}
	var out []float64
	for i, d := range draws {
		at := cfg.Start(ufm.InitScale{W: .5, H: .5}, seed+uint64(i))
		copy(at.B, d.b)
		out = append(out, optim.LBFGS(ctx, held{problem}, at.X, optim.LBFGSConfig{Memory: 20, Iterations: 5000, Gradient: 1e-12}).Value)
	}
	return out, ctx.Err()
}

func (z *biases) claims() []judge.Claim {
	var all []drawnBias
	var each []judge.Claim
	for i, c := range z.cases {
		all = append(all, c.draws...)
		each = append(each, c.heldClaim(numbered("held", i)), c.optimumClaim(numbered("optimum", i)))
	}
	return append(spectrumClaims(all), each...)
}

// spectrumClaims judges the closed form and the two bounds on decompositions.
func spectrumClaims(draws []drawnBias) []judge.Claim {
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
	return append(printedClaims(draws),
		claim("spectrum", "the singular values of Y − b1ᵀ are σ_1, √n (K−2 times) and σ_K as in closed form", off < 1e-12,
			"largest difference %.1g of σ_1 over %d random b", off, len(draws)),
		claim("ends", "ours, for any b: σ_1 ≥ √n ≥ σ_K", above > -1e-12 && below > -1e-12,
			"smallest σ_1/√n − 1 = %.1g, smallest 1 − σ_K/√n = %.1g", above, below),
		claim("spread", "ours, for any b: σ_1 − σ_K ≤ √N‖b‖, with equality where 1ᵀb ≤ 1 only", spread > -1e-12 && equal < 1e-12 && strict > 0,
			"smallest (√N‖b‖ − σ_1 + σ_K)/σ_1 = %.1g; largest where 1ᵀb ≤ 1 %.1g, smallest where 1ᵀb > 1 %.2g", spread, equal, strict))
}

// printedClaims judges (25) and (26). With norm = √K‖b‖, K(‖b‖² − (1ᵀb)²/K) is norm² − (1ᵀb)², and b = c/√K·1 is 1ᵀb = norm.
func printedClaims(draws []drawnBias) []judge.Claim {
	first, ball, inside := math.Inf(1), math.Inf(1), 0
	equal, strict := 0.0, math.Inf(1)
	for _, d := range draws {
		across := math.Max(0, d.norm*d.norm-d.sum*d.sum)
		first = math.Min(first, (d.p-math.Max(math.Sqrt(1+across), math.Abs(1-d.sum)))/d.p)
		if d.norm > 1 {
			continue
		}
		inside++
		above, beyond := d.p-1, d.q-(1-d.norm)
		ball = math.Min(ball, math.Min(above, beyond))
		if d.norm-d.sum < 1e-12 {
			equal = math.Max(equal, math.Max(above, beyond))
		} else {
			strict = math.Min(strict, math.Max(above, beyond))
		}
	}
	return []judge.Claim{
		claim("printed-largest", "(25): σ_1 ≥ √n·max(√(1 + K(‖b‖² − (1ᵀb)²/K)), |1 − 1ᵀb|)", first > -1e-12,
			"smallest distance above the bound %.1g of σ_1 over %d random b", first, len(draws)),
		claim("printed-ball", "(26): for ‖b‖ = c ≤ 1/√K, σ_1 ≥ √n and σ_K ≥ √n(1 − √K·c), with both equalities if and only if b = c/√K·1",
			inside > 0 && ball > -1e-12 && equal < 1e-12 && strict > 1e-12,
			"smallest distance above a bound %.1g·√n over %d random b; largest distance from both at b = c/√K·1 %.1g·√n, smallest elsewhere %.2g·√n", ball, inside, equal, strict),
	}
}

func (c biasCase) name() string {
	return format.Sprintf("K=%d, n=%d, d=%d, λ_W=%g, λ_H=%g, λ_b=%g", c.cfg.K, c.cfg.N, c.cfg.D, c.cfg.LW, c.cfg.LH, c.cfg.LB)
}

// heldClaim compares the fits with the closed form.
func (c biasCase) heldClaim(id string) judge.Claim {
	worst := 0.0
	for i, value := range c.fitted {
		closed := c.draws[i].value
		worst = math.Max(worst, math.Abs(value-closed)/math.Max(1, closed))
	}
	return claim(id, "with b held, the least objective over W and H is the sum of what each singular value costs ("+c.name()+")", worst < 1e-9,
		"largest difference from L-BFGS over %d biases %.1g", len(c.fitted), worst)
}

// optimumClaim judges that the bounds yield Theorem 3.1.
func (c biasCase) optimumClaim(id string) judge.Claim {
	star := float64(c.exact.Objective)
	lowest, slack, at := math.Inf(1), math.Inf(1), c.atStar-star
	for _, d := range c.draws {
		slack = math.Min(slack, d.value-d.bound)
	}
	for _, bound := range c.bound {
		lowest = math.Min(lowest, bound-star)
	}
	return claim(id, "by the two bounds the objective is at least a function of σ_K alone, whose least value is f* of Theorem 3.1, regime "+c.exact.Regime+" ("+c.name()+")",
		slack > -1e-12 && lowest > -1e-12 && math.Abs(at) < 1e-12,
		"smallest distance of a random bias above the bound %.1g; of the bound above f* = %.8g on a grid %.1g; value at the exact bias minus f* %.1g", slack, star, lowest, at)
}
