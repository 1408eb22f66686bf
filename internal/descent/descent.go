// Package descent minimises smooth functions with gonum's quasi-Newton methods, until they end, stand still or are cancelled.
package descent

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/optimize"
)

// Function is a function of x. If grad is not nil, it gets the gradient there.
type Function func(x, grad []float64) float64

// Until says when a descent has ended.
type Until struct {
	Iterations int
	Gradient   float64 // norm below which the gradient counts as zero
	Change     float64 // of the value, below which an iteration changes nothing
	Still      int     // so many such iterations in a row
}

// Limited descends by L-BFGS, whose memory is that of a few gradients. It returns where the descent ended and the value there, or
// ctx's error if cancelled.
func Limited(ctx context.Context, f Function, x []float64, until Until) ([]float64, float64, error) {
	return run(ctx, f, x, until, &optimize.LBFGS{})
}

// Full descends by BFGS, which keeps a square matrix: for few variables.
func Full(ctx context.Context, f Function, x []float64, until Until) ([]float64, float64, error) {
	return run(ctx, f, x, until, &optimize.BFGS{})
}

func run(ctx context.Context, f Function, x []float64, until Until, method optimize.Method) ([]float64, float64, error) {
	problem := optimize.Problem{Func: func(x []float64) float64 { return f(x, nil) }, Grad: func(grad, x []float64) { f(x, grad) }}
	settings := optimize.Settings{Recorder: stop{ctx}, MajorIterations: until.Iterations, GradientThreshold: until.Gradient,
		Converger: &optimize.FunctionConverge{Absolute: until.Change, Iterations: until.Still}}
	result, err := optimize.Minimize(problem, x, &settings, method)
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if result == nil {
		return nil, 0, fmt.Errorf("the descent failed: %w", err)
	}
	return result.X, result.F, nil // a line search that finds nothing lower has ended at the precision of the numbers
}

// stop ends a descent when its context does.
type stop struct{ ctx context.Context }

func (s stop) Init() error { return s.ctx.Err() }

func (s stop) Record(*optimize.Location, optimize.Operation, *optimize.Stats) error {
	return s.ctx.Err()
}
