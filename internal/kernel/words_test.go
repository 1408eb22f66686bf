package kernel

import (
	"math/rand/v2"
	"testing"
)

const wordSlack = 5 // guards on either side

func randomRow(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for j := range x {
		x[j] = float32(rng.NormFloat64())
		if rng.IntN(8) == 0 {
			x[j] = float32(rng.IntN(9)-4) / 2 // ties
		}
	}
	return x
}

// guardedCells returns n elements between guards.
func guardedCells[E any](n int, guard E) (x, all []E) {
	all = make([]E, n+2*wordSlack)
	for i := range all {
		all[i] = guard
	}
	return all[wordSlack : wordSlack+n : wordSlack+n], all
}

// equalCells fails unless both hold the same, guards included.
func equalCells[E comparable](t *testing.T, what string, n int, got, want []E) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s n=%d: element %d is %v, want %v", what, n, i-wordSlack, got[i], want[i])
		}
	}
}

// Every kernel writes what the generic loops define, and nothing else, for every length.
func TestWordsMatchGeneric(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for n := 0; n <= 70; n++ {
			a := randomRow(rng, n)
			const scale = float32(37)
			got, gotAll := guardedCells((n+1)/2, wordGuard)
			want, wantAll := guardedCells((n+1)/2, wordGuard)
			RoundPairs(got, a, scale)
			roundPairsGeneric(want, a, scale)
			equalCells(t, "RoundPairs", n, gotAll, wantAll)
		}
	})
}

// The numbers are the nearest ones, over the whole range.
func TestRoundPairsNearest(t *testing.T) {
	x := []float32{0, .49, -.49, .5, 1.5, -1.5, 2.5, Words, -Words, 123.4, -123.6}
	want := []int32{0, 0, 0, 0, 2, -2, 2, Words, -Words, 123, -124, 0}
	dst := make([]int32, 6)
	roundPairsGeneric(dst, x, 1)
	for j, w := range want {
		if got := int32(int16(dst[j/2] >> (16 * (j % 2)))); got != w {
			t.Errorf("number %d is %d, want %d", j, got, w)
		}
	}
}
