package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
)

// plainSearches are the searches of a row, written as in their definitions.
func plainSearches[T kernel.Float](x []T, y, other []float64, least float64) (sum, product float64, atSum, atProduct int, list []int32, values []float64, gap float64) {
	sum, product, atSum, atProduct, gap = math.Inf(-1), math.Inf(-1), -1, -1, math.Inf(1)
	for j, v := range x {
		if s := float64(v) + y[j]; s > sum || s == sum && atSum < 0 {
			sum, atSum = s, j
		}
		p := float64(v) * y[j]
		if p > product || p == product && atProduct < 0 {
			product, atProduct = p, j
		}
		if !(p < least) {
			list, values = append(list, int32(j)+7), append(values, p)
		}
		gap = min(gap, (5-.25-(float64(v)+y[j]))/(2+other[j]))
	}
	return sum, product, atSum, atProduct, list, values, gap
}

func checkSearches[T kernel.Float](t *testing.T, name string, x []T, y, other []float64, least float64) {
	t.Helper()
	sum, product, atSum, atProduct, list, values, gap := plainSearches(x, y, other, least)
	if got, at := LargestSum(x, y); got != sum || at != atSum {
		t.Fatalf("%s, n=%d: largest sum %g at %d, want %g at %d", name, len(x), got, at, sum, atSum)
	}
	if got, at := LargestProduct(x, y); got != product || at != atProduct {
		t.Fatalf("%s, n=%d: largest product %g at %d, want %g at %d", name, len(x), got, at, product, atProduct)
	}
	gotList, gotValues := SelectProducts([]int32{3}, []float64{.5}, x, y, least, 7)
	if gotList[0] != 3 || gotValues[0] != .5 || !slices.Equal(gotList[1:], list) || !slices.EqualFunc(gotValues[1:], values, kerneltest.SameFloat) {
		t.Fatalf("%s, n=%d: selected %v %v, want %v %v", name, len(x), gotList, gotValues, list, values)
	}
	if got := LeastGap(x, y, other, 5, .25, 2); !kerneltest.SameFloat(got, gap) {
		t.Fatalf("%s, n=%d: least gap %g, want %g", name, len(x), got, gap)
	}
}

func upTo(n int) (x []int) {
	for i := range n {
		x = append(x, i)
	}
	return x
}

// TestSearches compares with the definitions, including ties, infinities and NaN.
func TestSearches(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		for _, n := range append(upTo(5*kernel.Parts+3), searchBlock-1, searchBlock, searchBlock+1, 2*searchBlock+kernel.Parts, 3*searchBlock+5) {
			for trial := range 6 {
				x, narrow, y, other := make([]float64, n), make([]float32, n), make([]float64, n), make([]float64, n)
				for j := range x {
					x[j], y[j], other[j] = float64(rng.IntN(9)-4), float64(rng.IntN(5)-2), rng.Float64()
					switch odd := rng.IntN(40); {
					case trial > 2 && odd == 0:
						x[j] = math.NaN()
					case trial > 2 && odd == 1:
						x[j] = math.Inf(-1)
					case trial == 5:
						x[j] = math.NaN()
					}
					if trial%2 == 1 {
						x[j] += float64(j) / 64 // the largest is in the last block, not in the first
					}
					if trial == 4 && j == searchBlock+3 {
						x[j] = 1000 // the largest is early in a block, before what is not a number
					}
					narrow[j] = float32(x[j])
				}
				least := []float64{2, 100, math.Inf(-1), math.NaN()}[trial%4]
				checkSearches(t, name, x, y, other, least)
				checkSearches(t, name, narrow, y, other, least)
			}
		}
	}
}
