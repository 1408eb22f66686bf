package measure

import (
	"time"

	"collapse.example/collapse/measure/internal/wide"
)

// Phase is a stage of a measurement and the seconds it took.
type Phase struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Stages of Measure, in order. "between", "second pass" and later ones may occur twice, for test features first.
const (
	PhaseFirst     = "first pass"
	PhasePairs     = "class pairs"
	PhaseBetween   = "between"
	PhaseSecond    = "second pass" // as a whole if K·d is small; else the next seven
	PhaseRadii     = wide.PhaseRadii
	PhaseResiduals = wide.PhaseResiduals
	PhaseProducts  = wide.PhaseProducts
	PhaseSums      = wide.PhaseSums
	PhaseUndecided = wide.PhaseUndecided
	PhaseMargins   = wide.PhaseMargins
	PhaseRows      = wide.PhaseRows
	PhaseGeometry  = "geometry"
	PhaseRanks     = "ranks"

	PhaseUncertainty = "uncertainty"
	PhaseNull        = "shuffled labels"
)

// clock measures the time of each stage.
type clock struct {
	phases  []Phase
	current int
	since   time.Time
}

func (c *clock) start() { c.phases, c.since = c.phases[:0], time.Time{} }

// enter ends the current stage and begins or continues the named one.
func (c *clock) enter(name string) {
	now := time.Now()
	c.stop(now)
	c.since = now
	for i := range c.phases {
		if c.phases[i].Name == name {
			c.current = i
			return
		}
	}
	c.current = len(c.phases)
	c.phases = append(c.phases, Phase{Name: name})
}

// move transfers seconds from one stage to another.
func (c *clock) move(from, to string, seconds float64) {
	c.enter(to)
	c.phases[c.current].Seconds += seconds
	c.enter(from)
	c.phases[c.current].Seconds -= seconds
}

func (c *clock) stop(now time.Time) {
	if !c.since.IsZero() {
		c.phases[c.current].Seconds += now.Sub(c.since).Seconds()
	}
	c.since = time.Time{}
}

// Phases returns how the time of the last Measure was spent, in order of first entry.
func (e *Engine[T]) Phases() []Phase { return append([]Phase(nil), e.second.clock.phases...) }
