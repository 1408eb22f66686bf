// Package forecast estimates what runs take: time and memory of a study's missing runs (Study), and the work of a lab's runs (Runs).
package forecast

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
)

// Estimate is what the missing runs of a study will take.
type Estimate struct {
	Runs    int           `json:"runs"`    // of the study
	Missing int           `json:"missing"` // not in the lab
	Failed  int           `json:"failed"`  // failed before; not retried automatically
	Time    time.Duration `json:"-"`       // for the missing ones, side by side
	Seconds float64       `json:"seconds"`
	Memory  int64         `json:"memory_bytes"` // of all slots, working on the largest runs
	Basis   string        `json:"basis"`        // what the time is derived from
}

// shapesTimed bounds how long an estimate takes: runs of further shapes count as the slowest timed one.
const shapesTimed = 6

// Elsewhere times runs that another engine computes.
type Elsewhere struct {
	Devices int                                          // number of devices that runs are spread over, at least 1
	Members int                                          // runs that share a batch where they can; up to 1: none
	Rate    func(train.Config) (rate float64, err error) // training images per second of a run, or of all that share a batch, with a device to itself
}

// Study estimates what a study's missing runs will take with the given slots and threads. The time comes from the lab's runs of the
// same study if there are any, else from half a second of steps for each shape of network, and for runs of another engine from short
// runs there.
func Study(lab *store.Reader, configs []train.Config, items []study.Item, slots, threads int, elsewhere Elsewhere) (Estimate, error) {
	e := Estimate{}
	seen, outlooks := map[string]bool{}, map[string]train.Outlook{}
	var past []float64
	var missing []train.Outlook
	var others []external
	for i, it := range items {
		if seen[it.Hash] {
			continue
		}
		seen[it.Hash] = true
		e.Runs++
		run, known := find(lab, it.Hash)
		switch {
		case known && run.Status == store.Done:
			past = append(past, run.Finished.Sub(run.Started).Seconds())
			continue
		case known && run.Status == store.Failed:
			e.Failed++
			continue
		}
		e.Missing++
		o, err := outlook(configs[i], outlooks)
		if err != nil {
			return e, err
		}
		if configs[i].External() {
			others = append(others, external{configs[i], o})
		} else {
			missing = append(missing, o)
		}
		e.Memory = max(e.Memory, o.Memory.Total())
	}
	side := max(1, min(slots, e.Missing))
	e.Memory *= int64(side)
	var err error
	if len(past) > 0 {
		slices.Sort(past)
		e.Seconds = past[len(past)/2] * float64((e.Missing+side-1)/side)
		e.Basis = fmt.Sprintf("%d runs of this study that the lab has, median %.3g s", len(past), past[len(past)/2])
	} else {
		e.Seconds, e.Basis, err = timed(missing, side, max(1, threads/side))
		if len(others) > 0 && err == nil {
			var there float64
			there, e.Basis, err = elsewhere.timed(others)
			e.Seconds += there
		}
	}
	e.Time = time.Duration(e.Seconds * float64(time.Second))
	return e, err
}

func find(lab *store.Reader, hash string) (store.Run, bool) {
	if lab == nil {
		return store.Run{}, false
	}
	run, err := lab.Run(hash)
	return run, err == nil
}

// outlook predicts a run, once per shape.
func outlook(c train.Config, known map[string]train.Outlook) (train.Outlook, error) {
	key := train.Shape(c)
	if o, ok := known[key]; ok {
		return o, nil
	}
	o, err := train.Foresee(c, study.OpenSet)
	if err == nil {
		known[key] = o
	}
	return o, err
}

// timed adds up the time of runs from the rates of their steps.
func timed(runs []train.Outlook, slots, threads int) (seconds float64, basis string, err error) {
	type shape struct {
		arch  any
		batch int
	}
	rates := map[shape]float64{} // steps per second
	slowest := 0.0
	for _, o := range runs {
		s := shape{fmt.Sprint(o.Arch), o.Batch}
		rate, ok := rates[s]
		if !ok && len(rates) < shapesTimed {
			rate, err = bench.Rate(bench.TrainConfig{Arch: o.Arch, Batch: o.Batch}, slots, threads, time.Second/2)
			if err != nil {
				return 0, "", err
			}
			rates[s] = rate
		} else if !ok {
			rate = slowest
		}
		if slowest == 0 || rate < slowest {
			slowest = rate
		}
		seconds += steps(o) / rate
	}
	return seconds / float64(slots), fmt.Sprintf("%d shapes of network timed for half a second each", len(rates)), nil
}

// external is a run of another engine.
type external struct {
	config  train.Config
	outlook train.Outlook
}

// timed adds up the time of runs from the rates of short runs of the same shape. A forward pass alone counts as a third of a step.
func (e Elsewhere) timed(runs []external) (seconds float64, basis string, err error) {
	if e.Rate == nil {
		return 0, "", errors.New("study: run.engine = torch, and nothing here starts such a process to time it")
	}
	rates := map[string]float64{}
	slowest := 0.0
	for _, r := range runs {
		shape := train.Shape(r.config)
		rate, ok := rates[shape]
		switch {
		case !ok && len(rates) < shapesTimed:
			if rate, err = e.Rate(r.config); err != nil {
				return 0, "", err
			}
			rates[shape] = rate
		case !ok:
			rate = slowest
		}
		if slowest == 0 || rate < slowest {
			slowest = rate
		}
		seconds += (float64(r.outlook.Trained) + float64(r.outlook.Forward)/3) / rate
	}
	devices, side := max(1, e.Devices), "one at a time"
	if e.Members > 1 {
		side = fmt.Sprintf("up to %d in one batch", e.Members)
	}
	return seconds / float64(devices), fmt.Sprintf("short runs of PyTorch, of %s, %s on %s", format.Count(len(rates), "shape"), side, format.Count(devices, "device")), nil
}

// steps is the work of a run in steps of one evaluation each; a forward pass alone counts as a third. A step of L-BFGS counts as the
// most evaluations it may take.
func steps(o train.Outlook) float64 {
	return float64(o.Steps*o.Evaluations) + float64(o.Forward)/float64(o.Batch)/3
}
