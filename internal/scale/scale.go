// Package scale plans what recipes take at a scale: runs, some of which the lab has, their arithmetic, and hours on this machine, on
// 64 cores and on a GPU. Shapes and numbers of samples are those of the official data sets, so no file is needed.
//
// scale.go makes plans; jobs.go lists what a recipe computes and how much of it the lab has; rates.go holds the rates and their
// sources; time.go schedules runs side by side; table.go writes plans as text.
package scale

import (
	"encoding/json"
	"fmt"
	"slices"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Plan is what a recipe takes.
type Plan struct {
	Recipe string   `json:"recipe"`
	Title  string   `json:"title,omitempty"`
	Scale  string   `json:"scale"`
	Trains bool     `json:"trains"` // a recipe of the theory takes seconds and counts no FLOP
	Runs   int      `json:"runs"`
	Done   int      `json:"done"`   // in the lab
	Failed int      `json:"failed"` // failed before; not retried automatically
	FLOP   float64  `json:"flop"`   // of all runs
	Left   float64  `json:"flop_left"`
	Bound  bool     `json:"flop_is_bound"`    // L-BFGS may need less
	Engine string   `json:"engine,omitempty"` // run.engine of a run, if it is not this program
	Hours  Hours    `json:"hours"`            // for what is left
	Memory int64    `json:"memory_bytes"`     // of the largest run
	Rates  []Rate   `json:"rates,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// Hours follow from the rates of docs/internal/benchmarks.md.
type Hours struct {
	Cores   int     `json:"cores"` // of this machine
	Here    float64 `json:"here"`
	On64    float64 `json:"cores_64"`
	OnGPU   float64 `json:"gpu"` // one run after the other
	Unrated bool    `json:"-"`   // another engine computes some of what is left: no rate for cores is known
}

// MarshalJSON writes null for hours that no rate gives.
func (h Hours) MarshalJSON() ([]byte, error) {
	type hours Hours
	if !h.Unrated {
		return json.Marshal(hours(h))
	}
	return json.Marshal(struct {
		hours
		Here *float64 `json:"here"`
		On64 *float64 `json:"cores_64"`
	}{hours: hours(h)})
}

// manyCores is the number of cores in the second column of hours.
const manyCores = 64

// GPU says which GPU is meant.
func GPU() string { return gpuName + " in float32, a run at a time" }

// Planner plans recipes one after another. Runs that several recipes share count once in Total.
type Planner struct {
	Lab   *store.Reader // nil: there is none
	Cores int           // of this machine
	// Found returns what the search that a recipe takes settings from has found; nil before it has ended. A nil Found means that no search has.
	Found func(*recipe.Recipe) (recipe.Found, error)

	outlooks map[string]train.Outlook
	seen     map[string]bool // runs planned so far, by likeness
	total    Plan
	theories int
}

// Plan plans a recipe.
func (p *Planner) Plan(r *recipe.Recipe, choice recipe.Choice) (Plan, error) {
	plan := Plan{Recipe: r.ID, Title: r.Title, Scale: choice.Scale, Trains: r.Trains(), Hours: Hours{Cores: p.Cores}}
	p.total.Scale, p.total.Trains, p.total.Hours.Cores = choice.Scale, true, p.Cores
	if !r.Trains() {
		p.theories++
		return plan, nil
	}
	rounds, notes, err := p.rounds(r, choice)
	if err != nil {
		return plan, fmt.Errorf("%s: %w", r.ID, err)
	}
	plan.Notes = notes
	if plan.add(rounds); plan.Bound {
		plan.Notes = append(plan.Notes, "L-BFGS evaluates a batch several times in a step: counted is the most it may, optim.lbfgs.max_iter, with a line search max_eval, which the last search of a step can pass.")
	}
	if plan.Engine != "" {
		plan.Notes = append(plan.Notes, "run.engine = "+plan.Engine+": what cores or a GPU take is work divided by the rate that `collapse engine check` finds there; the GPU above is another machine's.")
	}
	p.total.add(p.fresh(rounds))
	return plan, nil
}

// Total is the sum of everything planned.
func (p *Planner) Total() Plan {
	t := p.total
	t.Recipe = "all"
	t.Notes = []string{"Recipes run one after the other; runs that they share count once in the sum."}
	if p.theories > 0 {
		t.Notes = append(t.Notes, format.Count(p.theories, "recipe")+" of the theory: seconds each, no FLOP.")
	}
	return t
}

// fresh returns the jobs of runs that no earlier plan had.
func (p *Planner) fresh(rounds [][]job) (out [][]job) {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	for _, round := range rounds {
		var left []job
		for _, j := range round {
			if !p.seen[j.likeness] {
				p.seen[j.likeness] = true
				left = append(left, j)
			}
		}
		out = append(out, left)
	}
	return out
}

// add adds rounds of jobs to the plan, after those it has.
func (plan *Plan) add(rounds [][]job) {
	var left [][]float64
	for _, round := range rounds {
		var times []float64
		for _, j := range round {
			if !plan.count(j) {
				continue
			}
			plan.Hours.OnGPU += j.flop / (j.rate.OnGPU * 1e9) / 3600
			if j.engine != "" {
				plan.Hours.Unrated = true
			} else {
				times = append(times, j.flop/(j.rate.GFLOPS/2*1e9))
			}
		}
		if len(times) > 0 {
			left = append(left, times)
		}
	}
	plan.Hours.Here += makespan(left, plan.Hours.Cores) / 3600
	plan.Hours.On64 += makespan(left, manyCores) / 3600
}

// count adds a job to the plan's sums and reports whether it still has to be computed.
func (plan *Plan) count(j job) (left bool) {
	plan.Runs++
	plan.FLOP += j.flop
	plan.Memory = max(plan.Memory, j.memory)
	plan.Bound = plan.Bound || j.repeated
	if j.engine != "" {
		plan.Engine = j.engine
	} else if !slices.ContainsFunc(plan.Rates, func(r Rate) bool { return r.Of == j.rate.Of }) {
		plan.Rates = append(plan.Rates, j.rate)
	}
	switch j.state {
	case store.Done:
		plan.Done++
		return false
	case store.Failed:
		plan.Failed++
		return false
	}
	plan.Left += j.flop
	return true
}
