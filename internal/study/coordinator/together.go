package coordinator

import (
	"context"
	"slices"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// together decides how many runs of PyTorch are computed in one batch, and makes room for that many side by side. It affects the bits of runs
// that are not yet begun, no others.
func (e *coordinator) together(ctx context.Context) error {
	e.ensemble = train.Ensemble{Threads: e.o.Threads} // runs that have been begun in a batch go on in one
	if e.o.Members == 1 || e.o.Slots == 0 || e.o.Engines == nil {
		return nil
	}
	var batches study.Batches
	e.mu.Lock()
	for _, r := range e.open {
		batches.Add(r.Kind, r.Payload)
	}
	e.mu.Unlock()
	if batches.None() {
		return nil
	}
	on, err := study.DevicesOf(ctx, e.o.Engines)
	if err != nil { // its process may just have been killed
		on, err = study.DevicesOf(ctx, e.o.Engines)
	}
	if err != nil {
		return context.Cause(ctx) // each run says what is wrong
	}
	members, slots := batches.Plan(on, e.o.Members)
	if e.o.Wider {
		e.o.Slots = max(e.o.Slots, slots)
	}
	e.ensemble.Members = min(members, e.o.Slots)
	return nil
}

// inShapes brings jobs whose runs may share a batch next to each other, in the order of the first of each shape.
func inShapes(jobs []queue.Job) {
	var groups [][]queue.Job
	at := map[string]int{}
	for _, j := range jobs {
		key, _ := study.ShapeOf(store.Kind(j.Kind), string(j.Payload))
		i, seen := at[key]
		if !seen || key == "" {
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], j)
	}
	copy(jobs, slices.Concat(groups...))
}
