package train

import (
	"bytes"
	"slices"
	"testing"

	"collapse.example/collapse/data"
)

// TestImagesVaryByEpochInTrainingAlone compares what a step is given with what package data makes of the same samples.
func TestImagesVaryByEpochInTrainingAlone(t *testing.T) {
	s := tinySession[float32](t, variant(t, "augmented"), nil)
	n := nativeOf(s)
	samples := []int32{7, 0, 39, 12, 3, 3, 28, 61, 5, 70, 11} // more than one part of the filler
	d := s.in.trainPixel.Dim()
	want, seen := make([]float32, len(samples)*d), [][]float32{}
	for epoch := range 3 {
		n.loadBatch(samples, epoch)
		x, labels := n.loaded()
		data.FillAugmented(want, s.in.trainPixel, samples, n.augment, epoch)
		if !slices.Equal(x, want) || labels[2] != s.in.train.Observed[39] {
			t.Fatalf("epoch %d: not the images or labels of the samples", epoch)
		}
		for e, other := range seen {
			if slices.Equal(x, other) {
				t.Errorf("epochs %d and %d show the same images", e, epoch)
			}
		}
		seen = append(seen, slices.Clone(x))
	}
	if err := s.passBoth(); err != nil || n.fill.augment != (data.Augment{}) {
		t.Error("evaluation augments its images")
	}
}

// TestHowARunMeasuresDoesNotChangeWhatItTrains compares a run measured on its training pass with one measured exactly: the weights and the
// final features, which are exact in both, have the same bits, and the train measures differ.
func TestHowARunMeasuresDoesNotChangeWhatItTrains(t *testing.T) {
	exact := variant(t, "tapped pass")
	pass := exact
	exact.Run.MeasureFrom = "eval"
	a, b := mustRun(t, exact, newLab(t), Options{}), mustRun(t, pass, newLab(t), Options{})
	first, second := endFiles(t, a), endFiles(t, b)
	for _, name := range []string{"model", "optim", "features"} {
		if len(first[name]) == 0 || !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s differs", name)
		}
	}
	if a.Values["test/nc1_pinv"] != b.Values["test/nc1_pinv"] {
		t.Errorf("test NC1 %v and %v", a.Values["test/nc1_pinv"], b.Values["test/nc1_pinv"])
	}
	for _, key := range []string{"train/nc1_pinv", "train/loss"} {
		if v, ok := a.Values[key]; !ok || v == b.Values[key] {
			t.Errorf("%s is %v (%v) on an exact pass and %v on the training pass", key, v, ok, b.Values[key])
		}
	}
}
