package gemm

import "unsafe"

// genericOps returns the functions in plain Go. A tile is 4×2: eight sums, and the six factors they need, fit the registers of every
// 64-bit machine.
func genericOps[T cell](memory *pools[T]) ops[T] {
	return ops[T]{
		mr: 4, lanes: 2, nr: 2,
		tiles: [][]tileFunc[T]{
			{tileRowsGeneric[T](1)}, {tileRowsGeneric[T](2)}, {tileRowsGeneric[T](3)}, {tile4x2Generic[T]},
		},
		transpose4: transpose4Generic[T], transposeStep: 1,
		copyRows: copyRowsGeneric[T],
		pools:    memory,
	}
}

// tileRowsGeneric returns the tile of rows×2 elements, row by row.
func tileRowsGeneric[T cell](rows int) tileFunc[T] {
	return func(k int, a *T, aRow, aCol int, b *T, bRow int, c *T, cRow int, bias *T, accumulate bool) {
		bs := unsafe.Slice(b, (k-1)*bRow+2)
		for r := range rows {
			as := unsafe.Slice(at(a, r*aRow), (k-1)*aCol+1)
			var s0, s1 T
			for p := range k {
				x := as[p*aCol]
				s0 += T(x * bs[p*bRow]) // the conversion prevents fusing: same bits on every target
				s1 += T(x * bs[p*bRow+1])
			}
			store2(at(c, r*cRow), s0, s1, bias, accumulate)
		}
	}
}

// tile4x2Generic is the full tile.
func tile4x2Generic[T cell](k int, a *T, aRow, aCol int, b *T, bRow int, c *T, cRow int, bias *T, accumulate bool) {
	a0, a1, a2, a3 := unsafe.Slice(a, (k-1)*aCol+1), unsafe.Slice(at(a, aRow), (k-1)*aCol+1),
		unsafe.Slice(at(a, 2*aRow), (k-1)*aCol+1), unsafe.Slice(at(a, 3*aRow), (k-1)*aCol+1)
	bs := unsafe.Slice(b, (k-1)*bRow+2)
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	for p := range k {
		y0, y1 := bs[p*bRow], bs[p*bRow+1]
		i := p * aCol
		x0, x1, x2, x3 := a0[i], a1[i], a2[i], a3[i]
		s00 += T(x0 * y0)
		s01 += T(x0 * y1)
		s10 += T(x1 * y0)
		s11 += T(x1 * y1)
		s20 += T(x2 * y0)
		s21 += T(x2 * y1)
		s30 += T(x3 * y0)
		s31 += T(x3 * y1)
	}
	store2(c, s00, s01, bias, accumulate)
	store2(at(c, cRow), s10, s11, bias, accumulate)
	store2(at(c, 2*cRow), s20, s21, bias, accumulate)
	store2(at(c, 3*cRow), s30, s31, bias, accumulate)
}

// store2 stores two sums of a row in C.
func store2[T cell](c *T, s0, s1 T, bias *T, accumulate bool) {
	if bias != nil {
		s0, s1 = s0+*bias, s1+*at(bias, 1)
	}
	if accumulate {
		s0, s1 = *c+s0, *at(c, 1)+s1
	}
	*c, *at(c, 1) = s0, s1
}

func transpose4Generic[T cell](dst *T, dstRow int, src *T, srcRow, k int) {
	for r := range 4 {
		row := unsafe.Slice(at(src, r*srcRow), k)
		for p, v := range row {
			*at(dst, p*dstRow+r) = v
		}
	}
}

func copyRowsGeneric[T cell](dst *T, dstRow int, src *T, srcRow, width, k int) {
	for p := range k {
		copy(unsafe.Slice(at(dst, p*dstRow), width), unsafe.Slice(at(src, p*srcRow), width))
	}
}

// at returns the address of element i after p.
func at[T cell](p *T, i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p))))
}
