package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"collapse/internal/kernel"
)

// tiny returns an image network of the stages that build adds to a trunk of the given input.
func tiny[T kernel.Float](t testing.TB, in mapShape, classes, maxBatch int, team *kernel.Team, build func(*trunk[T])) *Network[T] {
	t.Helper()
	n := &Network[T]{inputs: in.size(), classes: classes, maxBatch: maxBatch}
	tr := newTrunk(n, in, team)
	build(tr)
	n.finishTrunk(true, team)
	n.allocateParams()
	n.initialise(1)
	return n
}

// stem is a convolution with everything, which gives the stages under test an input whose gradient matters.
func (t *trunk[T]) stem(out int) {
	in := t.last()
	t.add(newUnit(t, unitSpec{name: "stem", normName: "stemnorm", relu: true,
		shape: kernel.ConvShape{In: in.channels, Out: out, H: in.height, W: in.width, KH: 3, KW: 3, Stride: 1, Pad: 1}}), Tap{Name: "stem", Stage: true})
}

// blocks are the parts that networks are made of, each behind a stem.
var blocks = map[string]func(*trunk[float64]){
	"stem":       func(t *trunk[float64]) { t.stem(4) },
	"same":       func(t *trunk[float64]) { t.stem(3); t.add(newBlock(t, "b", 3, 3, 1, false, lawTorch)) },
	"downsample": func(t *trunk[float64]) { t.stem(2); t.add(newBlock(t, "b", 4, 4, 2, false, lawKaiming)) },
	"fixdim":     func(t *trunk[float64]) { t.stem(3); t.add(newBlock(t, "b", 3, 2, 1, true, lawTorch)) },
	"project":    func(t *trunk[float64]) { t.stem(3); t.add(newBlock(t, "b", 3, 3, 1, true, lawTorch)) },
	"maxpool":    func(t *trunk[float64]) { t.stem(3); t.add(newMaxPool(t, 3, 2, 1)) },
	"vgg":        func(t *trunk[float64]) { t.plain("a", 3, false); t.plain("b", 4, false); t.add(newMaxPool(t, 2, 2, 0)) },
	"vgg-bn":     func(t *trunk[float64]) { t.plain("a", 3, true); t.plain("b", 2, true); t.add(newMaxPool(t, 2, 2, 0)) },
	"linear": func(t *trunk[float64]) {
		t.add(newUnit(t, unitSpec{name: "a", bias: true, shape: kernel.ConvShape{In: 2, Out: 3, H: 5, W: 6, KH: 5, KW: 3, Stride: 2, Pad: 1}}))
		t.add(newUnit(t, unitSpec{name: "b", shape: kernel.ConvShape{In: 3, Out: 3, H: 2, W: 3, KH: 1, KW: 1, Stride: 1}}))
	},
	"adapt": func(t *trunk[float64]) {
		t.addResNet(Arch{Kind: KindAdapt, Channels: 2, Height: 5, Width: 6, StemWidth: 1})
	},
	"adapt d": func(t *trunk[float64]) {
		t.addResNet(Arch{Kind: KindAdapt, Channels: 2, Height: 5, Width: 6, StemWidth: 1, FeatureDim: 3})
	},
}

// plain adds a convolution with bias and ReLU, with or without batch norm, as in VGG.
func (t *trunk[T]) plain(name string, out int, norm bool) {
	in := t.last()
	spec := unitSpec{name: name, bias: true, relu: true, shape: kernel.ConvShape{In: in.channels, Out: out, H: in.height, W: in.width, KH: 3, KW: 3, Stride: 1, Pad: 1}}
	if norm {
		spec.normName = name + "norm"
	}
	t.add(newUnit(t, spec))
}

