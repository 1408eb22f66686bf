package rows

import "collapse.example/collapse/internal/kernel"

// useAVX2 puts what AVX2 does into the table. Sums lie on the stack: the assembly is called by name, so that they do not escape.
func useAVX2(f *functions) {
	f.float32.addRow = func(dst []float64, x []float32) {
		n := whole(len(x))
		if n > 0 {
			addRowAVX2(n, &dst[0], &x[0])
		}
		addRowGeneric(dst[n:], x[n:])
	}
	f.float32.sumRows = func(dst []float64, x kernel.Matrix[float32], rows []int32, ahead []float32) {
		n := len(dst) &^ 31
		if n > 0 && len(rows) > 0 {
			sumRowsAVX2(n, len(rows), x.Stride, &dst[0], &x.Data[0], &rows[0], &ahead[0])
		}
		sumRowsGeneric(dst, x, rows, n)
	}
	f.float32.subRow32 = func(dst, x []float32, mean []float64) float64 {
		var sums kernel.Sums
		n := whole(len(x))
		if n > 0 {
			subRow32AVX2(n, &dst[0], &x[0], &mean[0], &sums[0])
		}
		subRowGeneric(dst[n:], x[n:], mean[n:], &sums)
		return sums.Total()
	}
	f.float32.subRow64 = func(dst []float64, x []float32, mean []float64) float64 {
		var sums kernel.Sums
		n := whole(len(x))
		if n > 0 {
			subRow64AVX2(n, &dst[0], &x[0], &mean[0], &sums[0])
		}
		subRowGeneric(dst[n:], x[n:], mean[n:], &sums)
		return sums.Total()
	}
	f.float32.sumSquares = func(x []float32) float64 {
		var sums kernel.Sums
		n := whole(len(x))
		if n > 0 {
			squaresAVX2(n, &x[0], &sums[0])
		}
		squaresGeneric(x[n:], &sums)
		return sums.Total()
	}
	f.float32.dot = func(a []float64, b []float32) float64 {
		var sums kernel.Sums
		n := whole(len(a))
		if n > 0 {
			dot32AVX2(n, &a[0], &b[0], &sums[0])
		}
		dotGeneric(a[n:], b[n:], &sums)
		return sums.Total()
	}
	f.float64.dot = func(a, b []float64) float64 {
		var sums kernel.Sums
		n := whole(len(a))
		if n > 0 {
			dot64AVX2(n, &a[0], &b[0], &sums[0])
		}
		dotGeneric(a[n:], b[n:], &sums)
		return sums.Total()
	}
	f.sumsAbout = func(x []float64, about float64) (sum, squares float64) {
		var s, q kernel.Sums
		n := whole(len(x))
		if n > 0 {
			sumsAboutAVX2(n, &x[0], &about, &s[0], &q[0])
		}
		sumsAboutGeneric(x[n:], about, &s, &q)
		return s.Total(), q.Total()
	}
}
