package findings

import (
	"fmt"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Compute is what runs have cost, failed ones up to their last epoch.
type Compute struct {
	FLOP      float64 `json:"flop"`
	CoreHours float64 `json:"core_hours"`
	Runs      int     `json:"runs"`               // that computed something
	Unknown   int     `json:"runs_without_flop"`  // not in FLOP
	OneThread int     `json:"runs_of_one_thread"` // with no recorded thread count: their time counts once
	LBFGS     int     `json:"runs_of_lbfgs"`      // whose further evaluations of a step are not in FLOP
	Continued int     `json:"runs_gone_on_from"`  // in a search: beginnings of longer runs, whose FLOP include theirs
	Why       string  `json:"flop_why,omitempty"` // some are unknown
}

// Count adds up what training runs have cost. foresee gives the cost of a run by its epochs (see train.Foresee). searched says
// that runs which differ only in run.epochs continued one another.
func Count(runs []judge.Run, searched bool, foresee func(hash string, epochs int) (train.Outlook, error)) Compute {
	var c Compute
	known := map[string]train.Outlook{} // runs that differ by their seed alone take the same FLOP
	longest := map[string]int64{}
	for i := range runs {
		longest[runs[i].Beginning()] = max(longest[runs[i].Beginning()], runs[i].LastStep())
	}
	for i := range runs {
		r := &runs[i]
		if r.Kind != store.Train || r.LastStep() == 0 {
			continue
		}
		c.Runs++
		if r.Spent > 0 {
			c.CoreHours += r.Spent / 3600
		} else if !r.Started.IsZero() && r.Finished.After(r.Started) {
			c.CoreHours += r.Finished.Sub(r.Started).Hours()
			c.OneThread++
		}
		if searched && r.LastStep() < longest[r.Beginning()] {
			c.Continued++
			continue
		}
		c.addFLOP(r, known, foresee)
	}
	return c
}

func (c *Compute) addFLOP(r *judge.Run, known map[string]train.Outlook, foresee func(hash string, epochs int) (train.Outlook, error)) {
	if r.Settings["optim.kind"] == "lbfgs" {
		c.LBFGS++
	}
	key := fmt.Sprintf("%d\n%s", r.LastStep(), r.Configuration())
	o, ok := known[key]
	if !ok {
		var err error
		if o, err = foresee(r.Hash, int(r.LastStep())); err != nil {
			c.unknown(err)
			return
		}
		known[key] = o
	}
	c.FLOP += o.FLOP()
}

// unknown counts a run of which nobody can say how many FLOP it took.
func (c *Compute) unknown(err error) {
	c.Unknown++
	if c.Why == "" {
		c.Why, _, _ = strings.Cut(err.Error(), "\n")
	}
}

// Sentence says what the runs have cost and how it is counted.
func (c Compute) Sentence() string {
	if c.Runs == 0 {
		return "No arithmetic and no core time are counted: no run of this program's own training has finished an epoch."
	}
	flop, few := format.FLOP(c.FLOP), []string{}
	value, unit := coreTime(c.CoreHours)
	if c.Unknown == c.Runs {
		flop = "An unknown number of FLOP"
	}
	add := func(n int, words string) {
		if n > 0 {
			few = append(few, fmt.Sprintf(words, format.Count(n, "run")))
		}
	}
	add(c.OneThread, "the threads of %s were not recorded; one each is counted")
	add(c.LBFGS, "for L-BFGS (%s) one evaluation per step is counted")
	add(c.Unknown, "the FLOP of %s are not known ("+strings.ReplaceAll(c.Why, "%", "%%")+")")
	least := ""
	if len(few) > 0 {
		least = " At least: " + strings.Join(few, "; ") + "."
	}
	if c.Continued > 0 {
		least += " A trial that continued a shorter run counts its epochs once."
	}
	return fmt.Sprintf("%s and %s %s in %s that finished an epoch, failed ones included. FLOP are counted as in papers: 2 for each multiply-add of convolutions and linear layers, "+
		"taps that see padding included, 3 passes for each training sample and 1 for each evaluated one; core time is a run's time multiplied by its threads.%s",
		flop, value, unit, format.Count(c.Runs, "run"), least)
}

// tiles are the core time and, if known, the FLOP; none if nothing is counted.
func (c Compute) tiles() []format.Tile {
	if c.Runs == 0 {
		return nil
	}
	value, unit := coreTime(c.CoreHours)
	out := []format.Tile{tile(value, unit)}
	if c.FLOP > 0 {
		value, unit, _ = strings.Cut(format.FLOP(c.FLOP), "\u00a0")
		out = append(out, tile(value, unit+" of arithmetic"))
	}
	return out
}

// coreTime writes core-hours, and seconds below a minute.
func coreTime(hours float64) (value, unit string) {
	if hours < 1.0/60 {
		return format.Digits(3600 * hours), "core-seconds"
	}
	return format.Digits(hours), "core-hours"
}
