package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
)

func mustLoss[T kernel.Float](t testing.TB, cfg LossConfig, classes int) *Loss[T] {
	t.Helper()
	l, err := NewLoss[T](cfg, classes)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lossConfigs are the losses whose values and gradients are tested: every kind, in each of its reductions.
var lossConfigs = []LossConfig{
	{Kind: CrossEntropy},
	{Kind: LabelSmoothing, Smoothing: 0.1},
	{Kind: LabelRelaxation, Smoothing: 0.1},
	{Kind: MSE},
	{Kind: MSE, Reduction: ReducePaper},
	{Kind: RescaledMSE, Alpha: 5, M: 3},
	{Kind: RescaledMSE, Alpha: 5, M: 3, Reduction: ReducePaper},
}

func TestEveryLossIsTested(t *testing.T) {
	for _, kind := range Losses() {
		if !slices.ContainsFunc(lossConfigs, func(c LossConfig) bool { return c.Kind == kind.Name }) {
			t.Errorf("lossConfigs has no %s: neither its formula nor its gradient is tested", kind.Name)
		}
	}
}

// literal writes each loss as reference formulas do, with softmax probabilities and no care for
// overflow: the mean over the batch.
func literal(cfg LossConfig, z []float64, labels []int32, classes int) float64 {
	sum := 0.0
	for i, label := range labels {
		row, y := z[i*classes:(i+1)*classes], int(label)
		total := 0.0
		for _, v := range row {
			total += math.Exp(v)
		}
		a := cfg.Smoothing
		for j, v := range row {
			p, onehot := math.Exp(v)/total, 0.0
			if j == y {
				onehot = 1
			}
			py := math.Exp(row[y]) / total
			switch cfg.Kind {
			case CrossEntropy:
				sum -= onehot * math.Log(p)
			case LabelSmoothing:
				sum -= ((1-a)*onehot + a/float64(classes)) * math.Log(p)
			case LabelRelaxation:
				q := a * p / (1 - py)
				if j == y {
					q = 1 - a
				}
				if py <= 1-a {
					sum += q * math.Log(q/p)
				}
			case MSE:
				sum += (v - onehot) * (v - onehot)
			case RescaledMSE:
				sum += (1 + (cfg.Alpha-1)*onehot) * (v - cfg.M*onehot) * (v - cfg.M*onehot)
			default:
				panic("no formula of " + cfg.Kind)
			}
		}
	}
	switch {
	case cfg.Kind != MSE && cfg.Kind != RescaledMSE:
		return sum / float64(len(labels))
	case cfg.Reduction == ReducePaper:
		return sum / 2 / float64(len(labels))
	}
	return sum / float64(len(labels)*classes)
}

func TestLossesAgainstTheirFormulas(t *testing.T) {
	for _, cfg := range lossConfigs {
		t.Run(cfg.Kind+cfg.Reduction, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				classes := rapid.IntRange(2, 7).Draw(t, "classes")
				labels := rapid.SliceOfN(rapid.Int32Range(0, int32(classes-1)), 1, 6).Draw(t, "labels")
				n := len(labels) * classes
				z := rapid.SliceOfN(rapid.Float64Range(-12, 12), n, n).Draw(t, "logits")
				loss, err := NewLoss[float64](cfg, classes)
				if err != nil {
					t.Fatal(err)
				}
				dz := make([]float64, n)
				got, want := loss.Gradient(z, labels, dz), literal(cfg, z, labels, classes)
				if !(math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))) {
					t.Fatalf("loss %g, formula %g", got, want)
				}
				if v := loss.Value(z, labels); v != got {
					t.Fatalf("Value %g, Gradient's loss %g", v, got)
				}
				// The relaxed loss meets 0 with slope 0 at its edge, so differences hold there too,
				// to the square root of the step.
				value := func() float64 { return loss.Value(z, labels) }
				if err := checkGradient(value, z, dz, 2e-5); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestLossClosedForms(t *testing.T) {
	const a = 0.1
	tests := []struct {
		name    string
		cfg     LossConfig
		z       []float64
		y       int32
		classes int
		want    float64
		dz      []float64
	}{
		{"CE of equal logits is log K", LossConfig{Kind: CrossEntropy}, []float64{5, 5, 5, 5}, 2, 4,
			math.Log(4), []float64{.25, .25, -.75, .25}},
		{"LS at its optimum is the entropy of q", LossConfig{Kind: LabelSmoothing, Smoothing: a},
			[]float64{math.Log(0.95), math.Log(0.05)}, 0, 2,
			-0.95*math.Log(0.95) - 0.05*math.Log(0.05), []float64{0, 0}},
		{"LR is 0 above 1−α", LossConfig{Kind: LabelRelaxation, Smoothing: a},
			[]float64{math.Log(0.91), math.Log(0.09)}, 0, 2, 0, []float64{0, 0}},
		{"LR of K = 2 is KL((0.9, 0.1)‖p)", LossConfig{Kind: LabelRelaxation, Smoothing: a},
			[]float64{0, 0}, 1, 2, 0.9*math.Log(0.9/0.5) + 0.1*math.Log(0.1/0.5), []float64{0.4, -0.4}},
		{"MSE", LossConfig{Kind: MSE}, []float64{2, -1}, 0, 2, (1 + 1) / 2.0, []float64{1, -1}},
		{"MSE, paper", LossConfig{Kind: MSE, Reduction: ReducePaper}, []float64{2, -1}, 0, 2, 1, []float64{1, -1}},
		{"rescaled MSE", LossConfig{Kind: RescaledMSE, Alpha: 5, M: 3}, []float64{2, -1, 0}, 0, 3,
			(5 + 1 + 0) / 3.0, []float64{-10 / 3.0, -2 / 3.0, 0}},
	}
	for _, tt := range tests {
		dz := make([]float64, len(tt.z))
		got := mustLoss[float64](t, tt.cfg, tt.classes).Gradient(tt.z, []int32{tt.y}, dz)
		if !(math.Abs(got-tt.want) <= 1e-15) {
			t.Errorf("%s: got %.17g, want %.17g", tt.name, got, tt.want)
		}
		for j := range dz {
			if !(math.Abs(dz[j]-tt.dz[j]) <= 1e-15) {
				t.Errorf("%s: dz[%d] = %g, want %g", tt.name, j, dz[j], tt.dz[j])
			}
		}
	}
}

// TestReductions: the paper's ½·1/N is K/2 times torch's mean over batch and classes.
func TestReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const classes, batch = 5, 4
	z, labels := sample(rng, batch, classes, classes)
	for _, cfg := range []LossConfig{{Kind: MSE}, {Kind: RescaledMSE, Alpha: 2, M: 4}} {
		torch := mustLoss[float64](t, cfg, classes).Value(z, labels)
		cfg.Reduction = ReducePaper
		paper := mustLoss[float64](t, cfg, classes).Value(z, labels)
		if !(math.Abs(paper-torch*classes/2) <= 1e-14*paper) {
			t.Errorf("%s: paper %g, torch %g, wanted the ratio K/2", cfg.Kind, paper, torch)
		}
	}
	if a, b := mustLoss[float64](t, LossConfig{Kind: RescaledMSE, Alpha: 1, M: 1}, classes).Value(z, labels),
		mustLoss[float64](t, LossConfig{Kind: MSE}, classes).Value(z, labels); a != b {
		t.Errorf("rescaled MSE with α = M = 1 is %g, MSE %g", a, b)
	}
}

// TestHugeLogits: float32 logits of 1e30 overflow every formula that exponentiates or squares in
// float32; ours stay finite, and the softmax losses take their linear limits.
func TestHugeLogits(t *testing.T) {
	const big = 1e30
	for _, cfg := range lossConfigs {
		for _, z := range [][]float32{{big, -big, 0}, {-big, big, 0}, {-big, -big, big}, {big, big, big}, {math.MaxFloat32, -math.MaxFloat32, 1}} {
			for y := range int32(3) {
				dz := make([]float32, 3)
				loss := mustLoss[float32](t, cfg, 3).Gradient(z, []int32{y}, dz)
				if math.IsNaN(loss) || math.IsInf(loss, 0) || loss < 0 {
					t.Errorf("%s of %v, label %d: %g", cfg.Kind, z, y, loss)
				}
				for j, d := range dz {
					overflow := cfg.Kind == RescaledMSE && math.Abs(float64(z[j])) > big // 2·5·MaxFloat32/3 does not fit
					if d != d || (math.IsInf(float64(d), 0) && !overflow) {
						t.Errorf("%s of %v, label %d: dlogits[%d] = %g", cfg.Kind, z, y, j, d)
					}
				}
			}
		}
	}
	if got := mustLoss[float32](t, LossConfig{Kind: CrossEntropy}, 2).Value([]float32{-big, big}, []int32{0}); !(math.Abs(got/(2*big)-1) <= 1e-6) {
		t.Errorf("CE of logits ∓1e30 is %g, want 2e30", got)
	}
}

// TestTerminalPhase: far into training the loss and gradient are tiny but not 0; 1 − p_y formed
// by subtraction would be.
func TestTerminalPhase(t *testing.T) {
	dz := make([]float64, 2)
	loss := mustLoss[float64](t, LossConfig{Kind: CrossEntropy}, 2).Gradient([]float64{60, 0}, []int32{0}, dz)
	want := math.Exp(-60)
	for _, got := range []float64{loss, -dz[0], dz[1]} {
		if !(math.Abs(got/want-1) <= 1e-12) {
			t.Errorf("got %g, want e^−60 = %g", got, want)
		}
	}
}

func TestNaNLogitsGiveNaNLoss(t *testing.T) {
	for _, cfg := range lossConfigs {
		for at := range 3 {
			z := []float32{1, 2, 3}
			z[at] = float32(math.NaN())
			if loss := mustLoss[float32](t, cfg, 3).Value(z, []int32{1}); !math.IsNaN(loss) {
				t.Errorf("%s with NaN at %d is %g, want NaN", cfg.Kind, at, loss)
			}
		}
	}
}

func TestLossConfigRefusals(t *testing.T) {
	tests := []struct {
		cfg     LossConfig
		classes int
		want    []string
	}{
		{LossConfig{Kind: "cross"}, 2, []string{`"cross"`, `"ce"`}},
		{LossConfig{Kind: LabelSmoothing, Smoothing: 1.5}, 2, []string{"1.5"}},
		{LossConfig{Kind: LabelSmoothing, Smoothing: math.NaN()}, 2, []string{"NaN"}},
		{LossConfig{Kind: LabelRelaxation}, 1, []string{"smoothing is 0", "1 class"}},
		{LossConfig{Kind: RescaledMSE, M: math.Inf(1)}, 2, []string{"alpha is 0", "m is +Inf"}},
		{LossConfig{Kind: MSE, Reduction: "sum"}, 0, []string{`"sum"`, "0 classes"}},
	}
	for _, tt := range tests {
		_, err := NewLoss[float32](tt.cfg, tt.classes)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: error %v lacks %q", tt.cfg, err, want)
			}
		}
	}
}

