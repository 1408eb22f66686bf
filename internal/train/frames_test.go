package train

import (
	"math"
	"path/filepath"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/sampling"
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
	at := sampling.PerClass(toInt32(load(r.Features, "train_true")), len(h)/d)
	if len(at) != len(h)/d {
		t.Fatalf("%d rows, want %d", len(h)/d, len(at))
	}
	for i, at := range at {
		for j := range d {
			if h[i*d+j] != all[at*d+j] {
				t.Fatalf("row %d is not sample %d", i, at)
			}
		}
	}
}

// TestFramesShowEveryClass has more samples than a frame takes, whose classes come in turn.
func TestFramesShowEveryClass(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs = 1
	c.Data.Classes, c.Data.SamplesPerClass = 10, 200
	c.Net.FeatureDim = 16
	r, err := Run(t.Context(), c, newLab(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := arrayfile.Open(rundir.Dir(r.Dir).Frame(1))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := f.Load("true")
	if err != nil {
		t.Fatal(err)
	}
	classes, err := a.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[float64]int{}
	for _, k := range classes {
		shown[k]++
	}
	if len(shown) != 10 || len(classes) != frameRows {
		t.Fatalf("%d samples of the classes %v", len(classes), shown)
	}
	for k, n := range shown {
		if n != frameRows/10 {
			t.Errorf("class %g has %d samples", k, n)
		}
	}
}

func toInt32(v []float64) []int32 {
	out := make([]int32, len(v))
	for i, x := range v {
		out[i] = int32(x)
	}
	return out
}
