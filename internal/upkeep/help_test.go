package upkeep

import (
	"context"

	"collapse.example/collapse/internal/train"
)

// stopAt is a sink that stops a run after an epoch.
type stopAt struct {
	epoch, looks int
	stop         func()
	look         func()
}

func withStop(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) }

func (*stopAt) Started(train.Started) {}
func (*stopAt) Step(train.StepDone)   {}
func (*stopAt) Note(string)           {}
func (s *stopAt) Epoch(e train.EpochDone) {
	s.looks++
	if s.look != nil {
		s.look()
	}
	if e.Epoch == s.epoch {
		s.stop()
	}
}
