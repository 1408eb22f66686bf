package kernel

// The loops of batch norm. Each has a generic version, which is its definition; the SIMD versions
// take as many whole vectors of columns as there are, the generic one the rest. All round after
// every operation (products that could be fused are converted first, or are exact), so every
// version on every processor gives the same bits.

// addSquares adds the squared deviations of every row: acc_j += Σ_i (x_ij − mean_j)².
func addSquares[T Float](rows, cols, ld int, x []T, mean, acc []float64) {
	done := wholeColumns[T](rows, cols)
	if done > 0 {
		simd.addSquares(rows, done, ld, first32(x), &mean[0], &acc[0])
	}
	if done < cols {
		addSquaresGeneric(rows, cols-done, ld, x[done:], mean[done:], acc[done:])
	}
}

func addSquaresGeneric[T Float](rows, cols, ld int, x []T, mean, acc []float64) {
	acc, mean = acc[:cols], mean[:cols]
	for i := range rows {
		row := x[i*ld:][:cols]
		for j := range acc {
			d := float64(row[j]) - mean[j]
			acc[j] += float64(d * d)
		}
	}
}

// normalise sets y = ((x − hi) − lo)·scale + shift, then y = 0 where relu is set and y < 0: NaN
// stays NaN.
func normalise[T Float](rows, cols, ld int, relu bool, x, y, hi, lo, scale, shift []T) {
	done := wholeColumns[T](rows, cols)
	if done > 0 {
		simd.normalise[pick(relu, 1)](rows, done, ld, first32(x), first32(y), first32(hi), first32(lo), first32(scale), first32(shift))
	}
	if done < cols {
		normaliseGeneric(rows, cols-done, ld, relu, x[done:], y[done:], hi[done:], lo[done:], scale[done:], shift[done:])
	}
}

func normaliseGeneric[T Float](rows, cols, ld int, relu bool, x, y, hi, lo, scale, shift []T) {
	hi, lo, scale, shift = hi[:cols], lo[:cols], scale[:cols], shift[:cols]
	for i := range rows {
		from, to := x[i*ld:][:cols], y[i*ld:][:cols]
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
// 0 where relu is set and y ≤ 0. For float32 the product is exact in float64.
func gradientSums[T Float](rows, cols, ld int, relu bool, dy, y, x, hi, lo []T, sum, dot []float64) {
	done := wholeColumns[T](rows, cols)
	if done > 0 {
		simd.gradientSums[pick(relu, 1)](rows, done, ld, first32(dy), first32(y), first32(x), first32(hi), first32(lo), &sum[0], &dot[0])
	}
	if done < cols {
		gradientSumsGeneric(rows, cols-done, ld, relu, dy[done:], y[done:], x[done:], hi[done:], lo[done:], sum[done:], dot[done:])
	}
}

func gradientSumsGeneric[T Float](rows, cols, ld int, relu bool, dy, y, x, hi, lo []T, sum, dot []float64) {
	hi, lo, sum, dot = hi[:cols], lo[:cols], sum[:cols], dot[:cols]
	for i := range rows {
		gs, ys, xs := dy[i*ld:][:cols], y[i*ld:][:cols], x[i*ld:][:cols]
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
func gradientInput[T Float](rows, cols, ld int, relu bool, dy, y, x, hi, lo, k1, k2, k3 []T) {
	done := wholeColumns[T](rows, cols)
	if done > 0 {
		simd.gradientInput[pick(relu, 1)](rows, done, ld, first32(dy), first32(y), first32(x),
			first32(hi), first32(lo), first32(k1), first32(k2), first32(k3))
	}
	if done < cols {
		gradientInputGeneric(rows, cols-done, ld, relu, dy[done:], y[done:], x[done:], hi[done:], lo[done:], k1[done:], k2[done:], k3[done:])
	}
}

func gradientInputGeneric[T Float](rows, cols, ld int, relu bool, dy, y, x, hi, lo, k1, k2, k3 []T) {
	hi, lo, k1, k2, k3 = hi[:cols], lo[:cols], k1[:cols], k2[:cols], k3[:cols]
	for i := range rows {
		gs, ys, xs := dy[i*ld:][:cols], y[i*ld:][:cols], x[i*ld:][:cols]
		for j := range gs {
			g := gs[j]
			if relu && ys[j] <= 0 {
				g = 0
			}
			gs[j] = (g - k1[j] - T((xs[j]-hi[j]-lo[j])*k2[j])) * k3[j]
		}
	}
}
