package rows

import "collapse.example/collapse/internal/kernel"

// useAVX512 puts what AVX512 does into the table. Sums lie on the stack: the assembly is called by name, so that they do not escape.
func useAVX512(f *functions) {
	f.float32.addRow = func(dst []float64, x []float32) {
		n := whole(len(x))
		if n > 0 {
			addRowAVX512(n, &dst[0], &x[0])
		}
		addRowGeneric(dst[n:], x[n:])
	}
	f.float32.sumRows = func(dst []float64, x kernel.Matrix[float32], rows []int32, ahead []float32) {
		n := len(dst) &^ 63
		if n > 0 && len(rows) > 0 {
			sumRowsAVX512(n, len(rows), x.Stride, &dst[0], &x.Data[0], &rows[0], &ahead[0])
		}
		sumRowsGeneric(dst, x, rows, n)
	}
	f.float32.subRow32 = func(dst, x []float32, mean []float64) float64 {
		var sums kernel.Sums
		n := whole(len(x))
		if n > 0 {
			subRow32AVX512(n, &dst[0], &x[0], &mean[0], &sums[0])
		}
		subRowGeneric(dst[n:], x[n:], mean[n:], &sums)
		return sums.Total()
	}
	f.float32.subRow64 = func(dst []float64, x []float32, mean []float64) float64 {
		var sums kernel.Sums
		n := whole(len(x))
		if n > 0 {
			subRow64AVX512(n, &dst[0], &x[0], &mean[0], &sums[0])
		}
		subRowGeneric(dst[n:], x[n:], mean[n:], &sums)
		return sums.Total()
	}
	f.float32.sumSquares = func(x []float32) float64 {
		var sums kernel.Sums
		n := whole(len(x))
		if n > 0 {
			squaresAVX512(n, &x[0], &sums[0])
		}
		squaresGeneric(x[n:], &sums)
		return sums.Total()
	}
	f.float32.dot = func(a []float64, b []float32) float64 {
		var sums kernel.Sums
		n := whole(len(a))
		if n > 0 {
			dot32AVX512(n, &a[0], &b[0], &sums[0])
		}
		dotGeneric(a[n:], b[n:], &sums)
		return sums.Total()
	}
	f.float64.dot = func(a, b []float64) float64 {
		var sums kernel.Sums
		n := whole(len(a))
		if n > 0 {
			dot64AVX512(n, &a[0], &b[0], &sums[0])
		}
		dotGeneric(a[n:], b[n:], &sums)
		return sums.Total()
	}
	f.sumsAbout = func(x []float64, about float64) (sum, squares float64) {
		var s, q kernel.Sums
		n := whole(len(x))
		if n > 0 {
			sumsAboutAVX512(n, &x[0], &about, &s[0], &q[0])
		}
		sumsAboutGeneric(x[n:], about, &s, &q)
		return s.Total(), q.Total()
	}
	useSearchesAVX512(f)
	f.logs = func(dst, x []float64) { eachAVX512(dst, x, logsAVX512, logGeneric) }
	f.exps = func(dst, x []float64) { eachAVX512(dst, x, expsAVX512, expGeneric) }
	f.gramRow = func(r *GramRow, g []float64, own gramOwn) bool {
		lanes, n := newGramLanes(), whole(len(g))
		if n > 0 && gramRowAVX512(n, &g[0], &r.Unit[0], &r.Whole[0], &r.Shift[0], &r.Square[0], &own.unit, &r.Distance[0], &r.Inverse[0], &lanes.away[0]) != 0 {
			return false
		}
		return r.walkGeneric(g, n, &own, &lanes)
	}
}

// eachAVX512 applies a function to every element: steps to whole vectors, one to the rest, with the same bits.
func eachAVX512(dst, x []float64, steps func(n int, dst, x *float64), one func(float64) float64) {
	n := len(x) &^ 7
	if n > 0 {
		steps(n, &dst[0], &x[0])
	}
	eachGeneric(dst[n:], x[n:], one)
}
