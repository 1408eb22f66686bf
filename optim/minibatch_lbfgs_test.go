package optim

import (
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// TestMinibatchLBFGSResume: with either line search, saving and loading after any step changes no bit.
func TestMinibatchLBFGSResume(t *testing.T) {
	for _, search := range []LineSearch{NoLineSearch, StrongWolfe} {
		cfg := MinibatchLBFGSConfig{Iterations: 4, History: 3, LineSearch: search}
		run := func(interrupt int) map[string][]float64 {
			r := newMLPRun(t, cfg, 1e-3, true)
			for step := range 5 {
				if step == interrupt {
					saved := copied(r.opt.State())
					opt, err := NewMinibatchLBFGS(r.net.Params(), cfg, nil, r.closure)
					if err != nil {
						t.Fatal(err)
					}
					if err := opt.Load(saved); err != nil {
						t.Fatal(err)
					}
					r.opt = opt
				}
				r.draw()
				r.step(0.1)
			}
			if got := r.opt.State().Steps; got != 5 {
				t.Errorf("%d steps counted, wanted 5", got)
			}
			return r.values()
		}
		want := run(-1)
		for interrupt := range 5 {
			for name, got := range run(interrupt) {
				if !slices.Equal(got, want[name]) {
					t.Errorf("%s: interrupted before step %d, %s ends in other bits", search, interrupt, name)
				}
			}
		}
	}
}

func TestMinibatchLBFGSLoadRefusals(t *testing.T) {
	r := newMLPRun(t, MinibatchLBFGSConfig{Iterations: 4, History: 3}, 0, false)
	r.draw()
	r.step(0.1)
	small := newMLPRun(t, MinibatchLBFGSConfig{History: 2}, 0, false)
	if err := small.opt.Load(r.opt.State()); err == nil || !strings.Contains(err.Error(), "3 pairs") {
		t.Errorf("three pairs into a history of two: %v", err)
	}
	state := r.opt.State()
	before := copied(state)
	for _, broken := range []State[float64]{
		{Steps: -1},
		{Steps: 1, Tensors: state.Tensors[1:]},
		{Steps: 1, Tensors: state.Tensors[:len(state.Tensors)-1]},
		{Steps: 1, Tensors: []Tensor[float64]{{"lbfgs.last_move", []int{2}, []float64{1, 2}}, state.Tensors[1]}},
	} {
		if r.opt.Load(broken) == nil {
			t.Errorf("a broken state of %d tensors accepted", len(broken.Tensors))
		}
	}
	for i, tensor := range r.opt.State().Tensors {
		if !slices.Equal(tensor.Value, before.Tensors[i].Value) {
			t.Errorf("a refused Load changed %s", tensor.Name)
		}
	}
}

// quadratic is ½ Σ w_i p_i² of one parameter longer than a block of the team.
type quadratic[T kernel.Float] struct {
	p *nn.Param[T]
	w []float64
}

func newQuadratic[T kernel.Float](n int) *quadratic[T] {
	q := &quadratic[T]{p: &nn.Param[T]{Name: "p", Shape: []int{n}, Value: make([]T, n), Grad: make([]T, n)}, w: make([]float64, n)}
	for i := range n {
		q.w[i] = 1 + 9*float64(i%101)/100
		q.p.Value[i] = T(math.Sin(float64(i)))
	}
	return q
}

func (q *quadratic[T]) eval() float64 {
	sum := 0.0
	for i, w := range q.w {
		v := float64(q.p.Value[i])
		q.p.Grad[i] = T(w * v)
		sum += w * v * v / 2
	}
	return sum
}

func TestMinibatchLBFGSMinimises(t *testing.T) {
	q := newQuadratic[float64](300)
	opt, err := NewMinibatchLBFGS([]*nn.Param[float64]{q.p}, MinibatchLBFGSConfig{LineSearch: StrongWolfe}, nil, q.eval)
	if err != nil {
		t.Fatal(err)
	}
	first := q.eval()
	for range 3 {
		opt.Step(1, q.eval())
	}
	if last := q.eval(); !(last <= 1e-9*first) {
		t.Errorf("value %g from %g after three steps", last, first)
	}
	// At the minimum nothing moves, and the step still counts.
	clear(q.p.Value)
	opt.Step(1, q.eval())
	if q.p.Value[7] != 0 || opt.State().Steps != 4 {
		t.Errorf("at the minimum: p[7] = %g after %d steps", q.p.Value[7], opt.State().Steps)
	}
}

func TestMinibatchLBFGSSameBitsForAnyTeamAndNoAllocation(t *testing.T) {
	for _, search := range []LineSearch{NoLineSearch, StrongWolfe} {
		var want []float32
		for threads := 1; threads <= 3; threads++ {
			team := parallel.NewTeam(threads)
			q := newQuadratic[float32](3*vectorBlock + 5)
			cfg := MinibatchLBFGSConfig{Iterations: 3, History: 2, LineSearch: search}
			opt, err := NewMinibatchLBFGS([]*nn.Param[float32]{q.p}, cfg, team, q.eval)
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(2, func() { opt.Step(0.05, q.eval()) }); n != 0 {
				t.Errorf("%s, %d threads: %g allocations per step, want 0", search, threads, n)
			}
			if threads == 1 {
				want = q.p.Value
			}
			if !slices.Equal(q.p.Value, want) {
				t.Errorf("%s, %d threads: bits differ from one thread's", search, threads)
			}
			team.Close()
		}
	}
}

// TestMinibatchLBFGSDivergence: a closure that turns to NaN ends the step; the parameters show it.
func TestMinibatchLBFGSDivergence(t *testing.T) {
	for _, search := range []LineSearch{NoLineSearch, StrongWolfe} {
		q := newQuadratic[float64](3)
		calls := 0
		opt, err := NewMinibatchLBFGS([]*nn.Param[float64]{q.p}, MinibatchLBFGSConfig{LineSearch: search}, nil, func() float64 {
			calls++
			q.eval()
			q.p.Grad[1] = math.NaN()
			return math.NaN()
		})
		if err != nil {
			t.Fatal(err)
		}
		opt.Step(1, q.eval())
		opt.Step(1, math.NaN())
		if calls > 200 || !math.IsNaN(q.p.Value[1]) {
			t.Errorf("%s: %d calls, p = %v; wanted NaN to reach the parameters", search, calls, q.p.Value)
		}
	}
}

func TestMinibatchLBFGSConfig(t *testing.T) {
	for _, bad := range []MinibatchLBFGSConfig{{Iterations: -1}, {Evaluations: -1}, {History: -2}, {Gradient: -1}, {Change: math.NaN()}, {LineSearch: "wolfe"}} {
		if bad.Validate() == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
	got := MinibatchLBFGSConfig{}.withDefaults()
	if got.Iterations != 20 || got.Evaluations != 25 || got.History != 10 || got.Gradient != 1e-7 || got.Change != 1e-9 {
		t.Errorf("defaults %+v, wanted torch's with a history of 10", got)
	}
}

// TestInsideKeepsAwayFromEnds: a cubic whose minimum is near an end is tried there once, then a tenth of the bracket away.
func TestInsideKeepsAwayFromEnds(t *testing.T) {
	a, b := trial{0, 0, -1}, trial{1, 40, 60}
	free, near := inside(a, b, false)
	if !near || !(free > 0 && free < 0.1) {
		t.Fatalf("trial at %v, near %v; wanted it near 0", free, near)
	}
	for _, ends := range [][2]trial{{a, b}, {b, a}} {
		if moved, near := inside(ends[0], ends[1], true); moved != 0.1 || near {
			t.Errorf("after a near one the trial is at %v, near %v; wanted 0.1", moved, near)
		}
	}
	if middle, near := inside(trial{0, 0, -1}, trial{1, 0, 1}, true); !(math.Abs(middle-0.5) <= 1e-15) || near {
		t.Errorf("a parabola is tried at %v, near %v", middle, near)
	}
}

// TestZoomTakesTheLowerEnd: a trial above the line of sufficient decrease may still be the lowest point; it is then where the search
// ends when its trials are used up.
func TestZoomTakesTheLowerEnd(t *testing.T) {
	q := newQuadratic[float64](1)
	value := 0.0
	opt, err := NewMinibatchLBFGS([]*nn.Param[float64]{q.p}, MinibatchLBFGSConfig{LineSearch: StrongWolfe}, nil, func() float64 {
		value--
		return value // falls from trial to trial, but never enough
	})
	if err != nil {
		t.Fatal(err)
	}
	w := opt.search
	opt.direction[0], w.f0, w.slope, w.reach = 1, 0, -1e9, 1
	at := func(step, value float64) searched[float64] {
		return searched[float64]{trial{step, value, 1}, make([]float64, 1)}
	}
	found := w.zoom([2]searched[float64]{at(0, 0), at(1, 1)}, searchLimit-1)
	if found.value != -1 {
		t.Errorf("zoom ends at value %v, wanted the trial's −1", found.value)
	}
}
