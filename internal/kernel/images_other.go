//go:build !amd64

package kernel

// Without SIMD versions the generic loops run.

func runMomentsSIMD(rows, n, real int, x []float32, shift float64, sums *runSums) bool { return false }

func runNormaliseSIMD(x, residual, y []float32, c *normConstants[float32], relu bool) bool {
	return false
}

func runGradientSumsSIMD(mask normMask, dy, y, x []float32, c *normConstants[float32], sums *runSums) bool {
	return false
}

func runGradientInputSIMD(mask normMask, rows, n, real int, dy, x, dx []float32, c *normConstants[float32]) bool {
	return false
}

func maxWindowSIMD(w *window, x, y []float32) bool { return false }

func maxWindowGradientSIMD(w *window, x, dy, dx []float32) bool { return false }

func fingerprintSIMD(bytes []byte, sums *fingerprintSums) bool { return false }
