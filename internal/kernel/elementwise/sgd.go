package elementwise

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// SGDRule holds the settings of one SGD step; see SGD.Update.
type SGDRule struct {
	Rate, Momentum, Decay float64
	Nesterov              bool
}

// SGD updates parameters by stochastic gradient descent. It allocates nothing; one goroutine
// uses it at a time.
type SGD[T kernel.Float] struct {
	rule    sgdRule[T]
	p, g, v []T
}

// sgdRule is an SGDRule in the element type, in which all its products are computed.
type sgdRule[T kernel.Float] struct {
	rate, momentum, decay T
	nesterov              bool
}

// NewSGD returns an SGD for any length.
func NewSGD[T kernel.Float]() *SGD[T] { return &SGD[T]{} }

// Update makes one step on parameters p with gradients g and momentum buffer v, which starts at
// 0 (PyTorch's torch.optim.SGD, dampening 0):
//
//	d = g + decay·p;  v = momentum·v + d;  d = d + momentum·v if Nesterov, else v;  p = p − rate·d
//
// A nil v means no momentum: p = p − rate·(g + decay·p). g is left unchanged. Every operation is rounded separately. It panics if
// lengths differ.
func (s *SGD[T]) Update(tm *parallel.Team, rule SGDRule, p, g, v []T) {
	if len(g) != len(p) || (v != nil && len(v) != len(p)) {
		panic("elementwise: SGD: p, g and v differ in length")
	}
	s.rule = sgdRule[T]{T(rule.Rate), T(rule.Momentum), T(rule.Decay), rule.Nesterov}
	s.p, s.g, s.v = p, g, v
	tm.Do(pointBlocks(len(p)), s)
	s.p, s.g, s.v = nil, nil, nil
}

// Run updates one block of elements; Update calls it through the team.
func (s *SGD[T]) Run(part int) {
	from, to := pointRange(part, len(s.p))
	p, g := s.p[from:to], s.g[from:to]
	if s.v == nil {
		sgdPlain(s.rule, p, g)
		return
	}
	sgd(s.rule, p, g, s.v[from:to])
}

func sgd[T kernel.Float](r sgdRule[T], p, g, v []T) {
	done := vectors[T](len(p))
	if done > 0 {
		step := table.sgd[pick(r.nesterov)]
		step(done, kernel.First32(p), kernel.First32(g), kernel.First32(v), float32(r.rate), float32(r.momentum), float32(r.decay))
	}
	sgdGeneric(r, p[done:], g[done:], v[done:])
}

func sgdPlain[T kernel.Float](r sgdRule[T], p, g []T) {
	for i := range p {
		d := g[i] + T(r.decay*p[i])
		p[i] -= T(r.rate * d)
	}
}

func sgdGeneric[T kernel.Float](r sgdRule[T], p, g, v []T) {
	g, v = g[:len(p)], v[:len(p)]
	for i := range p {
		d := g[i] + T(r.decay*p[i])
		m := T(r.momentum*v[i]) + d
		v[i] = m
		if r.nesterov {
			m = d + T(r.momentum*m)
		}
		p[i] -= T(r.rate * m)
	}
}
