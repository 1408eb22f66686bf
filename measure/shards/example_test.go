package shards_test

import (
	"fmt"
	"os"
	"path/filepath"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/measure/shards"
)

// Three classes of two samples each, in the plane.
var (
	features = []float32{1, .1, 1, -.1, -.5, .9, -.5, .8, -.5, -.9, -.5, -.8}
	labels   = []int32{0, 0, 1, 1, 2, 2}
)

// Features that lie in several files, each a part of the samples, are measured where they lie.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var paths []string
	for part := range 2 {
		path := filepath.Join(dir, fmt.Sprintf("part%d.npy", part))
		write(path, arrayfile.Of("", []int{3, 2}, features[part*6:][:6]))
		paths = append(paths, path)
	}

	set, err := shards.Open[float32](paths...)
	if err != nil {
		panic(err)
	}
	defer set.Close()
	var report *measure.Report
	err = set.Reading(func() (err error) {
		train := measure.Split[float32]{Features: set, Labels: labels}
		report, err = measure.Measure(measure.Input[float32]{Train: train}, measure.Options{})
		return err
	})
	if err != nil {
		panic(err)
	}
	scatter, _ := report.Value("nc1_trace_ratio")
	fmt.Printf("%d samples, %d classes: %.4f\n", report.N, report.K, scatter)
	// Output: 6 samples, 3 classes: 0.0051
}

func write(path string, a arrayfile.Array) {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := arrayfile.WriteNPY(f, a); err != nil {
		panic(err)
	}
}
