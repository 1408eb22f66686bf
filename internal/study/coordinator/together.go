package coordinator

import (
	"cmp"
	"context"
	"slices"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// How many runs share a batch unless Options.Members says so. More cost memory here for each, and gain little.
const (
	membersOnProcessor = 16
	membersOnGPU       = 64
)

// together decides how many runs of PyTorch are computed in one batch, and makes room for that many side by side. Runs of a shape are
// divided evenly, so that no batch has more empty places than it must. It affects the bits of runs that are not yet begun, no others.
func (e *coordinator) together(ctx context.Context) error {
	if e.o.Members == 1 || e.o.Slots == 0 || e.o.Engines == nil {
		return nil
	}
	shapes, err := e.shapes()
	if err != nil || len(shapes) == 0 {
		return err
	}
	device, _, err := e.o.Engines.Device(ctx)
	if err != nil {
		return ctx.Err() // each run says what is wrong
	}
	members := 1
	for _, s := range shapes {
		members = max(members, s.members(device, e.o.Members))
	}
	if members == 1 {
		return nil
	}
	if e.o.Wider {
		e.o.Slots = max(e.o.Slots, members)
	}
	e.ensemble = train.Ensemble{Members: min(members, e.o.Slots), Threads: e.o.Threads}
	return nil
}

// shape are the runs that have not ended and can share a batch.
type shape struct {
	outlook train.Outlook
	runs    int
}

// members is how many of them do on a device; asked is how many the user wants, 0: as many as are useful.
func (s *shape) members(device engine.Device, asked int) int {
	usual := membersOnGPU
	if device.Name == "cpu" {
		usual = membersOnProcessor
	}
	fit := s.outlook.Members(device, cmp.Or(asked, usual))
	if asked > 0 || fit == 1 {
		return fit
	}
	batches := (s.runs + fit - 1) / fit
	return (s.runs + batches - 1) / batches
}

// shapes finds the runs that can share a batch. A run that cannot be foreseen fails by itself.
func (e *coordinator) shapes() (map[string]*shape, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	found := map[string]*shape{}
	for _, r := range e.open {
		key, c := shapeOf(r.Kind, r.Payload)
		if key == "" {
			continue
		}
		s := found[key]
		if s == nil {
			s = &shape{}
			var err error
			if s.outlook, err = train.Foresee(c, study.OpenSet); err != nil {
				continue
			}
			found[key] = s
		}
		s.runs++
	}
	return found, nil
}

// shapeOf is equal for runs that may share a batch, and "" for all others.
func shapeOf(kind store.Kind, payload string) (string, train.Config) {
	if kind != store.Train {
		return "", train.Config{}
	}
	c, err := train.Load("job", []byte(payload))
	if err != nil || !c.Shares() {
		return "", train.Config{}
	}
	return train.Shape(c), c
}

// inShapes brings jobs whose runs may share a batch next to each other, in the order of the first of each shape.
func inShapes(jobs []queue.Job) {
	first, at := map[string]int{}, map[string]int{}
	for i, j := range jobs {
		key, _ := shapeOf(store.Kind(j.Kind), string(j.Payload))
		if _, seen := first[key]; !seen || key == "" {
			first[key] = i
		}
		at[j.ID] = first[key]
	}
	slices.SortStableFunc(jobs, func(a, b queue.Job) int { return cmp.Compare(at[a.ID], at[b.ID]) })
}
