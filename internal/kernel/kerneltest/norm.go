package kerneltest

import (
	"math"
	"math/rand/v2"
)

// NormCase is a batch whose columns have the given mean and unit deviation.
type NormCase struct {
	Rows, Cols  int
	X, DY       []float64
	Gamma, Beta []float64
}

// NewNormCase draws a batch.
func NewNormCase(rng *rand.Rand, rows, cols int, mean float64) NormCase {
	c := NormCase{Rows: rows, Cols: cols}
	for range rows * cols {
		c.X = append(c.X, float64(float32(mean+rng.NormFloat64()))) // exact in both types
		c.DY = append(c.DY, float64(float32(rng.NormFloat64())))
	}
	for range cols {
		c.Gamma = append(c.Gamma, float64(float32(1+0.5*rng.NormFloat64())))
		c.Beta = append(c.Beta, float64(float32(rng.NormFloat64())))
	}
	return c
}

// To rounds x to T.
func To[T ~float32 | ~float64](x []float64) []T {
	out := make([]T, len(x))
	for i, v := range x {
		out[i] = T(v)
	}
	return out
}

// Textbook is batch norm without ReLU written from its definition, column by column: y, and dx,
// dγ, dβ by the Jacobian ∂y_i/∂x_j = γ·s·(δ_ij − 1/n − x̂_i·x̂_j/n).
func (c NormCase) Textbook(eps float64) (y, dx, dGamma, dBeta []float64) {
	n := float64(c.Rows)
	y, dx = make([]float64, len(c.X)), make([]float64, len(c.X))
	dGamma, dBeta = make([]float64, c.Cols), make([]float64, c.Cols)
	for j := range c.Cols {
		at := func(i int) int { return i*c.Cols + j }
		mean, variance := 0.0, 0.0
		for i := range c.Rows {
			mean += c.X[at(i)] / n
		}
		for i := range c.Rows {
			variance += (c.X[at(i)] - mean) * (c.X[at(i)] - mean) / n
		}
		s := 1 / math.Sqrt(variance+eps)
		hat := make([]float64, c.Rows)
		for i := range hat {
			hat[i] = (c.X[at(i)] - mean) * s
			y[at(i)] = c.Gamma[j]*hat[i] + c.Beta[j]
			dGamma[j] += c.DY[at(i)] * hat[i]
			dBeta[j] += c.DY[at(i)]
		}
		for k := range hat {
			for i := range hat {
				jacobian := -1/n - hat[i]*hat[k]/n
				if i == k {
					jacobian++
				}
				dx[at(k)] += c.DY[at(i)] * c.Gamma[j] * s * jacobian
			}
		}
	}
	return y, dx, dGamma, dBeta
}