// pattern is a hash of every ReLU's mask and every pooling's choice after a Forward in Train mode: central differences mean
// something where it does not change.
func (t *trunk[T]) pattern(batch int) uint64 {
	h := uint64(14695981039346656037)
	mix := func(values []T) {
		for i, v := range values {
			if i%kernel.Lanes(batch) < batch && v > 0 {
				h = (h ^ uint64(i)) * 1099511628211
			}
			h *= 1099511628211
		}
	}
	for _, s := range t.stages {
		if p, ok := s.(*maxPool[T]); ok {
			ones, dx := make([]T, len(p.y)/p.lanes*kernel.Lanes(batch)), make([]T, len(p.x))
			for i := range ones {
				ones[i] = 1
			}
			p.pool.Backward(nil, batch, p.x, ones, dx)
			mix(dx)
		}
		for _, u := range s.parts() {
			if u.relu {
				mix(u.y)
			}
		}
	}
	return h
}

// TestBlockGradients checks every parameter of every block by central differences, with a feature penalty beside the loss,
// for a whole block of lanes and a partial one.
func TestBlockGradients(t *testing.T) {
	for name, build := range blocks {
		t.Run(name, func(t *testing.T) {
			const classes = 3
			in := mapShape{2, 5, 6}
			n := tiny(t, in, classes, 16, nil, build)
			loss, err := NewLoss[float64](LossConfig{Kind: MSE}, classes)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(7, 3))
			spread(rng, n)
			for _, batch := range []int{16, 3} {
				x, labels := sample(rng, batch, in.size(), classes)
				value := func() float64 {
					out := n.Forward(x, batch, Train)
					square := 0.0
					for _, h := range out.Features {
						square += h * h / 2
					}
					return loss.Value(out.Logits, labels) + square
				}
				out := n.Forward(x, batch, Train)
				dlogits := make([]float64, batch*classes)
				loss.Gradient(out.Logits, labels, dlogits)
				n.BackwardFeatures(dlogits, append([]float64(nil), out.Features...))
				checkImageGradients(t, rng, n, batch, value)
			}
		})
	}
}

// checkImageGradients compares up to 12 entries of every gradient with central differences, and fails if kinks leave
// fewer than three quarters of them.
func checkImageGradients(t *testing.T, rng *rand.Rand, n *Network[float64], batch int, value func() float64) {
	t.Helper()
	value()
	pattern, asked, checked := n.trunk.pattern(batch), 0, 0
	for _, p := range n.Params() {
		largest := 1.0
		for _, g := range p.Grad {
			largest = math.Max(largest, math.Abs(g))
		}
		for range min(12, len(p.Value)) {
			i := rng.IntN(len(p.Value))
			at := p.Value[i]
			h := 0x1p-21 * math.Max(1, math.Abs(at))
			asked++
			p.Value[i] = at + h
			up, right := value(), p.Value[i]
			same := n.trunk.pattern(batch) == pattern
			p.Value[i] = at - h
			down, left := value(), p.Value[i]
			same = same && n.trunk.pattern(batch) == pattern
			p.Value[i] = at
			if !same {
				continue
			}
			checked++
			if numeric := (up - down) / (right - left); !(math.Abs(p.Grad[i]-numeric) <= 2e-7*largest) {
				t.Errorf("batch %d, %s[%d]: gradient %g, central difference %g", batch, p.Name, i, p.Grad[i], numeric)
			}
		}
	}
	if checked*4 < asked*3 {
		t.Errorf("batch %d: kinks left %d of %d entries; choose another seed", batch, checked, asked)
	}
}

// evalAsTrain sets the running statistics to those of the batch, so that both modes compute the same.
func evalAsTrain(n *Network[float64], batch int) {
	for _, u := range n.trunk.units() {
		if u.norm == nil {
			continue
		}
		count := float64(batch * u.out().pixels())
		for i := range u.norm.runningMean.Value {
			u.norm.runningMean.Value[i] /= batchNormMomentum
			u.norm.runningVar.Value[i] = (u.norm.runningVar.Value[i] - (1 - batchNormMomentum)) / batchNormMomentum * (count - 1) / count
		}
	}
}

