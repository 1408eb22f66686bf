// Package rows holds the loops over rows of features that measuring needs: sums and residuals (rows.go), searches of a row of
// products (search.go), logarithms and sums of squares (functions.go), a walk over a row of a Gram matrix (gramrow.go). Class means are sums
// of rows and collapse is a tiny spread around them, so sums and differences are formed in float64 whatever the features are.
//
// table.go lists the functions that exist in SIMD; avx2_amd64.go and avx512_amd64.go have the versions. Generic versions define the bits,
// which are the same with every instruction set: their names end in Generic, and those of searches are the loops in search.go.
package rows

import "collapse.example/collapse/internal/kernel"

// AddRow adds the row x to dst in float64: dst[j] += x[j].
// It panics if the lengths differ.
func AddRow[T kernel.Float](dst []float64, x []T) {
	if len(dst) != len(x) {
		panic("rows: AddRow needs slices of one length")
	}
	loopsOf[T]().addRow(dst, x)
}

// SumRows adds rows of x to dst in float64, in the given order: dst[j] += Σ_i x[rows[i], j]. The bits are those of AddRow for one
// row after the other, but dst is read and written only once. Meanwhile it prefetches memory that is used soon: as much of ahead as
// it reads, in memory order; nil for none. It panics if a row is outside x, or if a row of x is not as long as dst.
func SumRows[T kernel.Float](dst []float64, x kernel.Matrix[T], rows []int32, ahead []T) {
	if x.Cols != len(dst) || !x.Fits() {
		panic("rows: SumRows of a matrix with rows of another length")
	}
	for _, r := range rows {
		if r < 0 || int(r) >= x.Rows {
			panic("rows: SumRows of a row outside its matrix")
		}
	}
	if len(ahead) == 0 {
		ahead = x.Data
	}
	loopsOf[T]().sumRows(dst, x, rows, ahead)
}

// SubRow writes the residual dst[j] = x[j] − mean[j], computed in float64 and then rounded to D, and returns Σ_j (x[j] − mean[j])²
// of the residuals before that rounding. It panics if the lengths differ.
func SubRow[D, T kernel.Float](dst []D, x []T, mean []float64) float64 {
	if len(dst) != len(x) || len(mean) != len(x) {
		panic("rows: SubRow needs slices of one length")
	}
	if kernel.IsFloat32[D]() {
		return loopsOf[T]().subRow32(kernel.As[float32](dst), x, mean)
	}
	return loopsOf[T]().subRow64(kernel.As[float64](dst), x, mean)
}

// SumSquares returns Σ_j x[j]² in float64.
func SumSquares[T kernel.Float](x []T) float64 { return loopsOf[T]().sumSquares(x) }

func addRowGeneric[T kernel.Float](dst []float64, x []T) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] += float64(v)
	}
}

func subRowGeneric[D, T kernel.Float](dst []D, x []T, mean []float64, sums *kernel.Sums) {
	dst, mean = dst[:len(x)], mean[:len(x)]
	for j, v := range x {
		r := float64(v) - mean[j]
		dst[j] = D(r)
		sums[j%kernel.Parts] += float64(r * r)
	}
}

func squaresGeneric[T kernel.Float](x []T, sums *kernel.Sums) {
	for j, v := range x {
		w := float64(v)
		sums[j%kernel.Parts] += float64(w * w)
	}
}

// sumRowsGeneric is SumRows from column done on.
func sumRowsGeneric[T kernel.Float](dst []float64, x kernel.Matrix[T], rows []int32, done int) {
	for _, r := range rows {
		addRowGeneric(dst[done:], x.Data[int(r)*x.Stride+done:][:len(dst)-done])
	}
}
