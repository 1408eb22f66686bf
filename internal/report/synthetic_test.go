package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"collapse/internal/store"
)

// made is the recipe of a synthetic study: numbers with a known answer.
type made struct {
	losses   []string
	noises   []float64
	seeds    int
	epochs   int
	slope    map[string]float64 // dilation = 0.05 + slope·memorization
	memory   map[string]float64 // memorization = memory·η
	mean     map[string]float64 // memorization per sample; default as memory
	accuracy map[string]float64 // test accuracy = 0.99 − (this)·η
	train    func(loss string, noise float64, seed int) float64
	jitter   float64
}

// common is a study in which every claim of the paper holds.
func common() made {
	return made{losses: []string{"ce", "ls"}, noises: []float64{0, 0.05, 0.1, 0.2, 0.4}, seeds: 4, epochs: 20,
		slope: map[string]float64{"ce": 0.004, "ls": 0.004, "lr": 0.012, "mse": 0.0005}, memory: map[string]float64{"ce": 400, "ls": 200, "lr": 100, "mse": 300},
		accuracy: map[string]float64{"ce": 0.12, "ls": 0.08, "lr": 0.1, "mse": 0.1}, jitter: 0.02,
		train: func(string, float64, int) float64 { return 1 }}
}

func (m made) runs(t *testing.T) []Run {
	t.Helper()
	var out []Run
	for _, loss := range m.losses {
		for _, noise := range m.noises {
			for seed := 1; seed <= m.seeds; seed++ {
				out = append(out, m.run(t, loss, noise, seed))
			}
		}
	}
	return out
}

func (m made) run(t *testing.T, loss string, noise float64, seed int) Run {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(seed), uint64(1000*noise)))
	wobble := func() float64 { return 1 + m.jitter*(2*random.Float64()-1) }
	mem := m.memory[loss] * noise * wobble()
	dil := (0.05 + m.slope[loss]*mem) * wobble()
	perSample := m.memory[loss] / 100
	if v, ok := m.mean[loss]; ok {
		perSample = v
	}
	final := map[[2]string]float64{
		{"test", "dilation"}: dil, {"test", "accuracy"}: 0.99 - m.accuracy[loss]*noise*wobble(),
		{"train", "accuracy"}: m.train(loss, noise, seed), {"train", "loss"}: 0.01, {"test", "loss"}: 0.1,
		{"train", "nc1_pinv"}: 1e-4 * wobble(), {"train", "nc2_w"}: 0.02 * wobble(), {"train", "nc2_means_of"}: 0.03 * wobble(),
		{"train", "nc3_gram"}: 0.05 * wobble(), {"train", "nc4_ncc_mismatch"}: 0, {"test", "nc1_pinv"}: dil * dil,
		{"train", "nc2_cos_deviation"}: 1e-3, {"train", "trace_within"}: 0.1, {"train", "mean_norm_ratio"}: 0.9, {"clean", "mean_norm_ratio"}: 0.9,
		{"clean", "nc1_pinv"}: 5e-5,
	}
	if noise > 0 {
		final[[2]string{"train", "memorization_flipped"}] = mem
		final[[2]string{"train", "memorization_redrawn"}] = mem * 1.1
		final[[2]string{"train", "memorization_mean"}] = perSample * wobble()
		final[[2]string{"train", "memorization_normalised"}] = perSample / 10 * wobble()
	}
	config, err := json.Marshal(map[string]any{"data": map[string]any{"name": "glyphs", "noise": noise}, "loss": map[string]any{"kind": loss},
		"run": map[string]any{"seed": seed, "epochs": m.epochs}})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := Run{Run: store.Run{Hash: fmt.Sprintf("%s%04d%04d%056d", loss, int(1000*noise), seed, 7)[:64], Kind: store.Train, Config: config, Status: store.Done,
		Label: loss, Started: begin, Finished: begin.Add(1500 * time.Millisecond),
		Program: store.Program{Version: "0.1.0", Kernel: "avx2", GOOS: "linux", GOARCH: "amd64", GOAMD64: "v1", CPU: "Test CPU"}}}
	if err := r.configure(); err != nil {
		t.Fatal(err)
	}
	var values []store.Value
	for step := 1; step <= m.epochs; step++ {
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
	r.setValues(values)
	r.NoFeatures = "the run saved no features"
	return r
}

// cloud makes features in which class means, corrupted samples and the classifier are known: class
// k sits at distance size on axis k, corrupted samples half way to the next class.
func cloud(d, k, n int, size []float64, corrupted int) *Features {
	random := rand.New(rand.NewPCG(1, 2))
	f := &Features{D: d, K: k, Weight: make([]float64, k*d), Bias: make([]float64, k)}
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
