// Package judgetest makes runs with known answers for tests.
package judgetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// Study describes a synthetic study: numbers with a known answer.
type Study struct {
	Losses   []string
	Noises   []float64
	Seeds    int
	Classes  int // 0: not said
	epochs   int
	Slope    map[string]float64 // dilation = 0.05 + slope·memorization
	Memory   map[string]float64 // memorization = memory·η
	mean     map[string]float64 // memorization per sample; default as memory
	Accuracy map[string]float64 // test accuracy = 0.99 − (this)·η
	Train    func(loss string, noise float64, seed int) float64
	Jitter   float64
	More     map[[2]string]float64 // values that other studies do not have
}

// Common is a study in which every claim of the paper holds.
func Common() Study {
	return Study{Losses: []string{"ce", "ls"}, Noises: []float64{0, 0.05, 0.1, 0.2, 0.4}, Seeds: 6, epochs: 20,
		Slope: map[string]float64{"ce": 0.004, "ls": 0.004, "lr": 0.012, "mse": 0.0005}, Memory: map[string]float64{"ce": 400, "ls": 200, "lr": 100, "mse": 300},
		Accuracy: map[string]float64{"ce": 0.12, "ls": 0.08, "lr": 0.1, "mse": 0.1}, Jitter: 0.02,
		Train: func(string, float64, int) float64 { return 1 }}
}

func (m Study) Runs(t *testing.T) []judge.Run {
	t.Helper()
	var out []judge.Run
	for _, loss := range m.Losses {
		for _, noise := range m.Noises {
			for seed := 1; seed <= m.Seeds; seed++ {
				out = append(out, m.Run(t, loss, noise, seed))
			}
		}
	}
	return out
}

