//go:build !amd64

package kernel

// Without SIMD versions the generic loops take every column and element.

func addRowsSIMD(rows, cols, ld int, x []float32, acc []float64) int { return 0 }

func addSquaresSIMD(rows, cols, ld int, x []float32, mean, acc []float64) int { return 0 }

func normaliseSIMD(rows, cols, ld int, relu bool, x, y, hi, lo, scale, shift []float32) int { return 0 }

func gradientSumsSIMD(rows, cols, ld int, relu bool, dy, y, x, hi, lo []float32, sum, dot []float64) int {
	return 0
}

func gradientInputSIMD(rows, cols, ld int, relu bool, dy, y, x, hi, lo, k1, k2, k3 []float32) int {
	return 0
}

func reluSIMD(x []float32) int { return 0 }

func reluGradientSIMD(y, dy []float32) int { return 0 }

func sigmoidSIMD(x []float32) int { return 0 }

func sigmoidGradientSIMD(y, dy []float32) int { return 0 }

func sgdSIMD(rule sgdRule[float32], p, g, v []float32) int { return 0 }
