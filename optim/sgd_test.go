package optim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// params makes two parameters, one longer than a block of the kernel, with random values.
func params[T kernel.Float](seed uint64) []*nn.Param[T] {
	rng := rand.New(rand.NewPCG(seed, 1))
	var out []*nn.Param[T]
	for i, n := range []int{7, 40_001} {
		p := &nn.Param[T]{Name: fmt.Sprintf("layers.%d.weight", i), Shape: []int{n}, Value: make([]T, n), Grad: make([]T, n)}
		for j := range p.Value {
			p.Value[j] = T(rng.NormFloat64())
		}
		out = append(out, p)
	}
	return out
}

func randomGradients[T kernel.Float](rng *rand.Rand, ps []*nn.Param[T]) {
	for _, p := range ps {
		for j := range p.Grad {
			p.Grad[j] = T(rng.NormFloat64())
		}
	}
}

// torchSGD transcribes the algorithm of torch.optim.SGD's documentation, dampening 0, for one
// parameter: theta, its gradient g, step count t (from 1) and buffer b.
func torchSGD(theta, g, b []float64, t int, gamma, mu, lambda float64, nesterov bool) {
	for i := range theta {
		gt := g[i]
		if lambda != 0 {
			gt = gt + lambda*theta[i]
		}
		if mu != 0 {
			if t > 1 {
				b[i] = mu*b[i] + gt
			} else {
				b[i] = gt
			}
			if nesterov {
				gt = gt + mu*b[i]
			} else {
				gt = b[i]
			}
		}
		theta[i] = theta[i] - gamma*gt
	}
}

