package nn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"collapse/internal/kernel"
)

// BenchmarkMLPForwardBackward times forward, loss and backward of the network that the speed
// target names: width 2048, depth 9, batch 512, inputs 784, d = K = 2. optim benchmarks the
// whole step.
func BenchmarkMLPForwardBackward(b *testing.B) {
	cfg, err := MLPPreset("paper", 784, 2)
	if err != nil {
		b.Fatal(err)
	}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			team := kernel.NewTeam(threads)
			defer team.Close()
			const batch = 512
			net, err := NewMLP[float32](cfg, team, batch, 1)
			if err != nil {
				b.Fatal(err)
			}
			loss, err := NewLoss[float32](LossConfig{Kind: CrossEntropy}, cfg.Classes)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			x, labels := make([]float32, batch*cfg.Inputs), make([]int32, batch)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			for i := range labels {
				labels[i] = int32(rng.IntN(2))
			}
			dlogits := make([]float32, batch*cfg.Classes)
			b.ReportAllocs()
			for b.Loop() {
				loss.Gradient(net.Forward(x, batch, Train).Logits, labels, dlogits)
				net.Backward(dlogits)
			}
		})
	}
}