// TestEvalIsTrainWithItsStatistics: evaluation folds batch norm into the convolutions, training does not; with the running
// statistics of the batch they agree.
func TestEvalIsTrainWithItsStatistics(t *testing.T) {
	for name, build := range blocks {
		const batch = 5
		in := mapShape{2, 5, 6}
		n := tiny(t, in, 3, batch, nil, build)
		rng := rand.New(rand.NewPCG(7, 3))
		spread(rng, n)
		x, _ := sample(rng, batch, in.size(), 3)
		want := append([]float64(nil), n.Forward(x, batch, Train).Logits...)
		evalAsTrain(n, batch)
		if diff := maxDiff(n.Forward(x, batch, Eval).Logits, want); !(diff <= 1e-9) {
			t.Errorf("%s: evaluation differs from training by %g", name, diff)
		}
	}
}

// TestFoldFollowsEveryChange: of one weight, one statistic, by a step between two evaluations.
func TestFoldFollowsEveryChange(t *testing.T) {
	const batch = 4
	in := mapShape{2, 5, 6}
	n, fresh := tiny(t, in, 3, batch, nil, blocks["fixdim"]), tiny(t, in, 3, batch, nil, blocks["fixdim"])
	rng := rand.New(rand.NewPCG(1, 3))
	spread(rng, n)
	x, _ := sample(rng, batch, in.size(), 3)
	n.Forward(x, batch, Train)
	changes := map[string]func(){"nothing": func() {}}
	for _, s := range n.State() {
		if s.Count == nil {
			changes[s.Name] = func() { s.Values[0] += 0.5 }
		}
	}
	for name, change := range changes {
		before := append([]float64(nil), n.Forward(x, batch, Eval).Logits...)
		change()
		for i, s := range fresh.State() {
			copy(s.Values, n.State()[i].Values)
		}
		fresh.trunk.folds = nil
		want := append([]float64(nil), fresh.Forward(x, batch, Eval).Logits...)
		got := n.Forward(x, batch, Eval).Logits
		if maxDiff(got, want) != 0 {
			t.Errorf("%s changed: stale fold", name)
		}
		if (maxDiff(got, before) == 0) != (name == "nothing") {
			t.Errorf("%s changed: the logits show otherwise", name)
		}
	}
}

// TestImageNetworkBits: threads change nothing, batches of any size share the arenas, a step allocates nothing once warm.
func TestImageNetworkBits(t *testing.T) {
	two := kernel.NewTeam(2)
	defer two.Close()
	builds := map[string]func(*trunk[float32]){
		"adapt": func(t *trunk[float32]) {
			t.addResNet(Arch{Kind: KindAdapt, Channels: 3, Height: 16, Width: 12, StemWidth: 4})
		},
		"vgg": vggLike[float32],
	}
	for name, build := range builds {
		const classes, maxBatch = 4, 20
		in := mapShape{3, 16, 12}
		nets := []*Network[float32]{tiny(t, in, classes, maxBatch, nil, build), tiny(t, in, classes, maxBatch, two, build)}
		rng := rand.New(rand.NewPCG(9, 9))
		loss, _ := NewLoss[float32](LossConfig{Kind: CrossEntropy}, classes)
		for _, batch := range []int{maxBatch, 7} {
			x64, labels := sample(rng, batch, in.size(), classes)
			x := to32(x64)
			for _, n := range nets {
				step(t, n, loss, x, labels)
				n.Forward(x, batch, Eval)
			}
			for i, p := range nets[0].Params() {
				for j, g := range p.Grad {
					if g != nets[1].Params()[i].Grad[j] {
						t.Fatalf("%s batch %d: %s[%d] differs between teams", name, batch, p.Name, j)
					}
				}
			}
			dlogits := make([]float32, batch*classes)
			if allocs := testing.AllocsPerRun(2, func() {
				nets[1].Forward(x, batch, Eval)
				loss.Gradient(nets[1].Forward(x, batch, Train).Logits, labels, dlogits)
				nets[1].Backward(dlogits)
			}); allocs != 0 {
				t.Errorf("%s batch %d: %g allocations in a step", name, batch, allocs)
			}
		}
	}
}

