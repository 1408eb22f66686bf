package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/nn"
)

// account is what scripts/replay_optim.py repeats in PyTorch.
type account struct {
	Adam      []adamAccount     `json:"adam"`
	Schedules []scheduleAccount `json:"schedules"`
	LBFGS     []lbfgsAccount    `json:"lbfgs"`
}

type adamAccount struct {
	DType  string      `json:"dtype"`
	LR     float64     `json:"lr"`
	Decay  float64     `json:"decay"`
	Start  []float64   `json:"start"`
	Grads  [][]float64 `json:"grads"`
	Values [][]float64 `json:"values"` // after each step
}

func accountAdam[T kernel.Float](t *testing.T, dtype string, decay float64) adamAccount {
	t.Helper()
	a := adamAccount{DType: dtype, LR: 1e-2, Decay: decay}
	p := &nn.Param[T]{Name: "p", Shape: []int{200}, Value: make([]T, 200), Grad: make([]T, 200)}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range p.Value {
		p.Value[i] = T(rng.NormFloat64())
	}
	a.Start = widened(p.Value)
	cfg := DefaultAdam()
	cfg.WeightDecay = decay
	adam, err := NewAdam([]*nn.Param[T]{p}, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		for i := range p.Grad {
			p.Grad[i] = T(rng.NormFloat64() * float64(i%7)) // some gradients are zero
		}
		a.Grads = append(a.Grads, widened(p.Grad))
		adam.Step(a.LR, 0)
		a.Values = append(a.Values, widened(p.Value))
	}
	return a
}

