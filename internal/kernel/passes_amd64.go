package kernel

//go:generate go run ./asm/elementwise -pkg kernel -out passes_amd64.s -stubs passes_stubs_amd64.go

// The functions below run the SIMD version of a loop on as many whole vectors of columns or
// elements as there are and return how many those are: 0 without a SIMD version.

// vectors returns how many of n float32 fill whole vectors of the instruction set in use.
func vectors(n int) int {
	switch active {
	case isaAVX512:
		return n &^ 15
	case isaAVX2:
		return n &^ 7
	}
	return 0
}

// wholeColumns returns vectors(cols), or 0 if there is no row.
func wholeColumns(rows, cols int) int {
	if rows == 0 {
		return 0
	}
	return vectors(cols)
}

func addRowsSIMD(rows, cols, ld int, x []float32, acc []float64) int {
	n := wholeColumns(rows, cols)
	switch {
	case n == 0:
	case active == isaAVX512:
		addRowsAVX512(rows, n, ld, &x[0], &acc[0])
	default:
		addRowsAVX2(rows, n, ld, &x[0], &acc[0])
	}
	return n
}

func addSquaresSIMD(rows, cols, ld int, x []float32, mean, acc []float64) int {
	n := wholeColumns(rows, cols)
	switch {
	case n == 0:
	case active == isaAVX512:
		addSquaresAVX512(rows, n, ld, &x[0], &mean[0], &acc[0])
	default:
		addSquaresAVX2(rows, n, ld, &x[0], &mean[0], &acc[0])
	}
	return n
}

func normaliseSIMD(rows, cols, ld int, relu bool, x, y, hi, lo, scale, shift []float32) int {
	n := wholeColumns(rows, cols)
	switch {
	case n == 0:
	case active == isaAVX512 && relu:
		normaliseReLUAVX512(rows, n, ld, &x[0], &y[0], &hi[0], &lo[0], &scale[0], &shift[0])
	case active == isaAVX512:
		normaliseAVX512(rows, n, ld, &x[0], &y[0], &hi[0], &lo[0], &scale[0], &shift[0])
	case relu:
		normaliseReLUAVX2(rows, n, ld, &x[0], &y[0], &hi[0], &lo[0], &scale[0], &shift[0])
	default:
		normaliseAVX2(rows, n, ld, &x[0], &y[0], &hi[0], &lo[0], &scale[0], &shift[0])
	}
	return n
}

func gradientSumsSIMD(rows, cols, ld int, relu bool, dy, y, x, hi, lo []float32, sum, dot []float64) int {
	n := wholeColumns(rows, cols)
	switch {
	case n == 0:
	case active == isaAVX512 && relu:
		gradientSumsReLUAVX512(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &sum[0], &dot[0])
	case active == isaAVX512:
		gradientSumsAVX512(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &sum[0], &dot[0])
	case relu:
		gradientSumsReLUAVX2(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &sum[0], &dot[0])
	default:
		gradientSumsAVX2(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &sum[0], &dot[0])
	}
	return n
}

func gradientInputSIMD(rows, cols, ld int, relu bool, dy, y, x, hi, lo, k1, k2, k3 []float32) int {
	n := wholeColumns(rows, cols)
	switch {
	case n == 0:
	case active == isaAVX512 && relu:
		gradientInputReLUAVX512(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &k1[0], &k2[0], &k3[0])
	case active == isaAVX512:
		gradientInputAVX512(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &k1[0], &k2[0], &k3[0])
	case relu:
		gradientInputReLUAVX2(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &k1[0], &k2[0], &k3[0])
	default:
		gradientInputAVX2(rows, n, ld, &dy[0], &y[0], &x[0], &hi[0], &lo[0], &k1[0], &k2[0], &k3[0])
	}
	return n
}

func reluSIMD(x []float32) int {
	n := vectors(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		reluAVX512(n, &x[0])
	default:
		reluAVX2(n, &x[0])
	}
	return n
}

func reluGradientSIMD(y, dy []float32) int {
	n := vectors(len(dy))
	switch {
	case n == 0:
	case active == isaAVX512:
		reluGradientAVX512(n, &y[0], &dy[0])
	default:
		reluGradientAVX2(n, &y[0], &dy[0])
	}
	return n
}

func sigmoidSIMD(x []float32) int {
	n := vectors(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		sigmoidAVX512(n, &x[0])
	default:
		sigmoidAVX2(n, &x[0])
	}
	return n
}

func sigmoidGradientSIMD(y, dy []float32) int {
	n := vectors(len(dy))
	switch {
	case n == 0:
	case active == isaAVX512:
		sigmoidGradientAVX512(n, &y[0], &dy[0])
	default:
		sigmoidGradientAVX2(n, &y[0], &dy[0])
	}
	return n
}

func sgdSIMD(rule sgdRule[float32], p, g, v []float32) int {
	n := vectors(len(p))
	switch {
	case n == 0:
	case active == isaAVX512 && rule.nesterov:
		sgdNesterovAVX512(n, &p[0], &g[0], &v[0], rule.rate, rule.momentum, rule.decay)
	case active == isaAVX512:
		sgdAVX512(n, &p[0], &g[0], &v[0], rule.rate, rule.momentum, rule.decay)
	case rule.nesterov:
		sgdNesterovAVX2(n, &p[0], &g[0], &v[0], rule.rate, rule.momentum, rule.decay)
	default:
		sgdAVX2(n, &p[0], &g[0], &v[0], rule.rate, rule.momentum, rule.decay)
	}
	return n
}
