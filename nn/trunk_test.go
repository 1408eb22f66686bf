package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/conv"
	"collapse.example/collapse/parallel"
)

// tiny returns an image network of the stages that build adds to a trunk of the given input.
func tiny[T kernel.Float](t testing.TB, in mapShape, classes, maxBatch int, team *parallel.Team, build func(*trunk[T])) *Network[T] {
	t.Helper()
	n := &Network[T]{inputs: in.size(), classes: classes, maxBatch: maxBatch}
	tr := newTrunk(n, in, team)
	build(tr)
	n.addTrunk()
	n.addClassifier(true, team)
	n.allocateParams()
	n.initialise(1)
	return n
}

// stem is a convolution with everything, which gives the stages under test an input whose gradient matters.
func (t *trunk[T]) stem(out int) {
	in := t.last()
	t.add(newUnit(t, unitSpec{name: "stem", normName: "stemnorm", relu: true,
		shape: conv.Shape{In: in.channels, Out: out, H: in.height, W: in.width, KH: 3, KW: 3, Stride: 1, Pad: 1}}), Tap{Name: "stem", Stage: true})
}

// blocks are the parts that networks are made of, each behind a stem.
var blocks = map[string]func(*trunk[float64]){
	"stem": func(t *trunk[float64]) { t.stem(4) },
	"same": func(t *trunk[float64]) {
		t.stem(3)
		t.add(newBlock(t, blockSpec{name: "b", width: 3, out: 3, stride: 1, law: lawTorch}))
	},
	"downsample": func(t *trunk[float64]) {
		t.stem(2)
		t.add(newBlock(t, blockSpec{name: "b", width: 4, out: 4, stride: 2, law: lawKaiming}))
	},
	"fixdim": func(t *trunk[float64]) {
		t.stem(3)
		t.add(newBlock(t, blockSpec{name: "b", width: 3, out: 2, stride: 1, project: true, law: lawTorch}))
	},
	"project": func(t *trunk[float64]) {
		t.stem(3)
		t.add(newBlock(t, blockSpec{name: "b", width: 3, out: 3, stride: 1, project: true, law: lawTorch}))
	},
	"maxpool": func(t *trunk[float64]) { t.stem(3); t.add(newMaxPool(t, 3, 2, 1)) },
	"vgg":     func(t *trunk[float64]) { t.plain("a", 3, false); t.plain("b", 4, false); t.add(newMaxPool(t, 2, 2, 0)) },
	"vgg-bn":  func(t *trunk[float64]) { t.plain("a", 3, true); t.plain("b", 2, true); t.add(newMaxPool(t, 2, 2, 0)) },
	"linear": func(t *trunk[float64]) {
		t.add(newUnit(t, unitSpec{name: "a", bias: true, shape: conv.Shape{In: 2, Out: 3, H: 5, W: 6, KH: 5, KW: 3, Stride: 2, Pad: 1}}))
		t.add(newUnit(t, unitSpec{name: "b", shape: conv.Shape{In: 3, Out: 3, H: 2, W: 3, KH: 1, KW: 1, Stride: 1}}))
	},
	"adapt": func(t *trunk[float64]) {
		adaptKind.images(t, Arch{StemWidth: 1})
	},
	"adapt d": func(t *trunk[float64]) {
		adaptKind.images(t, Arch{StemWidth: 1, FeatureDim: 3})
	},
}

// plain adds a convolution with bias and ReLU, with or without batch norm, as in VGG.
func (t *trunk[T]) plain(name string, out int, norm bool) {
	in := t.last()
	spec := unitSpec{name: name, bias: true, relu: true, shape: conv.Shape{In: in.channels, Out: out, H: in.height, W: in.width, KH: 3, KW: 3, Stride: 1, Pad: 1}}
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
			if i%conv.Lanes(batch) < batch && v > 0 {
				h = (h ^ uint64(i)) * 1099511628211
			}
			h *= 1099511628211
		}
	}
	for _, s := range t.stages {
		if p, ok := s.(*maxPool[T]); ok {
			ones, dx := make([]T, len(p.y)/p.lanes*conv.Lanes(batch)), make([]T, len(p.x))
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
