package kernel

import "sync"

// scratch is the private memory of a thread that computes a part of C.
type scratch[T cell] struct {
	packedB []T // panels of nr columns of a block of op(B)
	tile    []T // one tile, for the edges of C
}

// pools keep the memory of products between calls. They grow to the largest need seen and to as many
// entries as were in use at once, and never shrink: training repeats the same shapes.
type pools[T cell] struct {
	runs      pool[run[T]]
	scratches pool[scratch[T]]
}

var (
	pools32 pools[float32]
	pools64 pools[float64]

	poolsPairs pools[int32]
)

func poolFor[T cell]() *pools[T] {
	var all any = &pools64
	switch any(T(0)).(type) {
	case float32:
		all = &pools32
	case int32:
		all = &poolsPairs
	}
	return all.(*pools[T])
}

// pool is a stack of values that are not in use. sync.Pool would drop them at every collection.
type pool[V any] struct {
	mu   sync.Mutex
	free []*V
}

func (p *pool[V]) get() *V {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.free) - 1; last >= 0 {
		v := p.free[last]
		p.free = p.free[:last]
		return v
	}
	return new(V)
}

func (p *pool[V]) put(v *V) {
	p.mu.Lock()
	p.free = append(p.free, v)
	p.mu.Unlock()
}

// atLeast returns a slice of n elements, buf itself if it is large enough. Contents are unspecified.
func atLeast[T cell](buf []T, n int) []T {
	if n <= cap(buf) {
		return buf[:n]
	}
	return Alloc[T](n)
}
