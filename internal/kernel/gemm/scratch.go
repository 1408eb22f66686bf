package gemm

import "collapse.example/collapse/internal/kernel/memory"

// scratch is the private memory of a thread that computes a part of C.
type scratch[T cell] struct {
	packedB []T // panels of nr columns of a block of op(B)
	tile    []T // one tile, for the edges of C
}

// pools keep the memory of products between calls. They grow to the largest need seen and to as many
// entries as were in use at once, and never shrink: training repeats the same shapes.
type pools[T cell] struct {
	runs      memory.Pool[run[T]]
	scratches memory.Pool[scratch[T]]
}

var (
	pools32    pools[float32]
	pools64    pools[float64]
	poolsInt16 pools[int32]
)
