package nn_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
	"collapse.example/collapse/parallel"
)

// BenchmarkMLPStep times whole training steps of the network that the speed target names: width
// 2048, depth 9, batch 512, inputs 784, d = K = 2, SGD with Nesterov momentum and weight decay.
func BenchmarkMLPStep(b *testing.B) {
	cfg := nn.Sizes()[0].Arch
	team := parallel.NewTeam(0)
	defer team.Close()
	step := newStep(b, cfg, 512, team)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

// BenchmarkSmallSteps times the steps of many small runs side by side, one thread each: what a
// step costs beside its products.
func BenchmarkSmallSteps(b *testing.B) {
	cfg := nn.Arch{Kind: nn.KindMLP, Channels: 1, Height: 28, Width: 28, HiddenWidth: 128, HiddenLayers: 3, FeatureDim: 2, Classes: 2, BatchNorm: true}
	runs := make(chan func(), runtime.GOMAXPROCS(0))
	for range cap(runs) {
		runs <- newStep(b, cfg, 64, nil)
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		step := <-runs
		for pb.Next() {
			step()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// newStep returns a training step on random data.
func newStep(b *testing.B, cfg nn.Arch, batch int, team *parallel.Team) func() {
	net, err := nn.NewArch[float32](cfg, team, batch, 1)
	if err != nil {
		b.Fatal(err)
	}
	loss, err := nn.NewLoss[float32](nn.LossConfig{Kind: nn.CrossEntropy}, cfg.Classes)
	if err != nil {
		b.Fatal(err)
	}
	sgd, err := optim.NewSGD(net.Params(), optim.SGDConfig{Momentum: 0.9, Nesterov: true, WeightDecay: 1e-3}, team)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x, labels := make([]float32, batch*cfg.Inputs()), make([]int32, batch)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range labels {
		labels[i] = int32(rng.IntN(2))
	}
	dlogits := make([]float32, batch*cfg.Classes)
	return func() {
		loss.Gradient(net.Forward(x, batch, nn.Train).Logits, labels, dlogits)
		net.Backward(dlogits)
		sgd.Step(0.01, 0)
	}
}
