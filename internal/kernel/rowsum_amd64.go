package kernel

import "slices"

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

func prefetch(n int, x *byte) { prefetchLines(n, x) }

func touch(x []float32) {
	if active != isaGeneric {
		Sum(x)
	}
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

func sumRowsSIMD(dst []float64, x []float32, ld int, rows []int32, ahead []float32) int {
	if len(rows) == 0 {
		return 0
	}
	switch active {
	case isaAVX512:
		if n := len(dst) &^ 63; n > 0 {
			sumRowsAVX512(n, len(rows), ld, &dst[0], &x[0], &rows[0], &ahead[0])
			return n
		}
	case isaAVX2:
		if n := len(dst) &^ 31; n > 0 {
			sumRowsAVX2(n, len(rows), ld, &dst[0], &x[0], &rows[0], &ahead[0])
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

func sumsAboutSIMD(x []float64, about float64, sums, squares *[rowLanes]float64) int {
	n := wholeSteps(len(x))
	switch {
	case n == 0:
	case active == isaAVX512:
		sumsAboutAVX512(n, &x[0], &about, &sums[0], &squares[0])
	default:
		sumsAboutAVX2(n, &x[0], &about, &sums[0], &squares[0])
	}
	return n
}

func gramRowSIMD(r *GramRow, g []float64, own *gramOwn, lanes *gramLanes) (done int, cancelled bool) {
	n := wholeSteps(len(g))
	if active != isaAVX512 || n == 0 {
		return 0, false
	}
	any := gramRowAVX512(n, &g[0], &r.Unit[0], &r.Whole[0], &r.Shift[0], &r.Square[0], &own.unit, &r.Distance[0], &r.Inverse[0], &lanes.away[0])
	return n, any != 0
}

// onVectors reports how many of n elements the searches of rows take: they are for AVX-512 alone.
func onVectors(n int) int {
	if active != isaAVX512 {
		return 0
	}
	return wholeSteps(n)
}

func largestSumSIMD[T Float](x []T, y []float64, most *[8]float64) int {
	n := onVectors(len(x))
	switch {
	case n == 0:
	case isFloat32[T]():
		largestSum32AVX512(n, &as[float32](x)[0], &y[0], &most[0])
	default:
		largestSum64AVX512(n, &as[float64](x)[0], &y[0], &most[0])
	}
	return n
}

func largestProductSIMD[T Float](x []T, y []float64, most *[8]float64) int {
	n := onVectors(len(x))
	switch {
	case n == 0:
	case isFloat32[T]():
		largestProduct32AVX512(n, &as[float32](x)[0], &y[0], &most[0])
	default:
		largestProduct64AVX512(n, &as[float64](x)[0], &y[0], &most[0])
	}
	return n
}

func selectProductsSIMD[T Float](list []int32, values []float64, x []T, y []float64, least float64, first int32) ([]int32, []float64, int) {
	n := onVectors(len(x))
	if n == 0 {
		return list, values, 0
	}
	at := len(list)
	list, values = slices.Grow(list, n+selectRoom)[:at+n], slices.Grow(values, n+selectRoom)[:at+n]
	found := 0
	if isFloat32[T]() {
		found = selectProducts32AVX512(n, &list[at], &values[at], &as[float32](x)[0], &y[0], &least)
	} else {
		found = selectProducts64AVX512(n, &list[at], &values[at], &as[float64](x)[0], &y[0], &least)
	}
	list, values = list[:at+found], values[:at+found]
	if first != 0 {
		for i := range list[at:] {
			list[at+i] += first
		}
	}
	return list, values, n
}

func leastGapSIMD[T Float](x []T, base, other []float64, own *[3]float64, least *[8]float64) (done int, lost bool) {
	n := onVectors(len(x))
	any := uint64(0)
	switch {
	case n == 0:
	case isFloat32[T]():
		any = leastGap32AVX512(n, &as[float32](x)[0], &base[0], &other[0], &own[0], &least[0])
	default:
		any = leastGap64AVX512(n, &as[float64](x)[0], &base[0], &other[0], &own[0], &least[0])
	}
	return n, any != 0
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