func (m Study) Run(t *testing.T, loss string, noise float64, seed int) judge.Run {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(seed), uint64(1000*noise)))
	wobble := func() float64 { return 1 + m.Jitter*(2*random.Float64()-1) }
	mem := m.Memory[loss] * noise * wobble()
	dil := (0.05 + m.Slope[loss]*mem) * wobble()
	perSample := m.Memory[loss] / 100
	if v, ok := m.mean[loss]; ok {
		perSample = v
	}
	final := map[[2]string]float64{
		{"test", "dilation"}: dil, {"test", "accuracy"}: 0.99 - m.Accuracy[loss]*noise*wobble(),
		{"train", "accuracy"}: m.Train(loss, noise, seed), {"train", "loss"}: 0.01, {"test", "loss"}: 0.1,
		{"train", "nc1_pinv"}: 1e-4 * wobble(), {"train", "nc2_means_etf_centred"}: 0.02 * wobble(), {"train", "nc2_means_of"}: 0.03 * wobble(),
		{"train", "nc3_centred"}: 0.05 * wobble(), {"train", "nc4_ncc_mismatch"}: 0, {"test", "nc1_pinv"}: dil * dil,
		{"test", "nc1_trace_ratio"}:    dil * dil,
		{"train", "nc2_cos_deviation"}: 1e-3, {"train", "trace_within"}: 0.1, {"train", "mean_norm_ratio"}: 0.9, {"clean", "mean_norm_ratio"}: 0.9,
		{"clean", "nc1_pinv"}: 5e-5,
	}
	if noise > 0 {
		final[[2]string{"train", "memorization_flipped"}] = mem
		final[[2]string{"train", "memorization_redrawn"}] = mem * 1.1
		final[[2]string{"train", "memorization_mean"}] = perSample * wobble()
		final[[2]string{"train", "memorization_normalised"}] = perSample / 10 * wobble()
	}
	maps.Copy(final, m.More)
	data := map[string]any{"name": "glyphs", "noise": noise}
	if m.Classes > 0 {
		data["classes"] = m.Classes
	}
	config, err := json.Marshal(map[string]any{"data": data, "loss": map[string]any{"kind": loss},
		"run": map[string]any{"seed": seed, "epochs": m.epochs}})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	row := store.Run{Hash: fmt.Sprintf("%s%04d%04d%056d", loss, int(1000*noise), seed, 7)[:64], Kind: store.Train, Config: config, Status: store.Done,
		Label: loss, Started: begin, Finished: begin.Add(1500 * time.Millisecond),
		Program: store.Program{Version: "0.1.0", Kernel: "avx2", GOOS: "linux", GOARCH: "amd64", GOAMD64: "v1", CPU: "Test CPU"}}
	var values []store.Value
	for step := 0; step <= m.epochs; step++ {
		far := math.Exp(-8 * float64(step) / float64(m.epochs))
		for k, v := range final {
			x := v * (1 + 20*far)
			if k[1] == "accuracy" {
				x = v * (1 - 0.5*far)
			}
			if step == m.epochs {
				x = v
			}
			values = append(values, store.Value{Key: store.Key{Series: "epoch", Split: k[0], Measure: k[1]}, Step: int64(step), Value: x})
		}
	}
	r, err := judge.NewRun(row, values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Cloud makes features in which class means, corrupted samples and the classifier are known: class
// k sits at distance size on axis k, corrupted samples half way to the next class.
func Cloud(d, k, n int, size []float64, corrupted int) *judge.Features {
	random := rand.New(rand.NewPCG(1, 2))
	f := &judge.Features{D: d, K: k, Weight: make([]float64, k*d), Bias: make([]float64, k)}
	put := func(class int, toward int) []float64 {
		h := make([]float64, d)
		for j := range h {
			h[j] = 0.03 * random.NormFloat64()
		}
		h[class] += size[class]
		if toward >= 0 {
			h[class] -= size[class] / 2
			h[toward] += size[toward] / 2
		}
		return h
	}
	for c := range k {
		for i := range n {
			observed, toward := c, -1
			if i < corrupted {
				observed, toward = (c+1)%k, (c+1)%k
			}
			f.TrainH = append(f.TrainH, put(c, toward)...)
			f.True, f.Observed, f.Redrawn = append(f.True, c), append(f.Observed, observed), append(f.Redrawn, toward >= 0)
			f.TestH = append(f.TestH, put(c, -1)...)
			f.TestTrue = append(f.TestTrue, c)
		}
		f.Weight[c*d+c] = 2
	}
	return f
}

// SetFinal changes the value of the last epoch.
func SetFinal(r *judge.Run, split, key string, v float64) {
	pts := r.Rows(split, "", key)
	pts[len(pts)-1].Value = v
}

// Forget leaves a measure without values.
func Forget(r *judge.Run, split, key string) { Miss(r, split, key, "forgotten") }

// Miss leaves a measure without values, for a reason.
func Miss(r *judge.Run, split, key, reason string) {
	for i, pts := 0, r.Rows(split, "", key); i < len(pts); i++ {
		pts[i].Missing = reason
	}
}

// Halfway is runs whose features are known: class k at 5 on axis k with deviation 0.03, mislabelled samples half way.
func Halfway(t *testing.T, seeds int) []judge.Run {
	t.Helper()
	var out []judge.Run
	for seed := 1; seed <= seeds; seed++ {
		r := Common().Run(t, "ce", 0.2, seed)
		r.SetFeatures(Cloud(2, 2, 400, []float64{5, 5}, 40), "")
		out = append(out, r)
	}
	return out
}

// Near reports whether two numbers differ by at most tol.
func Near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

// SomeSearches are searches that found some accuracy, and what the default settings give.
func SomeSearches(best, byDefault []float64) (all []judge.Search) {
	for i := range best {
		trial := func(n, epochs int, lr string, value float64) judge.SearchTrial {
			return judge.SearchTrial{SearchRun: judge.SearchRun{Run: "r", Epochs: epochs, Value: value}, Number: n, Settings: map[string]string{"optim.lr": lr, "optim.schedule.gamma": "0.1"}}
		}
		all = append(all, judge.Search{Group: "loss ce", Metric: "validation.accuracy", Called: "validation.accuracy", Best: 1, Spent: 12, Whole: 27,
			Params:  []judge.SearchParam{{Name: "optim.lr", Log: true, Low: 1e-5, High: 0.5}, {Name: "optim.schedule.gamma", Choices: []string{"0.01", "0.1"}}},
			Trials:  []judge.SearchTrial{trial(1, 3, "0.001", 0.2), trial(2, 9, "0.1", best[i]), trial(3, 3, "0.4", math.NaN())},
			Default: &judge.SearchRun{Run: "d", Epochs: 9, Value: byDefault[i]}, Final: [2]float64{best[i], byDefault[i]}})
	}
	return all
}

// LiveRun is a run in some state with two measured epochs.
func LiveRun(t *testing.T, hash, loss string, noise float64, status store.Status, nc1 float64) judge.Run {
	t.Helper()
	config := []byte(`{"loss":{"kind":"` + loss + `"},"data":{"noise":` + format.Decimal(noise) + `},"run":{"epochs":7}}`)
	value := func(split, measure string, step int64, v float64) store.Value {
		return store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: measure}, Step: step, Value: v}
	}
	r, err := judge.NewRun(store.Run{Hash: hash, Kind: store.Train, Status: status, Config: config}, []store.Value{
		value("train", "nc1_pinv", 1, 1), value("train", "nc1_pinv", 2, nc1), value("test", "accuracy", 2, 0.75), value("train", "loss", 2, 0.5)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
