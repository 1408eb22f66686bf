package elementwise

import "collapse.example/collapse/internal/kernel"

// The loops of batch norm. Each has a generic version, which is its definition; the SIMD versions process as many whole vectors of
// columns as there are, the generic one the rest. All round after every operation (products that could be fused are converted first,
// or are exact), so every version gives the same bits on every processor.

// addSquares adds the squared deviations of every row: acc_j += Σ_i (x_ij − mean_j)².
func addSquares[T kernel.Float](x kernel.Matrix[T], mean, acc []float64) {
	done := wholeColumns(x)
	if done > 0 {
		table.addSquares(x.Rows, done, x.Stride, kernel.First32(x.Data), &mean[0], &acc[0])
	}
	if done < x.Cols {
		addSquaresGeneric(x.From(done), mean[done:], acc[done:])
	}
}

func addSquaresGeneric[T kernel.Float](x kernel.Matrix[T], mean, acc []float64) {
	acc, mean = acc[:x.Cols], mean[:x.Cols]
	for i := range x.Rows {
		row := x.Row(i)[:len(acc)]
		for j := range acc {
			d := float64(row[j]) - mean[j]
			acc[j] += float64(d * d)
		}
	}
}

// normalise sets y = ((x − hi) − lo)·scale + shift, then y = 0 where relu is set and y < 0: NaN
// stays NaN. y has the shape and stride of x.
func normalise[T kernel.Float](relu bool, x, y kernel.Matrix[T], hi, lo, scale, shift []T) {
	done := wholeColumns(x)
	if done > 0 {
		table.normalise[pick(relu)](x.Rows, done, x.Stride, kernel.First32(x.Data), kernel.First32(y.Data),
			kernel.First32(hi), kernel.First32(lo), kernel.First32(scale), kernel.First32(shift))
	}
	if done < x.Cols {
		normaliseGeneric(relu, x.From(done), y.From(done), hi[done:], lo[done:], scale[done:], shift[done:])
	}
}

func normaliseGeneric[T kernel.Float](relu bool, x, y kernel.Matrix[T], hi, lo, scale, shift []T) {
	cols := x.Cols
	hi, lo, scale, shift = hi[:cols], lo[:cols], scale[:cols], shift[:cols]
	for i := range x.Rows {
		from, to := x.Row(i)[:cols], y.Row(i)[:cols]
		for j := range to {
			v := T((from[j]-hi[j]-lo[j])*scale[j]) + shift[j]
			if relu && v < 0 {
				v = 0
			}
			to[j] = v
		}
	}
}

// gradientSums adds g and g·c of every row to sum and dot, with c = (x − hi) − lo and g = dy, or
// 0 where relu is set and y ≤ 0. For float32 the product is exact in float64. dy and y have the shape and stride of x.
func gradientSums[T kernel.Float](relu bool, dy, y, x kernel.Matrix[T], hi, lo []T, sum, dot []float64) {
	done := wholeColumns(x)
	if done > 0 {
		table.gradientSums[pick(relu)](x.Rows, done, x.Stride, kernel.First32(dy.Data), kernel.First32(y.Data), kernel.First32(x.Data),
			kernel.First32(hi), kernel.First32(lo), &sum[0], &dot[0])
	}
	if done < x.Cols {
		gradientSumsGeneric(relu, dy.From(done), y.From(done), x.From(done), hi[done:], lo[done:], sum[done:], dot[done:])
	}
}

func gradientSumsGeneric[T kernel.Float](relu bool, dy, y, x kernel.Matrix[T], hi, lo []T, sum, dot []float64) {
	cols := x.Cols
	hi, lo, sum, dot = hi[:cols], lo[:cols], sum[:cols], dot[:cols]
	for i := range x.Rows {
		gs, ys, xs := dy.Row(i)[:cols], y.Row(i)[:cols], x.Row(i)[:cols]
		for j := range sum {
			g := gs[j]
			if relu && ys[j] <= 0 {
				g = 0
			}
			sum[j] += float64(g)
			dot[j] += float64(float64(xs[j]-hi[j]-lo[j]) * float64(g))
		}
	}
}

// gradientInput turns dy into dx = ((g − k1) − c·k2)·k3, with g and c as in gradientSums.
func gradientInput[T kernel.Float](relu bool, dy, y, x kernel.Matrix[T], hi, lo, k1, k2, k3 []T) {
	done := wholeColumns(x)
	if done > 0 {
		table.gradientInput[pick(relu)](x.Rows, done, x.Stride, kernel.First32(dy.Data), kernel.First32(y.Data), kernel.First32(x.Data),
			kernel.First32(hi), kernel.First32(lo), kernel.First32(k1), kernel.First32(k2), kernel.First32(k3))
	}
	if done < x.Cols {
		gradientInputGeneric(relu, dy.From(done), y.From(done), x.From(done), hi[done:], lo[done:], k1[done:], k2[done:], k3[done:])
	}
}

func gradientInputGeneric[T kernel.Float](relu bool, dy, y, x kernel.Matrix[T], hi, lo, k1, k2, k3 []T) {
	cols := x.Cols
	hi, lo, k1, k2, k3 = hi[:cols], lo[:cols], k1[:cols], k2[:cols], k3[:cols]
	for i := range x.Rows {
		gs, ys, xs := dy.Row(i)[:cols], y.Row(i)[:cols], x.Row(i)[:cols]
		for j := range gs {
			g := gs[j]
			if relu && ys[j] <= 0 {
				g = 0
			}
			gs[j] = (g - k1[j] - T((xs[j]-hi[j]-lo[j])*k2[j])) * k3[j]
		}
	}
}
