// Package sphere solves unconstrained features of unit length with a classifier of unit rows and a temperature τ:
//
//	f = 1/K Σ_k −log( exp(⟨w_k, h_k⟩/τ) / Σ_j exp(⟨w_j, h_k⟩/τ) ),   ‖w_k‖ = ‖h_k‖ = 1 in R^d
//
// With K ≤ d + 1 the optimum is a simplex ETF (Yaras et al. 2022). With more classes it is a "softmax code" (Jiang et al. 2023): as τ → 0
// the smallest distance of a w_k to the convex hull of the others, its one-vs-rest margin, becomes as large as possible. The
// codes for d + 2 ≤ K ≤ 2d are proved (Alcala et al. 2026). docs/internal/formulas.md says what was read of these works, and what is proved here. All samples of a class have the same problem, so one feature
// per class is enough.
package sphere

import (
	"fmt"
	"math"
)

// Bounds of a problem: at the largest, a start takes minutes and 200 MB.
const (
	maxLogits      = 1 << 22 // K²
	maxCoordinates = 1 << 20 // K·d
)

// Config is a problem.
type Config struct {
	K, D        int
	Temperature float64 // τ
}

// Validate says what is wrong with a problem.
func (c Config) Validate() error {
	switch {
	case c.K < 2:
		return fmt.Errorf("sphere: K is %d, wanted at least 2 classes", c.K)
	case c.D < 2:
		return fmt.Errorf("sphere: d is %d, wanted at least 2: in one dimension there are two unit vectors", c.D)
	case c.D > c.K:
		return fmt.Errorf("sphere: d is %d and K is %d, wanted d ≤ K: from d = K−1 on the optimum is the simplex ETF, and wider features change nothing", c.D, c.K)
	case !(c.Temperature >= MinTemperature) || math.IsInf(c.Temperature, 0):
		return fmt.Errorf("sphere: the temperature is %g, wanted at least %g", c.Temperature, MinTemperature)
	case float64(c.K)*float64(c.K) > maxLogits || float64(c.K)*float64(c.D) > maxCoordinates:
		return fmt.Errorf("sphere: K is %d and d is %d, wanted K² up to %d and K·d up to %d", c.K, c.D, maxLogits, maxCoordinates)
	}
	return nil
}

// MinTemperature is the smallest τ: below it the loss of a good code is smaller than any number.
const MinTemperature = 0.003

// Bound is a lower bound of f for every d, which the simplex ETF attains and nothing else: log(1 + (K−1)·exp(−K/((K−1)τ))).
// So it is the optimum if d ≥ K − 1.
func (c Config) Bound() float64 {
	K := float64(c.K)
	return math.Log1p((K - 1) * math.Exp(-K/((K-1)*c.Temperature)))
}

// Attained reports whether the bound is the optimum.
func (c Config) Attained() bool { return c.D >= c.K-1 }
