package nn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/parallel"
)

func mustMLP[T kernel.Float](t testing.TB, a Arch, team *parallel.Team, maxBatch int, seed uint64) *Network[T] {
	t.Helper()
	net, err := NewArch[T](a, team, maxBatch, seed)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// dense returns a perceptron of any blocks, also of those that no kind has, initialised from seed 1.
func dense[T kernel.Float](inputs, classes int, bias bool, maxBatch int, blocks ...denseBlock) *Network[T] {
	n := &Network[T]{inputs: inputs, features: inputs, classes: classes, maxBatch: maxBatch}
	n.addDense(blocks, nil)
	n.addClassifier(bias, nil)
	n.allocateParams()
	n.initialise(1)
	return n
}

var small = Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 20, HiddenWidth: 33, HiddenLayers: 2, FeatureDim: 5, Classes: 3, BatchNorm: true, Activation: ReLU}

func to32(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// TestNamesAndShapes is the contract with PyTorch: nn.Sequential under "layers", then fc.
func TestNamesAndShapes(t *testing.T) {
	net := mustMLP[float32](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 7, HiddenWidth: 4, HiddenLayers: 1, FeatureDim: 2, Classes: 3, BatchNorm: true}, nil, 4, 1)
	want := []string{"layers.0.weight [4 7]", "layers.0.bias [4]", "layers.1.weight [4]", "layers.1.bias [4]",
		"layers.3.weight [2 4]", "layers.3.bias [2]", "layers.4.weight [2]", "layers.4.bias [2]", "fc.weight [3 2]", "fc.bias [3]"}
	var got []string
	for _, p := range net.Params() {
		got = append(got, fmt.Sprint(p.Name, " ", p.Shape))
		if size := p.Size(); len(p.Value) != size || len(p.Grad) != size {
			t.Errorf("%s: %d values, %d gradients, shape %v", p.Name, len(p.Value), len(p.Grad), p.Shape)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("params\n got %v\nwant %v", got, want)
	}
	got = nil
	for _, b := range net.Buffers() {
		got = append(got, fmt.Sprint(b.Name, " ", b.Shape, " ", b.Value[0]))
	}
	for _, c := range net.Counters() {
		got = append(got, c.Name)
	}
	want = []string{"layers.1.running_mean [4] 0", "layers.1.running_var [4] 1", "layers.4.running_mean [2] 0",
		"layers.4.running_var [2] 1", "layers.1.num_batches_tracked", "layers.4.num_batches_tracked"}
	if !slices.Equal(got, want) {
		t.Errorf("buffers\n got %v\nwant %v", got, want)
	}
	plain := mustMLP[float32](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 7, HiddenWidth: 4, HiddenLayers: 1, Classes: 3, NoClassifierBias: true}, nil, 4, 1)
	got = nil
	for _, p := range plain.Params() {
		got = append(got, p.Name)
	}
	want = []string{"layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias", "fc.weight"}
	if !slices.Equal(got, want) {
		t.Errorf("params without batch norm\n got %v\nwant %v", got, want)
	}
	if w, b := plain.Classifier(); w.Name != "fc.weight" || b != nil {
		t.Errorf("classifier %v and %v", w, b)
	}
}

