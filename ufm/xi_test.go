package ufm

import (
	"math"
	"testing"
)

// The short form of ξ is the printed one, and ρ* of the closed form is its minimum.
func TestXi(t *testing.T) {
	c := Config{Model: CE, K: 4, N: 3, D: 4, LW: .02, LH: .01}
	for _, rho := range []float64{.5, 3, 13.35, 40} {
		x := rho / 3 * math.Sqrt(c.LW/(c.LH*3))
		c1 := 1 / (3 * math.Exp(-x))
		c2 := math.Log((1+c1)*3)/(1+c1) + c1/(1+c1)*math.Log((1+c1)/c1)
		printed := -rho/((1+c1)*3)*math.Sqrt(c.LW/(c.LH*3)) + c2 + c.LW*rho
		near(t, "ξ", Xi(rho, c), printed, 1e-10)
	}
	star := 13.34836847
	near(t, "ξ(ρ*)", Xi(star, c), 0.3432920808, 1e-10)
	for _, other := range []float64{star * .99, star * 1.01} {
		if !(Xi(other, c) > Xi(star, c)) {
			t.Errorf("ξ(%g) is not above ξ(ρ*)", other)
		}
	}
}
