package ufm

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// Problem evaluates a model: objective, gradient and Hessian–vector product. It owns its scratch
// memory and is not safe for concurrent use.
type Problem struct {
	Config
	team *parallel.Team
	head head

	relu               bool    // F = relu(W1·H1) or relu(H); otherwise without the relu
	pW, pW1, pH, pB    float64 // the objective has p/2·‖·‖² of each
	f, z, g, df        []float64
	tangentF, tangentZ []float64 // scratch of HessVec
	adjoint            []float64 // masked Wᵀ·G of Linearize
	at                 Point     // point of Linearize
	step, scaledBy     Point     // scratch of Descend
}

// NewProblem returns the evaluator of c, or the error of Validate. Noisy has no joint objective; see Attenuation. team may be nil.
func NewProblem(c Config, team *parallel.Team) (*Problem, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Model == Noisy {
		return nil, errNoisy
	}
	c = c.withDefaults()
	p := &Problem{Config: c, team: team, relu: c.Model == ReLU3 || c.Model == ReLUPlain}
	N := c.K * c.N
	switch {
	case c.CrossEntropy():
		p.head = newEntropy(c.K, c.N, c.Smoothing)
	case c.Model == RescaledMSE:
		p.head = &squares{K: c.K, n: c.N, alpha: c.Alpha, m: c.M}
	default:
		p.head = &squares{K: c.K, n: c.N, alpha: 1, m: 1}
	}
	p.pW, p.pH, p.pB = c.LW, c.LH, c.LB
	switch {
	case c.ThreeFactor():
		p.pW, p.pW1, p.pH = c.L2, c.L1, c.LH1
	case c.Model == LSNonneg: // λ_W‖W‖² + (λ_H/n)‖H‖² + λ_b‖b‖²
		p.pW, p.pH, p.pB = 2*c.LW, 2*c.LH/float64(c.N), 2*c.LB
	}
	p.z, p.g = memory.Alloc[float64](c.K*N), memory.Alloc[float64](c.K*N)
	if p.relu || c.ThreeFactor() {
		p.f, p.df = memory.Alloc[float64](c.D*N), memory.Alloc[float64](c.D*N)
	}
	return p, nil
}

// Dim returns the number of variables.
func (p *Problem) Dim() int { return p.Variables() }

// Eval returns the objective at x and overwrites grad with its gradient. With relu, relu'(0) = 0.
func (p *Problem) Eval(x, grad []float64) float64 {
	at := p.View(x)
	p.outputs(at)
	value := p.head.value(p.z, p.g)
	p.backward(at, p.View(grad))
	value += p.pW/2*sumSquares(at.W) + p.pH/2*sumSquares(at.H)
	addScaled(grad[:len(at.W)], p.pW, at.W)
	if at.W1 != nil {
		value += p.pW1 / 2 * sumSquares(at.W1)
		addScaled(grad[len(at.W):][:len(at.W1)], p.pW1, at.W1)
	}
	addScaled(p.View(grad).H, p.pH, at.H)
	if at.B != nil {
		value += p.pB / 2 * sumSquares(at.B)
		addScaled(p.View(grad).B, p.pB, at.B)
	}
	return value
}

// outputs fills f (features that the classifier sees) and z = W·F + b1ᵀ.
func (p *Problem) outputs(at Point) {
	K, d, N := p.K, p.D, p.K*p.N
	features := p.features(at)
	for k, b := range at.B {
		row := p.z[k*N:][:N]
		for i := range row {
			row[i] = b
		}
	}
	p.gemm(gemm.NN, K, N, d, at.W, features, p.z, at.B != nil)
}

// features returns F: H, relu(H), W1·H1 or relu(W1·H1).
func (p *Problem) features(at Point) []float64 {
	d, N := p.D, p.K*p.N
	switch {
	case at.W1 != nil:
		p.gemm(gemm.NN, d, N, d, at.W1, at.H, p.f, false)
	case p.relu:
		copy(p.f, at.H)
	default:
		return at.H
	}
	if p.relu {
		for i, v := range p.f {
			if !(v > 0) && v == v { // NaN stays NaN
				p.f[i] = 0
			}
		}
	}
	return p.f
}

// backward writes the gradient of g alone, from g's gradient with respect to Z in p.g:
//
//	dW = G·Fᵀ, db = G·1, dF = Wᵀ·G (masked), dW1 = dF·H1ᵀ, dH1 = W1ᵀ·dF
func (p *Problem) backward(at, grad Point) {
	K, d, N := p.K, p.D, p.K*p.N
	features := at.H
	if p.f != nil {
		features = p.f
	}
	p.gemm(gemm.NT, K, d, N, p.g, features, grad.W, false)
	for k := range grad.B {
		sum := 0.0
		for _, v := range p.g[k*N:][:N] {
			sum += v
		}
		grad.B[k] = sum
	}
	if p.f == nil {
		p.gemm(gemm.TN, d, N, K, at.W, p.g, grad.H, false)
		return
	}
	down := p.df
	if at.W1 == nil {
		down = grad.H
	}
	p.gemm(gemm.TN, d, N, K, at.W, p.g, down, false)
	p.maskInactive(down)
	if at.W1 != nil {
		p.gemm(gemm.NT, d, d, N, down, at.H, grad.W1, false)
		p.gemm(gemm.TN, d, N, d, at.W1, down, grad.H, false)
	}
}

// maskInactive zeroes the entries of v whose feature is not positive.
func (p *Problem) maskInactive(v []float64) {
	if !p.relu {
		return
	}
	for i, f := range p.f {
		if !(f > 0) {
			v[i] = 0
		}
	}
}

// gemm is gemm.Multiply for contiguous matrices.
func (p *Problem) gemm(form gemm.Form, m, n, k int, a, b, c []float64, accumulate bool) {
	opA, opB := gemm.Operands(form, m, n, k, a, b)
	gemm.Multiply(p.team, form, opA, opB, kernel.Dense(m, n, c), gemm.Epilogue[float64]{Accumulate: accumulate})
}

func sumSquares(v []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(v) >= 4 {
		s0 += v[0] * v[0]
		s1 += v[1] * v[1]
		s2 += v[2] * v[2]
		s3 += v[3] * v[3]
		v = v[4:]
	}
	for _, x := range v {
		s0 += x * x
	}
	return (s0 + s1) + (s2 + s3)
}

// addScaled adds f·x to y.
func addScaled(y []float64, f float64, x []float64) {
	for i, v := range x {
		y[i] += f * v
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
