package kernel

import (
	"unsafe"

	"collapse/parallel"
)

// GemmPairs computes C = op(A)·op(B) of 16-bit whole numbers, exactly: twice the products of float32 in a vector, and no rounding.
// An element of A or B is a pair of numbers, the first in its low half, the second in its high half (two's
// complement), and two pairs multiply to a dot product:
//
//	c[i*ldc+j] = Σ_p lo(op(A)[i,p])·lo(op(B)[p,j]) + hi(op(A)[i,p])·hi(op(B)[p,j])  (+ c[i*ldc+j] if accumulate)
//
// k counts pairs. Sums are modulo 2³², so partial sums may overflow; by Cauchy and Schwarz the result does not
// where the product of the vectors' norms stays below 2³¹. The rest is as in Gemm.
func GemmPairs(tm *parallel.Team, f Form, m, n, k int, a []int32, lda int, b []int32, ldb int, c []int32, ldc int, accumulate bool) {
	checkShapes(f, m, n, k, len(a), lda, len(b), ldb, len(c), ldc)
	if m == 0 || n == 0 {
		return
	}
	multiply(tm, &productsPairs, product[int32]{
		form: f, m: m, n: n, k: k, lda: lda, ldb: ldb, ldc: ldc, a: a, b: b, c: c, accumulate: accumulate,
	})
}

// FastPairs reports whether GemmPairs is faster than Gemm in float32 with the kernel in use.
func FastPairs() bool { return fastPairs }

// genericPairs returns the pieces of GemmPairs in plain Go.
func genericPairs() products[int32] {
	p := genericProducts[int32]()
	for rows := range p.tiles {
		p.tiles[rows][0] = tilePairsGeneric(rows + 1)
	}
	return p
}

// tilePairsGeneric returns the tile of rows×2 elements.
func tilePairsGeneric(rows int) tileFunc[int32] {
	return func(k int, a *int32, aRow, aCol int, b *int32, bRow int, c *int32, cRow int, bias *int32, accumulate bool) {
		bs := unsafe.Slice(b, (k-1)*bRow+2)
		for r := range rows {
			as := unsafe.Slice(at(a, r*aRow), (k-1)*aCol+1)
			var s0, s1 int32
			for p := range k {
				x := as[p*aCol]
				s0 += dotPair(x, bs[p*bRow])
				s1 += dotPair(x, bs[p*bRow+1])
			}
			store2(at(c, r*cRow), s0, s1, bias, accumulate)
		}
	}
}

// dotPair returns lo(x)·lo(y) + hi(x)·hi(y).
func dotPair(x, y int32) int32 {
	return int32(int16(x))*int32(int16(y)) + (x>>16)*(y>>16)
}
