package optim

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/nn/param"
)

// trained returns the parameters that are not frozen.
func trained[T kernel.Float](params []*param.Param[T]) []*param.Param[T] {
	var list []*param.Param[T]
	for _, p := range params {
		if !p.Frozen {
			list = append(list, p)
		}
	}
	return list
}

// beside carves zeros of every parameter's length out of one arena, each on a 64-byte boundary.
func beside[T kernel.Float](params []*param.Param[T]) [][]T {
	const align = 16 // elements: 64 bytes of float32, 128 of float64
	total := 0
	for _, p := range params {
		total += (len(p.Value) + align - 1) / align * align
	}
	arena := memory.Alloc[T](total)
	var list [][]T
	for _, p := range params {
		size := len(p.Value)
		list = append(list, arena[:size:size])
		arena = arena[(size+align-1)/align*align:]
	}
	return list
}
