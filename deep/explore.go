package deep

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/descent"
)

// Explored is the lowest point that a search of a model with ReLUs found: an upper bound of the optimum, and no more.
type Explored struct {
	Objective float64  `json:"objective"`
	From      string   `json:"from"`    // what the descent to it began with
	Descent   *float64 `json:"descent"` // where the descent from the listed point ends; null without one
	Starts    int      `json:"starts"`  // random ones
	Moves     int      `json:"moves"`   // descents from the lowest point, disturbed
	Below     int      `json:"below"`   // random starts that end below neural collapse
	Zero      int      `json:"zero"`    // random starts that end at zero
	Arrive    int      `json:"arrive"`  // random starts that end within 1e-6 of Objective
	Ranks     []int    `json:"ranks"`   // of W_L, …, W_1, H there
	Stopped   bool     `json:"stopped"` // the time was over before all starts were made
	Point     Point    `json:"-"`
}

// Effort bounds an exploration.
type Effort struct {
	Starts int           // random starts; negative: as many as the model's size allows
	Time   time.Duration // after which no further descent begins; 0: no bound
	Seed   uint64
}

// explorer is an exploration under way.
type explorer struct {
	Config    // even
	ctx       context.Context
	collapse  float64
	effort    Effort
	deadline  time.Time
	started   time.Time
	best      end
	out       Explored
	each      func(Step)
	lowest    float64 // told of so far
	knownFrom Point
}

// Step is how far an exploration is.
type Step struct {
	Stage     string // what it does now
	Ended, Of int    // descents of the stage
	Lowest    float64
}

// end is where a descent ended.
type end struct {
	x    []float64
	f    float64
	from string
}

// Explore searches for a low point of a model with ReLUs and squared error: from a listed point, from blocks of fewer classes side by side,
// whose values it searches first, from random starts of several sizes, widths and numbers of dimensions in the first layers, each
// begun at a penalty where few end at zero and followed to the one asked for, and from disturbances of the lowest point. The same effort and seed
// give the same point unless the time ends it. After each descent it calls each, unless that is nil.
func (c Config) Explore(ctx context.Context, from Point, collapse float64, effort Effort, each func(Step)) (Explored, error) {
	if err := c.Validate(); err != nil {
		return Explored{}, err
	}
	if !c.ReLU || c.CE || c.Layers() < 2 {
		return Explored{}, fmt.Errorf("deep: only models with a ReLU, squared error and at least 2 layers are explored")
	}
	e := &explorer{Config: c.even(), ctx: ctx, collapse: collapse, effort: effort, each: each, best: end{f: math.Inf(1)}, lowest: math.Inf(1)}
	if effort.Time > 0 {
		e.started = time.Now()
		e.extend(3, 5) // for random starts; what follows needs the rest
	}
	if effort.Starts < 0 {
		e.effort.Starts = e.affordable()
	}
	if from != nil {
		e.knownFrom = c.toEven(from)
	}
	if err := e.run(); err != nil {
		return Explored{}, err
	}
	e.out.Objective, e.out.From = e.best.f, e.best.from
	e.out.Point = c.uneven(c.point(e.best.x))
	for _, factor := range e.out.Point {
		e.out.Ranks = append(e.out.Ranks, rank(factor))
	}
	return e.out, nil
}

// toEven is the inverse of uneven, on a copy.
func (c Config) toEven(p Point) Point {
	out, each := c.point(flat(p)), c.q()/float64(c.K)
	for i, l := range c.penalties() {
		out[i].Scale(math.Sqrt(l/each), out[i])
	}
	return out
}

// Bounds of a default search: up to 20 s on two free cores, as measured with K = 10 and widths of 12.
const (
	defaultWork = 1.6e10 // multiplications
	leastStarts = 12
	mostStarts  = 160
	descentRuns = 2000 // evaluations of a typical descent
)

// affordable is how many random starts fit the work of a default search.
func (c Config) affordable() int {
	each := 2e4 // what an evaluation costs however small
	for i := range c.Lambdas {
		each += 3 * float64(c.shapeSize(i)*c.K)
	}
	return int(min(mostStarts, max(leastStarts, defaultWork/(each*descentRuns))))
}

