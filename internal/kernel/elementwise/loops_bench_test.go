package elementwise

import (
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel/memory"
)

// BenchmarkPasses times the element-wise passes on a layer of the paper's MLP (512×2048) and SGD
// on 16 M weights, too many for a cache, one thread; bytes are those read and written at least once.
func BenchmarkPasses(b *testing.B) {
	const rows, cols, weights = 512, 2048, 4 * 2048 * 2048
	rng := rand.New(rand.NewPCG(1, 1))
	matrix := func(n int) []float32 {
		x := memory.Alloc[float32](n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	x, y, dy := matrix(rows*cols), matrix(rows*cols), matrix(rows*cols)
	gamma, beta, dGamma, dBeta := matrix(cols), matrix(cols), matrix(cols), matrix(cols)
	p, g, v := matrix(weights), matrix(weights), matrix(weights)
	for i := range gamma {
		gamma[i] = 1 // repeated in place, Backward must neither fade into denormal numbers nor grow
	}
	norm, sums, point, sgd := NewBatchNorm[float32](cols, 1e-5, true), NewColSums[float32](cols), NewPointwise[float32](), NewSGD[float32]()
	for _, pass := range []struct {
		name  string
		bytes int64
		run   func()
	}{
		{"BatchNormForward", 4 * rows * cols * 2, func() { norm.Forward(nil, rows, x, y, gamma, beta) }},
		{"BatchNormBackward", 4 * rows * cols * 4, func() { norm.Backward(nil, rows, dy, y, x, gamma, dGamma, dBeta) }},
		{"ColSums", 4 * rows * cols, func() { sums.Sum(nil, rows, x, dBeta) }},
		{"Sigmoid", 4 * rows * cols * 2, func() { point.Sigmoid(nil, y) }},
		{"SigmoidBackward", 4 * rows * cols * 3, func() { point.SigmoidBackward(nil, y, dy) }},
		{"SGD", 4 * weights * 5, func() { sgd.Update(nil, SGDRule{1e-9, 0.9, 1e-3, true}, p, g, v) }},
	} {
		b.Run(pass.name, func(b *testing.B) {
			b.SetBytes(pass.bytes)
			for b.Loop() {
				pass.run()
			}
		})
	}
}
