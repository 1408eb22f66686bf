package ufm

import "math"

// head is the loss g as a function of the outputs Z (K×N, row-major, class-major columns). Every head is convex in Z.
type head interface {
	// value returns g(Z), overwrites grad with ∇g(Z) and keeps what curvature needs of it.
	value(z, grad []float64) float64
	// gradient is value without the value.
	gradient(z, grad []float64)
	// curvature replaces v by ∇²g(Z)·v at the Z of the last value or gradient.
	curvature(v []float64)
	// conjugate returns g*(θG), the convex conjugate at θ times the gradient of the last value.
	conjugate(theta float64, grad []float64) float64
	// sample returns N times the contribution of column i to g(Z), after value or gradient at Z.
	sample(z []float64, i int) float64
}

// squares is g(Z) = 1/(2N) Σ_ij ω_ij (z_ij − M·y_ij)², ω = α on the true class, 1 elsewhere
// (ZH (4); α = M = 1 is the plain MSE).
type squares struct {
	K, n     int
	alpha, m float64
}

func (s *squares) value(z, grad []float64) float64 {
	s.gradient(z, grad)
	N := s.K * s.n
	sum := 0.0
	for k := range s.K {
		for j := range s.K {
			weight := 1.0 // the gradient is ω r/N: ω r² = (ωr)²/ω
			if j == k {
				weight = 1 / s.alpha
			}
			part := 0.0
			for _, g := range grad[j*N+k*s.n:][:s.n] {
				part += g * g
			}
			sum += weight * part
		}
	}
	return sum * float64(N) / 2
}

func (s *squares) gradient(z, grad []float64) {
	N := s.K * s.n
	scale := 1 / float64(N)
	for j := range s.K {
		row := z[j*N:][:N]
		out := grad[j*N:][:N]
		for i, v := range row {
			out[i] = v * scale
		}
		for i := j * s.n; i < (j+1)*s.n; i++ {
			out[i] = s.alpha * (row[i] - s.m) * scale
		}
	}
}

func (s *squares) curvature(v []float64) {
	N := s.K * s.n
	scale := 1 / float64(N)
	for j := range s.K {
		row := v[j*N:][:N]
		for i := range row {
			row[i] *= scale
		}
		for i := j * s.n; i < (j+1)*s.n; i++ {
			row[i] *= s.alpha
		}
	}
}

// conjugate is N/2 Σ V²/ω + ⟨V, M·Y⟩ at V = θ·grad (theory of Fenchel duals of quadratics).
func (s *squares) conjugate(theta float64, grad []float64) float64 {
	N := s.K * s.n
	sum, linear := 0.0, 0.0
	for j := range s.K {
		row := grad[j*N:][:N]
		for _, g := range row {
			sum += g * g
		}
		for _, g := range row[j*s.n:][:s.n] {
			sum += g * g * (1/s.alpha - 1)
			linear += g
		}
	}
	return float64(N)/2*theta*theta*sum + theta*s.m*linear
}

func (s *squares) sample(z []float64, i int) float64 {
	N, sum := s.K*s.n, 0.0
	for j := range s.K {
		v := z[j*N+i]
		if j == i/s.n {
			sum += s.alpha * (v - s.m) * (v - s.m)
		} else {
			sum += v * v
		}
	}
	return sum / 2
}

// entropy is g(Z) = −(1/N) Σ_i Σ_j t_ij log softmax(z_i)_j with targets t = (1−α)e_k + (α/K)1.
type entropy struct {
	K, n      int
	smoothing float64
	prob      []float64 // softmax of the last Z, K×N
	max, sum  []float64 // per column
}

func newEntropy(K, n int, smoothing float64) *entropy {
	return &entropy{K: K, n: n, smoothing: smoothing, prob: make([]float64, K*K*n), max: make([]float64, K*n), sum: make([]float64, K*n)}
}

// targets returns t on the true class and elsewhere.
func (e *entropy) targets() (own, other float64) {
	other = e.smoothing / float64(e.K)
	return 1 - e.smoothing + other, other
}

// softmax fills prob, max and sum from z.
func (e *entropy) softmax(z []float64) {
	N := e.K * e.n
	copy(e.max, z[:N])
	for j := 1; j < e.K; j++ {
		for i, v := range z[j*N:][:N] {
			e.max[i] = max(e.max[i], v)
		}
	}
	clear(e.sum)
	for j := range e.K {
		row, out := z[j*N:][:N], e.prob[j*N:][:N]
		for i, v := range row {
			p := math.Exp(v - e.max[i])
			out[i] = p
			e.sum[i] += p
		}
	}
	for j := range e.K {
		out := e.prob[j*N:][:N]
		for i := range out {
			out[i] /= e.sum[i]
		}
	}
}

func (e *entropy) value(z, grad []float64) float64 {
	e.gradient(z, grad)
	N := e.K * e.n
	sum := 0.0
	for i := range N {
		sum += e.sample(z, i)
	}
	return sum / float64(N)
}

// sample is logsumexp(z) − Σ t_j z_j, with every term relative to the largest logit. If the true class has the largest logit, log1p
// of the others' sum keeps the digits of a tiny loss.
func (e *entropy) sample(z []float64, i int) float64 {
	N, k := e.K*e.n, i/e.n
	own, other := e.targets()
	lse := math.Log(e.sum[i])
	if z[k*N+i] == e.max[i] {
		rest := 0.0
		for j := range e.K {
			if j != k {
				rest += e.prob[j*N+i] * e.sum[i]
			}
		}
		lse = math.Log1p(rest)
	}
	dot := 0.0
	if other > 0 {
		for j := range e.K {
			dot += other * (z[j*N+i] - e.max[i])
		}
	}
	return lse - dot - (own-other)*(z[k*N+i]-e.max[i])
}

func (e *entropy) gradient(z, grad []float64) {
	e.softmax(z)
	N := e.K * e.n
	own, other := e.targets()
	scale := 1 / float64(N)
	for j := range e.K {
		prob, out := e.prob[j*N:][:N], grad[j*N:][:N]
		for i, p := range prob {
			out[i] = (p - other) * scale
		}
		for i := j * e.n; i < (j+1)*e.n; i++ {
			out[i] = (prob[i] - own) * scale
		}
	}
}

// curvature is (1/N)(diag p_i − p_i p_iᵀ) v_i on each column.
func (e *entropy) curvature(v []float64) {
	N := e.K * e.n
	dot := make([]float64, N)
	for j := range e.K {
		prob := e.prob[j*N:][:N]
		for i, x := range v[j*N:][:N] {
			dot[i] += prob[i] * x
		}
	}
	scale := 1 / float64(N)
	for j := range e.K {
		prob, row := e.prob[j*N:][:N], v[j*N:][:N]
		for i := range row {
			row[i] = prob[i] * (row[i] - dot[i]) * scale
		}
	}
}

// conjugate is (1/N) Σ q log q with q = θ(p − t) + t, a point of the simplex for θ in [0,1].
func (e *entropy) conjugate(theta float64, _ []float64) float64 {
	N := e.K * e.n
	own, other := e.targets()
	sum := 0.0
	for j := range e.K {
		for i, p := range e.prob[j*N:][:N] {
			t := other
			if i/e.n == j {
				t = own
			}
			if q := theta*(p-t) + t; q > 0 {
				sum += q * math.Log(q)
			}
		}
	}
	return sum / float64(N)
}
