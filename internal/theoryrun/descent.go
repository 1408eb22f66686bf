package theoryrun

import (
	"context"
	"errors"
	"fmt"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// descent is the result of plain gradient descent, as Tirer & Bruna run it, with the exact optimum.
type descent struct {
	*recipe.Recipe
	setting
	quick      int       // iterations instead of the recipe's; 0: the recipe's
	tried      []attempt // the last one is shown
	paces      []pace    // of the seed shown, and of others that ended in the optimum
	found      ufm.Found
	start, end []float64 // H
}

// attempt is a seed that was tried.
type attempt struct {
	seed  uint64
	stuck bool
	trap  string
	gap   float64 // 2N(f − f*)
}

func runDescent(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	at, err := settingOf(r.Model)
	if err != nil {
		return nil, err
	}
	d := &descent{Recipe: r, setting: at}
	iterations := r.Descent.Iterations
	if opt.Quick && r.Descent.Quick > 0 {
		iterations, d.quick = r.Descent.Quick, r.Descent.Quick
	}
	problem, err := ufm.NewProblem(d.cfg, nil)
	if err != nil {
		return nil, err
	}
	return d, d.descend(ctx, opt, problem, iterations)
}

// descend runs seeds until one ends in the optimum; with a single seed it takes the result as it is.
func (d *descent) descend(ctx context.Context, opt Options, problem *ufm.Problem, iterations int) error {
	scale, err := initScale(d.Descent.Init)
	if err != nil {
		return err
	}
	run := ufm.Run{Method: ufm.GD, Iterations: iterations, Step: d.Descent.Step, Init: scale}
	run.TraceAt = traceAt(iterations, max(1, min(d.Descent.Every, iterations/20)))
	for try := range max(1, d.Descent.Seeds) {
		run.Seed = opt.Seed + uint64(try)
		var end ufm.Point
		if d.found, end, err = problem.Solve(ctx, nil, d.exact, run); err != nil {
			return err
		}
		d.start, d.end = problem.Start(scale, run.Seed).H, end.H
		opt.progressf("seed %d: f = %.8g after %d iterations, %.1f s", run.Seed, float64(d.found.Objective), d.found.Iterations, d.found.Seconds)
		a := attempt{run.Seed, d.Descent.Seeds > 1 && d.stuck(problem, d.found), d.found.Trap, twiceN(problem) * float64(d.found.Gap)}
		if d.tried = append(d.tried, a); !a.stuck {
			break
		}
	}
	if d.cfg.ThreeFactor() {
		d.paces = []pace{paceOf(run.Seed, d.found)}
		return d.timeOthers(ctx, opt, problem, run)
	}
	return nil
}

// timeOthers runs further seeds until enough have ended in the optimum.
func (d *descent) timeOthers(ctx context.Context, opt Options, problem *ufm.Problem, run ufm.Run) error {
	if opt.Quick {
		return nil
	}
	run.Iterations = d.Descent.PaceIterations
	run.TraceAt = traceAt(run.Iterations, max(1, run.Iterations/1000))
	for last := run.Seed + mostOthers; len(d.paces) < d.Descent.PaceSeeds && run.Seed < last; {
		run.Seed++
		found, _, err := problem.Solve(ctx, nil, d.exact, run)
		if err != nil {
			return err
		}
		words := "stuck"
		if !d.stuck(problem, found) {
			d.paces = append(d.paces, paceOf(run.Seed, found))
			words = "timed"
		}
		opt.progressf("seed %d: %s, %d of %d, %.1f s", run.Seed, words, len(d.paces), d.Descent.PaceSeeds, found.Seconds)
	}
	return nil
}

// mostOthers bounds how many seeds are tried for the pace.
const mostOthers = 60

func twiceN(p *ufm.Problem) float64 { return float64(2 * p.K * p.N) }

// stuck reports whether a run ended above the optimum: a dead sample costs σ/(2N), and above half of that a run has one.
func (d *descent) stuck(p *ufm.Problem, found ufm.Found) bool {
	return float64(found.Gap) > 0.5*float64(d.exact.Sigma)/twiceN(p)
}

// traceAt lists every multiple of every, and ten points in each of the first ten of these intervals, where curves bend.
func traceAt(iterations, every int) []int {
	var out []int
	for i := 0; i <= iterations; {
		out = append(out, i)
		if i < 10*every {
			i += max(1, every/10)
		} else {
			i += every
		}
	}
	return out
}

func initScale(s []float64) (ufm.InitScale, error) {
	switch len(s) {
	case 2:
		return ufm.InitScale{W: s[0], H: s[1]}, nil
	case 3:
		return ufm.InitScale{W: s[0], W1: s[1], H: s[2]}, nil
	}
	return ufm.InitScale{}, errors.New("theoryrun: descent.init wants the scales of W and H, or of W2, W1 and H1")
}

// last is a measure at the end of the descent; NaN if it is undefined there.
func (d *descent) last(key string) float64 {
	if v, ok := d.found.Measures.Get(key); ok {
		return v
	}
	return math.NaN()
}

// claims judges what the paper says about this figure.
func (d *descent) claims() []judge.Claim {
	f, nc1 := float64(d.found.Objective), d.last(measure.KeyNC1Pinv)
	switch d.Descent.Expect {
	case "doomed":
		return []judge.Claim{d.deadEntries(),
			claim("doomed", "ReLU directly on the plain model is doomed: f stays far above f*", float64(d.found.Gap) > .02, "f = %.6g, f* = %.6g", f, float64(d.exact.Objective))}
	case "no-collapse":
		return []judge.Claim{claim("zero-loss", "without regularisation the loss reaches zero", f < 1e-5, "f = %.3g", f),
			claim("no-collapse", "and the features do not collapse", nc1 > .01, "NC1 = %.3g", nc1)}
	}
	out := d.collapsed()
	if d.cfg.ThreeFactor() {
		out = append(out, d.paceClaim())
	}
	if d.cfg.Model == ufm.Linear3 {
		nc2, _ := d.nc2Key()
		h1, h2 := d.last("h1_"+nc2), d.last(nc2)
		out = append(out, claim("h1", "without ReLU, H1 has the same geometry", h1 < d.bound(), "NC2 of H1 = %.2g, of H2 = %.2g", h1, h2))
	}
	return out
}

// bound is what NC2 and NC3 must fall below. The slowest mode, the ratio of norms under unequal penalties, decays only like exp(−2tλ·iterations).
func (d *descent) bound() float64 {
	if d.cfg.Model == ufm.ReLU3 {
		return 3e-2 // about 1/t with ReLU: below 1e-2 only after 40,000–100,000 iterations
	}
	return 1e-3
}

// collapsed judges the end of the descent: optimal, and collapsed onto the frame.
func (d *descent) collapsed() []judge.Claim {
	gap, star := float64(d.found.Gap), float64(d.exact.Objective)
	key, frame := d.nc2Key()
	nc1, nc2, nc3, bound := d.last(measure.KeyNC1Pinv), d.last(key), d.last(measure.KeyNC3Direct), d.bound()
	return []judge.Claim{
		claim("objective", "the objective reaches the exact optimum, to 1e-3 of it", math.Abs(gap) < 1e-3*star, "f* = %.8g, f − f* = %.2g", star, gap),
		claim("nc1", "NC1 tends to 0", nc1 < 1e-5, "NC1 = %.2g", nc1),
		claim("nc2", "the class means tend to "+frame, nc2 < bound, "NC2 = %.2g (below %.0e)", nc2, bound),
		claim("nc3", "the classifier aligns with them", nc3 < bound, "NC3 = %.2g", nc3),
	}
}

// deadEntries judges that no entry of H under a ReLU comes back from below 0.
func (d *descent) deadEntries() judge.Claim {
	negative, back := 0, 0
	for i, v := range d.start {
		if v < 0 {
			negative++
			if d.end[i] > 0 {
				back++
			}
		}
	}
	return claim("dead-entries", "entries of H that start negative never turn positive", negative > 0 && back == 0,
		"%d of %d entries start negative, %d of them end positive", negative, len(d.start), back)
}

func (d *descent) facts() []theoryfig.Fact {
	optimum := theoryfig.Number("f*", float64(d.exact.Objective), 6, "exact ("+string(d.exact.Status)+": "+d.exact.Source+")")
	if !d.exact.Available {
		optimum = fact("infimum of f", "0", "exact: without penalties no minimiser is singled out")
	}
	source := "paper"
	if d.Descent.Expect != "" { // what the text says about the model, without a figure
		source = "ours, after the paper's Fig. 1"
	}
	return []theoryfig.Fact{
		fact("objective", d.cfg.Words(), "paper"),
		fact("setting", flags(d.Model), source),
		fact("descent", format.Sprintf("step %g, start N(0,1) times %v", d.Descent.Step, d.Descent.Init), source),
		optimum,
		fact("final objective", format.Sprintf("%.10g", float64(d.found.Objective)), "computed here"),
		fact("time", format.Sprintf("%.2g s for %d iterations", d.found.Seconds, d.found.Iterations), "computed here"),
	}
}

func (d *descent) notes() []string {
	var out []string
	if d.quick > 0 {
		out = append(out, fmt.Sprintf("Quick: %d iterations instead of %d.", d.quick, d.Descent.Iterations))
	}
	for i, a := range d.tried {
		if a.stuck {
			out = append(out, format.Sprintf("Seed %d is stuck: %s (2N(f − f*) = %.3g).", a.seed, a.trap, a.gap))
		} else if i > 0 {
			out = append(out, fmt.Sprintf("The figure shows seed %d.", a.seed))
		}
	}
	if d.cfg.Model == ufm.ReLU3 && d.Descent.Expect != "doomed" && d.Descent.Expect != "no-collapse" {
		nc2, _ := d.nc2Key()
		out = append(out, format.Sprintf("With ReLU the geometry of H1 is not determined: its NC2 is 0 for an orthogonal frame, %.4f for a simplex ETF, more where classes pair up; here %.3g.",
			math.Sqrt(2-2*math.Sqrt(float64(d.cfg.K-1)/float64(d.cfg.K))), d.last("h1_"+nc2)))
	}
	return out
}

func (d *descent) figures() []chart.Figure { return []chart.Figure{d.figure()} }