func widened[T kernel.Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

type scheduleAccount struct {
	Kind   string         `json:"kind"`
	Warmup int            `json:"warmup"`
	Base   float64        `json:"base"`
	Args   map[string]any `json:"args"` // of torch's class
	Rates  []float64      `json:"rates"`
}

func accountSchedules() []scheduleAccount {
	var list []scheduleAccount
	add := func(kind string, base float64, s Schedule, args map[string]any) {
		for _, warmup := range []int{0, 1, 5} {
			a := scheduleAccount{Kind: kind, Warmup: warmup, Base: base, Args: args}
			for e := range 230 {
				a.Rates = append(a.Rates, Warmup{Epochs: warmup, Then: s}.Rate(e))
			}
			list = append(list, a)
		}
	}
	add("constant", 0.05, Constant(0.05), nil)
	add("step", 0.1, StepLR{Base: 0.1, Every: 40, Gamma: 0.1}, map[string]any{"step_size": 40, "gamma": 0.1})
	add("multi_step", 0.1, MultiStep{Base: 0.1, Milestones: []int{10, 30, 31, 150}, Gamma: 0.5},
		map[string]any{"milestones": []int{10, 30, 31, 150}, "gamma": 0.5})
	for _, c := range []CosineRestarts{{Base: 0.05, Period: 200, Factor: 1, Min: 1e-4}, {Base: 0.1, Period: 7, Factor: 1}, {Base: 0.1, Period: 10, Factor: 2, Min: 1e-3}} {
		add("cosine", c.Base, c, map[string]any{"T_0": c.Period, "T_mult": c.Factor, "eta_min": c.Min})
	}
	return list
}

type lbfgsAccount struct {
	Function   string           `json:"function"` // mlp, or one of functions
	LineSearch string           `json:"line_search"`
	Iterations int              `json:"iterations"` // the most of a step
	LR         float64          `json:"lr"`
	Decay      float64          `json:"decay"`
	BatchNorm  bool             `json:"batch_norm"`
	Shapes     map[string][]int `json:"shapes"`
	Batches    []batchAccount   `json:"batches"` // one a step
}

type batchAccount struct {
	Before     map[string][]float64 `json:"before"` // parameters
	State      map[string][]float64 `json:"state"`  // of L-BFGS, before
	X          []float64            `json:"x"`
	Labels     []int32              `json:"labels"`
	Iterations []LBFGSIteration     `json:"iterations"`
	Calls      int                  `json:"calls"` // of the closure, the one before Step included
	After      map[string][]float64 `json:"after"`
}

// accountLBFGS takes five steps on an MLP of 6 inputs, two blocks and 3 classes.
func accountLBFGS(t *testing.T, search LineSearch, lr, decay float64, batchNorm bool) lbfgsAccount {
	t.Helper()
	r := newMLPRun(t, MinibatchLBFGSConfig{LineSearch: search}, decay, batchNorm)
	a := lbfgsAccount{Function: "mlp", Iterations: 20, LineSearch: string(search), LR: lr, Decay: decay, BatchNorm: batchNorm, Shapes: map[string][]int{}}
	for _, p := range r.net.Params() {
		a.Shapes[p.Name] = p.Shape
	}
	for range 5 {
		r.draw()
		b := batchAccount{Before: r.values(), State: stateOf(r.opt), X: slices.Clone(r.x), Labels: slices.Clone(r.labels)}
		r.step(lr)
		b.Iterations, b.Calls, b.After = r.iterations, r.calls, r.values()
		a.Batches = append(a.Batches, b)
	}
	return a
}

// functions of one parameter of four entries lead the line search where networks seldom do: many minima, kinks, a wall, minima all
// the way down, a slope so small that the loss hardly changes, and one that grows at every scale.
var functions = map[string]func(p, grad []float64) float64{
	"rough": func(p, grad []float64) float64 {
		value, sum := 0.0, 0.0
		for _, v := range p {
			sum += v
		}
		for i, v := range p {
			angle := 2.3*v + float64(i)
			value += 0.01*v*v + math.Sin(angle)
			grad[i] = 0.02*v + 2.3*math.Cos(angle) + 1.5*math.Cos(5*sum)
		}
		return value + 0.3*math.Sin(5*sum)
	},
	"kinks": func(p, grad []float64) float64 {
		value := 0.0
		for i, v := range p {
			w := float64(i + 1)
			value += w * math.Abs(v)
			grad[i] = math.Copysign(w, v)
		}
		return value
	},
	"wall": func(p, grad []float64) float64 {
		value := 0.0
		for i, v := range p {
			value += math.Exp(4*v) - 3*v
			grad[i] = 4*math.Exp(4*v) - 3
		}
		return value
	},
	"waves": func(p, grad []float64) float64 {
		value := 0.0
		for i, v := range p {
			angle := 2.3*v + float64(i)
			value += math.Sin(angle) - 0.01*v
			grad[i] = 2.3*math.Cos(angle) - 0.01
		}
		return value
	},
	"plunge": func(p, grad []float64) float64 {
		value := 0.0
		for i, v := range p {
			value -= math.Pow(v, 1.02)
			grad[i] = -1.02 * math.Pow(v, 0.02)
		}
		return value
	},
	"slope": func(p, grad []float64) float64 {
		value := 0.0
		for i, v := range p {
			value += 1e-4 * v
			grad[i] = 1e-4
		}
		return value
	},
}

// accountFunction takes steps on a function from a drawn point, fewer and shorter ones where rounding decides what is next.
func accountFunction(t *testing.T, function string, search LineSearch, lr float64, seed uint64) lbfgsAccount {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	p := &nn.Param[float64]{Name: "p", Shape: []int{4}, Value: make([]float64, 4), Grad: make([]float64, 4)}
	for i := range p.Value {
		p.Value[i] = 3 * rng.NormFloat64()
		if function == "plunge" {
			p.Value[i] = 1e-30
		}
	}
	iterations, steps := 20, 3
	switch function {
	case "kinks":
		steps = 1
	case "waves":
		iterations = 1
	}
	a := lbfgsAccount{Function: function, LineSearch: string(search), Iterations: iterations, LR: lr, Shapes: map[string][]int{"p": p.Shape}}
	var b batchAccount
	closure := func() float64 {
		b.Calls++
		return functions[function](p.Value, p.Grad)
	}
	opt, err := NewMinibatchLBFGS([]*nn.Param[float64]{p}, MinibatchLBFGSConfig{LineSearch: search, Iterations: iterations,
		Observe: func(i LBFGSIteration) { b.Iterations = append(b.Iterations, i) }}, nil, closure)
	if err != nil {
		t.Fatal(err)
	}
	for range steps {
		b = batchAccount{Before: map[string][]float64{"p": slices.Clone(p.Value)}, State: stateOf(opt)}
		opt.Step(lr, closure())
		b.After = map[string][]float64{"p": slices.Clone(p.Value)}
		a.Batches = append(a.Batches, b)
	}
	return a
}

// accountFunctions draws points from which rounding decides no comparison of the search.
func accountFunctions(t *testing.T) (list []lbfgsAccount) {
	t.Helper()
	for seed := range longtest.Of[uint64](1, 5) {
		list = append(list, accountFunction(t, "rough", StrongWolfe, 1, seed), accountFunction(t, "kinks", StrongWolfe, 1, seed),
			accountFunction(t, "kinks", StrongWolfe, 30, seed), accountFunction(t, "wall", StrongWolfe, 3, seed))
	}
	for seed := range longtest.Of[uint64](1, 3) {
		list = append(list, accountFunction(t, "rough", StrongWolfe, 1e-3, seed), accountFunction(t, "waves", StrongWolfe, 100, seed))
	}
	return append(list, accountFunction(t, "plunge", StrongWolfe, 1e-28, 0),
		accountFunction(t, "slope", NoLineSearch, 1e-3, 0), accountFunction(t, "slope", NoLineSearch, 1, 0))
}

func stateOf(opt *MinibatchLBFGS[float64]) map[string][]float64 {
	state := map[string][]float64{}
	for _, tensor := range opt.State().Tensors {
		state[tensor.Name] = slices.Clone(tensor.Value)
	}
	return state
}

// mlpRun trains an MLP in float64 by L-BFGS on drawn batches.
type mlpRun struct {
	net        *nn.Network[float64]
	loss       *nn.Loss[float64]
	decay      *Decay[float64]
	opt        *MinibatchLBFGS[float64]
	rng        *rand.Rand
	x, dlogits []float64
	labels     []int32
	iterations []LBFGSIteration
	calls      int
}

func newMLPRun(t testing.TB, cfg MinibatchLBFGSConfig, decay float64, batchNorm bool) *mlpRun {
	t.Helper()
	const batch, inputs, classes = 60, 6, 3
	r := &mlpRun{rng: rand.New(rand.NewPCG(8, 9)), x: make([]float64, batch*inputs), labels: make([]int32, batch), dlogits: make([]float64, batch*classes)}
	var err error
	if r.net, err = nn.NewArch[float64](nn.Arch{Kind: nn.KindMLP, Channels: 1, Height: 1, Width: inputs, HiddenWidth: 8, HiddenLayers: 1, FeatureDim: 5, Classes: classes, BatchNorm: batchNorm, Activation: nn.Sigmoid}, nil, batch, 3); err != nil {
		t.Fatal(err)
	}
	if r.loss, err = nn.NewLoss[float64](nn.LossConfig{Kind: nn.CrossEntropy}, classes); err != nil {
		t.Fatal(err)
	}
	w, b := r.net.Classifier()
	if r.decay, err = NewDecay(r.net.Params(), w, b, batch, DecayConfig{All: decay, InLoss: true}); err != nil {
		t.Fatal(err)
	}
	cfg.Observe = func(i LBFGSIteration) { r.iterations = append(r.iterations, i) }
	if r.opt, err = NewMinibatchLBFGS(r.net.Params(), cfg, nil, r.closure); err != nil {
		t.Fatal(err)
	}
	return r
}

// draw makes the next batch: class k has a mean of its own and overlaps with the others.
func (r *mlpRun) draw() {
	inputs := len(r.x) / len(r.labels)
	for i := range r.labels {
		r.labels[i] = int32(r.rng.IntN(3))
		for j := range inputs {
			r.x[i*inputs+j] = r.rng.NormFloat64()
		}
		r.x[i*inputs+int(r.labels[i])]++
	}
}

// step makes a Step on the present batch.
func (r *mlpRun) step(lr float64) {
	r.iterations, r.calls = nil, 0
	r.opt.Step(lr, r.closure())
}

func (r *mlpRun) closure() float64 {
	r.calls++
	out := r.net.Forward(r.x, len(r.labels), nn.Train)
	loss := r.loss.Gradient(out.Logits, r.labels, r.dlogits)
	r.net.Backward(r.dlogits)
	return loss + r.decay.Params()
}

func (r *mlpRun) values() map[string][]float64 {
	values := map[string][]float64{}
	for _, p := range r.net.Params() {
		values[p.Name] = slices.Clone(p.Value)
	}
	return values
}

// accountMLPs are the accounts of MLPs; every fourth, all with decay, has each line search, each rate, and batch norm or none.
func accountMLPs(t *testing.T) (list []lbfgsAccount) {
	t.Helper()
	for _, batchNorm := range []bool{false, true} {
		for _, lr := range []float64{0.1, 1} {
			list = append(list, accountLBFGS(t, StrongWolfe, lr, 0, batchNorm), accountLBFGS(t, StrongWolfe, lr, 1e-2, batchNorm))
		}
		list = append(list, accountLBFGS(t, NoLineSearch, 0.1, 0, batchNorm), accountLBFGS(t, NoLineSearch, 0.1, 1e-2, batchNorm))
	}
	return longtest.Of([]lbfgsAccount{list[1], list[5], list[9]}, list)
}

// TestOptimisersAgainstTorch writes down what Adam, the schedules and L-BFGS did and lets PyTorch
// repeat it; a falsified account must be refused.
func TestOptimisersAgainstTorch(t *testing.T) {
	longtest.Only(t)
	a := account{Schedules: accountSchedules(), LBFGS: accountMLPs(t)}
	for _, decay := range []float64{0, 0.05} {
		a.Adam = append(a.Adam, accountAdam[float64](t, "float64", decay), accountAdam[float32](t, "float32", decay))
	}
	a.LBFGS = append(a.LBFGS, accountFunctions(t)...)
	honest, right := written(t, a), len(a.Adam)+len(a.LBFGS)+1
	a.Adam, a.LBFGS, a.Schedules = a.Adam[:2], []lbfgsAccount{a.LBFGS[0], a.LBFGS[2]}, a.Schedules[3:4]
	a.Adam[0].Values[7][3] += 1e-9
	a.Adam[1].Values[7][3] += 1e-4
	a.LBFGS[0].Batches[2].Iterations[1].Length *= 1 + 1e-5
	a.LBFGS[1].Batches[0].Calls++
	a.Schedules[0].Rates[50] *= 1 + 1e-9
	verdicts := judge(t, honest, written(t, a))
	t.Logf("%s", verdicts[0].out)
	if verdicts[0].bad || strings.Count(verdicts[0].out, " ok\n") != right {
		t.Error("PyTorch does not do as we did")
	}
	if !verdicts[1].bad || strings.Count(verdicts[1].out, "FAILED") != 6 { // every line and the verdict
		t.Errorf("a falsified account: %s", verdicts[1].out)
	}
}
