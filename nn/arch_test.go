package nn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func resnet(stem string, d int) Arch {
	return Arch{Kind: KindResNet18, Channels: 3, Height: 32, Width: 32, Classes: 10, Stem: stem, FeatureDim: d}
}

func adapt(k int) Arch {
	return Arch{Kind: KindAdapt, Channels: 3, Height: 32, Width: 32, Classes: 10, StemWidth: k}
}

func vgg(kind string) Arch {
	return Arch{Kind: kind, Channels: 3, Height: 32, Width: 32, Classes: 10}
}

// TestParameterCounts: numbers of the released code's networks for K = 10; multiplications of a forward pass per image.
func TestParameterCounts(t *testing.T) {
	for _, c := range []struct {
		name   string
		arch   Arch
		params int
		macs   float64 // millions, 0 where no source gives them
	}{
		{"default", resnet(StemDefault, 0), 11_181_642, 37.0},
		{"cifar", resnet(StemCIFAR, 0), 11_173_962, 555},
		{"default d=10", resnet(StemDefault, 10), 8_867_542, 34.7},
		{"cifar d=512", resnet(StemCIFAR, 512), 11_437_130, 0},
		{"vgg13", vgg(KindVGG13), 9_410_122, 228},
		// k² of the stages at k = 64, less Kaiming and the stem: adapt at k = 64 is the CIFAR network.
		{"adapt", adapt(64), 11_173_962, 555},
		{"mlp", Arch{Kind: KindMLP, Channels: 3, Height: 32, Width: 32, Classes: 2, HiddenWidth: 2048, HiddenLayers: 8, BatchNorm: true}, 35_704_844, 0},
	} {
		n, err := design[float32](c.arch, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		params := 0
		for _, p := range n.Params() {
			params += p.Size()
		}
		if params != c.params {
			t.Errorf("%s: %d parameters, want %d", c.name, params, c.params)
		}
		macs := float64(n.MACs())
		if digit := math.Pow(10, 2-math.Floor(math.Log10(c.macs))); c.macs > 0 && math.Round(macs/1e6*digit) != math.Round(c.macs*digit) {
			t.Errorf("%s: %.4g million multiplications, want %g", c.name, macs/1e6, c.macs)
		}
	}
}

// TestMACsByHand adds up a perceptron and, layer by layer, a ResNet18 of width 1 on 8×8 images.
func TestMACsByHand(t *testing.T) {
	mlp := Arch{Kind: KindMLP, Channels: 3, Height: 4, Width: 5, Classes: 4, FeatureDim: 3, HiddenWidth: 7, HiddenLayers: 2, BatchNorm: true}
	const perceptron = 3*4*5*7 + 7*7 + 7*3 + 3*4
	small := Arch{Kind: KindAdapt, Channels: 3, Height: 8, Width: 8, Classes: 5, StemWidth: 1}
	const (
		stem   = 3 * 1 * 9 * 64
		first  = 4 * (1 * 1 * 9 * 64)
		second = 1*2*9*16 + 3*(2*2*9*16) + 1*2*16
		third  = 2*4*9*4 + 3*(4*4*9*4) + 2*4*4
		fourth = 4*8*9*1 + 3*(8*8*9*1) + 4*8*1
		head   = 8 * 5
	)
	for _, c := range []struct {
		arch Arch
		want int64
	}{{mlp, perceptron}, {small, stem + first + second + third + fourth + head}} {
		if o, err := Outlined(c.arch); err != nil || o.MACs != c.want {
			t.Errorf("%s: %d multiply-adds, %v; by hand %d", c.arch.Kind, o.MACs, err, c.want)
		}
	}
	if _, err := Outlined(Arch{Kind: "resnet"}); err == nil {
		t.Error("a network that does not exist has multiply-adds")
	}
}

// TestInitialLaws: deviation of every weight by its authors' law, biases and batch norms at their constants.
func TestInitialLaws(t *testing.T) {
	for _, c := range []struct {
		arch Arch
		want func(shape []int) float64
	}{
		{resnet(StemCIFAR, 10), func(s []int) float64 { return math.Sqrt(2 / float64(s[0]*s[2]*s[3])) }},
		{adapt(8), func(s []int) float64 { return 1 / math.Sqrt(3*float64(s[1]*s[2]*s[3])) }},
		{vgg(KindVGG13BN), func(s []int) float64 { return math.Sqrt(2 / float64(s[0]*s[2]*s[3])) }},
	} {
		n, err := NewArch[float32](c.arch, nil, 1, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range n.Params() {
			square := 0.0
			for _, v := range p.Value {
				square += float64(v) * float64(v) / float64(len(p.Value))
			}
			want, isConv := 0.0, len(p.Shape) == 4
			switch {
			case isConv:
				want = c.want(p.Shape)
			case p.Name == "fc.weight" && c.arch.Kind == KindVGG13BN:
				want = 0.01
			case strings.HasPrefix(p.Name, "fc."):
				if c.arch.Kind != KindVGG13BN {
					want = 1 / math.Sqrt(3*float64(n.FeatureDim()))
				}
			case strings.HasSuffix(p.Name, "weight"):
				want = 1
			}
			// The mean of n squares has a relative deviation of √(2/n) for normal numbers and less for uniform ones.
			if slack := 1 + 5*math.Sqrt(2/float64(len(p.Value))); want == 0 && square != 0 || want > 0 && (square > want*want*slack || square*slack < want*want*(2-slack)*slack) {
				t.Errorf("%s %s: root of the mean square %g, want %g", c.arch.Kind, p.Name, math.Sqrt(square), want)
			}
		}
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	for _, c := range []struct {
		arch Arch
		want []string
	}{
		{Arch{Kind: "resnet"}, []string{`network is "resnet"`, "channels is 0", "height is 0", "width is 0", "classes is 0"}},
		{resnet("big", -1), []string{`stem is "big"`, "feature dimension is -1"}},
		{adapt(0), []string{"stem width is 0"}},
		{Arch{Kind: KindVGG13, Channels: 3, Height: 28, Width: 28, Classes: 10, FeatureDim: 10}, []string{"28×28", "512"}},
		{Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, Classes: 2, HiddenLayers: 1}, []string{"hidden width is 0"}},
		{Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, Classes: 5, FeatureDim: 3, Classifier: ClassifierETF}, []string{"d = 3", "at least 4"}},
		{Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, Classes: 5, ETF: ETFRandom}, []string{"learned classifier"}},
		{Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, Classes: 5, Classifier: "frozen"}, []string{`classifier is "frozen"`}},
		{Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, Classes: 5, Classifier: ClassifierNormalized}, []string{"temperature of 0", "with a bias"}},
		{Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, Classes: 5, Classifier: ClassifierNormalized, Temperature: math.Inf(1), NoClassifierBias: true}, []string{"temperature of +Inf"}},
		{Arch{Kind: KindMLP, Channels: 1, Height: 1, Width: 1, Classes: 5, Temperature: 2}, []string{"not normalized"}},
	} {
		_, err := NewArch[float32](c.arch, nil, 1, 1)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: error %v does not say %q", c.arch, err, want)
			}
		}
	}
	if _, err := NewArch[float32](adapt(2), nil, 0, 1); err == nil || !strings.Contains(err.Error(), "largest batch") {
		t.Errorf("batch of 0: %v", err)
	}
}

