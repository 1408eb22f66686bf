//go:build !amd64

package kernel

// Without SIMD versions the generic loops take every element.

func addRowSIMD(dst []float64, x []float32) int { return 0 }

func sumRowsSIMD(dst []float64, x []float32, ld int, rows []int32, ahead []float32) int { return 0 }

func subRow64SIMD(dst []float64, x []float32, mean []float64, sums *[rowLanes]float64) int { return 0 }

func subRow32SIMD(dst, x []float32, mean []float64, sums *[rowLanes]float64) int { return 0 }

func squaresSIMD(x []float32, sums *[rowLanes]float64) int { return 0 }

func dotSIMD[T Float](a []float64, b []T, sums *[rowLanes]float64) int { return 0 }

func sumsAboutSIMD(x []float64, about float64, sums, squares *[rowLanes]float64) int { return 0 }

func gramRowSIMD(r *GramRow, g []float64, own *gramOwn, lanes *gramLanes) (int, bool) {
	return 0, false
}

func logsSIMD(dst, x []float64) int { return 0 }

func expsSIMD(dst, x []float64) int { return 0 }

func prefetch(n int, x *byte) {}

func touch(x []float32) {}

func largestSumSIMD[T Float](x []T, y []float64, most *[8]float64) int { return 0 }

func largestProductSIMD[T Float](x []T, y []float64, most *[8]float64) int { return 0 }

func selectProductsSIMD[T Float](list []int32, values []float64, x []T, y []float64, least float64, first int32) ([]int32, []float64, int) {
	return list, values, 0
}

func leastGapSIMD[T Float](x []T, base, other []float64, own *[3]float64, least *[8]float64) (done int, lost bool) {
	return 0, false
}
