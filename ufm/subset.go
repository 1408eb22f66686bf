package ufm

import (
	"errors"
	"fmt"
	"math"

	"collapse.example/collapse/etf"
)

// SubsetPoint returns the critical point of MSE that keeps r of the singular directions of the best linear fit and sets the others
// to zero (ZH, proof of Lemma B.2): directions of R^K without a bias, of the complement of the ones vector with one. For r below the
// rank of the optimum it is a saddle.
//
// It returns an error for other models, for c ≥ 1, and if r does not fit.
func (c Config) SubsetPoint(r int) (Point, error) {
	most := c.K
	if c.HasBias() {
		most = c.K - 1
	}
	switch {
	case c.Model != MSE:
		return Point{}, errors.New("ufm: SubsetPoint is for mse")
	case c.c() >= 1:
		return Point{}, fmt.Errorf("ufm: c = %g, wanted below 1: only zero is critical", c.c())
	case r < 0 || r > min(most, c.D):
		return Point{}, fmt.Errorf("ufm: %d directions do not fit into k = %d, d = %d", r, c.K, c.D)
	}
	p := c.NewPoint()
	sd, x := math.Sqrt(c.LW/(float64(c.N)*c.LH)), 1-c.c()
	for j := range r {
		for k := range c.K {
			v := 0.0 // entry k of direction j
			switch {
			case c.HasBias():
				v = etf.Helmert(c.K).At(j, k)
			case j == k:
				v = 1
			}
			p.W[k*c.D+j] = math.Sqrt(x/sd) * v
			c.setMean(p, j, k, math.Sqrt(x*sd)*v)
		}
	}
	for k := range p.B {
		p.B[k] = 1 / (float64(c.K) * (1 + c.LB))
	}
	return p, nil
}

// PairedPoint returns the critical point of CE at which the first and the second half of the classes
// are merged: outputs ±t, t = ½log((2−c)/c), rank 1. It is a saddle for K > 2.
//
// It returns an error for other models, odd K, and c ≥ 1.
func (c Config) PairedPoint() (Point, error) {
	if c.Model != CE || c.K%2 != 0 || c.c() >= 1 {
		return Point{}, errors.New("ufm: PairedPoint is for ce with even k and c < 1")
	}
	p := c.NewPoint()
	t, sd := math.Log((2-c.c())/c.c())/2, math.Sqrt(c.LW/(float64(c.N)*c.LH))
	for k := range c.K {
		sign := 1.0
		if k >= c.K/2 {
			sign = -1
		}
		p.W[k*c.D] = sign * math.Sqrt(t/sd)
		c.setMean(p, 0, k, sign*math.Sqrt(t*sd))
	}
	return p, nil
}
