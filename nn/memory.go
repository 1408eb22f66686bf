package nn

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
)

// Memory is the memory of a network, in bytes.
type Memory struct {
	Params      int64 // values and gradients
	Activations int64 // kept between Forward and Backward, and the buffers both work in
	Scratch     int64 // of the kernels
}

// Total returns the sum.
func (m Memory) Total() int64 { return m.Params + m.Activations + m.Scratch }

// EstimateBytes returns the memory of a's network for batches of up to maxBatch samples in arithmetic T: after
// training, or in Eval mode if it only evaluates. It allocates nothing. The optimiser's state is extra.
func EstimateBytes[T kernel.Float](a Arch, maxBatch int, mode Mode) (Memory, error) {
	n, err := design[T](a, nil, maxBatch)
	if err != nil {
		return Memory{}, err
	}
	return n.Bytes(mode), nil
}

// Bytes is EstimateBytes for a network that exists.
func (n *Network[T]) Bytes(mode Mode) Memory {
	var m Memory
	for _, p := range n.params {
		m.Params += 2 * sizeOf[T](p.Size())
	}
	for _, b := range n.buffers {
		m.Params += sizeOf[T](b.size())
	}
	for _, l := range append(n.layers[:len(n.layers):len(n.layers)], layer[T](n.fc)) {
		part := l.bytes(mode)
		m.Activations += part.Activations
		m.Scratch += part.Scratch
	}
	if mode == Train {
		m.Activations += 2 * sizeOf[T](n.maxBatch*n.widest)
	}
	return m
}

// sizeOf returns the bytes of count elements.
func sizeOf[T kernel.Float](count int) int64 {
	var one T
	return int64(count) * int64(unsafe.Sizeof(one))
}