// TestPresetSize: the released code's network has 35,704,844 parameters at 3072 inputs, K = d = 2.
func TestPresetSize(t *testing.T) {
	for name, want := range map[string]int{"code": 35_704_844, "paper": 35_704_844 + 2048*2048 + 3*2048} {
		depth := map[string]int{"code": 8, "paper": 9}[name]
		net, err := design[float32](Arch{Kind: KindMLP, Channels: 3, Height: 32, Width: 32, Classes: 2, HiddenWidth: 2048, HiddenLayers: depth, BatchNorm: true}, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, p := range net.Params() {
			got += p.Size()
		}
		if got != want {
			t.Errorf("preset %s has %d parameters, want %d", name, got, want)
		}
	}
}

func TestInitialisationLaw(t *testing.T) {
	net64 := mustMLP[float64](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 100, HiddenWidth: 400, HiddenLayers: 1, Classes: 3, BatchNorm: true}, nil, 2, 42)
	net32 := mustMLP[float32](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 100, HiddenWidth: 400, HiddenLayers: 1, Classes: 3, BatchNorm: true}, nil, 2, 42)
	other := mustMLP[float64](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 100, HiddenWidth: 400, HiddenLayers: 1, Classes: 3, BatchNorm: true}, nil, 2, 43)
	for i, p := range net64.Params() {
		if !slices.Equal(to32(p.Value), net32.Params()[i].Value) {
			t.Errorf("%s: float32 network is not the float64 one rounded", p.Name)
		}
	}
	w := net64.Params()[0] // 40,000 draws of U(−0.1, 0.1)
	mean, square, low, high := 0.0, 0.0, 0.0, 0.0
	for _, v := range w.Value {
		mean += v / float64(len(w.Value))
		square += v * v / float64(len(w.Value))
		low, high = min(low, v), max(high, v)
	}
	// Standard deviations of the two averages: 0.0577/200 and 0.01·√(4/45)/200.
	if !(math.Abs(mean) <= 4*0.0577/200) || !(math.Abs(square-0.01/3) <= 4*0.01*math.Sqrt(4.0/45)/200) {
		t.Errorf("%s: mean %g, mean square %g; want 0 and %g", w.Name, mean, square, 0.01/3)
	}
	if !(low >= -0.1 && low < -0.0999 && high < 0.1 && high > 0.0999) {
		t.Errorf("%s: range [%g, %g], want nearly [−0.1, 0.1)", w.Name, low, high)
	}
	if slices.Equal(w.Value, other.Params()[0].Value) {
		t.Error("seeds 42 and 43 give the same weights")
	}
	if net64.Params()[1].Value[0] == w.Value[0] {
		t.Error("weight and bias draw from the same stream")
	}
	// Golden: PCG(1, FNV-1a("layers.0.weight")); a change of the stream changes every result.
	one := mustMLP[float64](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 4, HiddenWidth: 1, HiddenLayers: 1, Classes: 1}, nil, 1, 1)
	stream := rand.NewPCG(1, fnv1a("layers.0.weight"))
	for i, v := range one.Params()[0].Value {
		if want := (float64(stream.Uint64()>>11)/(1<<52) - 1) / 2; v != want {
			t.Errorf("value %d is %.17g, want %.17g", i, v, want)
		}
	}
	if got := fnv1a("a"); got != 0xaf63dc4c8601ec8c { // the published test vector
		t.Errorf("fnv1a(\"a\") = %#x", got)
	}
}

// step runs forward, loss and backward on a fixed batch and returns loss and gradients.
func step[T kernel.Float](t testing.TB, net *Network[T], loss *Loss[T], x []T, labels []int32) float64 {
	dlogits := make([]T, len(labels)*net.Classes())
	value := loss.Gradient(net.Forward(x, len(labels), Train).Logits, labels, dlogits)
	net.Backward(dlogits)
	return value
}

// TestFloat32AgreesWithFloat64: same seed, same batch; loss and every gradient tensor agree to
// float32 rounding through the network's depth.
func TestFloat32AgreesWithFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, name := range isa.Available() {
		useKernel(t, name)
		for _, act := range []Activation{ReLU, Sigmoid} {
			cfg := small
			cfg.Activation = act
			net64, net32 := mustMLP[float64](t, cfg, nil, 40, 3), mustMLP[float32](t, cfg, nil, 40, 3)
			for i, p := range net32.Params() {
				for j, v := range p.Value {
					net64.Params()[i].Value[j] = float64(v)
				}
			}
			x, labels := sample(rng, 40, cfg.Inputs(), cfg.Classes)
			for i := range x {
				x[i] = float64(float32(x[i]))
			}
			l64 := step(t, net64, mustLoss[float64](t, LossConfig{Kind: CrossEntropy}, cfg.Classes), x, labels)
			l32 := step(t, net32, mustLoss[float32](t, LossConfig{Kind: CrossEntropy}, cfg.Classes), to32(x), labels)
			if !(math.Abs(l32-l64) <= 1e-6*l64) {
				t.Errorf("%s %s: loss %g in float32, %g in float64", name, act, l32, l64)
			}
			for i, p := range net32.Params() {
				diff, norm := 0.0, 0.0
				for j, g := range p.Grad {
					want := net64.Params()[i].Grad[j]
					diff += (float64(g) - want) * (float64(g) - want)
					norm += want * want
				}
				// A Linear's bias under batch norm has gradient 0: only rounding is left.
				if !(math.Sqrt(diff) <= 2e-6*math.Sqrt(norm)+1e-7) {
					t.Errorf("%s %s %s: gradients differ by %g, norm %g", name, act, p.Name, math.Sqrt(diff), math.Sqrt(norm))
				}
			}
		}
	}
}

