package study

import (
	"cmp"
	"context"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// How many runs share a batch unless the user says so. More cost memory here for each, and gain little.
const (
	membersOnProcessor = 16
	membersOnGPU       = 64
)

// Batches counts runs that can be computed in one batch, by what they must have in common.
type Batches struct {
	shapes map[string]*shape
	others bool // there are runs that cannot
}

type shape struct {
	outlook train.Outlook
	runs    int
}

// Add counts a run. One that cannot be foreseen is not counted: it fails by itself.
func (b *Batches) Add(kind store.Kind, payload string) {
	key, c := ShapeOf(kind, payload)
	if key == "" {
		b.others = true
		return
	}
	s := b.shapes[key]
	if s == nil {
		o, err := train.Foresee(c, OpenSet)
		if err != nil {
			b.others = true
			return
		}
		if b.shapes == nil {
			b.shapes = map[string]*shape{}
		}
		s = &shape{outlook: o}
		b.shapes[key] = s
	}
	s.runs++
}

// ShapeOf is equal for runs that may share a batch, and "" for all others.
func ShapeOf(kind store.Kind, payload string) (string, train.Config) {
	if kind != store.Train {
		return "", train.Config{}
	}
	c, err := train.Load("job", []byte(payload))
	if err != nil || !c.Shares() {
		return "", train.Config{}
	}
	return train.Shape(c), c
}

// None reports whether no run can share a batch.
func (b *Batches) None() bool { return len(b.shapes) == 0 }

// Devices are what batches are computed on.
type Devices struct {
	One    engine.Device // of several, which are alike
	Number int           // 0 counts as 1
	Most   int           // runs at a time on each; 0: any number
}

// DevicesOf are those of a pool. It starts a process, unless one is idle.
func DevicesOf(ctx context.Context, pool *engine.Pool) (Devices, error) {
	one, _, err := pool.Device(ctx)
	return Devices{One: one, Number: len(pool.Devices), Most: pool.PerDevice}, err
}

// Plan says how many runs share a batch, at most, and how many slots all batches take together: one on each device. asked is how many the user
// wants to share a batch, 0: as many as are useful; then the runs of the largest shape are divided evenly, so that few places are empty. Slots
// are 0 if there are runs that share nothing: as many of those side by side might not fit.
func (b *Batches) Plan(on Devices, asked int) (members, slots int) {
	members, number := 1, max(1, on.Number)
	for _, s := range b.shapes {
		m := s.members(on, number, asked)
		b.others = b.others || m == 1 && s.runs > 1
		members = max(members, m)
	}
	if members > 1 && !b.others {
		slots = members * number
	}
	return members, slots
}

func (s *shape) members(on Devices, number, asked int) int {
	most := membersOnGPU
	if on.One.Name == "cpu" {
		most = membersOnProcessor
	}
	most = cmp.Or(asked, most)
	if on.Most > 0 {
		most = min(most, on.Most)
	}
	fit := s.outlook.Members(on.One, most)
	if asked > 0 || fit == 1 {
		return fit
	}
	each := (s.runs + number - 1) / number
	batches := (each + fit - 1) / fit
	return (each + batches - 1) / batches
}
