package ufm

import (
	"math"

	"collapse.example/collapse/measure"
)

// exactCE is ZU Theorem D.1 and, for label smoothing without sign constraint, its analogue with
// κ = (K−1)√(n λ_W λ_H) + α(K−1)/K.
func (c Config) exactCE() Exact {
	K := float64(c.K)
	alpha := c.Smoothing
	if c.Model == CE {
		alpha = 0
	}
	kappa := (K-1)*math.Sqrt(float64(c.N))*math.Sqrt(c.LW)*math.Sqrt(c.LH) + alpha*(K-1)/K
	x, value, zero := logRatioMargin(c.K, kappa)
	if c.D < c.K-1 && !zero {
		return unavailable("%s with d = %d < k − 1 = %d has no closed form (a simplex ETF does not fit); solved numerically", c.Model, c.D, c.K-1)
	}
	e := newExact()
	e.Kappa, e.Objective, e.Status = Number(kappa), Number(value), Proved
	e.Source = "ZU Theorem D.1 by lifting and Jensen; zero regime ours"
	if c.Model == LS {
		e.Source = "MD Theorem 3.2 without sign constraint (ours)"
	}
	e.Regime = "etf"
	if zero {
		e.Regime = "zero"
	}
	e.fillSymmetric(c, x, 0, 0, math.Sqrt(c.LW/(float64(c.N)*c.LH)))
	return e
}

// exactNonneg is MD Theorem 3.2 with corrected constants: κ = α(K−1)/K + 2√(K(K−1)λ_Wλ_H). (MD lose the factor K, their N, after
// (7).)
func (c Config) exactNonneg() Exact {
	K := float64(c.K)
	kappa := c.Smoothing*(K-1)/K + 2*math.Sqrt(K*(K-1)*c.LW*c.LH)
	x, value, zero := logRatioMargin(c.K, kappa)
	e := newExact()
	e.Available = true
	e.Kappa, e.Objective, e.Bias, e.Margin = Number(kappa), Number(value), 0, Number(x)
	e.Status, e.Source = Proved, "MD Theorem 3.2 with corrected constants"
	if zero {
		e.Regime = "zero"
		e.fillSymmetric(c, 0, 0, 0, math.Sqrt(c.LW/c.LH))
		return e
	}
	e.Regime, e.Rank = "orthogonal-frame", c.K-1
	a2 := math.Sqrt((K-1)*c.LW/(K*c.LH)) * x
	dual := math.Sqrt(K * c.LH / ((K - 1) * c.LW)) // w_k = dual·(h_k − h_G)
	e.ClassMeanNorm2, e.GramDiag, e.GramOffdiag = Number(a2), Number(a2), 0
	e.WNorm2 = Number(math.Sqrt(K*(K-1)*c.LH/c.LW) * x)
	e.HNorm2 = Number(float64(c.N) * math.Sqrt(K*(K-1)*c.LW/c.LH) * x)
	e.Gram, e.WWT = make(measure.Vector, c.K), make(measure.Vector, c.K)
	for k := range c.K {
		e.Gram[k] = a2
		if k < c.K-1 {
			e.WWT[k] = dual * dual * a2
		}
	}
	e.shape = shape{kind: nonnegative, x: x, sd: 1 / dual}
	e.Measures = symmetricLimits(c, symmetricMeans{gram: pair{a2, a2}, wwt: pair{dual * dual * a2, 0}, outputs: pair{x, 0}})
	for _, key := range []string{measure.KeyConfSmallestEntry, measure.KeyConfOverlap, measure.KeyConfWeightAngle} {
		e.Measures = e.Measures.With(key, 0)
	}
	return e
}
