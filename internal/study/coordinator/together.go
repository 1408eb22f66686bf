package coordinator

import (
	"cmp"
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
	device, _, err := e.o.Engines.Device(ctx)
	if err != nil { // its process may just have been killed
		device, _, err = e.o.Engines.Device(ctx)
	}
	if err != nil {
		return context.Cause(ctx) // each run says what is wrong
	}
	members := batches.Members(device, e.o.Members)
	if members > 1 && e.o.Wider {
		e.o.Slots = max(e.o.Slots, members)
	}
	e.ensemble = train.Ensemble{Members: min(members, e.o.Slots), Threads: e.o.Threads}
	return nil
}

// inShapes brings jobs whose runs may share a batch next to each other, in the order of the first of each shape.
func inShapes(jobs []queue.Job) {
	first, at := map[string]int{}, map[string]int{}
	for i, j := range jobs {
		key, _ := study.ShapeOf(store.Kind(j.Kind), string(j.Payload))
		if _, seen := first[key]; !seen || key == "" {
			first[key] = i
		}
		at[j.ID] = first[key]
	}
	slices.SortStableFunc(jobs, func(a, b queue.Job) int { return cmp.Compare(at[a.ID], at[b.ID]) })
}
