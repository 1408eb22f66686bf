package kernel

import "unsafe"

// Loops over one row of features. Class means are sums of rows and collapse is a tiny spread around them,
// so sums and differences are formed in float64 whatever the features are.

// rowLanes is the number of partial sums of a row: element j belongs to sum j mod rowLanes.
const rowLanes = 16

// Prefetch asks for x, which is used soon: rows in no order of memory otherwise cost its whole latency.
func Prefetch[T Float | int32](x []T) {
	if len(x) > 0 {
		const line = 64
		prefetch((len(x)*int(unsafe.Sizeof(x[0]))+line-1)/line, (*byte)(unsafe.Pointer(&x[0])))
	}
}

// Touch has x in a cache for loops that read it in another order, such as SumRows: memory is faster in its own. Loops without SIMD do not need it.
func Touch[T Float](x []T) {
	if isFloat32[T]() {
		touch(as[float32](x))
	}
}

// AddRow adds the row x to dst in float64: dst[j] += x[j].
// It panics if the lengths differ.
func AddRow[T Float](dst []float64, x []T) {
	if len(dst) != len(x) {
		panic("kernel: AddRow needs slices of one length")
	}
	done := 0
	if isFloat32[T]() {
		done = addRowSIMD(dst, as[float32](x))
	}
	addRowGeneric(dst[done:], x[done:])
}

// SumRows adds rows of x, ld elements apart, to dst in float64, in the given order:
// dst[j] += Σ_i x[rows[i]·ld + j]. The bits are those of AddRow for one row after the other, but
// dst is read and written once. On the way it asks for memory that is used soon, as much from ahead on as it reads, in the order of
// memory; nil for none.
// It panics if a row lies outside x or is shorter than dst.
func SumRows[T Float](dst []float64, x []T, ld int, rows []int32, ahead []T) {
	for _, r := range rows {
		if r < 0 || !fits(int(r)+1, len(dst), len(x), ld) {
			panic("kernel: SumRows of a row outside its matrix")
		}
	}
	done := 0
	if isFloat32[T]() {
		if len(ahead) == 0 {
			ahead = x
		}
		done = sumRowsSIMD(dst, as[float32](x), ld, rows, as[float32](ahead))
	}
	for _, r := range rows {
		addRowGeneric(dst[done:], x[int(r)*ld+done:][:len(dst)-done])
	}
}

// SubRow writes the residual dst[j] = x[j] − mean[j], formed in float64 and then rounded to D, and returns
// Σ_j (x[j] − mean[j])² of the residuals before that rounding.
// It panics if the lengths differ.
func SubRow[D, T Float](dst []D, x []T, mean []float64) float64 {
	if len(dst) != len(x) || len(mean) != len(x) {
		panic("kernel: SubRow needs slices of one length")
	}
	var sums [rowLanes]float64
	done := 0
	switch {
	case !isFloat32[T]():
	case isFloat32[D]():
		done = subRow32SIMD(as[float32](dst), as[float32](x), mean, &sums)
	default:
		done = subRow64SIMD(as[float64](dst), as[float32](x), mean, &sums)
	}
	subRowGeneric(dst[done:], x[done:], mean[done:], &sums)
	return addLanes(&sums)
}

// SumSquares returns Σ_j x[j]² in float64.
func SumSquares[T Float](x []T) float64 {
	var sums [rowLanes]float64
	done := 0
	if isFloat32[T]() {
		done = squaresSIMD(as[float32](x), &sums)
	}
	squaresGeneric(x[done:], &sums)
	return addLanes(&sums)
}

func addRowGeneric[T Float](dst []float64, x []T) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] += float64(v)
	}
}

func subRowGeneric[D, T Float](dst []D, x []T, mean []float64, sums *[rowLanes]float64) {
	dst, mean = dst[:len(x)], mean[:len(x)]
	for j, v := range x {
		r := float64(v) - mean[j]
		dst[j] = D(r)
		sums[j%rowLanes] += float64(r * r)
	}
}

func squaresGeneric[T Float](x []T, sums *[rowLanes]float64) {
	for j, v := range x {
		w := float64(v)
		sums[j%rowLanes] += float64(w * w)
	}
}

// addLanes adds the partial sums in pairs.
func addLanes(sums *[rowLanes]float64) float64 {
	for n := rowLanes / 2; n > 0; n /= 2 {
		for j := range n {
			sums[j] += sums[j+n]
		}
	}
	return sums[0]
}
