package kernel

//go:generate go run ./asm/rows -pkg kernel -out rowsum_amd64.s -stubs rowsum_stubs_amd64.go

// The functions below run the SIMD version of a loop on as many whole steps of rowLanes elements as there
// are and return how many elements that is: 0 without a SIMD version.

// wholeSteps returns how many of n elements the SIMD loops take.
func wholeSteps(n int) int {
	if active == isaGeneric {
		return 0
	}
	return n &^ (rowLanes - 1)
}

func addRowSIMD(dst []float64, x []float32) int {
	n := wholeSteps(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		addRowAVX512(n, &dst[0], &x[0])
	default:
		addRowAVX2(n, &dst[0], &x[0])
	}
	return n
}

func sumRowsSIMD(dst []float64, x []float32, ld int, rows []int32) int {
	if len(rows) == 0 {
		return 0
	}
	switch active {
	case isaAVX512:
		if n := len(dst) &^ 63; n > 0 {
			sumRowsAVX512(n, len(rows), ld, &dst[0], &x[0], &rows[0])
			return n
		}
	case isaAVX2:
		if n := len(dst) &^ 31; n > 0 {
			sumRowsAVX2(n, len(rows), ld, &dst[0], &x[0], &rows[0])
			return n
		}
	}
	return 0
}

func subRow64SIMD(dst []float64, x []float32, mean []float64, sums *[rowLanes]float64) int {
	n := wholeSteps(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		subRow64AVX512(n, &dst[0], &x[0], &mean[0], &sums[0])
	default:
		subRow64AVX2(n, &dst[0], &x[0], &mean[0], &sums[0])
	}
	return n
}

func subRow32SIMD(dst, x []float32, mean []float64, sums *[rowLanes]float64) int {
	n := wholeSteps(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		subRow32AVX512(n, &dst[0], &x[0], &mean[0], &sums[0])
	default:
		subRow32AVX2(n, &dst[0], &x[0], &mean[0], &sums[0])
	}
	return n
}

func squaresSIMD(x []float32, sums *[rowLanes]float64) int {
	n := wholeSteps(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		squaresAVX512(n, &x[0], &sums[0])
	default:
		squaresAVX2(n, &x[0], &sums[0])
	}
	return n
}

func dotSIMD[T Float](a []float64, b []T, sums *[rowLanes]float64) int {
	n := wholeSteps(len(a))
	switch {
	case n == 0:
	case isFloat32[T]() && active == isaAVX512:
		dot32AVX512(n, &a[0], &as[float32](b)[0], &sums[0])
	case isFloat32[T]():
		dot32AVX2(n, &a[0], &as[float32](b)[0], &sums[0])
	case active == isaAVX512:
		dot64AVX512(n, &a[0], &as[float64](b)[0], &sums[0])
	default:
		dot64AVX2(n, &a[0], &as[float64](b)[0], &sums[0])
	}
	return n
}

func squaresAboutSIMD(x []float64, about float64, sums *[rowLanes]float64) int {
	n := wholeSteps(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		squaresAboutAVX512(n, &x[0], &about, &sums[0])
	default:
		squaresAboutAVX2(n, &x[0], &about, &sums[0])
	}
	return n
}

func logsSIMD(dst, x []float64) int { return functionSIMD(dst, x, logsAVX512) }

func expsSIMD(dst, x []float64) int { return functionSIMD(dst, x, expsAVX512) }

func functionSIMD(dst, x []float64, of func(n int, dst, x *float64)) int {
	n := len(x) &^ 7
	if active != isaAVX512 || n == 0 {
		return 0
	}
	of(n, &dst[0], &x[0])
	return n
}
