package ufm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"collapse.example/collapse/measure"
	"collapse.example/collapse/optim"
)

// Method names an optimiser.
type Method string

// The methods. Auto is ours: see auto.go.
const (
	GD       Method = "gd"
	Momentum Method = "momentum"
	LBFGS    Method = "lbfgs"
	Auto     Method = "auto"
)

// Run says how to optimise numerically.
type Run struct {
	Method     Method
	Seed       uint64
	Iterations int       // 0: 50,000 for descent, 10,000 for L-BFGS
	Step       float64   // of descent; 0: 0.1, as TB
	Momentum   float64   // of Momentum; 0: 0.9
	Init       InitScale // zero value: TB's
	TraceAt    []int     // iterations of the trace; nil: about 60, evenly on a logarithmic scale
	NoTrace    bool
	// Progress, if set, is called at traced iterations.
	Progress func(iteration int, value float64)
}

// Found is the numerical result.
type Found struct {
	Objective   Number         `json:"objective"`
	Gap         Number         `json:"gap"` // f − f*
	Gradient    Number         `json:"gradient_norm"`
	Iterations  int            `json:"iterations"`
	Evaluations int            `json:"evaluations"`
	Seconds     float64        `json:"seconds"`
	Stopped     string         `json:"stopped"`
	Saddles     int            `json:"saddles_left"`
	Measures    measure.Values `json:"measures"`
	Trap        string         `json:"trap,omitempty"`
	Trace       []TracePoint   `json:"trace"`
}

// TracePoint is the objective and the measures after an iteration.
type TracePoint struct {
	Iteration int            `json:"iteration"`
	Objective Number         `json:"objective"`
	Measures  measure.Values `json:"measures"`
}

// Solve minimises numerically from start, which it changes in place (nil: a random start from run), and returns what it found and
// where. e is the exact optimum, for the gap and for Auto. It returns an error if the run is set up wrongly, or if ctx was
// cancelled, together with the result so far.
func (p *Problem) Solve(ctx context.Context, start *Point, e Exact, run Run) (Found, Point, error) {
	run = run.withDefaults(p.Config)
	if err := run.validate(p.Config); err != nil {
		return Found{}, Point{}, err
	}
	var at Point
	if start != nil {
		at = *start
		if err := at.finite(); err != nil {
			return Found{}, at, err
		}
	} else {
		at = p.Start(run.Init, run.Seed)
	}
	began := time.Now()
	var trace []TracePoint
	found := p.run(ctx, at.X, e, run, &trace)
	found.Seconds = time.Since(began).Seconds()
	found.Trace = trace
	p.finish(&found, at, e)
	return found, at, ctx.Err()
}

// run dispatches to the method.
func (p *Problem) run(ctx context.Context, x []float64, e Exact, run Run, trace *[]TracePoint) Found {
	if run.Method == Auto {
		return p.auto(ctx, x, e, run.Seed)
	}
	observe := func(iteration int, x []float64, value float64) {
		point := TracePoint{Iteration: iteration, Objective: Number(value)}
		if measures, err := p.Measures(p.View(x)); err == nil {
			point.Measures = measures
		}
		*trace = append(*trace, point)
		if run.Progress != nil {
			run.Progress(iteration, value)
		}
	}
	wanted := func(i int) bool {
		_, ok := slices.BinarySearch(run.TraceAt, i)
		return ok && !run.NoTrace
	}
	var out optim.Outcome
	switch run.Method {
	case LBFGS:
		cfg := optim.LBFGSConfig{Iterations: run.Iterations, Observe: func(i int, x []float64, value float64) {
			if wanted(i) {
				observe(i, x, value)
			}
		}}
		if p.Model == LSNonneg {
			out = optim.ProjectedLBFGS(ctx, p, x, p.nonneg, cfg)
		} else {
			out = optim.LBFGS(ctx, p, x, cfg)
		}
	default:
		cfg := optim.DescentConfig{Step: run.Step, Iterations: run.Iterations, ObserveAt: wanted, Observe: observe}
		if run.Method == Momentum {
			cfg.Momentum = run.Momentum
		}
		out = optim.Descend(ctx, p, x, cfg)
	}
	return Found{Iterations: out.Iterations, Evaluations: out.Evaluations, Stopped: string(out.Stop)}
}

// finish completes a result at its last point.
func (p *Problem) finish(found *Found, at Point, e Exact) {
	grad := make([]float64, p.Dim())
	value := p.Eval(at.X, grad)
	found.Objective, found.Gap = Number(value), None
	p.settleKinks(at.X, grad, value)
	found.Gradient = Number(p.kktResidual(at.X, grad))
	if e.Available {
		found.Gap = Number(value - float64(e.Objective))
	}
	if found.Trap == "" {
		found.Trap = p.Trap(at.X, value, e)
	}
	if p.Variables() <= hessianVariables {
		if measures, err := p.Measures(at); err == nil {
			found.Measures = measures
		}
	}
}

func (r Run) withDefaults(c Config) Run {
	if r.Method == "" {
		r.Method = Auto
	}
	if r.Iterations == 0 {
		r.Iterations = 50000
		if r.Method == LBFGS {
			r.Iterations = 10000
		}
	}
	if r.Step == 0 {
		r.Step = 0.1
	}
	if r.Momentum == 0 {
		r.Momentum = 0.9
	}
	if r.Init == (InitScale{}) {
		r.Init = c.defaultInit()
	}
	if r.TraceAt == nil {
		r.TraceAt = logarithmic(r.Iterations, 60)
	}
	r.TraceAt = slices.Clone(r.TraceAt)
	slices.Sort(r.TraceAt)
	return r
}

func (r Run) validate(c Config) error {
	switch {
	case !slices.Contains([]Method{GD, Momentum, LBFGS, Auto}, r.Method):
		return fmt.Errorf("ufm: optimizer is %q, wanted gd, momentum, lbfgs or auto", r.Method)
	case r.Iterations < 0:
		return fmt.Errorf("ufm: iters is %d, wanted at least 0", r.Iterations)
	case !(r.Step > 0) || math.IsInf(r.Step, 0):
		return fmt.Errorf("ufm: step is %g, wanted above 0", r.Step)
	case r.Method == Momentum && c.Model == LSNonneg:
		return errors.New("ufm: momentum does not keep H ≥ 0: use gd, lbfgs or auto for ls-nonneg")
	case !(r.Momentum >= 0 && r.Momentum < 1):
		return fmt.Errorf("ufm: momentum is %g, wanted 0 up to, not including, 1", r.Momentum)
	}
	if r.Method == Auto {
		for _, p := range c.penalties() {
			if p.value == 0 && p.name != "lb" {
				return fmt.Errorf("ufm: optimizer auto with %s = 0: %w", p.name, errNoOptimum)
			}
		}
	}
	return nil
}

// logarithmic returns 0, about count iterations evenly spaced on a logarithmic scale, and last.
func logarithmic(last, count int) []int {
	out := []int{0}
	for i := range count + 1 {
		at := int(math.Round(math.Pow(float64(last), float64(i)/float64(count))))
		if at > out[len(out)-1] && at <= last {
			out = append(out, at)
		}
	}
	return out
}

func seeded64(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }
