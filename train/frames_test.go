package train

import (
	"math"
	"path/filepath"
	"testing"

	"collapse/arrayfile"
	"collapse/internal/rundir"
)

// TestFramesHoldEachMeasuredEpoch reads the frames of a run back: one for each measured epoch, class means that are those of all
// samples, and features that are those of the saved last layer.
func TestFramesHoldEachMeasuredEpoch(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs, c.Run.MeasureEvery = 5, 2
	lab := newLab(t)
	r, err := Run(t.Context(), c, lab, Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(r.Dir, "frames", "*"))
	if err != nil || len(names) != 3 {
		t.Fatalf("frames %v, %v; want those of epochs 2, 4 and 5", names, err)
	}
	load := func(path, name string) []float64 {
		f, err := arrayfile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		a, err := f.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	last := rundir.Dir(r.Dir).Frame(c.Run.Epochs)
	all, observed := load(r.Features, "train_h"), load(r.Features, "train_observed")
	h, means, counts := load(last, "h"), load(last, "means"), load(last, "counts")
	k := len(counts)
	d := len(means) / k
	sums := make([]float64, len(means))
	for i, c := range observed {
		for j := range d {
			sums[int(c)*d+j] += all[i*d+j]
		}
	}
	for i, s := range sums {
		want := s / counts[i/d]
		if !(math.Abs(means[i]-want) <= 1e-5*(1+math.Abs(want))) {
			t.Fatalf("mean %d is %g, the saved features' %g", i, means[i], want)
		}
	}
	n, m := len(observed), len(h)/d
	for i := range m {
		at := i * n / m
		for j := range d {
			if h[i*d+j] != all[at*d+j] {
				t.Fatalf("row %d is not sample %d", i, at)
			}
		}
	}
}
