package optim_test

import (
	"context"
	"fmt"

	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// rosenbrock is (1 − x)² + 100(y − x²)², which is 0 at (1, 1) and nowhere else.
type rosenbrock struct{}

func (rosenbrock) Dim() int { return 2 }

func (rosenbrock) Eval(x, grad []float64) float64 {
	a, b := 1-x[0], x[1]-x[0]*x[0]
	grad[0], grad[1] = -2*a-400*x[0]*b, 200*b
	return a*a + 100*b*b
}

func ExampleLBFGS() {
	x := []float64{-1.2, 1}
	outcome := optim.LBFGS(context.Background(), rosenbrock{}, x, optim.LBFGSConfig{})
	fmt.Printf("x = %.6f, largest entry of the gradient at most 1e-10: %v\n", x, outcome.GradNorm <= 1e-10)
	// Output:
	// x = [1.000000 1.000000], largest entry of the gradient at most 1e-10: true
}

// Two steps with gradient 1 and momentum μ = 0.9 from p = 1: v = 1 and p = 1 − 0.1, then v = 0.9 + 1 and p = 0.9 − 0.19.
func ExampleSGD() {
	p := &nn.Param[float64]{Name: "p", Shape: []int{1}, Value: []float64{1}, Grad: []float64{1}}
	sgd, err := optim.NewSGD([]*nn.Param[float64]{p}, optim.SGDConfig{Momentum: .9}, nil)
	if err != nil {
		panic(err)
	}
	for range 2 {
		sgd.Step(.1, 0) // the loss is not used
		fmt.Printf("%.2f\n", p.Value[0])
	}
	// Output:
	// 0.90
	// 0.71
}
