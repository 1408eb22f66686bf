package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/descent"
	"collapse.example/collapse/nn"
)

// besideSettings are runs whose objective a solver knows: balanced and imbalanced, every loss, above and below the thresholds.
var besideSettings = []string{
	"loss.kind=ce", "loss.kind=ce optim.lambda_w=0.3 optim.lambda_h=0.3", "loss.kind=ce net.bias=true optim.lambda_b=0.02", "loss.kind=ce net.bias=true optim.lambda_b=0",
	"loss.kind=ls", "loss.kind=ls loss.smoothing=0.3 optim.lambda_w=0.05", "loss.kind=ls optim.decay=peeled-batch run.batch=8",
	"loss.kind=mse", "loss.kind=mse loss.reduction=paper", "loss.kind=mse net.bias=true optim.lambda_b=0.3", "loss.kind=mse loss.reduction=paper net.bias=true optim.lambda_b=0.5", "loss.kind=mse optim.lambda_w=0.4 optim.lambda_h=0.4",
	"loss.kind=rescaled_mse loss.reduction=paper loss.alpha=2 loss.m=3 net.bias=true optim.lambda_b=0.01",
	"loss.kind=ce net.linear_features=false", "loss.kind=ls net.linear_features=false", "loss.kind=mse net.linear_features=false",
	"loss.kind=ce data.imbalance=step data.imbalance_ratio=3", "loss.kind=ce data.imbalance=step data.imbalance_ratio=6 optim.lambda_w=0.2", "loss.kind=ls data.imbalance=long-tail data.imbalance_ratio=4",
	"loss.kind=mse data.imbalance=step data.imbalance_ratio=6 loss.reduction=paper optim.lambda_w=0.3", "loss.kind=mse data.imbalance=long-tail data.imbalance_ratio=3 net.linear_features=false",
	"loss.kind=ce optim.lambda_w=0.3 optim.lambda_h=0.3 data.imbalance=step data.imbalance_ratio=2",
}

