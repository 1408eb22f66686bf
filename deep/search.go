package deep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"
)

// Found is the best point of a search from random starts.
type Found struct {
	Starts  int     `json:"starts"`
	Reached int     `json:"reached"` // starts that end within 1e-6 of the optimum
	Zero    int     `json:"zero"`    // starts that end at zero, which is a local minimum for L ≥ 2
	Best    float64 `json:"best"`
	Worst   float64 `json:"worst"`
	Point   Point   `json:"-"`
}

// reachedBy is how near to the optimum a start must end to count.
const reachedBy = 1e-6

// Search descends by L-BFGS from random starts. The same seed gives the same points. After each start it calls each, unless that is nil.
// It returns ctx's error if cancelled.
func (c Config) Search(ctx context.Context, e Exact, starts int, seed uint64, each func(ended int, f float64)) (Found, error) {
	out := Found{Starts: starts, Best: math.Inf(1), Worst: math.Inf(-1)}
	for i := range starts {
		x, f, err := c.descend(ctx, c.start(rand.New(rand.NewPCG(seed, uint64(i)))))
		if err != nil {
			return out, err
		}
		if f-e.Objective < reachedBy {
			out.Reached++
		}
		if math.Abs(f-0.5) < 1e-9 && e.Regime != "zero" {
			out.Zero++
		}
		if f < out.Best {
			out.Best, out.Point = f, c.point(x)
		}
		out.Worst = max(out.Worst, f)
		if each != nil {
			each(i+1, f)
		}
	}
	return out, nil
}

// start has factors whose product has singular values around 1, so that a descent need not end at zero.
func (c Config) start(rng *rand.Rand) []float64 {
	x := make([]float64, 0, c.size())
	for i := range c.Lambdas {
		rows, columns := c.shape(i)
		for range rows * columns {
			x = append(x, rng.NormFloat64()/math.Sqrt(float64(max(rows, columns))))
		}
	}
	return x
}

// until ends a descent when its context does.
type until struct{ ctx context.Context }

func (u until) Init() error { return u.ctx.Err() }

func (u until) Record(*optimize.Location, optimize.Operation, *optimize.Stats) error {
	return u.ctx.Err()
}

func (c Config) descend(ctx context.Context, x []float64) ([]float64, float64, error) {
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return c.Eval(c.point(x), nil) },
		Grad: func(grad, x []float64) { c.Eval(c.point(x), c.point(grad)) },
	}
	settings := optimize.Settings{Recorder: until{ctx}, MajorIterations: 5000, GradientThreshold: 1e-10, Converger: &optimize.FunctionConverge{Absolute: 1e-15, Iterations: 50}}
	result, err := optimize.Minimize(problem, x, &settings, &optimize.LBFGS{})
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if result == nil {
		return nil, 0, fmt.Errorf("deep: the descent failed: %w", err)
	}
	return result.X, result.F, nil // a line search that finds nothing lower has ended at the precision of the numbers
}
