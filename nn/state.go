package nn

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/kernel"
)

// StateError says how a checkpoint differs from the network it is loaded into, by tensor names.
type StateError struct {
	Missing []string // the network has it, the checkpoint does not
	Extra   []string // the other way round
	Shapes  []string // "name: shape [64 3 3 3], wanted [64 3 7 7]"
}

func (e *StateError) Error() string {
	var parts []string
	for _, list := range []struct {
		title string
		names []string
	}{{"missing", e.Missing}, {"extra", e.Extra}, {"of other shape", e.Shapes}} {
		if len(list.names) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", len(list.names), list.title, strings.Join(list.names, ", ")))
		}
	}
	return "nn: the checkpoint belongs to another network: " + strings.Join(parts, "; ")
}

// Tensor is a view of one entry of a network's state: Values, or Count for a num_batches_tracked.
type Tensor[T kernel.Float] struct {
	Name   string
	Shape  []int
	Values []T
	Count  *int64
}

// State returns views of everything a checkpoint holds: counters first (8-byte integers), then parameters, then
// running statistics.
func (n *Network[T]) State() []Tensor[T] {
	var list []Tensor[T]
	for _, c := range n.counters {
		list = append(list, Tensor[T]{Name: c.Name, Count: &c.Value})
	}
	for _, p := range n.params {
		list = append(list, Tensor[T]{Name: p.Name, Shape: p.Shape, Values: p.Value})
	}
	for _, b := range n.buffers {
		list = append(list, Tensor[T]{Name: b.Name, Shape: b.Shape, Values: b.Value})
	}
	return list
}

// CheckState compares the names and shapes of a checkpoint with the network's. The error is a *StateError that
// lists every difference. Counters may be missing: checkpoints older than PyTorch 0.4.1 have none.
func (n *Network[T]) CheckState(shapes map[string][]int) error {
	var e StateError
	known := map[string]bool{}
	for _, t := range n.State() {
		known[t.Name] = true
		shape, found := shapes[t.Name]
		switch {
		case !found && t.Count == nil:
			e.Missing = append(e.Missing, t.Name)
		case found && !slices.Equal(shape, t.Shape):
			e.Shapes = append(e.Shapes, fmt.Sprintf("%s: shape %v, wanted %v", t.Name, shape, t.Shape))
		}
	}
	for name := range shapes {
		if !known[name] {
			e.Extra = append(e.Extra, name)
		}
	}
	slices.Sort(e.Extra)
	if len(e.Missing)+len(e.Extra)+len(e.Shapes) == 0 {
		return nil
	}
	return &e
}