func TestArgmaxAndAccuracy(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		row  []float64
		want int
	}{{[]float64{1, 3, 3}, 1}, {[]float64{2, 2}, 0}, {[]float64{nan, -1}, 1}, {[]float64{-1, nan}, 0}, {[]float64{nan, nan}, 0}, {[]float64{-5}, 0}} {
		if got := Argmax(tt.row); got != tt.want {
			t.Errorf("Argmax(%v) = %d, want %d", tt.row, got, tt.want)
		}
	}
	logits := []float32{1, 0, 0, 1, 2, 2}
	if got := Correct(logits, []int32{0, 0, 0}, 2); got != 2 {
		t.Errorf("%d correct, want 2", got)
	}
}

func mustPanic(t *testing.T, what, want string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), want) {
			t.Errorf("%s: panic %v, want one that starts with %q", what, r, want)
		}
	}()
	f()
}

func TestLossPanics(t *testing.T) {
	l := mustLoss[float32](t, LossConfig{Kind: CrossEntropy}, 2)
	mustPanic(t, "short logits", "nn: Loss", func() { l.Value(make([]float32, 3), make([]int32, 2)) })
	mustPanic(t, "empty batch", "nn: Loss", func() { l.Value(nil, nil) })
	mustPanic(t, "label 2 of 2", "nn: Loss: label", func() { l.Value(make([]float32, 2), []int32{2}) })
	mustPanic(t, "label −1", "nn: Loss: label", func() { l.Value(make([]float32, 2), []int32{-1}) })
	mustPanic(t, "short dlogits", "nn: Loss.Gradient", func() { l.Gradient(make([]float32, 2), []int32{1}, make([]float32, 1)) })
}
