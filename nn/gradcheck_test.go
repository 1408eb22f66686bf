package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel/elementwise"
)

// checkGradient compares grad with central differences of f at x, which it perturbs in place and
// restores: h = ∛ε·max(1,|x_i|), error at most tol·max(1, largest |difference quotient|). It
// reports the worst entry, or nil.
func checkGradient(f func() float64, x, grad []float64, tol float64) error {
	numeric := make([]float64, len(x))
	largest := 1.0
	for i, at := range x {
		h := math.Cbrt(0x1p-52) * math.Max(1, math.Abs(at))
		x[i] = at + h
		up, right := f(), x[i]
		x[i] = at - h
		down, left := f(), x[i]
		x[i] = at
		numeric[i] = (up - down) / (right - left)
		largest = math.Max(largest, math.Abs(numeric[i]))
	}
	for i := range x {
		if diff := math.Abs(grad[i] - numeric[i]); !(diff <= tol*largest) {
			return fmt.Errorf("entry %d of %d: gradient %g, central difference %g", i, len(x), grad[i], numeric[i])
		}
	}
	return nil
}

func TestGradientCheckerSeesFaults(t *testing.T) {
	x := []float64{0.5, -1.25, 2}
	f := func() float64 { return x[0]*x[0] + 3*x[1]*x[2] }
	exact := func() []float64 { return []float64{2 * x[0], 3 * x[2], 3 * x[1]} }
	if err := checkGradient(f, x, exact(), 1e-9); err != nil {
		t.Fatalf("exact gradient refused: %v", err)
	}
	for i := range x {
		flipped := exact()
		flipped[i] = -flipped[i]
		if checkGradient(f, x, flipped, 1e-9) == nil {
			t.Errorf("flipped sign of entry %d not seen", i)
		}
		notANumber := exact()
		notANumber[i] = math.NaN()
		if checkGradient(f, x, notANumber, 1e-9) == nil {
			t.Errorf("NaN in entry %d not seen", i)
		}
	}
}

// sample is a small classification batch.
func sample(rng *rand.Rand, batch, inputs, classes int) (x []float64, labels []int32) {
	x = make([]float64, batch*inputs)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for range batch {
		labels = append(labels, int32(rng.IntN(classes)))
	}
	return x, labels
}

// spread moves parameters away from their initial values, so that no gradient hides behind a
// γ of 1 or a β of 0.
func spread(rng *rand.Rand, net *Network[float64]) {
	for _, p := range net.Params() {
		for i := range p.Value {
			p.Value[i] += 0.4 * rng.NormFloat64()
		}
	}
}

// kinkDistance returns how near the input of any ReLU comes to its kink at 0 for the batch x.
func kinkDistance(net *Network[float64], x []float64, rows int) float64 {
	nearest := math.Inf(1)
	look := func(values []float64) {
		for _, v := range values {
			nearest = math.Min(nearest, math.Abs(v))
		}
	}
	for _, l := range net.layers {
		switch l := l.(type) {
		case *batchNorm[float64]:
			y := make([]float64, len(x))
			bare := elementwise.NewBatchNorm[float64](l.width, batchNormEps, false)
			bare.Forward(nil, rows, x, y, l.gamma.Value, l.beta.Value)
			if l.act == ReLU {
				look(y)
			}
		case *activation[float64]:
			if l.act == ReLU {
				look(x)
			}
		}
		x = l.forward(x, rows, Train)
	}
	return nearest
}

// TestGradients checks every parameter of small networks by central differences, for each
// activation, batch norm on and off, each loss and reduction, and a smaller last batch.
func TestGradients(t *testing.T) {
	for _, act := range []Activation{ReLU, Sigmoid} {
		for _, norm := range []bool{true, false} {
			for _, cfg := range lossConfigs {
				for _, bias := range []bool{true, false} {
					name := fmt.Sprintf("%s/norm=%v/%s-%s/bias=%v", act, norm, cfg.Kind, cfg.Reduction, bias)
					t.Run(name, func(t *testing.T) {
						checkNetwork(t, mustMLP[float64](t, Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 5, HiddenWidth: 6, HiddenLayers: 2, FeatureDim: 4,
							Classes: 3, BatchNorm: norm, Activation: act, NoClassifierBias: !bias}, nil, 8, 1), cfg)
					})
				}
			}
		}
	}
}

// TestGradientsOfUnevenNetworks checks blocks that the papers' MLPs do not have: bare Linears in
// a row, batch norm without activation, no bias, changing widths.
func TestGradientsOfUnevenNetworks(t *testing.T) {
	checkNetwork(t, dense[float64](4, 3, false, 8, []denseBlock{
		{width: 7}, {width: 3, noBias: true}, {width: 6, batchNorm: true}, {width: 5, act: Sigmoid},
		{width: 6, batchNorm: true, act: ReLU, noBias: true}, {width: 2}, {width: 3},
	}...), LossConfig{Kind: CrossEntropy})
	checkNetwork(t, dense[float64](4, 3, true, 8), LossConfig{Kind: MSE})
}

// probe is a layer that moves its gradient to the spare buffer, or works in place.
type probe struct {
	linear[float64]
	t       *testing.T
	inPlace bool
}

func (p *probe) backward(dy, spare []float64, rows int, needInput bool) []float64 {
	if &dy[0] == &spare[0] {
		p.t.Error("the spare buffer is the one that holds dy")
	}
	if p.inPlace {
		return dy
	}
	return spare[:len(dy)]
}

// TestSpareGradientBufferIsFree: products that pack their operands whole forgive an output that
// overlaps an input, so gradient checks on small networks cannot see it.
func TestSpareGradientBufferIsFree(t *testing.T) {
	net := dense[float64](3, 3, false, 2, slices.Repeat([]denseBlock{{width: 3}}, 6)...)
	for i, inPlace := range []bool{false, false, true, true, false, true} {
		net.layers[i] = &probe{linear: *net.layers[i].(*linear[float64]), t: t, inPlace: inPlace}
	}
	net.Forward(make([]float64, 6), 2, Train)
	net.Backward(make([]float64, 6))
}

// checkNetwork compares the gradients of a network for batches of up to 8 with differences.
func checkNetwork(t *testing.T, net *Network[float64], cfg LossConfig) {
	loss, err := NewLoss[float64](cfg, net.Classes())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 11))
	spread(rng, net)
	for _, batch := range []int{8, 3} { // the smaller last batch runs in the same arenas
		x, labels := sample(rng, batch, net.Inputs(), net.Classes())
		dlogits := make([]float64, batch*net.Classes())
		loss.Gradient(net.Forward(x, batch, Train).Logits, labels, dlogits)
		net.Backward(dlogits)
		if near := kinkDistance(net, x, batch); near < 1e-4 {
			t.Fatalf("a ReLU input is %g from its kink; choose another seed", near)
		}
		value := func() float64 { return loss.Value(net.Forward(x, batch, Train).Logits, labels) }
		for _, p := range net.Params() {
			if err := checkGradient(value, p.Value, p.Grad, 2e-7); err != nil {
				t.Errorf("batch %d, %s: %v", batch, p.Name, err)
			}
		}
	}
}
