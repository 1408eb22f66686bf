package ufm

import "collapse.example/collapse/internal/kernel/gemm"

// Linearize sets the point at which HessVec works. With relu the derivatives are those of the piece on which the signs of the
// pre-activations stay as they are.
func (p *Problem) Linearize(x []float64) {
	d, N := p.D, p.K*p.N
	if p.at.X == nil {
		p.at = p.NewPoint()
		p.tangentF, p.tangentZ = make([]float64, d*N), make([]float64, p.K*N)
		p.adjoint = make([]float64, d*N)
	}
	copy(p.at.X, x)
	p.outputs(p.at)
	p.head.gradient(p.z, p.g)
	p.gemm(gemm.TN, d, N, p.K, p.at.W, p.g, p.adjoint, false)
	p.maskInactive(p.adjoint)
}

// HessVec writes the Hessian at the point of Linearize times v to out.
//
// With dots for derivatives along v, F = relu(W1·H1), Z = W·F + b1ᵀ, G = ∇g(Z), A = mask(Wᵀ·G):
//
//	Ḟ = mask(Ẇ1·H1 + W1·Ḣ1), Ż = Ẇ·F + W·Ḟ + ḃ1ᵀ, Ġ = ∇²g[Ż], Ȧ = mask(Ẇᵀ·G + Wᵀ·Ġ)
//	out_W = Ġ·Fᵀ + G·Ḟᵀ, out_b = Ġ·1, out_W1 = Ȧ·H1ᵀ + A·Ḣ1ᵀ, out_H1 = Ẇ1ᵀ·A + W1ᵀ·Ȧ
//
// plus λ times v. For two factors Ḟ = Ḣ and out_H = Ȧ.
func (p *Problem) HessVec(v, out []float64) {
	K, d, N := p.K, p.D, p.K*p.N
	dir, res := p.View(v), p.View(out)
	features, tangent := p.at.H, dir.H
	if p.f != nil {
		features, tangent = p.f, p.tangentF
		if p.at.W1 != nil {
			p.gemm(gemm.NN, d, N, d, dir.W1, p.at.H, tangent, false)
			p.gemm(gemm.NN, d, N, d, p.at.W1, dir.H, tangent, true)
		} else {
			copy(tangent, dir.H)
		}
		p.maskInactive(tangent)
	}
	z := p.tangentZ
	for k, b := range dir.B {
		row := z[k*N:][:N]
		for i := range row {
			row[i] = b
		}
	}
	p.gemm(gemm.NN, K, N, d, dir.W, features, z, dir.B != nil)
	p.gemm(gemm.NN, K, N, d, p.at.W, tangent, z, true)
	p.head.curvature(z)

	p.gemm(gemm.NT, K, d, N, z, features, res.W, false)
	p.gemm(gemm.NT, K, d, N, p.g, tangent, res.W, true)
	for k := range res.B {
		sum := 0.0
		for _, x := range z[k*N:][:N] {
			sum += x
		}
		res.B[k] = sum
	}
	p.hessFeatures(dir, res)
	addScaled(res.W, p.pW, dir.W)
	addScaled(res.W1, p.pW1, dir.W1)
	addScaled(res.H, p.pH, dir.H)
	addScaled(res.B, p.pB, dir.B)
}

// hessFeatures writes the parts of HessVec for W1 and H; Ġ is in tangentZ.
func (p *Problem) hessFeatures(dir, res Point) {
	K, d, N := p.K, p.D, p.K*p.N
	down := res.H
	if p.at.W1 != nil {
		down = p.df
	}
	p.gemm(gemm.TN, d, N, K, dir.W, p.g, down, false)
	p.gemm(gemm.TN, d, N, K, p.at.W, p.tangentZ, down, true)
	p.maskInactive(down)
	if p.at.W1 == nil {
		return
	}
	p.gemm(gemm.NT, d, d, N, down, p.at.H, res.W1, false)
	p.gemm(gemm.NT, d, d, N, p.adjoint, dir.H, res.W1, true)
	p.gemm(gemm.TN, d, N, d, dir.W1, p.adjoint, res.H, false)
	p.gemm(gemm.TN, d, N, d, p.at.W1, down, res.H, true)
}
