package ufm

import (
	"math"
	"math/rand/v2"
)

// InitScale holds the standard deviations of a random start: of W (W2), W1, and H (H1). The bias has
// W's, as in TB Fig. 2.
type InitScale struct{ W, W1, H float64 }

// Start returns independent normal variables, the papers' start, reproducible from seed. For
// LSNonneg H holds absolute values.
func (c Config) Start(scale InitScale, seed uint64) Point {
	rng := rand.New(rand.NewPCG(seed, 0x756d66))
	p := c.NewPoint()
	fill := func(x []float64, scale float64) {
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
	}
	fill(p.W, scale.W)
	fill(p.W1, scale.W1)
	fill(p.H, scale.H)
	fill(p.B, scale.W)
	if c.Model == LSNonneg {
		for i, v := range p.H {
			p.H[i] = math.Abs(v)
		}
	}
	return p
}

// defaultInit is the scale of TB's starts: 1 for two factors, 0.1 for three.
func (c Config) defaultInit() InitScale {
	if c.ThreeFactor() {
		return InitScale{.1, .1, .1}
	}
	return InitScale{1, 1, 1}
}

// balanced returns the standard deviations at which a start has outputs of order one and equal penalties on all factors: λ_i s_i²
// equal (balance, as at any critical point).
func (c Config) balanced() InitScale {
	width := math.Sqrt(float64(c.D))
	if c.ThreeFactor() {
		level := math.Cbrt(c.L2 * c.L1 * c.LH1)
		return InitScale{W: math.Sqrt(level/c.L2) / width, W1: math.Sqrt(level/c.L1) / width, H: math.Sqrt(level / c.LH1)}
	}
	level := math.Sqrt(c.LW * c.LH)
	return InitScale{W: math.Sqrt(level/c.LW) / width, H: math.Sqrt(level / c.LH)}
}

// limitRank confines a three-factor point to its first r hidden directions: descent then stays at rank r,
// unless it leaves a saddle along negative curvature.
func (c Config) limitRank(p Point, r int) {
	N := c.K * c.N
	for j := r; j < c.D; j++ {
		for k := range c.K {
			p.W[k*c.D+j] = 0
		}
		clear(p.W1[j*c.D:][:c.D])
		for i := range c.D {
			p.W1[i*c.D+j] = 0
		}
		clear(p.H[j*N:][:N])
	}
}
