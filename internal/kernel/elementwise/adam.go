package elementwise

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// AdamRule holds the settings of one Adam step; see Adam.Update.
type AdamRule struct {
	Rate, Beta1, Beta2, Eps, Decay float64
	Step                           int64 // t, from 1
}

// Adam updates parameters by Adam (Kingma & Ba 2015). It allocates nothing; one goroutine uses it at
// a time.
type Adam[T kernel.Float] struct {
	rule       adamRule[T]
	p, g, m, v []T
}

// adamRule is an AdamRule in the element type, in which all its products are computed. Bias corrections are folded into constants,
// computed in float64.
type adamRule[T kernel.Float] struct {
	decay        T
	beta1, take1 T // β₁, 1 − β₁
	beta2, take2 T // β₂, 1 − β₂
	root         T // √(1 − β₂ᵗ)
	eps          T
	rate         T // lr/(1 − β₁ᵗ)
}

// NewAdam returns an Adam for any length.
func NewAdam[T kernel.Float]() *Adam[T] { return &Adam[T]{} }

// Update makes step t of parameters p with gradients g and moments m and v, which start at 0
// (PyTorch's torch.optim.Adam with coupled decay, without amsgrad):
//
//	d = g + decay·p;  m = β₁·m + (1−β₁)·d;  v = β₂·v + ((1−β₂)·d)·d
//	p = p − (rate/(1−β₁ᵗ))·m / (√v/√(1−β₂ᵗ) + eps)
//
// g is left unchanged. Every operation is rounded separately. It panics if lengths differ or t < 1.
func (a *Adam[T]) Update(tm *parallel.Team, rule AdamRule, p, g, m, v []T) {
	if len(g) != len(p) || len(m) != len(p) || len(v) != len(p) {
		panic("elementwise: Adam: p, g, m and v differ in length")
	}
	if rule.Step < 1 {
		panic("elementwise: Adam: steps count from 1")
	}
	t := float64(rule.Step)
	a.rule = adamRule[T]{decay: T(rule.Decay), beta1: T(rule.Beta1), take1: T(1 - rule.Beta1), beta2: T(rule.Beta2), take2: T(1 - rule.Beta2),
		root: T(math.Sqrt(1 - math.Pow(rule.Beta2, t))), eps: T(rule.Eps), rate: T(rule.Rate / (1 - math.Pow(rule.Beta1, t)))}
	a.p, a.g, a.m, a.v = p, g, m, v
	tm.Do(pointBlocks(len(p)), a)
	a.p, a.g, a.m, a.v = nil, nil, nil, nil
}

// Run updates one block of elements; Update calls it through the team.
func (a *Adam[T]) Run(part int) {
	from, to := pointRange(part, len(a.p))
	adam(a.rule, a.p[from:to], a.g[from:to], a.m[from:to], a.v[from:to])
}

func adam[T kernel.Float](r adamRule[T], p, g, m, v []T) {
	done := vectors[T](len(p))
	if done > 0 {
		table.adam(done, kernel.First32(p), kernel.First32(g), kernel.First32(m), kernel.First32(v), float32(r.decay), float32(r.beta1), float32(r.take1),
			float32(r.beta2), float32(r.take2), float32(r.root), float32(r.eps), float32(r.rate))
	}
	adamGeneric(r, p[done:], g[done:], m[done:], v[done:])
}

func adamGeneric[T kernel.Float](r adamRule[T], p, g, m, v []T) {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	for i := range p {
		d := g[i] + T(r.decay*p[i])
		m[i] = T(r.beta1*m[i]) + T(r.take1*d)
		v[i] = T(r.beta2*v[i]) + T(T(r.take2*d)*d)
		p[i] -= T(r.rate*m[i]) / (squareRoot(v[i])/r.root + r.eps)
	}
}

// squareRoot is √x correctly rounded: rounding float64's root to float32 does no harm.
func squareRoot[T kernel.Float](x T) T { return T(math.Sqrt(float64(x))) }
