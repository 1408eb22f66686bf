package kernel

import (
	"math"
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
			a, b := randomRow(rng, n), randomRow(rng, n)
			const scale = float32(37)
			got, gotAll := guardedCells((n+1)/2, wordGuard)
			want, wantAll := guardedCells((n+1)/2, wordGuard)
			RoundPairs(got, a, scale)
			roundPairsGeneric(want, a, scale)
			equalCells(t, "RoundPairs", n, gotAll, wantAll)

			got, gotAll = guardedCells(n, wordGuard)
			want, wantAll = guardedCells(n, wordGuard)
			state, reference := NewDither(uint64(n)), NewDither(uint64(n))
			DitherPairs(got, a, b, scale, &state)
			ditherPairsGeneric(want, a, b, scale*(1<<16), &reference)
			equalCells(t, "DitherPairs", n, gotAll, wantAll)
			equalCells(t, "Dither", n, state[:], reference[:])

			sums, sumsAll := guardedCells(n, 7.)
			plain, plainAll := guardedCells(n, 7.)
			if peak, largest := SquareSums(sums, a), squareSumsGeneric(plain, a); peak != largest {
				t.Fatalf("SquareSums n=%d: largest magnitude %v, want %v", n, peak, largest)
			}
			equalCells(t, "SquareSums", n, sumsAll, plainAll)
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

// Dithered numbers have the mean of what they stand for, errors below one, and no correlation.
func TestDitherPairsUnbiased(t *testing.T) {
	const n, rounds = 64, 20000
	a, b := make([]float32, n), make([]float32, n)
	for j := range a { // the worst case of nearest rounding: all errors alike
		a[j], b[j] = 3.3, -Words+.75
	}
	dst := make([]int32, n)
	var sumA, sumB, cross, next float64
	for r := range rounds {
		state := NewDither(uint64(r))
		DitherPairs(dst, a, b, 1, &state)
		last := 0.
		for _, v := range dst {
			errA, errB := float64(int16(v))-3.3, float64(v>>16)-(-Words+.75)
			if !(math.Abs(errA) < 1 && math.Abs(errB) < 1) {
				t.Fatalf("round %d: errors %g and %g", r, errA, errB)
			}
			sumA, sumB, cross, next = sumA+errA, sumB+errB, cross+errA*errB, next+errA*last
			last = errA
		}
	}
	const all = n * rounds
	limit := 5 * .5 / math.Sqrt(all) // five standard deviations, at least, of a mean
	for what, mean := range map[string]float64{"low": sumA / all, "high": sumB / all, "low·high": cross / all, "low·next": next / all} {
		if !(math.Abs(mean) <= limit+0x1p-16) {
			t.Errorf("mean of %s errors is %.3g, five standard deviations are %.3g", what, mean, limit)
		}
	}
}
