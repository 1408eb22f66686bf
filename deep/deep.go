// Package deep solves unconstrained-features models with any number of layers:
//
//	f = 1/(2N)·‖W_L·…·W_1·H − Y‖² + Σ_l (λ_l/2)‖W_l‖² + (λ_H/2)‖H‖²
//
// with K classes, n samples per class, N = K·n and Y = I_K ⊗ 1_nᵀ; also with a ReLU after each of W_1, …, W_{L−1}, and with cross entropy.
// Linear models with squared error are solved exactly. With a ReLU the package knows points of low rank, some of which lie below neural
// collapse. L = 1 is model mse of package ufm without bias, L = 2 its linear3
// (Tirer & Bruna 2022). docs/internal/formulas.md has the derivation; that linear models collapse is proved by
// Dang et al. 2023 (abstract read; the derivation is ours).
package deep

import (
	"fmt"
	"math"
)

// Bounds of a problem: layers, and numbers in all its factors and in their products with those after them: a
// search at this bound takes 2.4 GB.
const (
	MaxLayers  = 100
	maxNumbers = 1 << 23
)

// Config is a problem.
type Config struct {
	K, N    int       // classes; samples per class
	Widths  []int     // d_{L−1}, …, d_0: columns of W_L, …, W_1; the last is the width of H
	Lambdas []float64 // λ of W_L, …, W_1 and of H: one more than Widths
	ReLU    bool      // max(0, ·) after W_1, …, W_{L−1}
	CE      bool      // cross entropy in place of ½‖·‖²

	// soft rounds the ReLU's kink, to (z + √(z² + soft²))/2: descents stop at kinks, where no line search finds anything lower.
	soft float64
}

// Layers is L, the number of weight matrices.
func (c Config) Layers() int { return len(c.Widths) }

// Validate says what is wrong with a problem.
func (c Config) Validate() error {
	L := c.Layers()
	switch {
	case c.K < 2:
		return fmt.Errorf("deep: K is %d, wanted at least 2 classes", c.K)
	case c.N < 1:
		return fmt.Errorf("deep: n is %d, wanted at least 1 sample per class", c.N)
	case L < 1 || L > MaxLayers:
		return fmt.Errorf("deep: %d widths, wanted one for each of 1 to %d layers", L, MaxLayers)
	case len(c.Lambdas) != L+1:
		return fmt.Errorf("deep: %d penalties for %d layers, wanted %d: of W_L, …, W_1 and of H", len(c.Lambdas), L, L+1)
	}
	for i, d := range c.Widths {
		if d < 1 {
			return fmt.Errorf("deep: width %d of %d is %d, wanted at least 1", i+1, L, d)
		}
	}
	for i, l := range c.Lambdas {
		if !(l > 0) || math.IsInf(l, 0) {
			return fmt.Errorf("deep: penalty %d of %d is %g, wanted a positive number: without a penalty on every factor there is no optimum, only an infimum", i+1, L+1, l)
		}
	}
	return c.bounded()
}

func (c Config) bounded() error {
	numbers := 0.0
	for i := range c.Lambdas {
		rows, columns := c.shape(i)
		numbers += float64(rows) * (float64(columns) + float64(c.K))
	}
	if numbers > maxNumbers {
		return fmt.Errorf("deep: W_L, …, W_1, the K columns of H and their products have %.3g numbers, wanted at most %d: fewer classes, or narrower layers", numbers, maxNumbers)
	}
	return nil
}

// shape is that of factor i: W_L is factor 0, H with a column per class the last.
func (c Config) shape(i int) (rows, columns int) {
	rows, columns = c.K, c.K
	if i > 0 {
		rows = c.Widths[i-1]
	}
	if i < c.Layers() {
		columns = c.Widths[i]
	}
	return rows, columns
}

// penalties are the λ of the problem with a single sample per class. For given W the objective is strictly convex in H and the same for
// all samples of a class, so these coincide at every critical point, and n equal columns cost as much as one with n·λ_H.
func (c Config) penalties() []float64 {
	out := append([]float64(nil), c.Lambdas...)
	out[c.Layers()] *= float64(c.N)
	return out
}
