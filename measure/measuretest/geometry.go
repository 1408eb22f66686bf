package measuretest

import (
	"slices"

	"collapse.example/collapse/measure/internal/dd"
)

// seli is ‖U(xxᵀ) − T‖ with T the geometry of the class sizes: with the singular value decomposition of P N^½ = V S Uᵀ, classifiers have
// V S Vᵀ and means N^−½ U S Uᵀ N^−½, divided by their norms.
func (e *Evaluation) seli(x [][]dd.DD, means bool) Value {
	if e.k < 2 || slices.Min(e.train.count) == 0 {
		return undefined("one class, or a class without samples")
	}
	roots := make([]dd.DD, e.k)
	for i, n := range e.train.count {
		roots[i] = dd.Of(n).Sqrt()
	}
	rows := make([][]dd.DD, e.k) // of P N^½
	for i := range rows {
		rows[i] = make([]dd.DD, e.k)
		for j := range rows[i] {
			entry := dd.Of(-1).Over(float64(e.k))
			if i == j {
				entry = entry.Add(dd.Of(1))
			}
			rows[i][j] = entry.Mul(roots[j])
		}
	}
	if !means {
		rows = dd.Transpose(rows) // directions are then those of V
	}
	values, directions := dd.Singular(rows, dd.Of(1e-25*roots[0].Hi))
	target := make([][]dd.DD, e.k)
	for i := range target {
		target[i] = make([]dd.DD, e.k)
		for j := range target[i] {
			for l := range e.k - 1 {
				part := values[l].Mul(directions[l][i]).Mul(directions[l][j])
				if means {
					part = part.Div(roots[i]).Div(roots[j])
				}
				target[i][j] = target[i][j].Add(part)
			}
		}
	}
	size := frobenius(target)
	return from(products(x, x), func(i, j int) dd.DD { return target[i][j].Div(size) })
}

func aroundTheirMean(x [][]dd.DD) [][]dd.DD {
	mean := make([]dd.DD, len(x[0]))
	for _, row := range x {
		for j, v := range row {
			mean[j] = mean[j].Add(v.Over(float64(len(x))))
		}
	}
	out := make([][]dd.DD, len(x))
	for i, row := range x {
		out[i] = dd.Difference(row, mean)
	}
	return out
}

// oneVsRest is the least distance of a row's direction to the convex hull of the others', over all their faces.
func (e *Evaluation) oneVsRest() Value {
	u, ok := units(e.w, 0)
	switch {
	case e.k < 2:
		return undefined("one class")
	case !ok:
		return undefined("a row of W is zero")
	case e.k > 8:
		return Value{TooExpensive: true}
	}
	least := dd.Of(4)
	for k, own := range u {
		var others [][]dd.DD
		for j, other := range u {
			if j != k {
				others = append(others, dd.Difference(other, own))
			}
		}
		least = dd.Min(least, overFaces(others))
	}
	return value(least)
}

// overFaces is the least distance of the origin to the nearest points of faces: points of the affine hull of some of x with no negative
// weight. Flat faces add nothing.
func overFaces(x [][]dd.DD) dd.DD {
	least := dd.Of(4)
	for subset := 1; subset < 1<<len(x); subset++ {
		var face [][]dd.DD
		for j := range x {
			if subset>>j&1 == 1 {
				face = append(face, x[j])
			}
		}
		if point, inside := nearestOfFace(face); inside {
			least = dd.Min(least, dd.Norm(point))
		}
	}
	return least
}

// nearestOfFace is the point of the affine hull that is nearest to the origin, x_0 + Σ w_i (x_i − x_0), by orthogonalising directions.
func nearestOfFace(x [][]dd.DD) (point []dd.DD, inside bool) {
	if len(x) == 1 {
		return x[0], true
	}
	var edges [][]dd.DD
	for _, p := range x[1:] {
		edges = append(edges, dd.Difference(p, x[0]))
	}
	columns := dd.Transpose(edges)
	r := dd.Triangle(columns) // RᵀR = edges·edgesᵀ
	right := make([]dd.DD, len(edges))
	for i, edge := range edges {
		if !(r[i][i].Hi > 1e-12) {
			return nil, false // the edges are dependent
		}
		right[i] = dd.Dot(edge, x[0]).Neg()
	}
	half := dd.SolveTransposed(r, right)
	weights := make([]dd.DD, len(edges))
	own := dd.Of(1)
	for i := len(edges) - 1; i >= 0; i-- {
		sum := half[i]
		for j := i + 1; j < len(edges); j++ {
			sum = sum.Sub(r[i][j].Mul(weights[j]))
		}
		weights[i] = sum.Div(r[i][i])
		own = own.Sub(weights[i])
	}
	point, inside = slices.Clone(x[0]), own.Hi >= -1e-20
	for i, w := range weights {
		inside = inside && w.Hi >= -1e-20
		for c := range point {
			point[c] = point[c].Add(w.Mul(edges[i][c]))
		}
	}
	return point, inside
}