// TestImageFloat32AgreesWithFloat64: every kernel's step in float32 is the one in float64 up to rounding.
func TestImageFloat32AgreesWithFloat64(t *testing.T) {
	const classes, batch = 4, 20
	in := mapShape{3, 8, 12}
	a := Arch{Kind: KindAdapt, Channels: 3, Height: 8, Width: 12, StemWidth: 5, FeatureDim: 6}
	nets := []*Network[float64]{tiny(t, in, classes, batch, nil, func(t *trunk[float64]) { t.addResNet(a) }), tiny(t, in, classes, batch, nil, vggLike[float64])}
	for _, name := range kernel.Available() {
		useKernel(t, name)
		for i, single := range []*Network[float32]{tiny(t, in, classes, batch, nil, func(t *trunk[float32]) { t.addResNet(a) }), tiny(t, in, classes, batch, nil, vggLike[float32])} {
			x, labels := sample(rand.New(rand.NewPCG(3, 4)), batch, in.size(), classes)
			loss64, _ := NewLoss[float64](LossConfig{Kind: CrossEntropy}, classes)
			loss32, _ := NewLoss[float32](LossConfig{Kind: CrossEntropy}, classes)
			step(t, nets[i], loss64, x, labels)
			step(t, single, loss32, to32(x), labels)
			for j, p := range nets[i].Params() {
				compare(t, fmt.Sprintf("%s, net %d, %s", name, i, p.Name), single.Params()[j].Grad, p.Grad, 1e-4)
			}
		}
	}
}

// vggLike has what VGG13 is made of and an overlapping pooling.
func vggLike[T kernel.Float](t *trunk[T]) {
	t.plain("a", 8, false)
	t.add(newMaxPool(t, 2, 2, 0))
	t.plain("b", 20, false)
	t.add(newMaxPool(t, 3, 2, 1))
}