func useKernel(t testing.TB, name string) {
	before := isa.Name()
	if err := isa.Use(name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := isa.Use(before); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSameBitsForAnyTeam(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	cfg := Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 300, HiddenWidth: 400, HiddenLayers: 2, FeatureDim: 130, Classes: 3, BatchNorm: true}
	x, labels := sample(rng, 37, cfg.Inputs(), cfg.Classes)
	var want [][]float32
	for threads := 1; threads <= 3; threads++ {
		team := parallel.NewTeam(threads)
		net := mustMLP[float32](t, cfg, team, 37, 1)
		step(t, net, mustLoss[float32](t, LossConfig{Kind: CrossEntropy}, cfg.Classes), to32(x), labels)
		var got [][]float32
		for _, p := range net.Params() {
			got = append(got, p.Grad)
		}
		for _, b := range net.Buffers() {
			got = append(got, b.Value)
		}
		if threads == 1 {
			want = got
		}
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%d threads: tensor %d differs from one thread's", threads, i)
			}
		}
		team.Close()
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	team := parallel.NewTeam(2)
	defer team.Close()
	for _, cfg := range []Arch{small, {Kind: KindMLP, Channels: 1, Height: 1, Width: 20, HiddenWidth: 33, HiddenLayers: 1, Classes: 3, Activation: Sigmoid}} {
		net := mustMLP[float32](t, cfg, team, 16, 1)
		loss := mustLoss[float32](t, LossConfig{Kind: LabelRelaxation, Smoothing: 0.1}, cfg.Classes)
		x, labels, dlogits := make([]float32, 16*cfg.Inputs()), make([]int32, 16), make([]float32, 16*cfg.Classes)
		for i := range x {
			x[i] = float32(i%13) - 6
		}
		train := func(batch int) {
			d := dlogits[:batch*cfg.Classes]
			loss.Gradient(net.Forward(x[:batch*cfg.Inputs()], batch, Train).Logits, labels[:batch], d)
			net.Backward(d)
		}
		train(16)
		if n := testing.AllocsPerRun(20, func() { train(16); train(5); net.Forward(x, 16, Eval) }); n != 0 {
			t.Errorf("%+v: %g allocations per step, want 0", cfg, n)
		}
	}
}

// TestRunningStatistics follows PyTorch's rule through a network of one linear block.
func TestRunningStatistics(t *testing.T) {
	net := mustMLP[float64](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, FeatureDim: 1, Classes: 1, BatchNorm: true}, nil, 3, 1)
	w, b := net.Params()[0], net.Params()[1]
	w.Value[0], b.Value[0] = 2, 1
	net.Forward([]float64{0, 1, 5}, 3, Train) // BN sees 1, 3, 11: mean 5, unbiased variance 28
	mean, variance := net.Buffers()[0].Value[0], net.Buffers()[1].Value[0]
	if !(math.Abs(mean-0.5) <= 1e-15) || !(math.Abs(variance-3.7) <= 1e-14) {
		t.Errorf("running mean %g, variance %g; want 0.5 and 0.9 + 2.8", mean, variance)
	}
	if c := net.Counters()[0].Value; c != 1 {
		t.Errorf("num_batches_tracked is %d, want 1", c)
	}
	got := net.Forward([]float64{4}, 1, Eval).Features[0] // a single sample is fine in Eval
	if want := (9 - 0.5) / math.Sqrt(3.7+1e-5); !(math.Abs(got-want) <= 1e-14) {
		t.Errorf("Eval feature %g, want %g", got, want)
	}
	if net.Counters()[0].Value != 1 || net.Buffers()[0].Value[0] != mean {
		t.Error("Eval changed the running statistics")
	}
}

