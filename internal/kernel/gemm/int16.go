package gemm

import (
	"math"
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// Int16 computes C = op(A)·op(B) for 16-bit integers, exactly: twice as many products per vector as float32, and no rounding. An
// element of A or B is a pair of numbers, the first in its low half, the second in its high half (two's complement), and two pairs
// multiply to a dot product:
//
//	c[i,j] = Σ_p lo(op(A)[i,p])·lo(op(B)[p,j]) + hi(op(A)[i,p])·hi(op(B)[p,j])  (+ c[i,j] if accumulate)
//
// A shape counts pairs. Sums are modulo 2³², so partial sums may overflow; by Cauchy–Schwarz the result does not if the product of
// the vectors' norms stays below 2³¹. Otherwise it is like Multiply.
func Int16(tm *parallel.Team, f Form, a, b, c kernel.Matrix[int32], accumulate bool) {
	m, n, k := shapeOf(f, a, b, c)
	if m == 0 || n == 0 {
		return
	}
	compute(tm, &table.int16, product[int32]{form: f, m: m, n: n, k: k, a: a, b: b, c: c, accumulate: accumulate})
}

// FastInt16 reports whether Int16 is faster than Multiply in float32 with the instruction set in use.
func FastInt16() bool { return table.fastInt16 }

// MostInt16 is the largest magnitude that RoundInt16 is certain to write correctly.
const MostInt16 = 32700

// RoundInt16 writes the integers nearest to x_j·scale, ties to even, two per element, in the form that Int16 reads: x_0 and x_1 in
// the low and high half of dst[0]. If len(x) is odd, the last high half is 0.
//
// x_j·scale
// must not exceed MostInt16; beyond it, and for NaN, the number is unspecified. It panics if dst does not have ⌈len(x)/2⌉ elements.
func RoundInt16(dst []int32, x []float32, scale float32) {
	if len(dst) != (len(x)+1)/2 {
		panic("gemm: RoundInt16 needs one element for two numbers")
	}
	done := 0
	if table.roundInt16 != nil {
		if done = len(x) &^ (kernel.Parts - 1); done > 0 {
			table.roundInt16(done, &dst[0], &x[0], scale)
		}
	}
	roundInt16Generic(dst[done/2:], x[done:], scale)
}

func roundInt16Generic(dst []int32, x []float32, scale float32) {
	number := func(j int) int32 {
		if j >= len(x) {
			return 0
		}
		return int32(math.RoundToEven(float64(x[j] * scale)))
	}
	for p := range dst {
		dst[p] = number(2*p)&0xffff | number(2*p+1)<<16
	}
}

// genericInt16 returns the functions of Int16 in plain Go.
func genericInt16() ops[int32] {
	p := genericOps(&poolsInt16)
	for rows := range p.tiles {
		p.tiles[rows][0] = tileInt16Generic(rows + 1)
	}
	return p
}

// tileInt16Generic returns the tile of rows×2 elements.
func tileInt16Generic(rows int) tileFunc[int32] {
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
