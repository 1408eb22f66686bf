package ufm

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/kernel/gemm"
)

// twoFactor reports whether the convex lifting Z = W·H applies: two factors, convex g, no sign constraint.
func (c Config) twoFactor() bool {
	return c.Model == MSE || c.Model == RescaledMSE || c.Model == CE || c.Model == LS
}

// threshold is μ = √(λ_W λ_H): a critical point with ‖∇g‖₂ ≤ μ is a global minimiser of a two-factor
// model (ZU Lemma E.4).
func (p *Problem) threshold() float64 { return math.Sqrt(p.pW * p.pH) }

// dualNorm returns s = ‖∇g‖₂, the spectral norm of the K×N gradient of g that the last Eval or
// Linearize left, with its top singular pair u (K) and v (N).
func (p *Problem) dualNorm(rng *rand.Rand) (s float64, u, v []float64) {
	K, N := p.K, p.K*p.N
	gram := make([]float64, K*K)
	p.gemm(gemm.NT, K, K, N, p.g, p.g, gram, false)
	minus := func(v, out []float64) { // smallestEigen of −G·Gᵀ
		for i := range K {
			out[i] = -dot(gram[i*K:][:K], v)
		}
	}
	_, u, _ = smallestEigen(K, minus, rng)
	v = make([]float64, N)
	for k := range K {
		addScaled(v, u[k], p.g[k*N:][:N])
	}
	s = math.Sqrt(dot(v, v))
	if s > 0 {
		scale(v, 1/s)
	}
	return s, u, v
}

// GapBound returns an upper bound of f(x) − f* from the Fenchel dual of the lifted problem, for any x
// and any d (two-factor models): with G = ∇g, s = ‖G‖₂, θ = min(1, μ/s), V = θG,
//
//	f − f* ≤ f + g*(V) + ‖V·1‖²/(2λ_b)
//
// without the last term if there is no bias. For λ_b = 0 the bound needs V·1 = 0: b is fitted exactly first, and what the fit gains
// is added. The bound tends to 0 at an optimum if d is at least the rank of the lifted optimum; for smaller d it stays positive and
// proves nothing. A bound of the rounding error is added: with tiny penalties the result tends to that instead of 0.
func (p *Problem) GapBound(x []float64, rng *rand.Rand) (float64, error) {
	if !p.twoFactor() {
		return 0, errors.New("no dual certificate for this model")
	}
	if !(p.pW > 0 && p.pH > 0) {
		return 0, errors.New("the bound needs λ_W > 0 and λ_H > 0")
	}
	grad := make([]float64, p.Dim())
	value := p.Eval(x, grad)
	if p.HasBias() && p.pB == 0 {
		fitted, err := p.fitBias(x)
		if err != nil {
			return 0, err
		}
		p.Eval(fitted, grad)
	}
	s, _, _ := p.dualNorm(rng)
	theta := 1.0
	if mu := p.threshold(); s > mu {
		theta = mu / s
	}
	bound := value + p.head.conjugate(theta, p.g)
	if p.HasBias() && p.pB > 0 {
		sum := 0.0
		for _, row := range p.rowSums() {
			sum += row * row
		}
		bound += theta * theta * sum / (2 * p.pB)
	}
	if math.IsNaN(bound) {
		return 0, errors.New("the objective is not finite")
	}
	return math.Max(bound, 0) + p.boundRounding(x, value), nil
}

// rowSums returns G·1.
func (p *Problem) rowSums() []float64 {
	out, N := make([]float64, p.K), p.K*p.N
	for k := range out {
		for _, g := range p.g[k*N:][:N] {
			out[k] += g
		}
	}
	return out
}