func TestBatchErrors(t *testing.T) {
	net := mustMLP[float32](t, small, nil, 8, 1)
	plain := mustMLP[float32](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 2, HiddenWidth: 2, HiddenLayers: 1, Classes: 2}, nil, 8, 1)
	for _, tt := range []struct {
		net   *Network[float32]
		batch int
		mode  Mode
		ok    bool
	}{{net, 1, Train, false}, {net, 2, Train, true}, {net, 1, Eval, true}, {net, 0, Eval, false},
		{net, 9, Train, false}, {net, 8, Train, true}, {plain, 1, Train, true}} {
		var e *BatchError
		if err := tt.net.CheckBatch(tt.batch, tt.mode); (err == nil) != tt.ok || (err != nil && !errors.As(err, &e)) {
			t.Errorf("batch %d, mode %d: %v", tt.batch, tt.mode, err)
		}
	}
	mustPanic(t, "batch of 1", "nn: Forward", func() { net.Forward(make([]float32, 20), 1, Train) })
	mustPanic(t, "short x", "nn: Forward", func() { net.Forward(make([]float32, 39), 2, Train) })
	mustPanic(t, "backward first", "nn: Backward", func() { net.Backward(make([]float32, 6)) })
	net.Forward(make([]float32, 40), 2, Train)
	net.Forward(make([]float32, 40), 2, Eval)
	mustPanic(t, "backward after Eval", "nn: Backward", func() { net.Backward(make([]float32, 6)) })
	net.Forward(make([]float32, 40), 2, Train)
	mustPanic(t, "short dlogits", "nn: Backward", func() { net.Backward(make([]float32, 5)) })
}

func TestArchRefusals(t *testing.T) {
	for _, cfg := range []Arch{
		{Kind: KindMLP, Channels: 1, Height: 1, Width: 0, HiddenWidth: 2, HiddenLayers: 1, Classes: 2},
		{Kind: KindMLP, Channels: 1, Height: 1, Width: 2, HiddenWidth: 0, HiddenLayers: 1, Classes: 2},
		{Kind: KindMLP, Channels: 1, Height: 1, Width: 2, HiddenWidth: 2, HiddenLayers: -1, Classes: 2},
		{Kind: KindMLP, Channels: 1, Height: 1, Width: 2, HiddenWidth: 2, HiddenLayers: 1, Classes: 0},
		{Kind: KindMLP, Channels: 1, Height: 1, Width: 2, HiddenWidth: 2, HiddenLayers: 1, Classes: 2, Activation: "tanh"},
	} {
		if _, err := NewArch[float32](cfg, nil, 4, 1); err == nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
	if _, err := NewArch[float32](small, nil, 0, 1); err == nil {
		t.Error("largest batch of 0 accepted")
	}
}

// TestFrozenParametersKeepTheirGradient: Backward leaves Grad of frozen tensors alone and does
// not let freezing change the others'.
func TestFrozenParametersKeepTheirGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	x, labels := sample(rng, 8, small.Inputs(), small.Classes)
	loss := mustLoss[float64](t, LossConfig{Kind: CrossEntropy}, small.Classes)
	free := mustMLP[float64](t, small, nil, 8, 1)
	step(t, free, loss, x, labels)
	for i := range free.Params() {
		net := mustMLP[float64](t, small, nil, 8, 1)
		p := net.Params()[i]
		p.Frozen = true
		p.Grad[0] = 12345
		step(t, net, loss, x, labels)
		if p.Grad[0] != 12345 {
			t.Errorf("%s is frozen and its gradient was written", p.Name)
		}
		for j, q := range net.Params() {
			if j != i && !slices.Equal(q.Grad, free.Params()[j].Grad) {
				t.Errorf("freezing %s changed the gradient of %s", p.Name, q.Name)
			}
		}
	}
}

// TestNetworkWithoutLayers: fc alone is a linear classifier on the input.
func TestNetworkWithoutLayers(t *testing.T) {
	net := dense[float64](3, 2, true, 4)
	x, labels := []float64{1, 2, 3, -1, 0, 1}, []int32{0, 1}
	step(t, net, mustLoss[float64](t, LossConfig{Kind: MSE}, 2), x, labels)
	out := net.Forward(x, 2, Eval)
	if !slices.Equal(out.Features, x) || net.FeatureDim() != 3 {
		t.Errorf("features %v, want the input", out.Features)
	}
}
