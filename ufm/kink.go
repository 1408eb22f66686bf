package ufm

import (
	"math"

	"collapse.example/collapse/internal/kernel/gemm"
)

// Limits of the search for a subgradient at kinks.
const (
	kinkWidth = 1e-9  // pre-activations below this share of the largest count as 0
	kinkSteps = 400   // accelerated steps over the slopes; each costs four products
	kinkMoved = 1e-11 // the steps end when all slopes move less than this
)

// settleKinks replaces the parts for W1 and H1 of grad, the gradient of relu3 at x that the last Eval left with the
// value given, where it is not that of a critical point with slope 0 at kinks already. They become those of least norm, in variables of equal penalties, over the slopes of the ReLU at its kinks.
//
// Where a pre-activation is 0 the slope may be any α in [0,1]. With D = α∘(W2ᵀ·G), G = ∇g, the gradients
// λ_1W1 + D·H1ᵀ and λ_H1H1 + W1ᵀ·D are linear in α, and the least sum of squares over the box is found by
// accelerated projected gradient steps (Nesterov). Only kinks with (W2ᵀG)_ij > 0, which are convex, are free: at
// the others a step up lowers the loss, and the slope is 1. A point is stationary if the result is 0.
func (p *Problem) settleKinks(x, grad []float64, value float64) {
	if p.Model != ReLU3 || p.isCritical(x, grad, value) {
		return
	}
	at := p.View(x)
	down, free := p.kinks(at)
	if len(free) == 0 || !(p.pW1 > 0 && p.pH > 0) {
		return
	}
	s := &slopes{p: p, at: at, down: down, free: free, masked: append([]float64(nil), down...), out: p.NewPoint()}
	s.r1, s.rH = math.Sqrt(p.naturalLambda()/p.pW1), math.Sqrt(p.naturalLambda()/p.pH)
	largest := 0.0
	for _, j := range free {
		largest = math.Max(largest, down[j])
	}
	bound := s.r1*s.r1*sumSquares(at.H) + s.rH*s.rH*sumSquares(at.W1) // of the map's norm, over largest²
	s.minimise(1 / (largest * largest * bound))
	copy(p.View(grad).W1, s.out.W1)
	copy(p.View(grad).H, s.out.H)
}

// kinks lists the entries of the features that lie on a convex kink, and returns W2ᵀ·G with slope 1 there and 0 where no unit is
// active. The last Eval or Linearize must have been at this point.
func (p *Problem) kinks(at Point) (down []float64, free []int) {
	d, N := p.D, p.K*p.N
	before := make([]float64, d*N)
	p.gemm(gemm.NN, d, N, d, at.W1, at.H, before, false)
	down = make([]float64, d*N)
	p.gemm(gemm.TN, d, N, p.K, at.W, p.g, down, false)
	width := kinkWidth * maxAbs(before)
	least := kinkWidth*maxAbs(down) + p.gradientRounding(at.X)*Norm(at.W)
	for i, v := range before {
		switch {
		case math.Abs(v) <= width && down[i] > least:
			free = append(free, i)
		case v < -width:
			down[i] = 0
		}
	}
	return down, free
}

// slopes is the least-squares problem of settleKinks.
type slopes struct {
	p            *Problem
	at           Point
	down, masked []float64 // W2ᵀ·G with slope 1 at kinks, and with the current slopes
	free         []int
	r1, rH       float64 // weights of the two parts
	out          Point   // the gradients of W1 and H1
}

// eval fills out for slopes alpha.
func (s *slopes) eval(alpha []float64) {
	p, d, N := s.p, s.p.D, s.p.K*s.p.N
	for i, j := range s.free {
		s.masked[j] = alpha[i] * s.down[j]
	}
	p.gemm(gemm.NT, d, d, N, s.masked, s.at.H, s.out.W1, false)
	p.gemm(gemm.TN, d, N, d, s.at.W1, s.masked, s.out.H, false)
	addScaled(s.out.W1, p.pW1, s.at.W1)
	addScaled(s.out.H, p.pH, s.at.H)
}

// minimise leaves the gradients at the best slopes in out; step is the inverse of a bound of the curvature.
func (s *slopes) minimise(step float64) {
	p, d, N := s.p, s.p.D, s.p.K*s.p.N
	n := len(s.free)
	alpha, last, ahead := make([]float64, n), make([]float64, n), make([]float64, n)
	slope := make([]float64, d*N)
	momentum := 1.0
	for range kinkSteps {
		s.eval(ahead)
		scale(s.out.W1, s.r1*s.r1)
		scale(s.out.H, s.rH*s.rH)
		p.gemm(gemm.NN, d, N, d, s.out.W1, s.at.H, slope, false)
		p.gemm(gemm.NN, d, N, d, s.at.W1, s.out.H, slope, true)
		copy(last, alpha)
		moved, turn := 0.0, 0.0
		for i, j := range s.free {
			alpha[i] = math.Min(1, math.Max(0, ahead[i]-step*s.down[j]*slope[j]))
			moved = math.Max(moved, math.Abs(alpha[i]-ahead[i]))
			turn += (ahead[i] - alpha[i]) * (alpha[i] - last[i])
		}
		if turn > 0 { // the momentum points uphill: restart (O'Donoghue & Candès 2015)
			momentum = 1
		}
		next := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		for i := range ahead {
			ahead[i] = alpha[i] + (momentum-1)/next*(alpha[i]-last[i])
		}
		momentum = next
		if moved <= kinkMoved {
			break
		}
	}
	s.eval(alpha)
}

// lowers reports whether a short step along ±direction lowers the objective: with a ReLU, negative curvature of the active piece
// need not be a descent direction.
func (p *Problem) lowers(x, direction []float64, value float64) bool {
	trial, grad := make([]float64, len(x)), make([]float64, len(x))
	for t := 1e-1; t > 1e-6; t /= 4 {
		for _, sign := range []float64{1, -1} {
			copy(trial, x)
			addScaled(trial, sign*t, direction)
			if p.Eval(trial, grad) < value {
				return true
			}
		}
	}
	return false
}
