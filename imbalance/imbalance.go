// Package imbalance solves unconstrained-features models of classes with different numbers of samples:
//
//	f = 1/N Σ_k Σ_i ℓ_k(W·h_ki) + (λ_W/2)‖W‖² + (λ_H/2)‖H‖²
//
// with n_k samples of class k, N = Σ n_k, no bias, and for ℓ cross entropy, cross entropy with label smoothing, or half the squared
// error. docs/internal/formulas.md has the derivation. It gives the optimum with a duality gap, the penalties at which classes of a minority get
// the same classifier (minority collapse: Fang et al. 2021; a sharp threshold: Hong & Ling 2023; squared error: Dang et al. 2023), and the
// geometry of vanishing penalties (SELI: Thrampoulidis et al. 2022).
package imbalance

import (
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/classcounts"
)

// Loss names the loss of a sample.
type Loss string

// The losses: LS with Smoothing 0 is CE.
const (
	CE  Loss = "ce"
	LS  Loss = "ls"
	MSE Loss = "mse"
)

// Bounds of a problem. The solver works with a square matrix of different counts, so that many classes cost little.
const (
	MaxClasses = classcounts.MaxClasses
	MaxGroups  = 500 // different counts
)

// Config is a problem.
type Config struct {
	Loss      Loss
	Smoothing float64 // α of LS: targets (1−α)·y + α/K
	Counts    []int   // n_k of every class
	D         int     // width of the features
	LW, LH    float64 // λ_W, λ_H
}

// Group are the classes with one number of samples. By symmetry all of them are treated alike by the optimum.
type Group struct {
	Count   int `json:"count"`   // samples of each class
	Classes int `json:"classes"` // how many classes
}

// Groups lists the classes by their counts, most samples first.
func (c Config) Groups() []Group {
	sorted := slices.Sorted(slices.Values(c.Counts))
	slices.Reverse(sorted)
	var out []Group
	for _, n := range sorted {
		if len(out) == 0 || out[len(out)-1].Count != n {
			out = append(out, Group{Count: n})
		}
		out[len(out)-1].Classes++
	}
	return out
}

// Samples is N.
func (c Config) Samples() float64 {
	n := 0.0
	for _, k := range c.Counts {
		n += float64(k)
	}
	return n
}

// Mu is √(λ_W·λ_H), the price of the nuclear norm.
func (c Config) Mu() float64 { return math.Sqrt(c.LW) * math.Sqrt(c.LH) }

// Validate says what is wrong with a problem.
func (c Config) Validate() error {
	switch {
	case c.Loss != CE && c.Loss != LS && c.Loss != MSE:
		return fmt.Errorf("imbalance: the loss is %q, wanted ce, ls or mse", c.Loss)
	case c.Loss != LS && c.Smoothing != 0, !(c.Smoothing >= 0 && c.Smoothing < 1):
		return fmt.Errorf("imbalance: smoothing is %g with loss %s, wanted 0 to below 1 with ls, 0 with others", c.Smoothing, c.Loss)
	case len(c.Counts) < 2 || len(c.Counts) > MaxClasses:
		return fmt.Errorf("imbalance: %d classes, wanted 2 to %d", len(c.Counts), MaxClasses)
	case c.D < 1:
		return fmt.Errorf("imbalance: d is %d, wanted at least 1", c.D)
	}
	for _, l := range []float64{c.LW, c.LH} {
		if !(l > 0) || math.IsInf(l, 0) {
			return fmt.Errorf("imbalance: λ_W and λ_H are %g and %g, wanted positive numbers: without penalties there is no optimum, only an infimum (its direction is SELI)", c.LW, c.LH)
		}
	}
	for k, n := range c.Counts {
		if n < 1 || n > classcounts.MaxCount {
			return fmt.Errorf("imbalance: class %d has %d samples, wanted 1 to %d", k, n, classcounts.MaxCount)
		}
	}
	if n := len(c.Groups()); n > MaxGroups {
		return fmt.Errorf("imbalance: %d different numbers of samples, wanted at most %d: round them", n, MaxGroups)
	}
	return nil
}

// Step has K classes, the last minority of which have n/ratio samples, rounded, and at least 1.
func Step(K, n, minority int, ratio float64) ([]int, error) {
	return classcounts.Profile{Kind: classcounts.Step, Ratio: ratio, Minority: minority}.Of(K, n)
}

// LongTailed has K classes with n·ratio^(−k/(K−1)) samples, k = 0, …, K−1, rounded, and at least 1.
func LongTailed(K, n int, ratio float64) ([]int, error) {
	return classcounts.Profile{Kind: classcounts.LongTail, Ratio: ratio}.Of(K, n)
}
