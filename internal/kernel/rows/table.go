package rows

import (
	"math"
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
)

// functions are all functions of package rows that exist in SIMD, for one instruction set: each runs the assembly on as many whole
// steps of elements as there are, and the generic loop, which defines both, on the rest.
type functions struct {
	float32 loops[float32]
	float64 loops[float64]

	sumsAbout  func(x []float64, about float64) (sum, squares float64)
	logs, exps func(dst, x []float64)
	gramRow    func(r *GramRow, g []float64, own gramOwn) (exact bool)
}

// loops are the loops over rows of one element type.
type loops[T kernel.Float] struct {
	addRow     func(dst []float64, x []T)
	sumRows    func(dst []float64, x kernel.Matrix[T], rows []int32, ahead []T)
	subRow32   func(dst []float32, x []T, mean []float64) (squares float64)
	subRow64   func(dst []float64, x []T, mean []float64) (squares float64)
	sumSquares func(x []T) float64
	dot        func(a []float64, b []T) float64

	// The searches return what they find in the first done elements: as many as SIMD processes, none in plain Go.
	mostSum, mostProduct func(x []T, y []float64) (most float64, done int)
	selectProducts       func(found selection, x []T, y []float64, least float64, first int32) (more selection, done int)
	leastGap             func(x []T, base, other []float64, own gapOwn) (least float64, done int)
}

var table functions

func init() { isa.Fill(func(set isa.Set) { table = functionsFor(set) }) }

// loopsOf returns the loops of an element type.
func loopsOf[T kernel.Float]() *loops[T] {
	if kernel.IsFloat32[T]() {
		return (*loops[T])(unsafe.Pointer(&table.float32))
	}
	return (*loops[T])(unsafe.Pointer(&table.float64))
}

// genericFunctions returns the versions in plain Go.
func genericFunctions() functions {
	return functions{
		float32: genericLoops[float32](), float64: genericLoops[float64](),
		sumsAbout: func(x []float64, about float64) (sum, squares float64) {
			var s, q kernel.Sums
			sumsAboutGeneric(x, about, &s, &q)
			return s.Total(), q.Total()
		},
		logs: func(dst, x []float64) { eachGeneric(dst, x, logGeneric) },
		exps: func(dst, x []float64) { eachGeneric(dst, x, expGeneric) },
		gramRow: func(r *GramRow, g []float64, own gramOwn) bool {
			lanes := newGramLanes()
			return r.walkGeneric(g, 0, &own, &lanes)
		},
	}
}

func genericLoops[T kernel.Float]() loops[T] {
	return loops[T]{
		addRow: addRowGeneric[T],
		sumRows: func(dst []float64, x kernel.Matrix[T], rows []int32, _ []T) {
			sumRowsGeneric(dst, x, rows, 0)
		},
		subRow32: func(dst []float32, x []T, mean []float64) float64 {
			var sums kernel.Sums
			subRowGeneric(dst, x, mean, &sums)
			return sums.Total()
		},
		subRow64: func(dst []float64, x []T, mean []float64) float64 {
			var sums kernel.Sums
			subRowGeneric(dst, x, mean, &sums)
			return sums.Total()
		},
		sumSquares: func(x []T) float64 {
			var sums kernel.Sums
			squaresGeneric(x, &sums)
			return sums.Total()
		},
		dot: func(a []float64, b []T) float64 {
			var sums kernel.Sums
			dotGeneric(a, b, &sums)
			return sums.Total()
		},
		mostSum:     func([]T, []float64) (float64, int) { return math.Inf(-1), 0 },
		mostProduct: func([]T, []float64) (float64, int) { return math.Inf(-1), 0 },
		selectProducts: func(found selection, _ []T, _ []float64, _ float64, _ int32) (selection, int) {
			return found, 0
		},
		leastGap: func([]T, []float64, []float64, gapOwn) (float64, int) { return math.Inf(1), 0 },
	}
}
