package deep_test

import (
	"context"
	"fmt"

	"collapse.example/collapse/deep"
)

// The exact optimum of a linear model of three layers, and the best that descents from random starts find.
func Example() {
	config := deep.Config{K: 3, N: 4, Widths: []int{5, 5, 5}, Lambdas: []float64{.005, .005, .005, .005}}
	exact, err := config.Solve()
	if err != nil {
		panic(err)
	}
	found, err := config.Search(context.Background(), exact.Objective, nil, 5, 1, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s, rank %d: f* = %.8f\n", exact.Regime, exact.Rank, exact.Objective)
	fmt.Printf("search: f = %.8f, ranks %v\n", found.Best, found.Ranks)
	fmt.Printf("proved gap below 1e-6: %v\n", config.Certify(found.Point, exact).Gap < 1e-6)
	// Output:
	// collapse, rank 3: f* = 0.04219897
	// search: f = 0.04219897, ranks [3 3 3 3]
	// proved gap below 1e-6: true
}
