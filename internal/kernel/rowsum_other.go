//go:build !amd64

package kernel

// Without SIMD versions the generic loops take every element.

func addRowSIMD(dst []float64, x []float32) int { return 0 }

func sumRowsSIMD(dst []float64, x []float32, ld int, rows []int32) int { return 0 }

func subRow64SIMD(dst []float64, x []float32, mean []float64, sums *[rowLanes]float64) int { return 0 }

func subRow32SIMD(dst, x []float32, mean []float64, sums *[rowLanes]float64) int { return 0 }

func squaresSIMD(x []float32, sums *[rowLanes]float64) int { return 0 }

func dotSIMD[T Float](a []float64, b []T, sums *[rowLanes]float64) int { return 0 }

func squaresAboutSIMD(x []float64, about float64, sums *[rowLanes]float64) int { return 0 }

func logsSIMD(dst, x []float64) int { return 0 }

func expsSIMD(dst, x []float64) int { return 0 }
