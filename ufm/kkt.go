package ufm

import "math"

// nonneg reports whether variable i must not be negative: this is so for the entries of H in LSNonneg.
func (c Config) nonneg(i int) bool {
	from := c.K * c.D
	return c.Model == LSNonneg && i >= from && i < from+c.D*c.K*c.N
}

// feasible reports whether x satisfies the sign constraint, if there is one.
func (c Config) feasible(x []float64) bool {
	for i, v := range x {
		if v < 0 && c.nonneg(i) {
			return false
		}
	}
	return true
}

// kktResidual is the largest violation of the first-order conditions at x: the largest |gradient|
// entry, where an entry of H at its bound 0 counts only with a negative gradient.
func (p *Problem) kktResidual(x, grad []float64) float64 {
	if p.Model != LSNonneg {
		return maxAbs(grad)
	}
	worst := 0.0
	for i, g := range grad {
		if p.nonneg(i) && x[i] == 0 {
			g = math.Min(g, 0)
		}
		if g = math.Abs(g); !(g <= worst) {
			worst = g
		}
	}
	return worst
}

func maxAbs(x []float64) float64 {
	worst := 0.0
	for _, v := range x {
		if v = math.Abs(v); !(v <= worst) {
			worst = v
		}
	}
	return worst
}
