// Package optim turns gradients into steps: optimisers and learning-rate schedules, generic over
// float32 and float64. It knows parameters and nothing of layers or losses.
//
// An optimiser is built over parameters whose Grad the caller fills before each Step. One that
// evaluates the loss several times per step (L-BFGS) takes the closure at construction, so all share
// the interface Optimizer. What weight decay adds to loss and gradients outside the optimiser is in
// decay.go. Read optimizer.go first; kinds.go lists those that train networks.
package optim

import (
	"errors"
	"fmt"
	"slices"

	"collapse.example/collapse/internal/kernel"
)

// Optimizer updates parameters in place from their gradients.
type Optimizer[T kernel.Float] interface {
	// Step makes one update with learning rate lr. loss is the objective at the current parameters,
	// whose gradients are in Grad; only L-BFGS uses it.
	Step(lr, loss float64)
	// State returns what a checkpoint must hold besides the parameters. Its tensors are views,
	// not copies: write or copy them before the next Step.
	State() State[T]
	// Load copies a state of the same optimiser over the same parameters into this one. If a tensor
	// is missing, unknown or misshapen it changes nothing and returns an error that names all of
	// them.
	Load(State[T]) error
}

// State is the state of an optimiser.
type State[T kernel.Float] struct {
	Steps   int64 // updates made so far
	Tensors []Tensor[T]
}

func (s State[T]) check() error {
	if s.Steps < 0 {
		return fmt.Errorf("optim: state counts %d steps, wanted at least 0", s.Steps)
	}
	return nil
}

// Tensor is one named tensor of a state: the parameter's name, a dot and PyTorch's name of the
// slot, as in layers.0.weight.momentum_buffer.
type Tensor[T kernel.Float] struct {
	Name  string
	Shape []int
	Value []T
}

// restore copies a state into an optimiser's tensors and count of steps.
func (s State[T]) restore(to []Tensor[T], steps *int64) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := load(to, s.Tensors); err != nil {
		return err
	}
	*steps = s.Steps
	return nil
}

// load copies from into the tensors of to, which list everything wanted.
func load[T kernel.Float](to []Tensor[T], from []Tensor[T]) error {
	given := make(map[string]Tensor[T], len(from))
	for _, t := range from {
		given[t.Name] = t
	}
	var problems []error
	for _, want := range to {
		got, ok := given[want.Name]
		switch {
		case !ok:
			problems = append(problems, fmt.Errorf("optim: state lacks tensor %s %v", want.Name, want.Shape))
		case len(got.Value) != len(want.Value) || !slices.Equal(got.Shape, want.Shape):
			problems = append(problems, fmt.Errorf("optim: state tensor %s has shape %v (%d values), wanted %v",
				want.Name, got.Shape, len(got.Value), want.Shape))
		}
	}
	for _, t := range from {
		if !slices.ContainsFunc(to, func(want Tensor[T]) bool { return want.Name == t.Name }) {
			problems = append(problems, fmt.Errorf("optim: state has tensor %s, which this optimiser does not keep", t.Name))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	for _, want := range to {
		copy(want.Value, given[want.Name].Value)
	}
	return nil
}