func TestSGDFollowsTorch(t *testing.T) {
	for _, cfg := range []SGDConfig{
		{}, {WeightDecay: 0.1}, {Momentum: 0.9}, {Momentum: 0.9, WeightDecay: 0.1},
		{Momentum: 0.9, Nesterov: true}, {Momentum: 0.5, Nesterov: true, WeightDecay: 0.01},
	} {
		ps := params[float64](1)
		sgd, err := NewSGD(ps, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ps32 := params[float32](1)
		sgd32, err := NewSGD(ps32, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		var theta, b [][]float64
		for _, p := range ps {
			theta, b = append(theta, slices.Clone(p.Value)), append(b, make([]float64, len(p.Value)))
		}
		rng, rng32 := rand.New(rand.NewPCG(2, 2)), rand.New(rand.NewPCG(2, 2))
		for step := 1; step <= 5; step++ {
			rate := 0.1 / float64(step)
			randomGradients(rng, ps)
			randomGradients(rng32, ps32)
			for i, p := range ps {
				torchSGD(theta[i], p.Grad, b[i], step, rate, cfg.Momentum, cfg.WeightDecay, cfg.Nesterov)
			}
			sgd.Step(rate, 0)
			sgd32.Step(rate, 0)
			for i, p := range ps {
				for j, want := range theta[i] {
					if !(math.Abs(p.Value[j]-want) <= 1e-14*math.Max(1, math.Abs(want))) {
						t.Fatalf("%+v step %d: %s[%d] = %g, want %g", cfg, step, p.Name, j, p.Value[j], want)
					}
					if got := float64(ps32[i].Value[j]); !(math.Abs(got-want) <= 2e-6*math.Max(1, math.Abs(want))) {
						t.Fatalf("%+v step %d: float32 %s[%d] = %g, want %g", cfg, step, p.Name, j, got, want)
					}
				}
			}
		}
	}
}

func TestSGDLeavesFrozenAlone(t *testing.T) {
	ps := params[float32](3)
	ps[0].Frozen = true
	before := slices.Clone(ps[0].Value)
	sgd, err := NewSGD(ps, SGDConfig{Momentum: 0.9, WeightDecay: 0.5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	randomGradients(rand.New(rand.NewPCG(1, 1)), ps)
	sgd.Step(0.1, 0)
	if !slices.Equal(ps[0].Value, before) {
		t.Error("a frozen parameter moved")
	}
	if state := sgd.State(); len(state.Tensors) != 1 || state.Tensors[0].Name != "layers.1.weight.momentum_buffer" || state.Steps != 1 {
		t.Errorf("state %d steps, %d tensors; want 1 step and the buffer of layers.1.weight", state.Steps, len(state.Tensors))
	}
}

func TestSGDSameBitsForAnyTeamAndNoAllocation(t *testing.T) {
	sameBitsForAnyTeam(t, func(ps []*nn.Param[float32], team *parallel.Team) (Optimizer[float32], error) {
		return NewSGD(ps, SGDConfig{Momentum: 0.9, Nesterov: true, WeightDecay: 1e-3}, team)
	})
}

// sameBitsForAnyTeam takes steps on one to three threads; steps allocate nothing.
func sameBitsForAnyTeam(t *testing.T, optimizer func([]*nn.Param[float32], *parallel.Team) (Optimizer[float32], error)) {
	t.Helper()
	var want []float32
	for threads := 1; threads <= 3; threads++ {
		team := parallel.NewTeam(threads)
		ps := params[float32](5)
		o, err := optimizer(ps, team)
		if err != nil {
			t.Fatal(err)
		}
		randomGradients(rand.New(rand.NewPCG(1, 1)), ps)
		if n := testing.AllocsPerRun(10, func() { o.Step(0.1, 0) }); n != 0 {
			t.Errorf("%d threads: %g allocations per step, want 0", threads, n)
		}
		if threads == 1 {
			want = ps[1].Value
		}
		if !slices.Equal(ps[1].Value, want) {
			t.Errorf("%d threads: bits differ from one thread's", threads)
		}
		team.Close()
	}
}

// TestSGDResume: saving and loading in the middle changes no bit.
func TestSGDResume(t *testing.T) {
	cfg := SGDConfig{Momentum: 0.9, Nesterov: true, WeightDecay: 1e-3}
	run := func(interrupt bool) []float32 {
		ps, rng := params[float32](7), rand.New(rand.NewPCG(1, 1))
		sgd, err := NewSGD(ps, cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 6 {
			if interrupt && step == 3 {
				saved := copied(sgd.State())
				if sgd, err = NewSGD(ps, cfg, nil); err != nil {
					t.Fatal(err)
				}
				if err := sgd.Load(saved); err != nil {
					t.Fatal(err)
				}
			}
			randomGradients(rng, ps)
			sgd.Step(0.1, 0)
		}
		if got := sgd.State().Steps; got != 6 {
			t.Errorf("%d steps counted, want 6", got)
		}
		return ps[1].Value
	}
	if !slices.Equal(run(false), run(true)) {
		t.Error("a resumed run differs from an unbroken one")
	}
}

func TestLoadRefusals(t *testing.T) {
	sgd, err := NewSGD(params[float32](1), SGDConfig{Momentum: 0.9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	randomGradients(rand.New(rand.NewPCG(1, 1)), sgd.params)
	sgd.Step(1, 0)
	before := slices.Clone(sgd.buffer[0])
	err = sgd.Load(State[float32]{Steps: 9, Tensors: []Tensor[float32]{
		{Name: "layers.0.weight.momentum_buffer", Shape: []int{7}, Value: make([]float32, 7)},
		{Name: "layers.0.weight.exp_avg", Shape: []int{7}, Value: make([]float32, 7)},
		{Name: "layers.1.weight.momentum_buffer", Shape: []int{3}, Value: make([]float32, 3)},
	}})
	for _, want := range []string{"exp_avg", "layers.1.weight.momentum_buffer has shape [3]"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	if err := sgd.Load(State[float32]{}); err == nil || !strings.Contains(err.Error(), "lacks tensor layers.0.weight.momentum_buffer") {
		t.Errorf("empty state: %v", err)
	}
	if sgd.Load(State[float32]{Steps: -1}) == nil {
		t.Error("−1 steps accepted")
	}
	if !slices.Equal(sgd.buffer[0], before) || sgd.steps != 1 {
		t.Error("a refused Load changed the optimiser")
	}
}

func TestSGDConfigRefusals(t *testing.T) {
	for _, cfg := range []SGDConfig{{Momentum: 1}, {Momentum: -0.1}, {Momentum: math.NaN()}, {WeightDecay: -1},
		{WeightDecay: math.Inf(1)}, {Nesterov: true}} {
		if _, err := NewSGD(params[float32](1), cfg, nil); err == nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
}

func TestSchedules(t *testing.T) {
	step := StepLR{Base: 0.1, Every: 40, Gamma: 0.1}
	cosine := CosineRestarts{Base: 0.3, Period: 4, Factor: 2, Min: 0.1}
	multi := MultiStep{Base: 0.1, Milestones: []int{10, 30}, Gamma: 0.5}
	for _, tt := range []struct {
		s     Schedule
		epoch int
		want  float64
	}{{step, 0, 0.1}, {step, 39, 0.1}, {step, 40, 0.01}, {step, 199, 1e-5},
		{multi, 0, 0.1}, {multi, 9, 0.1}, {multi, 10, 0.05}, {multi, 29, 0.05}, {multi, 30, 0.025}, {multi, 99, 0.025},
		{Constant(0.3), 77, 0.3},
		{cosine, 0, 0.3}, {cosine, 2, 0.2}, {cosine, 4, 0.3}, {cosine, 8, 0.2}, {cosine, 12, 0.3}, {cosine, 20, 0.2},
		{Warmup{4, step}, 0, 0.02}, {Warmup{4, step}, 3, 0.08}, {Warmup{4, step}, 4, 0.1}, {Warmup{4, step}, 43, 0.1}, {Warmup{4, step}, 44, 0.01}} {
		if got := tt.s.Rate(tt.epoch); !(math.Abs(got-tt.want) <= 1e-15) {
			t.Errorf("%+v epoch %d: rate %g, want %g", tt.s, tt.epoch, got, tt.want)
		}
	}
	for _, bad := range []interface{ Validate() error }{StepLR{0.1, 0, 0.1}, StepLR{0, 1, 0.1}, StepLR{0.1, 1, math.NaN()},
		MultiStep{0.1, []int{5, 5}, 0.1}, MultiStep{0.1, []int{-1}, 0.1}, MultiStep{math.Inf(1), nil, 0.1},
		CosineRestarts{Base: 0.1, Factor: 1}, CosineRestarts{Base: 0.1, Period: 5}, CosineRestarts{Base: 0, Period: 5, Factor: 1},
		CosineRestarts{Base: 0.1, Period: 5, Factor: 1, Min: 0.2}, CosineRestarts{Base: 0.1, Period: 5, Factor: 1, Min: math.NaN()}, Warmup{Epochs: -1}} {
		if bad.Validate() == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
	for _, good := range []interface{ Validate() error }{step, multi, cosine, Warmup{4, step}} {
		if err := good.Validate(); err != nil {
			t.Error(err)
		}
	}
}
