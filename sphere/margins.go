package sphere

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Margins are the one-vs-rest margins of a code: the distance of each row of the K×d matrix to the convex hull of the others.
func Margins(w *mat.Dense) []float64 {
	K, d := w.Dims()
	out := make([]float64, K)
	for k := range out {
		rest := mat.NewDense(K-1, d, nil)
		for j := range K - 1 {
			row := j
			if j >= k {
				row++
			}
			for i := range d {
				rest.Set(j, i, w.At(row, i)-w.At(k, i))
			}
		}
		out[k] = nearest(rest)
	}
	return out
}

// A row has to lie below the nearest point by flatness to join: the distance is off by at most flatness/distance. Weights up to rounding are zero.
const (
	flatness = 1e-11
	rounding = 1e-12
)

// nearest is the distance of the origin to the convex hull of rows, by Wolfe's algorithm (1976): the point of the hull of a few
// rows, the corral, that is nearest to the origin; the row furthest below it joins, rows with negative weight leave.
func nearest(rows *mat.Dense) float64 {
	n, d := rows.Dims()
	corral, weights := []int{shortest(rows)}, []float64{1}
	x := mat.NewVecDense(d, nil)
	for range 50 * (n + d) {
		x.Zero()
		for i, j := range corral {
			x.AddScaledVec(x, weights[i], rows.RowView(j))
		}
		square, best, lowest := mat.Dot(x, x), -1, math.Inf(1)
		for j := range n {
			if v := mat.Dot(x, rows.RowView(j)); v < lowest {
				best, lowest = j, v
			}
		}
		if lowest >= square-flatness || slices.Contains(corral, best) {
			break
		}
		next, left := minor(rows, append(corral, best), append(weights, 0))
		if next == nil {
			break // the new row lies in the corral's hull up to rounding
		}
		corral, weights = next, left
	}
	return mat.Norm(x, 2)
}

func shortest(rows *mat.Dense) (best int) {
	n, _ := rows.Dims()
	for j := range n {
		if mat.Norm(rows.RowView(j), 2) < mat.Norm(rows.RowView(best), 2) {
			best = j
		}
	}
	return best
}

// minor moves weights to the nearest point of the corral's affine hull, dropping rows on the way whose weight would turn negative. It
// returns nil if the hull is flat.
func minor(rows *mat.Dense, corral []int, weights []float64) ([]int, []float64) {
	for {
		target := affine(rows, corral)
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

// affine are the weights, of any sign and with sum 1, of the point of the affine hull nearest to the origin; nil if rounding decides them.
func affine(rows *mat.Dense, corral []int) []float64 {
	n := len(corral)
	a, b := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i, r := range corral {
		b.SetVec(i, 1)
		for j, s := range corral {
			a.Set(i, j, 1+mat.Dot(rows.RowView(r), rows.RowView(s))) // of (11ᵀ + PPᵀ)v = 1, whose solution is a multiple of the weights
		}
	}
	var v mat.VecDense
	if err := v.SolveVec(a, b); err != nil {
		return nil
	}
	return unit(append([]float64(nil), v.RawVector().Data...))
}