func (e *explorer) run() error {
	if e.knownFrom != nil {
		known, err := e.settle(e.knownFrom, "the listed point")
		if err != nil {
			return err
		}
		e.out.Descent = &known.f
		e.keep(known)
	}
	if err := e.blocks(); err != nil {
		return err
	}
	trials := e.trials(e.effort.Starts)
	done, err := e.all("random starts", len(trials), func(i int, rng *rand.Rand) (end, error) { return e.try(trials[i], rng) })
	if err != nil {
		return err
	}
	e.out.Starts = len(done)
	e.extend(9, 10) // for disturbances
	for _, one := range done {
		if one.f < e.collapse*(1-lowerBy) {
			e.out.Below++
		}
		if math.Abs(one.f-e.AtZero()) < 1e-9 {
			e.out.Zero++
		}
	}
	if err := e.polish(done, polished); err != nil {
		return err
	}
	if err := e.disturb(); err != nil {
		return err
	}
	e.extend(1, 1)
	if err := e.finish(); err != nil {
		return err
	}
	for _, one := range done {
		if one.f-e.best.f < reachedBy {
			e.out.Arrive++
		}
	}
	return nil
}

// polished is how many of the lowest rough ends are followed to the precision of their numbers.
const polished = 6

// sameShare is the share of neural collapse's objective within which rough ends count as one.
const sameShare = 2e-5

func (e *explorer) polish(rough []end, most int) error {
	sorted, lowest := slices.Clone(rough), []end(nil)
	slices.SortStableFunc(sorted, func(a, b end) int { return cmp.Compare(a.f, b.f) })
	for _, one := range sorted {
		if n := len(lowest); n < most && (n == 0 || one.f-lowest[n-1].f > sameShare*e.collapse) {
			lowest = append(lowest, one)
		}
	}
	done, err := e.all("settling the lowest ends", len(lowest), func(i int, _ *rand.Rand) (end, error) { return e.settle(e.point(lowest[i].x), lowest[i].from) })
	for _, one := range done {
		e.keep(one)
	}
	return err
}

func (e *explorer) keep(one end) {
	if one.f < e.best.f-1e-12 {
		e.best = one
	}
}

// all makes descents on all cores. Each has random numbers of its own, so that the result does not depend on their order.
func (e *explorer) all(stage string, n int, one func(i int, rng *rand.Rand) (end, error)) ([]end, error) {
	ends, errs := make([]end, n), make([]error, n)
	var wait sync.WaitGroup
	var told sync.Mutex
	next, ended := 0, 0
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				told.Lock()
				i := next
				next++
				told.Unlock()
				if i >= n || e.late() {
					return
				}
				ends[i], errs[i] = one(i, rand.New(rand.NewPCG(e.effort.Seed, uint64(i))))
				told.Lock()
				if ended++; e.each != nil && errs[i] == nil {
					e.lowest = min(e.lowest, e.best.f, ends[i].f)
					e.each(Step{stage, ended, n, e.lowest})
				}
				told.Unlock()
			}
		}()
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	made := slices.DeleteFunc(ends, func(one end) bool { return one.x == nil })
	e.out.Stopped = e.out.Stopped || len(made) < n
	return made, e.ctx.Err()
}

// extend ends what follows at so many parts of the time.
func (e *explorer) extend(parts, of time.Duration) {
	if e.effort.Time > 0 {
		e.deadline = e.started.Add(e.effort.Time * parts / of)
	}
}

func (e *explorer) late() bool {
	return e.ctx.Err() != nil || !e.deadline.IsZero() && time.Now().After(e.deadline)
}

// Rounds of disturbances of the lowest point, and how strong they are against a typical weight.
const (
	disturbRounds = 6
	mostMoves     = 16
)

const disturbed = ", disturbed"

var strengths = []float64{0.05, 0.15, 0.3, 0.6}

// disturb descends from the lowest point with noise added, a few times over.
func (e *explorer) disturb() error {
	moves := min(mostMoves, e.effort.Starts/4)
	for round := range disturbRounds {
		before := e.best
		done, err := e.all(fmt.Sprintf("disturbing the lowest point, round %d", round+1), moves, func(i int, _ *rand.Rand) (end, error) {
			rng := rand.New(rand.NewPCG(e.effort.Seed+1, uint64(round*mostMoves+i)))
			x := slices.Clone(before.x)
			typical := 0.0
			for _, v := range x {
				typical = math.Hypot(typical, v)
			}
			typical *= strengths[i%len(strengths)] / math.Sqrt(float64(len(x)))
			for j := range x {
				x[j] += typical * rng.NormFloat64()
			}
			x, f, err := e.descendRoughly(x)
			return end{x, f, strings.TrimSuffix(before.from, disturbed) + disturbed}, err
		})
		if err != nil {
			return err
		}
		e.out.Moves += len(done)
		if err := e.polish(done, 2); err != nil {
			return err
		}
		if e.best.f >= before.f && round > 0 {
			return nil
		}
	}
	return nil
}

// untilRough ends a descent where it is clear whether it goes low.
func (e *explorer) untilRough() descent.Until {
	return descent.Until{Iterations: 500, Gradient: 1e-7, Change: 1e-6 * e.collapse, Still: 30}
}