// besideConfig is a run of four classes with weight decay on classifier and features.
func besideConfig(t *testing.T, sets string) Config {
	t.Helper()
	usual := "data.name=glyphs data.classes=4 data.samples_per_class=6 data.test_samples_per_class=3 net.kind=mlp net.depth=1 net.width=8 net.feature_dim=5 net.batch_norm=false net.linear_features=true net.bias=false " +
		"optim.decay=peeled optim.lambda_w=0.01 optim.lambda_h=0.005 run.batch=24 run.epochs=3"
	c, err := Load("", nil, append(strings.Fields(usual), strings.Fields(sets)...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOptimaAreThoseOfTheRunsOwnObjective: free features, with the run's own loss and penalties, descend to f* and to its geometry, and not below.
func TestOptimaAreThoseOfTheRunsOwnObjective(t *testing.T) {
	for _, sets := range besideSettings {
		t.Run(sets, func(t *testing.T) {
			c := besideConfig(t, sets)
			s := tinySession[float64](t, c, nil)
			p, why := s.cfg.problem(s.in.train.ObservedCounts(), s.dim, s.cfg.batch(s.in.sizes()))
			if why != "" {
				t.Fatal(why)
			}
			known, why := p.solve()
			if why != "" || known.vague != "" {
				t.Fatal(why, known.vague)
			}
			free := newFree(s, p.positive)
			best, x := math.Inf(1), []float64(nil)
			for seed := range uint64(6) {
				end, f := free.descend(t, seed)
				if f < best {
					best, x = f, end
				}
			}
			if !(math.Abs(best-known.least) <= 1e-7) {
				t.Fatalf("free features end at %.10g, f* is %.10g", best, known.least)
			}
			W, b, H := free.view(x)
			means := free.means(H)
			for i, classes := range bySize(s.in.train.ObservedCounts()) {
				got, want := sideOf(classes, s.dim, means, W, b), known.sides[i]
				for j, key := range sizeKeys[i] {
					if strings.Contains(key, "_cos_") && !(want[0] > 1e-3 && want[1] > 1e-3) {
						continue // what tends to zero has no angle
					}
					if !(math.Abs(got[j]-want[j]) <= 2e-3) && !(math.IsNaN(got[j]) && math.IsNaN(want[j])) {
						t.Errorf("%s: descent %.6g, theory %.6g", key, got[j], want[j])
					}
				}
			}
		})
	}
}

// free is a run's objective as a function of classifier, bias and features.
type free struct {
	s        *session[float64]
	loss     *nn.Loss[float64]
	k, d, n  int
	bias     bool
	positive bool // features are squares of the variables
}

func newFree(s *session[float64], positive bool) free {
	loss, err := nn.NewLoss[float64](s.cfg.Loss, s.classes)
	if err != nil {
		panic(err)
	}
	return free{s, loss, s.classes, s.dim, s.in.train.N(), s.cfg.Net.Bias, positive}
}

// view is W, b (nil: none) and the rows of features.
func (f free) view(x []float64) (W, b, H []float64) {
	W, x = x[:f.k*f.d], x[f.k*f.d:]
	if f.bias {
		b, x = x[:f.k], x[f.k:]
	}
	H = x
	if f.positive {
		H = make([]float64, len(x))
		for i, v := range x {
			H[i] = v * v
		}
	}
	return W, b, H
}

func (f free) eval(x, grad []float64) float64 {
	W, b, H := f.view(x)
	logits, dlogits := make([]float64, f.n*f.k), make([]float64, f.n*f.k)
	for i := range f.n {
		for k := range f.k {
			logits[i*f.k+k] = dot(W[k*f.d:(k+1)*f.d], H[i*f.d:(i+1)*f.d])
			if b != nil {
				logits[i*f.k+k] += b[k]
			}
		}
	}
	decay := f.s.cfg.Decay
	share := 1.0
	if decay.Kind == "peeled-batch" {
		share = float64(f.s.cfg.Run.Batch) / float64(f.n)
	}
	value := f.loss.Gradient(logits, f.s.in.train.Observed, dlogits) + decay.Classifier/2*dot(W, W) + share*decay.Features/2*dot(H, H) + decay.Bias/2*dot(b, b)
	if grad == nil {
		grad = make([]float64, len(x))
	}
	clear(grad)
	gW, gH := grad[:f.k*f.d], grad[len(grad)-f.n*f.d:]
	for i, v := range W {
		gW[i] = decay.Classifier * v
	}
	for i, v := range b {
		grad[len(gW)+i] = decay.Bias * v
	}
	for i, v := range H {
		gH[i] = share * decay.Features * v
	}
	for i := range f.n {
		for k := range f.k {
			g := dlogits[i*f.k+k]
			for j := range f.d {
				gW[k*f.d+j] += g * H[i*f.d+j]
				gH[i*f.d+j] += g * W[k*f.d+j]
			}
			if b != nil {
				grad[len(gW)+k] += g
			}
		}
	}
	if f.positive {
		for i, v := range x[len(x)-len(gH):] {
			gH[i] *= 2 * v
		}
	}
	return value
}

func (f free) descend(t *testing.T, seed uint64) ([]float64, float64) {
	t.Helper()
	rng, size := rand.New(rand.NewPCG(seed, 7)), f.k*f.d+f.n*f.d
	if f.bias {
		size += f.k
	}
	x := make([]float64, size)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	end, value, err := descent.Limited(t.Context(), f.eval, x, descent.Until{Iterations: 4000, Gradient: 1e-9, Change: 1e-16, Still: 100})
	if err != nil {
		t.Fatal(err)
	}
	return end, value
}

func (f free) means(H []float64) []float64 {
	counts, means := f.s.in.train.ObservedCounts(), make([]float64, f.k*f.d)
	for i, y := range f.s.in.train.Observed {
		for j := range f.d {
			means[int(y)*f.d+j] += H[i*f.d+j] / float64(counts[y])
		}
	}
	return means
}

// TestRunsSayWhyNoOptimumIsKnown: a run of whose objective theory does not speak says so, and one of which nothing is to be said says nothing.
func TestRunsSayWhyNoOptimumIsKnown(t *testing.T) {
	for sets, want := range map[string]string{
		"net.classifier=etf net.feature_dim=4":                            "fixed or normalised",
		"optim.decay=peeled-code optim.lambda_w=0.01 optim.lambda_b=0.01": "no point is optimal",
		"loss.kind=lr":                               "no solver has this loss",
		"net.bias=true data.imbalance=step":          "has a bias",
		"loss.kind=rescaled_mse data.imbalance=step": "no solver of these has this loss",
		"optim.lambda_h=0":                           "lh = 0",
		"net.feature_dim=2":                          "no closed form",
		"data.noise=0.5 data.noise_kind=latent":      "",
		"optim.decay=all optim.lambda_w=0.01 optim.lambda_h=1e-5 data.imbalance=step": "on all weights",
	} {
		rows := measuredRows(t, sets)
		if want == "" {
			continue
		}
		if r := rows[splitTrain+"."+KeyExcess]; !strings.Contains(r.Missing, want) {
			t.Errorf("%s: %+v; wanted %q", sets, r, want)
		}
		if _, some := rows[SplitTheory+"."+KeyOptimum]; some {
			t.Errorf("%s has an optimum", sets)
		}
	}
	for key := range measuredRows(t, "optim.decay=all optim.lambda_w=0.01 optim.lambda_h=1e-5") {
		if _, name, _ := strings.Cut(key, "."); name == KeyExcess || name == KeyOptimum || slices.Contains(SizeKeys(), name) {
			t.Errorf("a usual run has %s", key)
		}
	}
}

// TestLowerBoundsHaveNoGeometry: features that are never negative cannot reach the optimum of imbalanced cross entropy.
func TestLowerBoundsHaveNoGeometry(t *testing.T) {
	rows := measuredRows(t, "data.imbalance=step net.linear_features=false")
	if r := rows["theory.w_cos_fewest"]; r.Missing != unreachable {
		t.Errorf("%+v", r)
	}
	if r, excess := rows["theory.optimum"], rows["train.excess"]; r.Missing != "" || !(r.Value > 0.01) || !(excess.Value > 0) {
		t.Errorf("optimum %+v, excess %+v", r, excess)
	}
	if r := rows["train.w_norm_fewest"]; r.Missing != "" || !(r.Value > 0) {
		t.Errorf("measured %+v", r)
	}
}

// measuredRows are the rows of an untrained network, by split.measure.
func measuredRows(t *testing.T, sets string) map[string]row {
	t.Helper()
	rows, err := tinySession[float64](t, besideConfig(t, sets), nil).measureAll()
	if err != nil {
		t.Fatal(sets, err)
	}
	out := map[string]row{}
	for _, r := range rows {
		key := fmt.Sprintf("%s.%s", r.Split, r.Measure)
		if _, twice := out[key]; twice && r.Layer == "" {
			t.Errorf("%s has %s twice", sets, key)
		}
		out[key] = r
	}
	return out
}
