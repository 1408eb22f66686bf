package ufm

import "math"

// unitRoundoff is the unit roundoff of float64.
const unitRoundoff = 0x1p-53

// naturalLambda is the geometric mean λ̄ of the penalties: in variables y = x·√(λ/λ̄) every factor has the
// penalty λ̄/2·‖y‖². It is 0 if a penalty is.
func (p *Problem) naturalLambda() float64 {
	if p.ThreeFactor() {
		return math.Cbrt(p.pW) * math.Cbrt(p.pW1) * math.Cbrt(p.pH)
	}
	return math.Sqrt(p.pW) * math.Sqrt(p.pH)
}

// isCritical reports whether the first-order conditions hold at x: ½‖∇f‖²/λ̄ ≤ criticalDrop·f, with the gradient in the variables of
// equal penalties (see naturalLambda), where λ̄ is the penalties' curvature. A step with that curvature gains half the squared
// gradient divided by it, so the test asks what fraction of its objective a point could gain. Without penalties there is no such
// scale: then the largest entry must be below 1e-6. grad is the gradient at x and value the objective.
func (p *Problem) isCritical(x, grad []float64, value float64) bool {
	level := p.naturalLambda()
	if level == 0 {
		return p.kktResidual(x, grad) <= 1e-6
	}
	sum, at := 0.0, p.View(grad)
	add := func(block []float64, lambda float64, from int) {
		for i, g := range block {
			if p.nonneg(from+i) && x[from+i] == 0 {
				g = math.Min(g, 0)
			}
			g *= math.Sqrt(level / lambda)
			sum += g * g
		}
	}
	add(at.W, p.pW, 0)
	add(at.W1, p.pW1, len(at.W))
	add(at.H, p.pH, len(at.W)+len(at.W1))
	for _, g := range at.B { // the curvature in b is about (1 + λ_b)/K; λ̄/(λ̄ + λ_b) keeps it below λ̄
		sum += g * g * level / (level + p.pB)
	}
	return sum/(2*level) <= criticalDrop*value
}

// fallsBelow is the size that a negative Hessian eigenvalue must exceed to be a descent direction at x: a fraction of the smallest
// penalty, plus what a gradient that is not quite 0 contributes along directions in which f is constant (rotations R of the hidden
// space: the Hessian times R·x is −R·∇f), plus rounding of the Hessian.
func (p *Problem) fallsBelow(x []float64) float64 {
	grad := make([]float64, len(x))
	p.Eval(x, grad)
	smallest := math.Min(p.pW, p.pH)
	if p.ThreeFactor() {
		smallest = math.Min(smallest, p.pW1)
	}
	size := Norm(x)
	moved := 0.0
	if size > 0 {
		moved = 2 * Norm(grad) / size
	}
	curvature := (1 + size*size) * float64(p.D+p.K) / float64(p.K*p.N) // of the loss, about ‖x‖²/N
	return curvatureLimit*smallest + moved + 8*unitRoundoff*curvature
}

// outputRounding bounds the error that rounding leaves in the outputs Z = W·H minus their targets, in Frobenius norm:
// (d+2)·u·(‖W‖·‖H‖ + √N(‖b‖ + M)), u = 2⁻⁵³.
func (p *Problem) outputRounding(x []float64) float64 {
	at, N := p.View(x), float64(p.K*p.N)
	return float64(p.D+2) * unitRoundoff * (Norm(at.W)*Norm(at.H) + math.Sqrt(N)*(Norm(at.B)+p.M))
}

// gradientRounding bounds the error in ∇g, in Frobenius norm: that of the outputs times the largest second derivative of the loss.
func (p *Problem) gradientRounding(x []float64) float64 {
	return 2 * math.Max(1, p.Alpha) * p.outputRounding(x) / float64(p.K*p.N)
}

// boundRounding bounds the error of GapBound at x, whose loss has the value given. With ρ the rounding of the
// outputs, f + g*(V) moves by
//
//	squares: ⟨V, ρ⟩·N + (α·M/N)·Σ ρ over true classes, a sum of at most √n·‖W‖‖H‖ times (d+2)u;
//	cross-entropy: by the entropy of the probabilities times 2ρ, at most (d+2)u·‖W‖‖H‖/√N in the mean,
//
// and by rounding of the sums themselves. If the bias is free, V·1 must be 0: what remains of it counts.
func (p *Problem) boundRounding(x []float64, value float64) float64 {
	at, N := p.View(x), float64(p.K*p.N)
	product := float64(p.D+2) * unitRoundoff * Norm(at.W) * Norm(at.H)
	rounding := 16 * unitRoundoff * value
	if p.CrossEntropy() {
		rounding += (2 + 2*value) * (product/math.Sqrt(N) + 4*unitRoundoff*(1+Norm(at.B)))
	} else {
		own := product*math.Sqrt(float64(p.N))/N + 2*unitRoundoff*(p.M+Norm(at.B))
		rounding += p.Alpha*p.M*own + math.Sqrt(2*p.Alpha*value/N)*p.outputRounding(x)
	}
	if p.HasBias() && p.pB == 0 {
		for _, row := range p.rowSums() {
			rounding += math.Abs(row)
		}
	}
	return rounding
}

// within reports whether value is the exact optimum up to a fraction of f*, which means the same for penalties of any size.
func (e Exact) within(value, share float64) bool {
	return e.Available && value <= float64(e.Objective)*(1+share)
}
