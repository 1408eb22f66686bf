package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
)

// genericKernels returns the pieces in plain Go; a vector is a whole block of lanes.
func genericKernels[T kernel.Float]() *kernels[T] {
	tiles := make([][]func(*convTile), 4)
	for r := range tiles {
		tiles[r] = []func(*convTile){func(a *convTile) { convTilesGeneric[T](a, r+1) }}
	}
	return &kernels[T]{
		lanes:     LaneBlock,
		tiles:     tiles,
		copies:    []func(dst *T, dstStep int, src *T, srcStep, n int){convCopyGeneric[T]},
		transpose: transposeGeneric[T],
		fence:     func() {},
		input:     transformer(6, 6, winogradInputLine[T]), output: transformer(6, 4, winogradOutputLine[T]),
		gradient: transformer(4, 6, winogradGradientLine[T]),
		filter:   transformer(3, 6, winogradFilterLine[T]), filterGradient: transformer(6, 3, winogradFilterGradientLine[T]),
	}
}

// block is a vector of the generic kernels.
type block[T kernel.Float] [LaneBlock]T

func blockAt[T kernel.Float](p unsafe.Pointer, bytes int) *block[T] {
	return (*block[T])(unsafe.Add(p, bytes))
}

func elementAt[T kernel.Float](p unsafe.Pointer, bytes int) *T {
	return (*T)(unsafe.Add(p, bytes))
}

// convTilesGeneric computes tiles of rows rows and one vector.
func convTilesGeneric[T kernel.Float](t *convTile, rows int) {
	convTileGeneric[T](t, rows)
	for ; t.count > 1; t.count-- {
		t.a, t.b, t.c = unsafe.Add(t.a, t.aNext), unsafe.Add(t.b, t.bNext), unsafe.Add(t.c, t.cNext)
		convTileGeneric[T](t, rows)
	}
}

func convTileGeneric[T kernel.Float](t *convTile, rows int) {
	var sums [4]block[T]
	for _, run := range unsafe.Slice(t.runs, t.runCount) {
		a, b := run.a, run.b
		for range t.k {
			col := blockAt[T](t.b, b)
			for r := range rows {
				x, sum := *elementAt[T](t.a, a+r*t.aRow), &sums[r]
				for l, y := range col {
					sum[l] += T(x * y) // the conversion prevents fusing: same bits on every target
				}
			}
			a += t.aCol
			b += t.bRow
		}
	}
	for r := range rows {
		sum := &sums[r]
		if t.bias != nil {
			addScalar(sum, *elementAt[T](t.bias, r*kernel.Size[T]()))
		}
		if t.add != nil {
			addBlock(sum, blockAt[T](t.add, r*t.addRow))
		}
		if t.relu != 0 {
			rectify(sum)
		}
		*blockAt[T](t.c, r*t.cRow) = *sum
	}
}

func addScalar[T kernel.Float](sum *block[T], x T) {
	for l := range sum {
		sum[l] += x
	}
}

func rectify[T kernel.Float](sum *block[T]) {
	for l, v := range sum {
		if v < 0 {
			sum[l] = 0
		}
	}
}

func addBlock[T kernel.Float](sum, x *block[T]) {
	for l, v := range x {
		sum[l] += v
	}
}

func convCopyGeneric[T kernel.Float](dst *T, dstStep int, src *T, srcStep, n int) {
	for i := range n {
		*blockAt[T](unsafe.Pointer(dst), i*dstStep) = *blockAt[T](unsafe.Pointer(src), i*srcStep)
	}
}

func transposeGeneric[T kernel.Float](t *convTranspose) {
	for i := range t.blocks {
		for r, row := range t.srcRows {
			for l, v := range blockAt[T](t.src, i*t.srcGap+row) {
				if to := t.dstRows[l]; to >= 0 {
					*elementAt[T](t.dst, i*t.dstGap+to+r*kernel.Size[T]()) = v
				}
			}
		}
	}
}
