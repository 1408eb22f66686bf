package kernel

import "unsafe"

// convShared is the memory of one call that its parts share.
type convShared[T float32 | float64] struct {
	weights  []T // arranged for the products
	partial  []T // weight gradients of slices, or of the transformed filters
	columns  []T // transformed images
	gradient []T // transformed gradients
}

// convScratch is the private memory of a thread that computes a part.
type convScratch[T float32 | float64] struct {
	packed   []T // pixels arranged for the products
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

// convPools keep the memory of convolutions between calls, as pools does for products: all
// convolutions of a process share it.
type convPools[T float32 | float64] struct {
	shared    pool[convShared[T]]
	scratches pool[convScratch[T]]
}

var (
	convPools32 convPools[float32]
	convPools64 convPools[float64]
)

func convPoolsFor[T float32 | float64]() *convPools[T] {
	if isFloat32[T]() {
		return any(&convPools32).(*convPools[T])
	}
	return any(&convPools64).(*convPools[T])
}

// pointer returns the address of element i of x, nil for an empty slice.
func pointer[T float32 | float64](x []T, i int) unsafe.Pointer {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Pointer(&x[i])
}

// boolWord returns 1 for true.
func boolWord(b bool) int {
	if b {
		return 1
	}
	return 0
}

// release puts a scratch back without the addresses of the caller's memory.
func (p *convPools[T]) release(s *convScratch[T]) {
	s.tile, s.form, s.turn = convTile{}, convTransform{}, convTranspose{}
	p.scratches.put(s)
}
