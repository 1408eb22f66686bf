package rows

import (
	"math"

	"collapse.example/collapse/internal/kernel"
)

// Searches of a row of products, in float64. A NaN is never the largest, and is never left out of a selection.

// LargestSum returns the largest x[j] + y[j] and the lowest such j; −Inf and −1 if there is none.
// It panics if the lengths differ.
func LargestSum[T kernel.Float](x []T, y []float64) (largest float64, j int) {
	return search(x, y, loopsOf[T]().mostSum, func(x []T, y []float64, most float64) (float64, int) {
		at := -1
		for j, v := range x {
			if sum := float64(v) + y[j]; sum > most || at < 0 && sum == most {
				most, at = sum, j
			}
		}
		return most, at
	})
}

// LargestProduct returns the largest x[j]·y[j] and the lowest such j; −Inf and −1 if there is none.
// It panics if the lengths differ.
func LargestProduct[T kernel.Float](x []T, y []float64) (largest float64, j int) {
	return search(x, y, loopsOf[T]().mostProduct, func(x []T, y []float64, most float64) (float64, int) {
		at := -1
		for j, v := range x {
			if product := float64(v) * y[j]; product > most || at < 0 && product == most {
				most, at = product, j
			}
		}
		return most, at
	})
}

// searchBlock is how many elements are searched for their largest value before finding its index.
const searchBlock = 512

// search finds the largest value block by block: raise returns the largest of as many elements as SIMD processes, and find looks for
// a value that is above most, or most itself, and returns its index.
func search[T kernel.Float](x []T, y []float64, raise func(x []T, y []float64) (most float64, done int), find func(x []T, y []float64, most float64) (float64, int)) (largest float64, at int) {
	if len(x) != len(y) {
		panic("rows: a search needs slices of one length")
	}
	largest, at = math.Inf(-1), -1
	for from := 0; from < len(x); from += searchBlock {
		x, y := x[from:min(from+searchBlock, len(x))], y[from:min(from+searchBlock, len(x))]
		if most, done := raise(x, y); at >= 0 && done == len(x) && !(most > largest) {
			continue
		}
		if most, j := find(x, y, largest); j >= 0 && (at < 0 || most > largest) {
			largest, at = most, from+j
		}
	}
	return largest, at
}

// selection is what SelectProducts appends to.
type selection struct {
	list   []int32
	values []float64
}

// SelectProducts appends every j for which x[j]·y[j] is not below least to list, first added to it, and the product to values.
// It panics if the lengths of x and y differ, or those of list and values.
func SelectProducts[T kernel.Float](list []int32, values []float64, x []T, y []float64, least float64, first int32) ([]int32, []float64) {
	if len(x) != len(y) || len(list) != len(values) {
		panic("rows: SelectProducts needs slices of one length")
	}
	found, done := loopsOf[T]().selectProducts(selection{list, values}, x, y, least, first)
	for j := done; j < len(x); j++ {
		if v := float64(x[j]) * y[j]; !(v < least) {
			found.list, found.values = append(found.list, first+int32(j)), append(found.values, v)
		}
	}
	return found.list, found.values
}

// LeastGap returns the least (most − err − (x[j] + base[j])) / (own + other[j]), +Inf if there are none; NaN if any is NaN.
// It panics if the lengths differ.
func LeastGap[T kernel.Float](x []T, base, other []float64, most, err, own float64) float64 {
	if len(x) != len(base) || len(x) != len(other) {
		panic("rows: LeastGap needs slices of one length")
	}
	least, done := loopsOf[T]().leastGap(x, base, other, gapOwn{most, err, own})
	for j := done; j < len(x); j++ {
		least = min(least, (most-(float64(x[j])+base[j])-err)/(own+other[j]))
	}
	return least
}

// gapOwn are the scalar arguments of LeastGap, as the assembly reads them.
type gapOwn struct{ most, err, own float64 }
