package ufm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Trap names the known trap that a point is in, "" if it is in none or there is no exact value to compare with: lost ranks (three
// factors), dead samples (ReLU), classes whose features are all zero.
func (p *Problem) Trap(x []float64, value float64, e Exact) string {
	if !e.Available || e.within(value, matchGap) || e.Regime == "zero" && p.Model != Linear3 {
		return ""
	}
	at := p.View(x)
	p.outputs(at)
	dead, zeroClasses := p.deadSamples(at)
	switch {
	case zeroClasses > 0 && (p.relu || p.Model == LSNonneg):
		return fmt.Sprintf("%d of %d classes have no feature (dead or zero), f is %.6g above the optimum", zeroClasses, p.K, value-float64(e.Objective))
	case dead > 0 && p.relu:
		return fmt.Sprintf("%d dead samples of %d (no unit is active), f is %.6g above the optimum", dead, p.K*p.N, value-float64(e.Objective))
	}
	if rank := p.outputRank(at); rank != e.Rank {
		return fmt.Sprintf("rank %d of %d, f is %.6g above the optimum", rank, e.Rank, value-float64(e.Objective))
	}
	return ""
}

// deadSamples counts samples whose feature at the classifier is zero compared with the largest, and classes for which all samples
// are. outputs must have run.
func (p *Problem) deadSamples(at Point) (samples, classes int) {
	N, features := p.K*p.N, at.H
	if p.f != nil {
		features = p.f
	}
	norm, largest := make([]float64, N), 0.0
	for j := range p.D {
		for i, v := range features[j*N:][:N] {
			norm[i] += v * v
		}
	}
	for _, v := range norm {
		largest = math.Max(largest, v)
	}
	for k := range p.K {
		zero := 0
		for _, v := range norm[k*p.N:][:p.N] {
			if v <= 1e-4*largest {
				zero++
			}
		}
		samples += zero
		if zero == p.N {
			classes++
		}
	}
	return samples, classes
}

// outputRank is the number of singular values of the class means of W·F that are above 1e-3·M, where fitted directions are of order
// M (1 except for rescaled-mse).
func (p *Problem) outputRank(at Point) int {
	K, n, N := p.K, p.N, p.K*p.N
	means := mat.NewDense(K, K, nil)
	for j := range K {
		for k := range K {
			sum := 0.0
			for i := k * n; i < (k+1)*n; i++ {
				sum += p.z[j*N+i]
			}
			means.Set(j, k, sum/float64(n)-biasOf(at, j))
		}
	}
	var svd mat.SVD
	if !svd.Factorize(means, mat.SVDNone) {
		return 0
	}
	rank := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-3*p.M {
			rank++
		}
	}
	return rank
}

// biasOf returns b_j, 0 without a bias.
func biasOf(at Point, j int) float64 {
	if at.B == nil {
		return 0
	}
	return at.B[j]
}
