package sphere

import (
	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/hull"
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

// nearest is the distance of the origin to the convex hull of rows.
func nearest(rows *mat.Dense) float64 {
	n, d := rows.Dims()
	var products, x mat.Dense
	products.Mul(rows, rows.T())
	x.Mul(mat.NewDense(1, n, hull.Nearest(products.At, n, d)), rows)
	return mat.Norm(&x, 2)
}
