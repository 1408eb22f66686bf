package ufm

import "math"

// exactMSE is ZH Theorem 3.1 with its errata, TB Theorems 3.1 and 3.2.
func (c Config) exactMSE() Exact {
	K, cc := float64(c.K), c.c()
	ratio := 1.0 // λ_b/(1+λ_b)
	beta := 0.0
	if !math.IsInf(c.LB, 1) {
		ratio, beta = c.LB/(1+c.LB), 1/(K*(1+c.LB))
	}
	e := newExact()
	e.C, e.Status = Number(cc), Proved
	e.Source = "ZH Theorem 3.1 (bias for c ≥ 1 corrected), TB Theorems 3.1 and 3.2"
	g := cc - cc*cc/2
	sd := math.Sqrt(c.LW / (float64(c.N) * c.LH))
	set := func(regime string, objective float64) { e.Regime, e.Objective = regime, Number(objective/K) }
	switch {
	case cc >= 1: // for every λ_b: the printed two-case bias of ZH takes the wrong branch here
		if math.IsInf(c.LB, 1) {
			set("zero", K/2)
		} else {
			set("zero", K/2-1/(2*(1+c.LB)))
		}
		e.fillSymmetric(c, 0, 0, beta, sd)
	case c.D >= c.K && c.LB > cc/(1-cc):
		set("full", (K-1)*g+g-cc*cc/(2*c.LB)) // c²/∞ = 0
		e.fillSymmetric(c, 1-cc, 1-cc-cc/c.LB, cc/(K*c.LB), sd)
	case c.D >= c.K-1 && c.HasBias():
		set("etf", (K-1)*g+ratio/2)
		e.fillSymmetric(c, 1-cc, 0, beta, sd)
	case c.HasBias():
		d := float64(c.D)
		set("rank-d", d*g+(K-1-d)/2+ratio/2)
		e.fillProjection(c, projection, 1-cc, beta, sd)
	default:
		d := float64(c.D)
		set("rank-d", d*g+(K-d)/2)
		e.fillProjection(c, anyProj, 1-cc, 0, sd)
	}
	return e
}

// exactReLUPlain: f(W,H) ≥ f_mse(W, relu(H)) ≥ f*_mse, because relu shrinks H; for d ≥ K the orthogonal
// frame of the optimum without bias can be rotated to be non-negative, where relu does nothing.
func (c Config) exactReLUPlain() Exact {
	if c.D < c.K && c.c() < 1 {
		return unavailable("relu-plain with d = %d < k = %d has no closed form: K non-negative orthogonal means do not fit; solved numerically", c.D, c.K)
	}
	plain := c
	plain.Model, plain.LB = MSE, NoBias
	e := plain.exactMSE()
	e.Source = "TB Theorem 3.1 with relu(H) ≤ |H|: the optimum without ReLU, rotated into the non-negative orthant (ours)"
	if e.shape.kind == symmetric {
		e.shape.kind = plainReLU
	}
	return e
}

// exactRescaled is theory for ZH (4): weight α on the true class, target M.
func (c Config) exactRescaled() Exact {
	if c.Alpha == 1 {
		return c.exactScaledTarget()
	}
	K, cc := float64(c.K), c.c()
	sd := math.Sqrt(c.LW / (float64(c.N) * c.LH))
	e := newExact()
	e.C, e.Status = Number(cc), Proved
	e.Source = "convex lifting and symmetry (ours; ZH leave α ≠ 1 open)"
	fill := func(regime string, x, y, beta float64) Exact {
		e.Regime, e.Objective = regime, Number(c.rescaledValue(x, y, beta))
		e.fillSymmetric(c, x, y, beta, sd)
		return e
	}
	bias := !math.IsInf(c.LB, 1)
	zero, beta0 := c.Alpha*c.M, 0.0
	if bias {
		zero = K * c.Alpha * c.M * (1 + c.LB) / (K*(1+c.LB) + c.Alpha - 1)
		beta0 = c.Alpha * c.M / (c.Alpha + K - 1 + K*c.LB)
	}
	if cc >= zero {
		return fill("zero", 0, 0, beta0)
	}
	full := !bias || c.LB*(c.M-cc/c.Alpha) > cc && c.Alpha*c.M > cc
	if full && c.D >= c.K {
		x := c.M - cc/c.Alpha
		return fill("full", x, x-cc/c.LB, cc/(K*c.LB))
	}
	if c.D < c.K && !bias {
		return unavailable("rescaled-mse with alpha ≠ 1, d < k and no bias has no closed form; solved numerically")
	}
	if c.D >= c.K-1 {
		if full { // d = K−1 here
			if c.Alpha < 1 {
				return unavailable("rescaled-mse with alpha < 1 at d = k − 1 has an asymmetric optimum without closed form; solved numerically")
			}
			e.Status, e.Source = Observed, "the ETF branch at d = K−1 gave the best value in every search (ours); spurious local minima exist"
		}
		beta := (c.Alpha*c.M + (c.Alpha-1)*(K-1)*cc/K) / (c.Alpha*((K-1)*(1+c.LB)+1) + c.LB)
		return fill("etf", K*(1+c.LB)*beta-cc, 0, beta)
	}
	return c.exactTight(e, sd)
}

// rescaledValue is F(x,y,β) of the symmetric point.
func (c Config) rescaledValue(x, y, beta float64) float64 {
	K := float64(c.K)
	p, q := ((K-1)*x+y)/K, (y-x)/K
	value := c.Alpha/2*(p+beta-c.M)*(p+beta-c.M) + (K-1)/2*(q+beta)*(q+beta) + c.c()/K*((K-1)*x+y)
	if beta != 0 && !math.IsInf(c.LB, 1) {
		value += K * c.LB * beta * beta / 2
	}
	return value
}

// exactScaledTarget is α = 1: f_M(λ) = M²·f(λ/M) with W, H scaled by √M and b by M, for every d.
func (c Config) exactScaledTarget() Exact {
	inner := c
	inner.LW, inner.LH = c.LW/c.M, c.LH/c.M
	e := inner.exactMSE()
	e.Source += "; target M by f_M(λ_W,λ_H) = M²·f(λ_W/M, λ_H/M)"
	regime, objective, kind := e.Regime, e.Objective, e.shape.kind
	x, y, beta, sd := e.shape.x*c.M, e.shape.y*c.M, float64(e.Bias)*c.M, e.shape.sd
	scaled := newExact()
	scaled.Status, scaled.Source, scaled.Regime = e.Status, e.Source, regime
	scaled.C, scaled.Objective = Number(c.c()), objective*Number(c.M*c.M)
	if kind == projection || kind == anyProj {
		scaled.fillProjection(c, kind, x, beta, sd)
	} else {
		scaled.fillSymmetric(c, x, y, beta, sd)
	}
	return scaled
}
