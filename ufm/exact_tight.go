package ufm

import (
	"math"
	"math/rand/v2"

	"collapse.example/collapse/etf"
)

// exactTight is rescaled MSE with α > 1 below d = K−1: the best point seen is an equal-norm zero-sum tight frame Z̄ = x·Q, Q_kk =
// d/K, where one exists. (x, β) solve a 2×2 linear system. α removes the freedom in Q that Theorem 3.1 has at α = 1.
func (c Config) exactTight(e Exact, sd float64) Exact {
	if c.Alpha < 1 {
		return unavailable("rescaled-mse with alpha < 1 and d < k − 1 prefers very unequal norms: no closed form; solved numerically")
	}
	if _, err := etf.Tight(c.K, c.D, rand.New(rand.NewPCG(1, 1))); err != nil {
		return unavailable("rescaled-mse with alpha > 1 and d < k − 1 needs a zero-sum tight frame of %d vectors in R^%d, and there is none; solved numerically", c.K, c.D)
	}
	K, d, cc, a := float64(c.K), float64(c.D), c.c(), c.Alpha
	// α(xd/K+β−M) + x(1−d/K) − β + c = 0
	// α(xd/K+β−M) − xd/K + (K−1)β + Kλ_bβ = 0
	a11, a12, r1 := a*d/K+1-d/K, a-1, a*c.M-cc
	a21, a22, r2 := a*d/K-d/K, a+K-1+K*c.LB, a*c.M
	det := a11*a22 - a12*a21
	x, beta := (r1*a22-a12*r2)/det, (a11*r2-a21*r1)/det
	miss := x*d/K + beta - c.M
	value := a/2*miss*miss + (x*x*(d-d*d/K)-2*x*beta*d+K*(K-1)*beta*beta)/(2*K) + cc*d*x/K + K*c.LB*beta*beta/2
	zeroBeta := a * c.M / (a + K - 1 + K*c.LB)
	e.Status, e.Source = Observed, "equal-norm zero-sum tight frame, best in every search (ours)"
	if zero := c.rescaledValue(0, 0, zeroBeta); !(x > 0) || zero <= value {
		e.Regime, e.Objective = "zero", Number(zero)
		e.fillSymmetric(c, 0, 0, zeroBeta, sd)
		return e
	}
	e.Regime, e.Objective = "tight-frame", Number(value)
	e.fillProjection(c, tightFrame, x, beta, sd)
	return e
}

// logRatioMargin solves min_x log(1+(K−1)e^{−x}) + κx: x = log((K−1)(1−κ)/κ), value −log(1−κ) + κx.
// zero says that the minimum over x ≥ 0 is at 0, with value log K: κ ≥ (K−1)/K.
func logRatioMargin(K int, kappa float64) (x, value float64, zero bool) {
	k := float64(K)
	if kappa >= (k-1)/k {
		return 0, math.Log(k), true
	}
	x = math.Log(k-1) + math.Log1p(-kappa) - math.Log(kappa)
	return x, -math.Log1p(-kappa) + kappa*x, false
}
