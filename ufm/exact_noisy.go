package ufm

import "math"

// exactNoisy is TB Theorem 5.1, with its λ̃_H = n·λ_H under the root as in the proof, and TB F.1
// (103)–(104) for two layers: the limit for n → ∞ of the classifier fitted to noisy features is the
// noiseless one times Attenuation.
func (c Config) exactNoisy() Exact {
	inner := c
	inner.Sigma = 0
	if c.Layers == 2 {
		inner.Model = Linear3
		e := inner.exactThree()
		if e.Regime == "zero" {
			return unavailable("noisy-features: the features without noise are zero (q = %g), so there is nothing to attenuate", inner.q())
		}
		sH := float64(e.Singular.H1)
		e.Attenuation = Number(1 / (1 + float64(c.K)*c.Sigma*c.Sigma/(sH*sH)))
		e.Source = "TB F.1 (103)–(104)"
		return e
	}
	inner.Model, inner.LB = MSE, NoBias
	if inner.c() >= 1 {
		return unavailable("noisy-features: the features without noise are zero (c = %g, wanted below 1), so there is nothing to attenuate", inner.c())
	}
	e := inner.exactMSE()
	lh := float64(c.N) * c.LH
	e.Attenuation = Number(1 / (1 + c.Sigma*c.Sigma*float64(c.K)*math.Sqrt(lh/c.LW)))
	e.Source = "TB Theorem 5.1 with λ̃_H = n·λ_H"
	return e
}
