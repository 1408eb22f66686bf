package memory

import "sync"

// Pool is a stack of values that are not in use. It grows to as many entries as were in use at once and never shrinks:
// training repeats the same shapes, and sync.Pool would drop them at every collection.
type Pool[V any] struct {
	mu   sync.Mutex
	free []*V
}

// Get returns a value that was put back, or a new one.
func (p *Pool[V]) Get() *V {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.free) - 1; last >= 0 {
		v := p.free[last]
		p.free = p.free[:last]
		return v
	}
	return new(V)
}

// Put returns a value to the pool.
func (p *Pool[V]) Put(v *V) {
	p.mu.Lock()
	p.free = append(p.free, v)
	p.mu.Unlock()
}

// AtLeast returns a slice of n elements, buf itself if it is large enough. Contents are unspecified.
func AtLeast[T number](buf []T, n int) []T {
	if n <= cap(buf) {
		return buf[:n]
	}
	return Alloc[T](n)
}
