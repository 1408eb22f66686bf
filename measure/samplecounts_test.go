package measure

import (
	"math"
	"math/big"
	"testing"
)

// meanOf returns the mean of x, rounded once.
func meanOf(x []float64) float64 {
	sum := new(big.Float).SetPrec(300)
	for _, v := range x {
		sum.Add(sum, exactly(v))
	}
	mean, _ := sum.Quo(sum, exactly(float64(len(x)))).Float64()
	return mean
}

// Samples of a collapsed class have one margin, and one distance to the test mean of another class. Plain sums of so many equal numbers
// would be off by hundreds of roundings, the same in every order.
func TestSumsOfEqualSamples(t *testing.T) {
	const n, d, k = 9000, 3, 3
	places := gaussian[float64](k, d, k, 1, 31)
	at := places.Train.Features.(*Rows[float64]).H
	in := Input[float64]{Classes: k, W: places.W, B: places.B, True: make([]int32, n)}
	var h []float64
	labels := make([]int32, n)
	for i := range n {
		labels[i] = int32(i % k)
		in.True[i] = (labels[i] + 1) % k
		h = append(h, at[i%k*d:][:d]...)
	}
	in.Train, in.Test = Memory(h, d, labels), places.Train
	r := mustMeasure(t, in, Options{KeepMargins: true})
	if got, want := r.Measures.of[KeyMarginMean], meanOf(r.Margins); len(r.Margins) != n || !(math.Abs(got-want) <= 4*roundoff64*math.Abs(want)) {
		t.Errorf("mean of %d margins: %.17g, want %.17g", len(r.Margins), got, want)
	}
	var distances []float64
	for i := range n {
		distances = append(distances, math.Sqrt(distance2(h[i*d:][:d], at[int(in.True[i])*d:][:d])))
	}
	if got, want := r.Measures.of[KeyMemMean], meanOf(distances); !(math.Abs(got-want) <= 4*roundoff64*want) {
		t.Errorf("mean of distances: %.17g, want %.17g", got, want)
	}
}
