package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// closeDecisionsSet is a set too large to be measured again completely. Its test samples are far from the border between two classes or, if
// close, within their own rounding of it: the classifier's rows come in pairs, and each sample is orthogonal to the difference of its pair.
func closeDecisionsSet(close bool) Input[float32] {
	const n, d, k = wholeElements/64 + 10, 64, 20
	in := gaussian[float32](n, d, k, .7, 46)
	r := rand.New(rand.NewPCG(46, 2))
	test, noise := append([]float32(nil), in.Train.Features.(*Rows[float32]).H...), 2.5
	if close {
		noise = .3 // hardly a sample is near another pair: all are as good as drawn, and no share moves by all of itself
	}
	for i := range test {
		test[i] += float32(noise * r.NormFloat64())
	}
	in.Test = Memory(test, d, in.Train.Labels)
	if !close {
		return in
	}
	in.B = nil
	for c := 1; c < k; c += 2 {
		for j := range d {
			in.W[c*d+j] = in.W[(c-1)*d+j] + 1e-3*r.NormFloat64()
		}
	}
	for i, label := range in.Test.Labels {
		pair, x := int(label)&^1, test[i*d:][:d]
		difference, along := make([]float64, d), 0.0
		for j := range d {
			difference[j] = in.W[(pair+1)*d+j] - in.W[pair*d+j]
			along += float64(x[j]) * difference[j]
		}
		along /= dot(difference, difference)
		for j := range d {
			x[j] -= float32(along * difference[j])
		}
	}
	return in
}

// movedWithin moves each number within the precision of float32.
func movedWithin(r *rand.Rand, split Split[float32]) Split[float64] {
	rows := split.Features.(*Rows[float32])
	h := make([]float64, len(rows.H))
	for i, x := range rows.H {
		h[i] = float64(x) * (1 + (2*r.Float64()-1)*0x1p-24)
	}
	return Memory(h, rows.D, split.Labels)
}

// TestErrorBarsOfShares moves the given numbers within their precision: shares move by no more than is stated, which is little unless many
// decisions are that close. (An accuracy of .914 had an error bar of 2.4 where no decision was.)
func TestErrorBarsOfShares(t *testing.T) {
	keys := []string{KeyAccuracy, KeyNCCAccuracy, KeyNC4NCCMismatch, KeyTestAccuracy, KeyTestNCCAccuracy, KeyTestNCCMismatch}
	r := rand.New(rand.NewPCG(47, 1))
	for _, close := range []bool{false, true} {
		in := closeDecisionsSet(close)
		report := mustMeasure(t, in, Options{Measures: keys, Uncertainty: true})
		again := mustMeasure(t, Input[float64]{Train: movedWithin(r, in.Train), Test: movedWithin(r, in.Test), W: in.W, B: in.B}, Options{Measures: keys})
		for _, key := range keys {
			v, _ := report.Value(key)
			v2, ok := again.Value(key)
			given, rounding := report.InputRounding[key], report.Uncertainty[key]
			if !ok || !(math.Abs(v2-v) <= given+rounding) || !(given+rounding <= max(v, 1-v)) {
				t.Errorf("close %v, %s: %.4f ± %.3g ± %.3g, and %.4f after a move", close, key, v, given, rounding, v2)
			}
			wide := close && (key == KeyTestAccuracy || key == KeyTestNCCMismatch)
			if !wide && !(given+rounding <= 1e-5) || wide && !(given >= .05 && rounding <= 1e-3) {
				t.Errorf("close %v, %s: ± %.3g ± %.3g; decisions within their rounding: %v", close, key, given, rounding, wide)
			}
		}
	}
}

// TestScoresOf: x wᵀ + b, with and without rows or a bias.
func TestScoresOf(t *testing.T) {
	x, w := []float64{1, 2, 3, 4}, []float64{1, 0, 0, 1, 1, -1}
	for _, c := range []struct{ w, b, want []float64 }{
		{w, nil, []float64{1, 2, -1, 3, 4, -1}}, {w, []float64{.5, 0, 1}, []float64{1.5, 2, 0, 3.5, 4, 0}}, {nil, nil, []float64{}},
	} {
		if got := scoresOf(x, c.w, c.b, 2); !slices.Equal(got, c.want) {
			t.Errorf("w %v, b %v: %v, want %v", c.w, c.b, got, c.want)
		}
	}
}
