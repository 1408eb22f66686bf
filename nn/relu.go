package nn

// ReLUOutputs hands visit the output of every ReLU in the last Forward, which must have been in Train mode, in the order
// of the forward pass: one row per sample, of the given shape (PyTorch's order). The rows are valid during the call. It
// is for traces, which derive from it which inputs were above 0 and which pixel of a max pooling was the largest; it
// allocates.
func (n *Network[T]) ReLUOutputs(visit func(shape []int, rows []T)) {
	batch := n.lastBatch
	for _, l := range n.layers {
		switch l := l.(type) {
		case *batchNorm[T]:
			if l.act == ReLU {
				visit([]int{l.width}, l.y[:batch*l.width])
			}
		case *activation[T]:
			if l.act == ReLU {
				visit([]int{l.width}, l.y)
			}
		case *trunk[T]:
			l.reluOutputs(batch, visit)
		}
	}
}

func (t *trunk[T]) reluOutputs(batch int, visit func(shape []int, rows []T)) {
	show := func(s mapShape, images []T) {
		rows := make([]T, batch*s.size())
		t.images.ToRows(t.team, batch, s.size(), images, rows)
		visit([]int{s.channels, s.height, s.width}, rows)
	}
	for _, s := range t.stages {
		switch s := s.(type) {
		case *unit[T]:
			show(s.out(), s.y) // every unit that is itself a stage has a ReLU
		case *block[T]:
			show(s.first.out(), s.first.y)
			show(s.out(), s.y)
		}
	}
}
