// Command measure measures collapse of features that a program has in memory, on all threads.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"

	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

func main() {
	const classes, perClass, width = 10, 500, 64
	features, labels := clusters(classes, perClass, width, 0.1)

	team := parallel.NewTeam(0) // as many threads as the process may use
	defer team.Close()
	report, err := measure.Measure(measure.Input[float32]{
		Train: measure.Memory(features, width, labels),
	}, measure.Options{Team: team})
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"nc1_trace_ratio", "nc1_pinv", "nc2_means_etf_centred", "cdnv"} {
		if v, ok := report.Value(key); ok {
			fmt.Printf("%-22s %.4g\n", key, v)
		}
	}
	fmt.Printf("%-22s %s\n", "nc3_gram", "missing: "+report.Missing["nc3_gram"])
}

// clusters draws samples around random class means, row by row.
func clusters(classes, perClass, width int, spread float64) ([]float32, []int32) {
	rng := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, classes*width)
	for i := range means {
		means[i] = rng.NormFloat64()
	}
	var features []float32
	var labels []int32
	for range perClass {
		for class := range classes {
			for _, mean := range means[class*width:][:width] {
				features = append(features, float32(mean+spread*rng.NormFloat64()))
			}
			labels = append(labels, int32(class))
		}
	}
	return features, labels
}
