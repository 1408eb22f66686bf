// Package hull finds the point of a convex hull that is nearest to the origin.
package hull

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// A point has to lie below the nearest point by flatness times the largest square to join; weights up to rounding are zero.
const (
	flatness = 4e-16
	rounding = 1e-12
)

// Nearest returns the weights (n, none negative, with sum 1) of the point of the convex hull of n points p_i in R^d that is nearest to the
// origin, from their products at(i, j) = p_i·p_j. The distance, ‖Σ weight_i p_i‖, depends on errors of the weights only in second order.
//
// It first tries whether the nearest point of the affine hull lies in the convex hull, as for nearly regular simplices. Else it is
// Wolfe's algorithm (1976): the nearest point of the hull of a few points, the corral; the point furthest below it joins, points
// with negative weight leave.
func Nearest(at func(i, j int) float64, n, d int) []float64 {
	p := points{at, n}
	if n <= d+1 {
		if whole := p.affine(all(n)); whole != nil && slices.Min(whole) > rounding {
			return whole
		}
	}
	corral, weights := []int{p.shortest()}, []float64{1}
	for range 50 * n {
		next := p.below(corral, weights)
		if next < 0 {
			break
		}
		grown, left := p.minor(append(slices.Clone(corral), next), append(slices.Clone(weights), 0))
		if grown == nil {
			break // the new point lies in the corral's affine hull up to rounding
		}
		corral, weights = grown, left
	}
	out := make([]float64, n)
	for i, j := range corral {
		out[j] = weights[i]
	}
	return out
}

// points are given by their products.
type points struct {
	at func(i, j int) float64
	n  int
}

func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func (p points) shortest() (best int) {
	for i := range p.n {
		if p.at(i, i) < p.at(best, best) {
			best = i
		}
	}
	return best
}

// below returns the point furthest below the corral's nearest point x, along x; −1 if none is below it or x is the origin.
func (p points) below(corral []int, weights []float64) int {
	best, lowest, square, largest := -1, math.Inf(1), 0.0, 0.0
	for j := range p.n {
		along := 0.0
		for i, c := range corral {
			along += weights[i] * p.at(j, c)
		}
		if at := slices.Index(corral, j); at >= 0 {
			square += weights[at] * along
		} else if along < lowest {
			best, lowest = j, along
		}
		largest = max(largest, p.at(j, j))
	}
	if !(lowest < square-flatness*largest) {
		return -1
	}
	return best
}

// minor moves weights to the nearest point of the corral's affine hull, dropping points on the way whose weight would turn negative. It
// returns nil if the hull is flat.
func (p points) minor(corral []int, weights []float64) ([]int, []float64) {
	for {
		target := p.affine(corral)
		if target == nil {
			return nil, nil
		}
		step := 1.0
		for i, t := range target {
			if t < rounding {
				step = min(step, weights[i]/(weights[i]-t))
			}
		}
		kept, left := []int(nil), []float64(nil)
		for i := range weights {
			if v := (1-step)*weights[i] + step*target[i]; v > rounding {
				kept, left = append(kept, corral[i]), append(left, v)
			}
		}
		if len(kept) == len(corral) || len(kept) <= 1 {
			return kept, unit(left)
		}
		corral, weights = kept, unit(left)
	}
}

// unit makes weights sum to 1.
func unit(w []float64) []float64 {
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// affine are the weights, of any sign and with sum 1, of the point of the affine hull nearest to the origin; nil if rounding decides
// them. They are proportional to the solution of (11ᵀ + PPᵀ)v = 1.
func (p points) affine(corral []int) []float64 {
	n := len(corral)
	a, v := make([]float64, n*n), make([]float64, n)
	for i, r := range corral {
		v[i] = 1
		for j, s := range corral {
			a[i*n+j] = 1 + p.at(r, s)
		}
	}
	if !solve(a, v) {
		return nil
	}
	return unit(v)
}

const singular = 1e-16 // a condition number beyond its inverse leaves no digit

// solve overwrites v with the solution of a x = v; false if rounding decides it. It overwrites a.
func solve(a, v []float64) bool {
	n := len(v)
	m, swaps, work := blas64.General{Rows: n, Cols: n, Stride: n, Data: a}, make([]int, n), make([]float64, 4*n)
	size := lapack64.Lange(lapack.MaxRowSum, m, work)
	if !lapack64.Getrf(m, swaps) || !(lapack64.Gecon(lapack.MaxRowSum, m, size, work, make([]int, n)) >= singular) {
		return false
	}
	lapack64.Getrs(blas.NoTrans, m, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: v}, swaps)
	return true
}
