// Command solve finds the global optimum of an unconstrained features model by descent, and certifies it.
package main

import (
	"context"
	"fmt"
	"log"

	"collapse.example/collapse/parallel"
	"collapse.example/collapse/ufm"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	config := ufm.Config{Model: ufm.CE, K: 10, N: 20, D: 16, LW: 5e-4, LH: 5e-5, LB: ufm.NoBias}
	exact, err := config.Exact()
	if err != nil {
		return err
	}
	team := parallel.NewTeam(0)
	defer team.Close()
	problem, err := ufm.NewProblem(config, team)
	if err != nil {
		return err
	}
	found, point, err := problem.Solve(context.Background(), nil, exact, ufm.Run{Method: ufm.LBFGS, Seed: 1})
	if err != nil {
		return err
	}
	certificate := problem.Certify(point.X, exact)
	fmt.Printf("theory:  f* = %.12g, a simplex ETF of margin %.4f (%s)\n", exact.Objective, exact.Margin, exact.Source)
	fmt.Printf("descent: f  = %.12g after %d iterations\n", found.Objective, found.Iterations)
	fmt.Printf("%s: within %.2g of the optimum\n", certificate.Verdict, certificate.GapBound)
	return nil
}
