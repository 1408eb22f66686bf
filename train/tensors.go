package train

import (
	"errors"
	"fmt"
	"slices"

	"collapse/arrayfile"
	"collapse/nn"
	"collapse/optim"
)

// Float is the arithmetic of a run.
type Float interface{ float32 | float64 }

// modelArrays views the network's tensors under PyTorch's names, 8-byte integers first so that every tensor is aligned in the file.
func modelArrays[T Float](net *nn.Network[T]) []arrayfile.Array {
	var list []arrayfile.Array
	for _, c := range net.Counters() {
		list = append(list, arrayfile.Of(c.Name, nil, []int64{c.Value}))
	}
	for _, p := range net.Params() {
		list = append(list, arrayfile.Of(p.Name, p.Shape, p.Value))
	}
	for _, b := range net.Buffers() {
		list = append(list, arrayfile.Of(b.Name, b.Shape, b.Value))
	}
	return list
}

// stepsName is the optimiser's step count in optim.safetensors.
const stepsName = "steps"

func optimArrays[T Float](state optim.State[T]) []arrayfile.Array {
	list := []arrayfile.Array{arrayfile.Of(stepsName, nil, []int64{state.Steps})}
	for _, t := range state.Tensors {
		list = append(list, arrayfile.Of(t.Name, t.Shape, t.Value))
	}
	return list
}

// loadModel copies a checkpoint's tensors into the network. The error names every tensor that is missing, unknown or misshapen.
func loadModel[T Float](net *nn.Network[T], arrays []arrayfile.Array) error {
	given := newShelf(arrays)
	for _, c := range net.Counters() {
		var v [1]int64
		if given.take(c.Name, nil, func(a arrayfile.Array) error { return arrayfile.Convert(a, 0, v[:]) }) {
			c.Value = v[0]
		}
	}
	for _, p := range net.Params() {
		given.take(p.Name, p.Shape, func(a arrayfile.Array) error { return arrayfile.Convert(a, 0, p.Value) })
	}
	for _, b := range net.Buffers() {
		given.take(b.Name, b.Shape, func(a arrayfile.Array) error { return arrayfile.Convert(a, 0, b.Value) })
	}
	return given.problems(modelFile)
}

func loadOptim[T Float](opt optim.Optimizer[T], arrays []arrayfile.Array) error {
	var state optim.State[T]
	for _, a := range arrays {
		if a.Name == stepsName {
			var v [1]int64
			if a.Len() != 1 {
				return fmt.Errorf("train: %s: %s has shape %v, wanted a scalar", optimFile, a.Name, a.Shape)
			}
			if err := arrayfile.Convert(a, 0, v[:]); err != nil {
				return fmt.Errorf("train: %s: %w", optimFile, err)
			}
			state.Steps = v[0]
			continue
		}
		t := optim.Tensor[T]{Name: a.Name, Shape: a.Shape, Value: make([]T, a.Len())}
		if err := arrayfile.Convert(a, 0, t.Value); err != nil {
			return fmt.Errorf("train: %s: %w", optimFile, err)
		}
		state.Tensors = append(state.Tensors, t)
	}
	if err := opt.Load(state); err != nil {
		return fmt.Errorf("train: %s: %w", optimFile, err)
	}
	return nil
}

// shelf hands out arrays by name and remembers what did not fit.
type shelf struct {
	arrays map[string]arrayfile.Array
	errs   []error
}

func newShelf(arrays []arrayfile.Array) *shelf {
	s := &shelf{arrays: map[string]arrayfile.Array{}}
	for _, a := range arrays {
		s.arrays[a.Name] = a
	}
	return s
}

func (s *shelf) take(name string, shape []int, use func(arrayfile.Array) error) bool {
	a, ok := s.arrays[name]
	delete(s.arrays, name)
	switch {
	case !ok:
		s.errs = append(s.errs, fmt.Errorf("lacks %s %v", name, shape))
	case !slices.Equal(a.Shape, shape):
		s.errs = append(s.errs, fmt.Errorf("%s has shape %v, wanted %v", name, a.Shape, shape))
	default:
		if err := use(a); err != nil {
			s.errs = append(s.errs, err)
			return false
		}
		return true
	}
	return false
}

func (s *shelf) problems(file string) error {
	for name := range s.arrays {
		s.errs = append(s.errs, fmt.Errorf("has %s, which the network does not", name))
	}
	if len(s.errs) == 0 {
		return nil
	}
	return fmt.Errorf("train: %s: %w", file, errors.Join(s.errs...))
}
