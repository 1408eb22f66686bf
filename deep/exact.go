package deep

import (
	"fmt"
	"math"
)

// Exact is the optimum of a problem: W_L·…·W_1·H has Rank equal singular values √n·T, and each of the L+1 factors carries an equal share
// of the penalty.
type Exact struct {
	Regime    string    `json:"regime"` // "collapse", "rank-d" or "zero"
	Objective float64   `json:"objective"`
	Rank      int       `json:"rank"`
	Q         float64   `json:"q"`         // K·(n·Πλ)^{1/(L+1)}, the one combination of penalties that matters
	Threshold float64   `json:"threshold"` // of q, from which on zero is optimal
	T         float64   `json:"t"`         // logit of the true class; 0 in regime zero
	Norms     []float64 `json:"norms"`     // squared Frobenius norms of W_L, …, W_1, H
}

// Solve gives the optimum. The cheapest way to write Z as a product of M = L+1 factors with penalties λ_i costs
// (M/2)·(Πλ_i)^{1/M}·Σ σ_j(Z)^{2/M} (the Schatten 2/M quasi-norm), and the error is least when Z has the singular vectors of Y, whose
// singular values are all √n. So each singular value is √n·t with the t in [0, 1] that minimises ½(1 − t)² + (M/2)·q·t^{2/M}, or 0, and
// at most min(K, widths) of them differ from 0.
func (c Config) Solve() (Exact, error) {
	if err := c.Validate(); err != nil {
		return Exact{}, err
	}
	if c.ReLU || c.CE {
		return Exact{}, fmt.Errorf("deep: the optimum is known exactly for squared error without a ReLU")
	}
	M := float64(c.Layers() + 1)
	e := Exact{Q: c.q(), Threshold: threshold(M), Rank: c.K, Regime: "collapse", Norms: make([]float64, len(c.Lambdas))}
	for _, d := range c.Widths {
		if d < e.Rank {
			e.Rank, e.Regime = d, "rank-d"
		}
	}
	if e.Q >= e.Threshold {
		e.Regime, e.Rank, e.Objective = "zero", 0, 0.5
		return e, nil
	}
	e.T = shrunk(M, e.Q)
	K, r := float64(c.K), float64(e.Rank)
	share := e.Q * math.Pow(e.T, 2/M) // K·λ_i·‖F_i‖²/r, the same for all factors
	e.Objective = (r*((1-e.T)*(1-e.T)/2+M/2*share) + (K-r)/2) / K
	for i, l := range c.Lambdas {
		e.Norms[i] = r * share / (K * l)
	}
	return e, nil
}

// q is K·(n·Πλ)^{1/M}, by logarithms: a product of a hundred penalties may underflow.
func (c Config) q() float64 {
	sum := math.Log(float64(c.N))
	for _, l := range c.Lambdas {
		sum += math.Log(l)
	}
	return float64(c.K) * math.Exp(sum/float64(len(c.Lambdas)))
}

// Threshold is the q from which zero is optimal in linear models of L layers.
func Threshold(L int) float64 { return threshold(float64(L + 1)) }

// threshold is the q at which a singular value costs as much as none: at t = (M−2)/(M−1).
func threshold(M float64) float64 {
	return stationary(M, (M-2)/(M-1))
}

// stationary is the q for which t is a critical point: (1 − t)·t^{1−2/M}.
func stationary(M, t float64) float64 { return (1 - t) * math.Pow(t, 1-2/M) }

// shrunk is the larger t with stationary(M, t) = q, by bisection: stationary falls from its peak, at (M−2)/(2(M−1)), to 0 at 1.
func shrunk(M, q float64) float64 {
	lo, hi := (M-2)/(2*(M-1)), 1.0
	for range 200 {
		t := lo + (hi-lo)/2
		if t == lo || t == hi {
			break
		}
		if stationary(M, t) > q {
			lo = t
		} else {
			hi = t
		}
	}
	return lo + (hi-lo)/2
}

// Symmetric is the best point of cross entropy whose logits are a multiple of I − 11ᵀ/K, as neural collapse has them: a local answer,
// which other logits undercut where Simplices or a search finds some.
type Symmetric struct {
	Objective float64 `json:"objective"`
	Margin    float64 `json:"margin"` // of the true class to the others; 0 at zero
}

// largestMargin bounds the scales that are looked at: beyond it cross entropy is smaller than any penalty that matters.
const largestMargin = 700

// Symmetric minimises log(1 + (K−1)e^{−x}) + (M/2)(nΠλ)^{1/M}(K−1)·x^{2/M} over margins x, for linear models with all widths at least K − 1:
// K − 1 singular values x at the price of Solve.
func (c Config) Symmetric() (Symmetric, error) {
	if err := c.Validate(); err != nil {
		return Symmetric{}, err
	}
	if !c.CE || c.ReLU {
		return Symmetric{}, fmt.Errorf("deep: the symmetric point is that of cross entropy without a ReLU")
	}
	for _, d := range c.Widths {
		if d < c.K-1 {
			return Symmetric{}, fmt.Errorf("deep: width %d is below K − 1 = %d, wanted at least that for a simplex ETF", d, c.K-1)
		}
	}
	s := c.simplex(c.K)
	return Symmetric{s.cost, s.at}, nil
}

// leastScale is the scale at which value is least, or 0 if it is nowhere less than at zero: a walk, and then a search by thirds.
func leastScale(zero float64, value func(float64) float64) scaled {
	best := scaled{0, zero}
	for x := 1e-3; x < largestMargin; x *= 1.01 {
		if f := value(x); f < best.cost {
			best = scaled{x, f}
		}
	}
	if best.at == 0 {
		return best
	}
	lo, hi := best.at/1.01, best.at*1.01
	for range 200 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if value(a) < value(b) {
			hi = b
		} else {
			lo = a
		}
	}
	x := (lo + hi) / 2
	return scaled{x, min(value(x), best.cost)}
}
