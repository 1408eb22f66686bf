package train

import (
	"fmt"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// modelArrays views the network's tensors under PyTorch's names, 8-byte integers first so that every tensor is aligned in the file.
func modelArrays[T Float](net *nn.Network[T]) []arrayfile.Array {
	var list []arrayfile.Array
	for _, t := range net.State() {
		if t.Count != nil {
			list = append(list, arrayfile.Of(t.Name, nil, []int64{*t.Count}))
			continue
		}
		list = append(list, arrayfile.Of(t.Name, t.Shape, t.Values))
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
	given, shapes := map[string]arrayfile.Array{}, map[string][]int{}
	for _, a := range arrays {
		given[a.Name], shapes[a.Name] = a, a.Shape
	}
	if err := net.CheckState(shapes); err != nil {
		return fmt.Errorf("train: %s: %w", rundir.Model, err)
	}
	for _, t := range net.State() {
		if err := loadTensor(t, given); err != nil {
			return fmt.Errorf("train: %s: %w", rundir.Model, err)
		}
	}
	return nil
}

// loadTensor fills t; a counter that is missing stays as it is.
func loadTensor[T Float](t nn.Tensor[T], given map[string]arrayfile.Array) error {
	a, found := given[t.Name]
	switch {
	case !found:
		return nil
	case t.Count == nil:
		return arrayfile.Convert(a, 0, t.Values)
	}
	count, err := loadCount(a)
	if err == nil {
		*t.Count = count
	}
	return err
}

func loadOptim[T Float](opt optim.Optimizer[T], arrays []arrayfile.Array) error {
	state, err := optimState[T](arrays)
	if err == nil {
		err = opt.Load(state)
	}
	if err != nil {
		return fmt.Errorf("train: %s: %w", rundir.Optim, err)
	}
	return nil
}

// optimState reads what optimArrays wrote.
func optimState[T Float](arrays []arrayfile.Array) (state optim.State[T], err error) {
	for _, a := range arrays {
		if a.Name != stepsName {
			t := optim.Tensor[T]{Name: a.Name, Shape: a.Shape, Value: make([]T, a.Len())}
			if err := arrayfile.Convert(a, 0, t.Value); err != nil {
				return state, err
			}
			state.Tensors = append(state.Tensors, t)
			continue
		}
		if state.Steps, err = loadCount(a); err != nil {
			return state, err
		}
	}
	return state, nil
}

// loadCount reads a scalar.
func loadCount(a arrayfile.Array) (int64, error) {
	if a.Len() != 1 {
		return 0, fmt.Errorf("%s has shape %v, wanted a scalar", a.Name, a.Shape)
	}
	var count [1]int64
	err := arrayfile.Convert(a, 0, count[:])
	return count[0], err
}
