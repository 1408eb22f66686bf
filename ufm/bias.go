package ufm

import (
	"math"
	"slices"
)

// BiasSpectrum are the singular values of Ỹ = Y − b1ᵀ (K×N), what the bias b leaves for W·H to fit. ỸỸᵀ =
// n(I − 1bᵀ − b1ᵀ + K·bbᵀ) differs from n·I on span{1, b} alone, so K−2 of them are √n and the other two follow
// from determinant and trace there: with a = 1 − 1ᵀb, T = K‖b − b̄1‖², p = σ_1/√n and q = σ_K/√n
//
//	p·q = |a|,  (p+q)² = (1+|a|)² + T,  (p−q)² = (1−|a|)² + T.
//
// ZH Lemma B.3 bounds both: σ_1 ≥ √n·max(√(1+T), |1−1ᵀb|) (25), and for ‖b‖ = c ≤ 1/√K σ_1 ≥ √n and σ_K ≥ √n(1−√K·c),
// with both equalities iff b = c/√K·1 (26; its proof also names b = −c/√K·1, where σ_K = √n). Ours, for any b: σ_1 ≥ √n ≥ σ_K,
// and σ_1 − σ_K ≤ √N‖b‖, because N‖b‖²/n = T + (1−a)², with equality iff 1ᵀb ≤ 1.
type BiasSpectrum struct {
	First  float64 // σ_1 ≥ √n
	Middle float64 // σ_2 = … = σ_{K−1} = √n
	Last   float64 // σ_K ≤ √n
}

// BiasSpectrum returns the singular values of Y − b1ᵀ. It panics if b does not have K entries.
func (c Config) BiasSpectrum(b []float64) BiasSpectrum {
	if len(b) != c.K {
		panic("ufm: BiasSpectrum: b does not have K entries")
	}
	K, total := float64(c.K), 0.0
	for _, v := range b {
		total += v
	}
	spread := 0.0 // T
	for _, v := range b {
		spread += K * (v - total/K) * (v - total/K)
	}
	a, root := math.Abs(1-total), math.Sqrt(float64(c.N))
	p := (math.Sqrt((1+a)*(1+a)+spread) + math.Sqrt((1-a)*(1-a)+spread)) / 2
	return BiasSpectrum{First: root * p, Middle: root, Last: root * a / p}
}

// HeldBias returns the least objective of MSE over W and H while the bias is held at b, for any d: each of the
// min(d,K) largest singular values s·√n of Y − b1ᵀ costs the least of ((s−t)²/2 + c·t)/K over t ≥ 0, each other one s²/(2K), and b itself λ_b‖b‖²/2.
// It panics if b does not have K entries, and for other models.
func (c Config) HeldBias(b []float64) float64 {
	spectrum := c.BiasSpectrum(b)
	s := slices.Repeat([]float64{1}, c.K)
	s[0], s[c.K-1] = spectrum.First/spectrum.Middle, spectrum.Last/spectrum.Middle
	value := 0.0
	for i, v := range s {
		value += c.biasCost(i, v) / float64(c.K)
	}
	if norm := sumSquares(b); norm > 0 { // no bias: λ_b is infinite and b zero
		value += c.LB / 2 * norm
	}
	return value
}

// BiasBound is the lower bound of HeldBias that the two bounds of BiasSpectrum give as a function of q = σ_K/√n in [0,1]: K − 1
// singular values are at least √n, and K‖b‖² ≥ (p−q)² ≥ (1−q)². It is attained at b = (1−q)/K·1, and its least value over q is f* of
// ZH Theorem 3.1.
func (c Config) BiasBound(q float64) float64 {
	value := c.biasCost(c.K-1, q)
	for i := range c.K - 1 {
		value += c.biasCost(i, 1)
	}
	if q < 1 { // no bias: λ_b is infinite
		value += c.LB / 2 * (1 - q) * (1 - q)
	}
	return value / float64(c.K)
}

// biasCost is the cost of the singular value s·√n of rank i (from 0), times K: if the width allows it to be fitted, the least of
// (s−t)²/2 + c·t over t ≥ 0, c = K√(nλ_Wλ_H); else s²/2.
func (c Config) biasCost(i int, s float64) float64 {
	if c.Model != MSE {
		panic("ufm: HeldBias is only for mse")
	}
	if cc := c.c(); i < c.D && s > cc {
		return cc*s - cc*cc/2
	}
	return s * s / 2
}
