package imbalance_test

import (
	"context"
	"fmt"

	"collapse.example/collapse/imbalance"
)

// Minority collapse: from the price √(λ_W·λ_H) = √n/N on, classes of n of the N samples have one classifier and one mean.
func Example() {
	counts, err := imbalance.Step(10, 5000, 5, 100)
	if err != nil {
		panic(err)
	}
	config := imbalance.Config{Loss: imbalance.CE, Counts: counts, D: 10, LW: .002, LH: .002}
	optimum, err := config.Solve(context.Background())
	if err != nil {
		panic(err)
	}
	for _, group := range optimum.Groups {
		fmt.Printf("%d classes of %d: one from a price of %.6f on; at %g they are: %v\n",
			group.Classes, group.Count, config.Apart(group.Count), config.Mu(), group.Same)
	}
	// Output:
	// 5 classes of 5000: one from a price of 0.002800 on; at 0.002 they are: false
	// 5 classes of 50: one from a price of 0.000280 on; at 0.002 they are: true
}
