package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/nn"
)

// decayed is a network's features and classifier under a configuration: N = 40, a batch of 10, d = 6, K = 3.
type decayed struct {
	params []*nn.Param[float64] // a layer's weight, the classifier's weight and bias
	h      []float64
	decay  *Decay[float64]
}

const decaySamples, decayBatch = 40, 10

func newDecayed(t *testing.T, cfg DecayConfig) *decayed {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 4))
	d := &decayed{h: make([]float64, decayBatch*6)}
	for _, n := range []int{12, 18, 3} {
		p := &nn.Param[float64]{Value: make([]float64, n), Grad: make([]float64, n)}
		for i := range p.Value {
			p.Value[i] = rng.NormFloat64()
		}
		d.params = append(d.params, p)
	}
	for i := range d.h {
		d.h[i] = math.Max(0, rng.NormFloat64())
	}
	var err error
	if d.decay, err = NewDecay(d.params, d.params[1], d.params[2], decaySamples, cfg); err != nil {
		t.Fatal(err)
	}
	return d
}

// penalty is the whole addition to the loss; gradients are added to Grad and returned for h.
func (d *decayed) penalty() (float64, []float64) {
	p, dh := d.decay.Features(d.h, decayBatch)
	return p + d.decay.Params(), dh
}

func squares(x []float64) float64 { return inner(x, x) }

// TestDecayValues states every kind's penalty by its formula, and asks the gradients by central differences.
func TestDecayValues(t *testing.T) {
	const wd, λW, λb, λH = 0.3, 0.5, 0.7, 0.11
	for _, tt := range []struct {
		cfg  DecayConfig
		want func(layer, w, b, h float64) float64
	}{
		{DecayConfig{All: wd}, func(_, _, _, _ float64) float64 { return 0 }},
		{DecayConfig{Kind: DecayAll, All: wd, InLoss: true}, func(layer, w, b, _ float64) float64 { return wd / 2 * (layer + w + b) }},
		{DecayConfig{Kind: DecayPeeled, All: wd, Classifier: λW, Bias: λb, Features: λH}, func(_, w, b, h float64) float64 {
			return λW/2*w + λb/2*b + 4*λH/2*h // N/B = 4
		}},
		{DecayConfig{Kind: DecayPeeledBatch, Classifier: λW, Bias: λb, Features: λH, InLoss: true}, func(_, w, b, h float64) float64 {
			return λW/2*w + λb/2*b + λH/2*h
		}},
		{DecayConfig{Kind: DecayPeeledCode, Classifier: λW, Bias: λW, Features: λH}, func(_, w, b, _ float64) float64 {
			return λW/2*(w+b) + λH/2*decayBatch
		}},
	} {
		d := newDecayed(t, tt.cfg)
		got, dh := d.penalty()
		want := tt.want(squares(d.params[0].Value), squares(d.params[1].Value), squares(d.params[2].Value), squares(d.h))
		if !(math.Abs(got-want) <= 1e-13*(1+want)) {
			t.Errorf("%+v: penalty %v, wanted %v", tt.cfg, got, want)
		}
		gradients := [][]float64{slices.Clone(dh), nil, nil, nil}
		if dh == nil {
			gradients[0] = make([]float64, len(d.h))
		}
		values := [][]float64{d.h}
		for i, p := range d.params {
			gradients[i+1], values = slices.Clone(p.Grad), append(values, p.Value)
		}
		for i, x := range values {
			checkDerivatives(t, d, x, gradients[i])
		}
	}
}

func checkDerivatives(t *testing.T, d *decayed, x, gradient []float64) {
	t.Helper()
	for j, at := range x {
		h := math.Cbrt(0x1p-52) * math.Max(1, math.Abs(at))
		x[j] = at + h
		up, _ := d.penalty()
		x[j] = at - h
		down, _ := d.penalty()
		x[j] = at
		if want := (up - down) / (2 * h); !(math.Abs(gradient[j]-want) <= 1e-8*(1+math.Abs(want))) {
			t.Fatalf("%+v: gradient %v, central difference %v", d.decay.cfg, gradient[j], want)
		}
	}
}

// TestDecayAddsToGradients: what Backward left is added to, not overwritten, and nothing is allocated.
func TestDecayAddsToGradients(t *testing.T) {
	d := newDecayed(t, DecayConfig{Kind: DecayPeeled, Classifier: 0.5, Bias: 0.25, Features: 1})
	for _, p := range d.params {
		for i := range p.Grad {
			p.Grad[i] = 1
		}
	}
	d.penalty()
	for i, λ := range []float64{0, 0.5, 0.25} {
		p := d.params[i]
		if want := 1 + λ*p.Value[2]; !(math.Abs(p.Grad[2]-want) <= 1e-15*math.Abs(want)) {
			t.Errorf("parameter %d: gradient %v, wanted %v", i, p.Grad[2], want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { d.penalty() }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestDecaySkips: a frozen classifier, a missing bias and zero features have no penalty.
func TestDecaySkips(t *testing.T) {
	w := &nn.Param[float64]{Value: []float64{2, 2}, Grad: []float64{0, 0}, Frozen: true}
	for _, cfg := range []DecayConfig{{Kind: DecayPeeled, Classifier: 1, Bias: 1}, {All: 1, InLoss: true}} {
		d, err := NewDecay([]*nn.Param[float64]{w}, w, nil, 5, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Params(); got != 0 || w.Grad[0] != 0 {
			t.Errorf("%+v: a frozen classifier has penalty %v and gradient %v", cfg, got, w.Grad)
		}
	}
	d, err := NewDecay([]*nn.Param[float64]{w}, w, nil, 5, DecayConfig{Kind: DecayPeeledCode, Features: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, dh := d.Features([]float64{0, 0, 3, 4, 0, 1e-3}, 3); got != 1 || dh != nil {
		t.Errorf("two rows that are not zero: penalty %v, gradient %v; wanted 1 and none", got, dh)
	}
}

func TestDecayConfig(t *testing.T) {
	for _, bad := range []DecayConfig{{Kind: "peel"}, {All: -1}, {Classifier: math.NaN()}, {Bias: math.Inf(1)}, {Features: -1},
		{Kind: DecayPeeledCode, Classifier: 1, Bias: 2}} {
		if bad.Validate() == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
	for _, tt := range []struct {
		cfg  DecayConfig
		want float64
	}{{DecayConfig{All: 3}, 3}, {DecayConfig{All: 3, InLoss: true}, 0}, {DecayConfig{Kind: DecayPeeled, All: 3}, 0}} {
		if got := tt.cfg.Coupled(); got != tt.want {
			t.Errorf("%+v: the optimiser decays by %v, wanted %v", tt.cfg, got, tt.want)
		}
	}
}
