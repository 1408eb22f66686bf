package study

import (
	"cmp"

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
type Batches struct{ shapes map[string]*shape }

type shape struct {
	outlook train.Outlook
	runs    int
}

// Add counts a run. One that cannot be foreseen is not counted: it fails by itself.
func (b *Batches) Add(kind store.Kind, payload string) {
	key, c := ShapeOf(kind, payload)
	if key == "" {
		return
	}
	s := b.shapes[key]
	if s == nil {
		o, err := train.Foresee(c, OpenSet)
		if err != nil {
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

// Members is how many runs share a batch on a device; asked is how many the user wants, 0: as many as are useful. Then the runs of a shape are
// divided evenly, so that no batch has more empty places than it must.
func (b *Batches) Members(device engine.Device, asked int) int {
	members := 1
	for _, s := range b.shapes {
		members = max(members, s.members(device, asked))
	}
	return members
}

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
