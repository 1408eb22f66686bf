package measure

import (
	"sync"

	"collapse.example/collapse/internal/kernel"
)

// buffers are scratch memory of the parts of a pass: as many as run at a time.
type buffers[E any] struct {
	lock  sync.Mutex
	spare [][]E
}

// take returns a buffer of n elements, whatever they are.
func (b *buffers[E]) take(n int) []E {
	b.lock.Lock()
	defer b.lock.Unlock()
	var buf []E
	if last := len(b.spare) - 1; last >= 0 {
		buf, b.spare = b.spare[last], b.spare[:last]
	}
	return grow(buf, n)
}

// give takes a buffer back.
func (b *buffers[E]) give(buf []E) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.spare = append(b.spare, buf)
}

// bufferSize returns the elements of a buffer for n elements of a source: none if it is in memory.
func bufferSize[T kernel.Float](src Source[T], n int) int {
	if _, views := src.(*Rows[T]); views {
		return 0
	}
	return n
}