// TestFixedClassifier: unit rows of inner product −1/(K−1) wherever an ETF exists, the truncation where not; frozen.
func TestFixedClassifier(t *testing.T) {
	for _, c := range []struct {
		d, k  int
		place string
	}{{8, 4, ""}, {4, 4, ETFIdentity}, {3, 4, ""}, {8, 4, ETFRandom}, {3, 4, ETFRandom}, {2, 5, ""}} {
		a := Arch{Kind: KindMLP, Channels: 1, Height: 2, Width: 3, Classes: c.k, FeatureDim: c.d, HiddenLayers: 1, HiddenWidth: 5,
			Classifier: ClassifierETF, ETF: c.place, TruncateETF: c.d < c.k-1, FreezeBias: c.d == 8}
		n, err := NewArch[float64](a, nil, 6, 1)
		if err != nil {
			t.Fatal(err)
		}
		w, b := n.Classifier()
		before := append([]float64(nil), w.Value...)
		for i := range c.k {
			for j := range c.k {
				dot, want := 0.0, -1/float64(c.k-1)
				if i == j {
					want = 1
				}
				for l := range c.d {
					dot += w.Value[i*c.d+l] * w.Value[j*c.d+l]
				}
				if !(math.Abs(dot-want) <= 1e-12) && c.d >= c.k-1 {
					t.Errorf("d=%d K=%d %q: w%d·w%d = %g, want %g", c.d, c.k, c.place, i, j, dot, want)
				}
			}
		}
		diagonal, off := math.Sqrt(5.0/4)*0.8, -math.Sqrt(5.0/4)*0.2
		if want := []float64{diagonal, off, off, diagonal, off, off}; c.d == 2 && maxDiff(w.Value[:6], want) > 1e-12 {
			t.Errorf("truncated ETF starts %v, want %v", w.Value[:6], want)
		}
		if c.place == "" && c.d > c.k && w.Value[c.k] != 0 {
			t.Error("identity placement reaches beyond the first K coordinates")
		}
		if !w.Frozen || b.Frozen != a.FreezeBias || (a.FreezeBias && b.Value[0] != 0) {
			t.Errorf("weight frozen %v, bias frozen %v at %v", w.Frozen, b.Frozen, b.Value)
		}
		x, labels := sample(rand.New(rand.NewPCG(1, 1)), 6, 6, c.k)
		loss, _ := NewLoss[float64](LossConfig{Kind: CrossEntropy}, c.k)
		step(t, n, loss, x, labels)
		if maxDiff(w.Value, before) != 0 || maxDiff(w.Grad, make([]float64, len(w.Grad))) != 0 {
			t.Error("a frozen weight has a gradient")
		}
	}
}

// maxDiff returns the largest difference, +Inf if one is NaN or lengths differ.
func maxDiff(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= worst) {
			worst = d
		}
	}
	if worst != worst || len(a) != len(b) {
		return math.Inf(1)
	}
	return worst
}