// TestLoneSample: a batch of 1 trains where every map is larger than 1×1, as in PyTorch.
func TestLoneSample(t *testing.T) {
	for size, allowed := range map[int]bool{8: false, 16: true} {
		n, err := NewArch[float32](Arch{Kind: KindAdapt, Channels: 1, Height: size, Width: size, Classes: 2, StemWidth: 1}, nil, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.CheckBatch(1, Train); (err == nil) != allowed {
			t.Errorf("images of %d×%d: a training batch of 1 gives %v", size, size, err)
		}
		if err := n.CheckBatch(1, Eval); err != nil {
			t.Errorf("a batch of 1 cannot be evaluated: %v", err)
		}
	}
}

// TestTaps: rows are the means, or in PyTorch's order all values, of what the stage put out; the last stage's means are
// the features.
func TestTaps(t *testing.T) {
	const batch = 3
	in := mapShape{2, 5, 6}
	n := tiny(t, in, 3, 4, nil, blocks["adapt"])
	x, _ := sample(rand.New(rand.NewPCG(2, 2)), batch, in.size(), 3)
	var names []string
	for _, tap := range n.Taps() {
		if tap.Stage {
			names = append(names, tap.Name)
		}
	}
	if fmt.Sprint(names) != "[layer1 layer2 layer3 layer4]" {
		t.Errorf("stages %v", names)
	}
	for _, mode := range []Mode{Train, Eval} {
		var means [][]float64
		for _, flatten := range []bool{false, true} {
			if err := n.Tap(flatten, "relu", "layer1.0", "layer4"); err != nil {
				t.Fatal(err)
			}
			features := append([]float64(nil), n.Forward(x, batch, mode).Features...)
			if !flatten {
				means = [][]float64{n.Tapped(0), n.Tapped(1), n.Tapped(2)}
				if maxDiff(n.Tapped(2), features) != 0 {
					t.Error("the last stage's means are not the features")
				}
				continue
			}
			for i, mean := range means {
				pixels := len(n.Tapped(i)) / len(mean)
				for c := range mean {
					sum := 0.0
					for _, v := range n.Tapped(i)[c*pixels : (c+1)*pixels] {
						sum += v / float64(pixels)
					}
					if !(math.Abs(sum-mean[c]) <= 1e-12) {
						t.Errorf("tap %d: value %d has mean %g, tapped as %g", i, c, sum, mean[c])
					}
				}
			}
		}
	}
	if err := n.Tap(false, "layer9"); err == nil {
		t.Error("layer9 can be tapped")
	}
	if err := n.Tap(false); err != nil {
		t.Error(err)
	}
	n.Forward(x, batch, Eval)

	mlp := mustMLP[float64](t, small, nil, 4, 1)
	if err := mlp.Tap(false, "layers.2", "layers.8"); err != nil {
		t.Fatal(err)
	}
	x, _ = sample(rand.New(rand.NewPCG(2, 2)), batch, small.Inputs, 3)
	out := mlp.Forward(x, batch, Eval)
	if maxDiff(mlp.Tapped(1), out.Features) != 0 || len(mlp.Tapped(0)) != batch*small.Width || mlp.Tapped(0)[0] == 0 && mlp.Tapped(0)[1] == 0 {
		t.Error("the taps of an MLP are not its activations")
	}
}

// TestEstimate: what a network says it will hold is what it has allocated after a step and an evaluation.
func TestEstimate(t *testing.T) {
	for _, a := range []Arch{adapt(2), {Kind: KindMLP, Channels: 1, Height: 4, Width: 5, Classes: 3, HiddenWidth: 9, HiddenLayers: 2, BatchNorm: true},
		{Kind: KindAdapt, Channels: 3, Height: 8, Width: 8, Classes: 4, StemWidth: 3, FeatureDim: 5}} {
		for _, mode := range []Mode{Eval, Train} {
			n, err := NewArch[float32](a, nil, 5, 1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := EstimateBytes[float32](a, 5, mode)
			if err != nil {
				t.Fatal(err)
			}
			x := make([]float32, 5*a.Inputs())
			n.Forward(x, 5, Eval)
			if mode == Train {
				n.Forward(x, 5, Train)
				n.Backward(make([]float32, 5*a.Classes))
			}
			if got := held(n); got != want.Activations {
				t.Errorf("%s, mode %d: holds %d bytes of activations, estimated %d", a.Kind, mode, got, want.Activations)
			}
			params := 0
			for _, p := range n.Params() {
				params += 2 * 4 * len(p.Value)
			}
			for _, b := range n.Buffers() {
				params += 4 * len(b.Value)
			}
			if int64(params) != want.Params {
				t.Errorf("%s: holds %d bytes of parameters, estimated %d", a.Kind, params, want.Params)
			}
		}
	}
	if _, err := EstimateBytes[float32](Arch{}, 5, Train); err == nil {
		t.Error("an empty description has an estimate")
	}
}

// held counts the activations a network has allocated.
func held(n *Network[float32]) int64 {
	count := len(n.fc.y) + len(n.gradPing) + len(n.gradPong)
	for _, l := range n.layers {
		switch l := l.(type) {
		case *linear[float32]:
			count += len(l.y)
		case *batchNorm[float32]:
			count += len(l.y)
		case *trunk[float32]:
			count += len(l.features) + len(l.input) + l.work.allocated*l.work.perSample*l.work.lanes
			for _, s := range l.stages {
				if p, ok := s.(*maxPool[float32]); ok {
					count += len(p.y)
				}
				for _, u := range s.parts() {
					count += len(u.own) + len(u.z)
					if u.folded != nil {
						count += len(u.folded.weight) + len(u.folded.bias)
					}
				}
			}
		}
	}
	return sizeOf[float32](count)
}
