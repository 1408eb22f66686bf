package train

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/nn"
)

// stages stands for all layers that the papers' figures show.
const stages = "stages"

// tapped selects the layers of a network that run.taps names.
func (c Config) tapped(all []nn.Tap) ([]nn.Tap, error) {
	var list []nn.Tap
	for _, name := range split(c.Run.Taps) {
		if name == stages {
			for _, t := range all {
				if t.Stage {
					list = append(list, t)
				}
			}
			continue
		}
		at := slices.IndexFunc(all, func(t nn.Tap) bool { return t.Name == name })
		if at < 0 {
			known := make([]string, len(all))
			for i, t := range all {
				known[i] = t.Name
			}
			return nil, &ConfigError{Problems: []Problem{{Key: "run.taps", Message: fmt.Sprintf("%q is none of the network's layers; wanted %s, or some of %s", name, stages, strings.Join(known, ", "))}}}
		}
		list = append(list, all[at])
	}
	return list, nil
}

func (c Config) flatten() bool { return c.Run.TapPool == "flatten" }

// tap turns the keeping of layers on and off: training steps whose features nobody measures run without it.
func (n *native[T]) tap(on bool) {
	if n.tapped == on {
		return
	}
	n.tapped = on
	var names []string
	for _, t := range n.taps {
		if on {
			names = append(names, t.Name)
		}
	}
	if err := n.net.Tap(n.cfg.flatten(), names...); err != nil {
		panic("train: a layer that the network has said it has")
	}
}

// keepTraining has the next training pass keep its features if they are wanted and the run measures on them.
func (s *session[T]) keepTraining(wanted bool) {
	s.collect = wanted && s.cfg.Run.MeasureFrom == fromTraining
	if s.collect {
		s.train.allocate(s, s.in.train.N(), s.taps)
	}
}
