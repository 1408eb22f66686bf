package ufm

import "collapse.example/collapse/internal/kernel/gemm"

// smallestFactor bounds the factor that descent keeps separate from H; see Descend.
const smallestFactor = 0.5

// Descend makes count steps of plain simultaneous gradient descent in place: x becomes x − t·∇f(x),
// for LSNonneg followed by the projection onto H ≥ 0. It implements optim.Stepper.
//
// It is Eval and an update with fewer passes over H, by far the longest variable: H is kept as σ·Ĥ, the penalty only shrinks σ to (1
// − tλ_H)·σ, and the gradient of g goes straight into Ĥ as a product that accumulates. W, W1 and the gradient, which are short,
// absorb the σ that products with H need.
func (p *Problem) Descend(x []float64, t float64, count int) {
	if p.step.X == nil {
		p.step, p.scaledBy = p.NewPoint(), p.NewPoint()
	}
	at, sigma := p.View(x), 1.0
	for range count {
		sigma = p.descendOnce(at, t, sigma)
		if !(sigma >= smallestFactor) {
			scale(at.H, sigma)
			sigma = 1
		}
	}
	scale(at.H, sigma)
}

// descendOnce makes one step with H = sigma·at.H and returns the new sigma.
func (p *Problem) descendOnce(at Point, t, sigma float64) float64 {
	K, d, N := p.K, p.D, p.K*p.N
	p.scaledOutputs(at, sigma)
	p.head.gradient(p.z, p.g)
	features, weight := at.H, sigma // of dW = G·Fᵀ
	if p.f != nil {
		features, weight = p.f, 1
	}
	p.gemm(gemm.NT, K, d, N, p.g, features, p.step.W, false)
	for k := range at.B {
		sum := 0.0
		for _, g := range p.g[k*N:][:N] {
			sum += g
		}
		p.step.B[k] = sum
	}
	next := sigma * (1 - t*p.pH)
	if p.f == nil { // Ĥ += Wᵀ·(−tG/σ'), with W before its own step
		scaleTo(p.scaledBy.W, -t/next, at.W)
		p.gemm(gemm.TN, d, N, K, p.scaledBy.W, p.g, at.H, true)
	} else {
		p.descendFeatures(at, t, sigma, next)
	}
	shrinkAndMove(at.W, t, p.pW, weight, p.step.W)
	shrinkAndMove(at.B, t, p.pB, 1, p.step.B)
	if p.Model == LSNonneg {
		for i, v := range at.H {
			if v < 0 {
				at.H[i] = 0
			}
		}
	}
	return next
}

// scaledOutputs is outputs for H = sigma·at.H.
func (p *Problem) scaledOutputs(at Point, sigma float64) {
	if sigma == 1 {
		p.outputs(at)
		return
	}
	scaled := at
	switch {
	case at.W1 != nil:
		scaled.W1 = p.scaledBy.W1
		scaleTo(scaled.W1, sigma, at.W1)
	default: // relu(σĤ) = σ·relu(Ĥ)
		scaled.W = p.scaledBy.W
		scaleTo(scaled.W, sigma, at.W)
	}
	p.outputs(scaled)
	if p.f != nil && at.W1 == nil {
		scale(p.f, sigma)
	}
}

// descendFeatures steps W1 and H1, or H with a plain relu.
func (p *Problem) descendFeatures(at Point, t, sigma, next float64) {
	K, d, N := p.K, p.D, p.K*p.N
	p.gemm(gemm.TN, d, N, K, at.W, p.g, p.df, false)
	p.maskInactive(p.df)
	if at.W1 == nil {
		addScaled(at.H, -t/next, p.df)
		return
	}
	p.gemm(gemm.NT, d, d, N, p.df, at.H, p.step.W1, false)
	scaleTo(p.scaledBy.W1, -t/next, at.W1)
	p.gemm(gemm.TN, d, N, d, p.scaledBy.W1, p.df, at.H, true)
	shrinkAndMove(at.W1, t, p.pW1, sigma, p.step.W1)
}

// shrinkAndMove is x = (1 − tλ)·x − t·f·grad.
func shrinkAndMove(x []float64, t, lambda, f float64, grad []float64) {
	shrink, move := 1-t*lambda, t*f
	grad = grad[:len(x)]
	for i := range x {
		x[i] = shrink*x[i] - move*grad[i]
	}
}

// scaleTo writes f·src to dst.
func scaleTo(dst []float64, f float64, src []float64) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = f * v
	}
}
