package ufm

import (
	"math"

	"collapse.example/collapse/measure"
)

// Thresholds of q = K(n λ_2 λ_1 λ_H1)^{1/3}.
var (
	qExists = 3 * math.Pow(4, -4.0/3) // above it τ⁴ − τ + q = 0 has no root: zero is the only critical point
	qZero   = math.Pow(2, -4.0/3)     // above it zero is the global optimum
)

// largerRoot returns the larger root of τ⁴ − τ + q = 0, in [4^{−1/3}, 1]; q ≤ qExists. TB's "the
// positive root" is ambiguous: there are two.
func largerRoot(q float64) float64 {
	low, high := math.Pow(4, -1.0/3), 1.0
	for range 80 {
		mid := low + (high-low)/2
		if mid*mid*mid*mid-mid+q > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	t := low + (high-low)/2
	for range 3 { // Newton, for the last bits; stays where the derivative vanishes (the double root)
		if slope := 4*t*t*t - 1; slope > 1e-6 {
			t -= (t*t*t*t - t + q) / slope
		}
	}
	return t
}

// q returns K(n λ_2 λ_1 λ_H1)^{1/3}.
func (c Config) q() float64 { return float64(c.K) * math.Cbrt(float64(c.N)*c.L2*c.L1*c.LH1) }

// directionCost is φ(σ) = (1−σ)²/2 + (3/2)q σ^{2/3} for one direction: K times its share of f.
func directionCost(q, tau float64) float64 {
	sigma := tau * tau * tau
	return (1-sigma)*(1-sigma)/2 + 1.5*q*tau*tau
}

// exactThree is TB Theorem 4.1 (linear), with the missing condition for a non-zero optimum; for the ReLU (d ≥ K) it is the best
// point known: TB Theorem 4.2, which gives the linear value, fails where exactCyclic is lower.
func (c Config) exactThree() Exact {
	q, relu := c.q(), c.Model == ReLU3
	var blocks []block
	least := math.Inf(1)
	if relu {
		blocks, least = bestBlocks(c.K, q)
		if c.D < c.K && (q <= qZero || isCyclic(blocks)) {
			return unavailable("relu3 with d = %d < k = %d has no closed form; solved numerically", c.D, c.K)
		}
	}
	e := newExact()
	e.Available, e.Q = true, Number(q)
	e.Status, e.Source = Proved, "TB Theorem 4.1 with the non-zero condition nK³λ_2λ_1λ_H1 ≤ 1/16 (ours)"
	if relu {
		e.Status, e.Source = Observed, "the best point known; TB Theorem 4.2, as printed in arXiv 2202.08087, claims the linear value and frame, its proof has a gap"
	}
	if q <= qExists {
		tau, K := largerRoot(q), float64(c.K)
		for k := min(c.D, c.K); k >= 0; k-- {
			value := (float64(k)*directionCost(q, tau) + (K-float64(k))/2) / K
			e.LocalObjectives = append(e.LocalObjectives, value)
		}
	}
	switch {
	case isCyclic(blocks):
		return c.exactCyclic(e, blocks, least/float64(c.K))
	case q > qZero:
		return c.threeZero(e)
	}
	return c.threeFrame(e, q)
}

// threeFrame is the optimum for q up to qZero: equal singular values in as many directions as there are; for d ≥ K an orthogonal
// frame.
func (c Config) threeFrame(e Exact, q float64) Exact {
	r, K, n := min(c.D, c.K), float64(c.K), float64(c.N)
	tau := largerRoot(q)
	sigma := tau * tau * tau
	e.Objective = Number(e.LocalObjectives[0])
	e.LocalObjectives = e.LocalObjectives[1:]
	e.Regime, e.Rank = "orthogonal-frame", r
	if c.D < c.K {
		e.Regime = "rank-d"
	}
	e.Tau, e.Sigma, e.Margin = Number(tau), Number(sigma), Number(sigma)
	energy := q / K * tau * tau // λ_2 s_2² = λ_1 s_1² = n λ_H s_H²
	s2, s1, sH := math.Sqrt(energy/c.L2), math.Sqrt(energy/c.L1), math.Sqrt(energy/(n*c.LH1))
	e.Singular = Singular{W2: Number(s2), W1: Number(s1), H1: Number(sH), H2: Number(s1 * sH)}
	e.WNorm2, e.HNorm2 = Number(float64(r)*s2*s2), Number(n*float64(r)*sH*sH)
	c.fillThree(&e, r, s2, s1*sH)
	return e
}

// fillThree sets the spectra and limits of the features W1·H1 (after the ReLU).
func (c Config) fillThree(e *Exact, r int, s2, s21 float64) {
	e.shape.kind = threeLinear
	if c.Model == ReLU3 {
		e.shape.kind = threeReLU
	}
	e.Gram, e.WWT = make(measure.Vector, c.K), make(measure.Vector, c.K)
	for k := range r {
		e.Gram[k], e.WWT[k] = s21*s21, s2*s2
	}
	if r < c.K {
		e.Margin = None
		e.Measures = projectionLimits(c, anyProj, s21*s21, 0)
		return
	}
	e.ClassMeanNorm2, e.GramDiag, e.GramOffdiag = Number(s21*s21), Number(s21*s21), 0
	e.Duality = Number(s21 / s2)
	e.Measures = symmetricLimits(c, symmetricMeans{gram: pair{s21 * s21, s21 * s21}, wwt: pair{s2 * s2, s2 * s2}, outputs: pair{s2 * s21, s2 * s21}})
	e.Measures = e.Measures.With("h1_"+measure.KeyNC1Pinv, 0)
	if c.Model == Linear3 { // with a ReLU the geometry of H1 is not determined
		e.Measures = e.Measures.With("h1_"+measure.KeyNC2MeansOF, 0)
	}
}

// threeZero is the optimum for q above qZero: everything is zero, f = 1/2. This is proved only for the linear model.
func (c Config) threeZero(e Exact) Exact {
	e.Objective, e.Regime = 0.5, "zero"
	e.Sigma, e.Margin, e.WNorm2, e.HNorm2, e.ClassMeanNorm2 = 0, 0, 0, 0, 0
	e.Singular = Singular{}
	e.shape.kind = zeroOfShape
	e.Gram, e.WWT = make(measure.Vector, c.K), make(measure.Vector, c.K)
	if n := len(e.LocalObjectives); n > 0 {
		e.LocalObjectives = e.LocalObjectives[:n-1] // the last is zero itself
	}
	return e
}

// exactThreeCE: no closed form is known to be optimal. TB's remark after Theorem 4.1 is false as
// stated: for K = 4 a rank-2 square beats the ETF. The ETF branch (linear) or orthogonal branch
// (ReLU) is reported as a local value.
func (c Config) exactThreeCE() Exact {
	K := float64(c.K)
	factor := K - 1
	if c.Model == ReLU3 {
		factor = math.Cbrt(K * K * (K - 1))
	}
	e := unavailable("three factors with cross-entropy have no proved optimum (a rank-2 square can beat the simplex ETF); solved numerically, the symmetric branch is listed in local_objectives")
	if c.D >= c.K-1 && (c.Model == Linear3 || c.D >= c.K) {
		price := 1.5 * factor * math.Cbrt(float64(c.N)*c.L2*c.L1*c.LH1)
		e.LocalObjectives = measure.Vector{symmetricThreeCE(c.K, price)}
	}
	return e
}

// symmetricThreeCE minimises log(1+(K−1)e^{−x}) + price·x^{2/3} over x ≥ 0: the lower of x = 0 and the
// outer stationary point, which a scan brackets and golden section refines.
func symmetricThreeCE(K int, price float64) float64 {
	value := func(x float64) float64 {
		return math.Log1p(float64(K-1)*math.Exp(-x)) + price*math.Cbrt(x*x)
	}
	best, at := value(0), 0.0
	const step = 0.05
	for x := step; x < 800; x += step {
		if v := value(x); v < best {
			best, at = v, x
		}
	}
	if at == 0 {
		return best
	}
	return math.Min(best, value(golden(value, at-step, at+step)))
}

// golden returns the location of the minimum of a unimodal f in [a,b], to about √ε.
func golden(f func(float64) float64, a, b float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	c, d := b-ratio*(b-a), a+ratio*(b-a)
	fc, fd := f(c), f(d)
	for range 60 {
		if fc < fd {
			b, d, fd = d, c, fc
			c = b - ratio*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + ratio*(b-a)
			fd = f(d)
		}
	}
	return (a + b) / 2
}
