package optim

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
)

// curvature is what L-BFGS remembers: the last pairs s = x⁺ − x, y = g⁺ − g.
type curvature[T kernel.Float] struct {
	s, y  [][]T // rings with one place more than pairs: a candidate must not overwrite a pair in use
	rho   []float64
	alpha []float64
	gamma float64 // scale of the initial inverse Hessian: sᵀy/yᵀy of the newest pair
	count int     // pairs stored, at most len(s) − 1
	next  int     // place of the candidate
	ops   *vectors[T]
}

func newCurvature[T kernel.Float](pairs, n int, ops *vectors[T]) *curvature[T] {
	m := &curvature[T]{rho: make([]float64, pairs+1), alpha: make([]float64, pairs+1), ops: ops}
	for range pairs + 1 {
		m.s = append(m.s, memory.Alloc[T](n))
		m.y = append(m.y, memory.Alloc[T](n))
	}
	return m
}

// candidate is where the next pair is written before keep takes it in.
func (m *curvature[T]) candidate() (s, y []T) { return m.s[m.next], m.y[m.next] }

// keep stores the candidate if its curvature sᵀy passes; a full memory drops its oldest pair.
func (m *curvature[T]) keep(passes func(sy, yy float64) bool) {
	s, y := m.candidate()
	sy, yy := m.ops.inner(y, s), m.ops.inner(y, y)
	if !passes(sy, yy) {
		return
	}
	m.rho[m.next], m.gamma = 1/sy, sy/yy
	m.next = (m.next + 1) % len(m.s)
	m.count = min(m.count+1, len(m.s)-1)
}

// place is the index of the j-th newest pair, j from 1 to count.
func (m *curvature[T]) place(j int) int { return (m.next - j + len(m.s)) % len(m.s) }

// push stores the pair of a step unless its curvature is not positive.
func (m *curvature[T]) push(x, oldX, g, oldG []T) {
	s, y := m.candidate()
	m.ops.sub(s, x, oldX)
	m.ops.sub(y, g, oldG)
	m.keep(func(sy, yy float64) bool { return sy > 1e-16*yy })
}

// apply overwrites q with the inverse Hessian estimate times q (two-loop recursion, Nocedal 1980).
func (m *curvature[T]) apply(q []T) {
	for j := 1; j <= m.count; j++ {
		i := m.place(j)
		m.alpha[i] = m.rho[i] * m.ops.inner(m.s[i], q)
		m.ops.axpy(q, -m.alpha[i], m.y[i])
	}
	if m.count > 0 {
		m.ops.scale(q, m.gamma)
	}
	for j := m.count; j >= 1; j-- {
		i := m.place(j)
		m.ops.axpy(q, m.alpha[i]-m.rho[i]*m.ops.inner(m.y[i], q), m.s[i])
	}
}
