package measure_test

import (
	"collapse.example/collapse/internal/reporttest"
	"fmt"
	"os"
	"path/filepath"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
)

// Three classes of two samples each, in the plane.
var (
	features = []float32{1, .1, 1, -.1, -.5, .9, -.5, .8, -.5, -.9, -.5, -.8}
	labels   = []int32{0, 0, 1, 1, 2, 2}
)

func ExampleMeasure() {
	report, err := measure.Measure(measure.Input[float32]{
		Train: measure.Memory(features, 2, labels),
	}, measure.Options{Measures: []string{"nc1_trace_ratio", "nc2_means_etf_centred", "nc3_gram"}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("within-class over between-class scatter %.4f\n", reporttest.Of(report.Measures, "nc1_trace_ratio"))
	fmt.Printf("distance to a simplex ETF %.4f\n", reporttest.Of(report.Measures, "nc2_means_etf_centred"))
	fmt.Println("self-duality is missing:", report.Missing["nc3_gram"])
	// Output:
	// within-class over between-class scatter 0.0051
	// distance to a simplex ETF 0.0187
	// self-duality is missing: no classifier weight was given
}

// Features that lie in several files, each a part of the samples, are measured where they lie.
func ExampleOpenShards() {
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

	shards, err := measure.OpenShards[float32](paths...)
	if err != nil {
		panic(err)
	}
	defer shards.Close()
	var report *measure.Report
	err = shards.Reading(func() (err error) {
		train := measure.Split[float32]{Features: shards, Labels: labels}
		report, err = measure.Measure(measure.Input[float32]{Train: train}, measure.Options{})
		return err
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d samples, %d classes: %.4f\n", report.N, report.K, reporttest.Of(report.Measures, "nc1_trace_ratio"))
	// Output: 6 samples, 3 classes: 0.0051
}

// Samples may be met in parts, by machines that do not know each other's: their moments add up.
func ExampleMoments() {
	whole := measure.NewMoments(3, 2, false)
	for part := range 2 {
		m := measure.NewMoments(3, 2, false)
		split := measure.Memory(features[part*6:][:6], 2, labels[part*3:][:3])
		if err := measure.AddSource(m, nil, split); err != nil {
			panic(err)
		}
		if err := whole.Merge(m); err != nil {
			panic(err)
		}
	}
	fmt.Println(whole.Count)
	// Output: [2 2 2]
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
