// Package measurementtest makes reports of measurements for tests.
package measurementtest

import (
	"math"
	"testing"

	"collapse.example/collapse/measure"
)

// Spikes are k classes of n samples around k unit vectors in d ≥ k dimensions, offset by one, with the given spread.
func Spikes(t *testing.T, k, n, d int, spread float64) (r *measure.Report, h []float64, labels []int32) {
	t.Helper()
	var in measure.Input[float64]
	w := make([]float64, k*d)
	h = make([]float64, k*n*d)
	for i := range k * n {
		for j := range d {
			h[i*d+j] = 1 + spread*math.Sin(float64(3*i+7*j*j))
		}
		h[i*d+i%k] += 2
		labels = append(labels, int32(i%k))
	}
	for c := range k {
		w[c*d+c] = 1
	}
	in.Train, in.W, in.Classes = measure.Memory(h, d, labels), w, k
	r, err := measure.Measure(in, measure.Options{KeepMeans: true, KeepMargins: true, KeepSpectrum: true})
	if err != nil {
		t.Fatal(err)
	}
	return r, h, labels
}

// WordsReport is a report of 10 classes of 20 samples in 64 coordinates that have collapsed to a simplex.
func WordsReport() *measure.Report {
	r := &measure.Report{N: 200, K: 10, D: 64, Measures: measure.NewValues(map[string]float64{
		measure.KeyNC1Pinv: 9e-5, measure.KeyRankBetween: 9, measure.KeyNCCAccuracy: 1, measure.KeyMeanNormRatio: .9, measure.KeyNC2MeansCentred: .1, measure.KeyTraceBetween: 1,
	}), Null: map[string]measure.Null{
		measure.KeyNC1Pinv: {Low: 8, Median: 9, High: 10}, measure.KeyNCCAccuracy: {Low: .1, Median: .12, High: .14}, measure.KeyNC2MeansCentred: {Low: .8, Median: .9, High: 1},
	}, Directions: measure.Vector{2e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4}}
	for range 10 {
		r.ClassCounts = append(r.ClassCounts, 20)
		r.Facts.Lengths = append(r.Facts.Lengths, 1)
	}
	r.Facts.Rank, r.Facts.Possible, r.Facts.Between, r.Facts.Nearest = 9, 9, 1, measure.Share{Yes: 1}
	return r
}
