package measure

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
)

// decided measures decisions, and what else is asked, by the second pass for few classes. With margins it spares nothing.
func decided[T kernel.Float](t rapid.TB, in Input[T], more ...string) *Engine[T] {
	t.Helper()
	e, err := NewEngine[T](Options{Measures: append(more, KeyAccuracy, KeyNC4NCCMismatch, KeyNCCAccuracy)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Measure(in); err != nil {
		t.Fatal(err)
	}
	return e
}

// Whether or not the pass spares the classifier, the answers are the same, ties among them.
func TestSparingChangesNoDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawDecided(t)
		spared, whole := decided(t, in), decided(t, in, KeyMarginMean)
		if whole.second.skipLogits && !hasZero(whole.head.centredNorm) { // without a direction of every class there are no margins
			t.Fatal("margins need the classifier's products")
		}
		equalInts(t, "accuracy", spared.train.sampleCounts.correct, whole.train.sampleCounts.correct)
		equalInts(t, "nearest mean", spared.train.sampleCounts.nearest, whole.train.sampleCounts.nearest)
		equalInts(t, "mismatch", spared.train.sampleCounts.mismatch, whole.train.sampleCounts.mismatch)
	})
}

// The first block is collapsed, so the pass spares the classifier; later samples are so far from their means that they need it.
func TestSparingWhereLaterSamplesAreFar(t *testing.T) {
	const n, d, k = 5000, 40, 6
	in := gaussian[float32](n, d, k, 0, 8)
	rng, h := rand.New(rand.NewPCG(3, 9)), in.Train.Features.(*Rows[float32]).H
	for i := range h {
		spread := 1e-3
		if row := i / d; row >= blockRows(d) && row/d%3 > 0 {
			spread = 4
		}
		h[i] += float32(spread * rng.NormFloat64())
	}
	e := decided(t, in)
	correct, _, mismatch := decisions(e, in)
	equalInts(t, "accuracy", e.train.sampleCounts.correct, correct)
	equalInts(t, "mismatch", e.train.sampleCounts.mismatch, mismatch)
	right := 0
	for _, c := range correct {
		right += c
	}
	if !e.second.skipLogits || right > n*99/100 {
		t.Errorf("skipLogits %v, %d of %d are right: this test shows nothing", e.second.skipLogits, right, n)
	}
	if e = decided(t, gaussian[float32](n, d, k, 4, 8)); e.second.skipLogits {
		t.Error("samples far from their means, and the pass spares the classifier")
	}
}
