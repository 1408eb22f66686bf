package measure_test

import (
	"fmt"

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
	scatter, _ := report.Value("nc1_trace_ratio")
	distance, _ := report.Value("nc2_means_etf_centred")
	fmt.Printf("within-class over between-class scatter %.4f\n", scatter)
	fmt.Printf("distance to a simplex ETF %.4f\n", distance)
	fmt.Println("self-duality is missing:", report.Missing["nc3_gram"])
	// Output:
	// within-class over between-class scatter 0.0051
	// distance to a simplex ETF 0.0187
	// self-duality is missing: no classifier weight was given
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
