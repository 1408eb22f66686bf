package ufm

import "math"

// Xi is ZU's bound ξ(ρ) of the cross-entropy objective as a function of ρ = ‖W‖² (ZU, proof of Theorem D.1, and Fig. 11):
//
//	ξ(ρ) = −ρ/((1+c1)(K−1))·√(λ_W/(λ_H n)) + c2 + λ_W ρ,  c1 = [(K−1)e^{−x}]^{−1},  x = ρ/(K−1)·√(λ_W/(λ_H n))
//	c2 = log((1+c1)(K−1))/(1+c1) + c1/(1+c1)·log((1+c1)/c1)
//
// which equals log(1+(K−1)e^{−x}) + κx, κ = (K−1)√(n λ_W λ_H); that form does not overflow.
func Xi(rho float64, c Config) float64 {
	K := float64(c.K)
	x := rho / (K - 1) * math.Sqrt(c.LW/(c.LH*float64(c.N)))
	return math.Log1p((K-1)*math.Exp(-x)) + (K-1)*math.Sqrt(float64(c.N)*c.LW*c.LH)*x
}