// fitBias returns x with b minimising the objective for fixed W and H when λ_b = 0, by Newton on the
// convex function of b, damped by halving; b is determined up to a multiple of 1 for cross-entropy.
func (p *Problem) fitBias(x []float64) ([]float64, error) {
	fitted := append([]float64(nil), x...)
	at, grad := p.View(fitted), make([]float64, len(x))
	direction, out := p.NewPoint(), p.NewPoint()
	value := p.Eval(fitted, grad)
	for range 50 {
		slope := p.rowSums()
		if maxAbs(slope) <= 1e-15*maxAbs(p.g)*float64(p.K*p.N) {
			return fitted, nil
		}
		p.Linearize(fitted)
		hess := mat.NewSymDense(p.K, nil)
		for k := range p.K {
			direction.B[k] = 1
			p.HessVec(direction.X, out.X)
			direction.B[k] = 0
			for j := k; j < p.K; j++ {
				hess.SetSym(k, j, out.B[j])
			}
		}
		if p.CrossEntropy() { // adding 11ᵀ/K fixes the direction that does not matter: slope·1 = 0
			for k := range p.K {
				for j := k; j < p.K; j++ {
					hess.SetSym(k, j, hess.At(k, j)+1/float64(p.K))
				}
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(hess) {
			return nil, errors.New("fitting the bias: the Hessian in b is singular")
		}
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, mat.NewVecDense(p.K, slope)); err != nil {
			return nil, errors.New("fitting the bias: " + err.Error())
		}
		old, t := append([]float64(nil), at.B...), 1.0
		for {
			for k := range at.B {
				at.B[k] = old[k] - t*step.AtVec(k)
			}
			if next := p.Eval(fitted, grad); next <= value+1e-15*math.Abs(value) || t < 1e-10 {
				value = next
				break
			}
			t /= 2
		}
		if t*mat.Norm(&step, 2) <= 1e-15 {
			return fitted, nil
		}
	}
	return fitted, nil
}

// NullDirection returns the explicit direction of negative curvature at a critical point of a two-factor model at which some unit
// vector a has W·a = 0 (then also aᵀH = 0):
//
//	dW = (λ_H/λ_W)^{1/4} u aᵀ, dH = −(λ_W/λ_H)^{1/4} a vᵀ,  D²f = −2(s − √(λ_Wλ_H))
//
// with (u, v) the top singular pair of ∇g and s = ‖∇g‖₂ (ZU, proof of Theorem E.1; ZH Lemma B.2 case I). curvature is the Rayleigh
// quotient of the best combination of the pair, (λ_W+λ_H)/2 − √(((λ_W−λ_H)/2)² + s²). ok is false if there is no such a.
func (p *Problem) NullDirection(x []float64, rng *rand.Rand) (direction []float64, form, curvature float64, ok bool) {
	at := p.View(x)
	a := nullVector(at.W, p.K, p.D)
	if a == nil {
		return nil, 0, 0, false
	}
	s, u, v := p.dualNorm(rng)
	d, N := p.D, p.K*p.N
	dir := p.NewPoint()
	power := math.Sqrt(math.Sqrt(p.pH / p.pW))
	for k := range p.K {
		for j := range d {
			dir.W[k*d+j] = power * u[k] * a[j]
		}
	}
	for j := range d {
		for i := range N {
			dir.H[j*N+i] = -a[j] * v[i] / power
		}
	}
	half := (p.pW - p.pH) / 2
	return dir.X, -2 * (s - p.threshold()), (p.pW+p.pH)/2 - math.Sqrt(half*half+s*s), true
}

// nullVector returns a unit a with W·a = 0 up to rounding, nil if there is none.
func nullVector(w []float64, K, d int) []float64 {
	gram := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			sum := 0.0
			for k := range K {
				sum += w[k*d+i] * w[k*d+j]
			}
			gram.SetSym(i, j, sum)
		}
	}
	values, vectors := symEigen(gram)
	if !(values[0] <= 1e-12*math.Max(values[d-1], 1e-300) || values[d-1] == 0) {
		return nil
	}
	return mat.Col(nil, 0, vectors)
}
