package ufm_test

import (
	"context"
	"fmt"

	"collapse.example/collapse/ufm"
)

// The global optimum of a model in closed form, the point that descent finds, and what proves that it is the optimum.
func Example() {
	config := ufm.Config{Model: ufm.CE, K: 4, N: 5, D: 6, LW: 5e-3, LH: 1e-3, LB: ufm.NoBias}
	exact, err := config.Exact()
	if err != nil {
		panic(err)
	}
	problem, err := ufm.NewProblem(config, nil)
	if err != nil {
		panic(err)
	}
	found, point, err := problem.Solve(context.Background(), nil, exact, ufm.Run{Method: ufm.LBFGS, Seed: 1})
	if err != nil {
		panic(err)
	}
	certificate := problem.Certify(point.X, exact)
	fmt.Printf("%s: f* = %.6f, found %.6f\n", exact.Regime, exact.Objective, found.Objective)
	fmt.Println("certified to 1e-6:", certificate.GapBound < 1e-6)
	// Output:
	// etf: f* = 0.094362, found 0.094362
	// certified to 1e-6: true
}
