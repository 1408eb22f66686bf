package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
)

// convShared is the memory of one call that its parts share.
type convShared[T kernel.Float] struct {
	weights  []T // arranged for the products
	partial  []T // weight gradients of slices, or of the transformed filters
	columns  []T // transformed images
	gradient []T // transformed gradients
}

// convScratch is the private memory of a thread that computes a part.
type convScratch[T kernel.Float] struct {
	packed   []T // pixels arranged for the products, or transformed
	turned   []T // gradients transposed, or products before the transform back
	filters  []T // transformed filters of some channels
	temp     []T // intermediate vectors of a transform
	runs     []convRun
	runStart []int // first run of each pixel
	offsets  []int // of rows of sums

	// Arguments of kernels live here, because a call through a function value makes them escape.
	tile convTile
	form convTransform
	turn convTranspose
	run  convRun
}

// convNeed is the memory that an operation needs, in elements.
type convNeed struct {
	weights, partial, columns, gradient int // of convShared
	packed, turned, filters, temp       int // of convScratch
}

// elements returns the memory of one call on one thread.
func (n convNeed) elements() int {
	return n.weights + n.partial + n.columns + n.gradient + n.packed + n.turned + n.filters + n.temp
}

// with returns what is enough for both n and o.
func (n convNeed) with(o convNeed) convNeed {
	return convNeed{
		weights: max(n.weights, o.weights), partial: max(n.partial, o.partial),
		columns: max(n.columns, o.columns), gradient: max(n.gradient, o.gradient),
		packed: max(n.packed, o.packed), turned: max(n.turned, o.turned),
		filters: max(n.filters, o.filters), temp: max(n.temp, o.temp),
	}
}

func (m *convShared[T]) reserve(n convNeed) {
	m.weights, m.partial = memory.AtLeast(m.weights, n.weights), memory.AtLeast(m.partial, n.partial)
	m.columns, m.gradient = memory.AtLeast(m.columns, n.columns), memory.AtLeast(m.gradient, n.gradient)
}

func (s *convScratch[T]) reserve(n convNeed) {
	s.packed, s.turned = memory.AtLeast(s.packed, n.packed), memory.AtLeast(s.turned, n.turned)
	s.filters, s.temp = memory.AtLeast(s.filters, n.filters), memory.AtLeast(s.temp, n.temp)
}

// convPools keep the memory of convolutions between calls, as pools does for products; all convolutions of a process share it.
type convPools[T kernel.Float] struct {
	shared    memory.Pool[convShared[T]]
	scratches memory.Pool[convScratch[T]]
}

var (
	convPools32 convPools[float32]
	convPools64 convPools[float64]
)

func convPoolsFor[T kernel.Float]() *convPools[T] {
	if kernel.IsFloat32[T]() {
		return (*convPools[T])(unsafe.Pointer(&convPools32))
	}
	return (*convPools[T])(unsafe.Pointer(&convPools64))
}

const touchMost = 4 << 20 // largest rows to read ahead, so that they fit into a cache

// touchRows reads rows first…last−1 of each channel of an image, row elements each, in memory order, before they are transformed or
// packed pixel by pixel across all channels: memory is twice as fast in address order.
func touchRows[T kernel.Float](image []T, channels, height, row, first, last int) {
	if (last-first)*row*channels*kernel.Size[T]() > touchMost {
		return
	}
	for c := range channels {
		memory.Touch(image[(c*height+first)*row : (c*height+last)*row])
	}
}

// pointer returns the address of element i of x, nil for an empty slice.
func pointer[T kernel.Float](x []T, i int) unsafe.Pointer {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Pointer(&x[i])
}

// stream returns 1 if to is cold and starts on a cache line, as all its vectors then do.
func (ep *Epilogue[T]) stream(to []T) int {
	return boolWord(ep.Cold && uintptr(unsafe.Pointer(unsafe.SliceData(to)))%64 == 0)
}

// boolWord returns 1 for true.
func boolWord(b bool) int {
	if b {
		return 1
	}
	return 0
}

// take returns a scratch with the memory an operation needs.
func (p *convPools[T]) take(n convNeed) *convScratch[T] {
	s := p.scratches.Get()
	s.reserve(n)
	return s
}

// takeShared returns the shared memory of a call.
func (p *convPools[T]) takeShared(n convNeed) *convShared[T] {
	m := p.shared.Get()
	m.reserve(n)
	return m
}

// release puts a scratch back without the addresses of the caller's memory.
func (p *convPools[T]) release(s *convScratch[T]) {
	s.tile, s.form, s.turn = convTile{}, convTransform{}, convTranspose{}
	p.scratches.Put(s)
}
