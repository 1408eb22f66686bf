package train

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/optim"
)

// stateShape describes what the tensors of a checkpoint must be, for checkpoints that another process writes.
type stateShape struct {
	model, optim []arrayfile.Header
	vectors      bool  // the optimiser keeps vectors over all trained parameters, more of them over time: L-BFGS
	trained      int   // the length of these vectors
	bytes        int64 // of the weights
	counts       bool  // there are counters: the network has batch norm
	dtype        arrayfile.DType
}

func shapeOf[T Float](n *native[T]) stateShape {
	s := stateShape{dtype: arrayfile.Of("", []int{0}, []T{}).DType}
	for _, a := range modelArrays(n.net) {
		s.model = append(s.model, a.Header)
		s.bytes += int64(len(a.Data))
		s.counts = s.counts || a.DType == arrayfile.I64
	}
	for _, a := range optimArrays(n.opt.State()) {
		s.optim = append(s.optim, a.Header)
	}
	for _, p := range n.net.Params() {
		if !p.Frozen {
			s.trained += len(p.Value)
		}
	}
	_, s.vectors = n.opt.(*optim.MinibatchLBFGS[T])
	return s
}

// limit is the largest size in bytes of a file with the given number of copies of the weights.
func (s stateShape) limit(copies int) int64 { return int64(copies)*s.bytes + 16<<20 }

// check compares a checkpoint's tensors with what they must be and returns them in our order. The error names what does not fit.
func (s stateShape) check(model, optim []arrayfile.Array) (m, o []arrayfile.Array, err error) {
	if m, err = matched(s.model, model); err != nil {
		return nil, nil, err
	}
	wanted := s.optim
	if s.vectors {
		wanted = wanted[:1] // the count of steps
		for _, a := range optim {
			if strings.HasPrefix(a.Name, "lbfgs.") {
				wanted = append(slices.Clip(wanted), arrayfile.Header{Name: a.Name, DType: s.dtype, Shape: []int{s.trained}})
			}
		}
	}
	o, err = matched(wanted, optim)
	return m, o, err
}

// matched puts arrays into the order of the headers, which they must match.
func matched(wanted []arrayfile.Header, arrays []arrayfile.Array) (list []arrayfile.Array, err error) {
	given := map[string]arrayfile.Array{}
	for _, a := range arrays {
		given[a.Name] = a
	}
	for _, h := range wanted {
		a, found := given[h.Name]
		switch {
		case !found:
			return nil, fmt.Errorf("its checkpoint has no %s", h.Name)
		case a.DType != h.DType || !slices.Equal(a.Shape, h.Shape):
			return nil, fmt.Errorf("its checkpoint has %s of shape %v and type %s, wanted %v and %s", h.Name, a.Shape, a.DType, h.Shape, h.DType)
		}
		list = append(list, a)
	}
	if len(arrays) != len(wanted) {
		return nil, fmt.Errorf("its checkpoint has %d tensors, wanted %d", len(arrays), len(wanted))
	}
	return list, nil
}
