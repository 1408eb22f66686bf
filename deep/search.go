package deep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/internal/descent"
)

// Found is the best point of a search.
type Found struct {
	Starts  int      `json:"starts"`  // random ones
	Reached int      `json:"reached"` // of them, how many end within 1e-6 of the target or below it
	Zero    int      `json:"zero"`    // how many end at zero, which is a local minimum for L ≥ 2
	Best    float64  `json:"best"`    // of the random starts, like Worst
	Worst   float64  `json:"worst"`
	Descent *float64 `json:"descent,omitempty"` // where the descent from the given point ends; nil without one
	Least   float64  `json:"least"`             // of all of them
	Ranks   []int    `json:"ranks"`             // of W_L, …, W_1, H at the lowest end
	Point   Point    `json:"-"`
}

// reachedBy is how near to the target a start must end to count.
const reachedBy = 1e-6

// AtZero is the objective where every factor is zero.
func (c Config) AtZero() float64 {
	if c.CE {
		return math.Log(float64(c.K))
	}
	return 0.5
}

// Search descends by L-BFGS from a point, unless that is nil, and from random starts, and compares them with a target. The same seed gives
// the same points. After each random start it calls each, unless that is nil. It returns ctx's error if cancelled.
func (c Config) Search(ctx context.Context, target float64, from Point, starts int, seed uint64, each func(ended int, f float64)) (Found, error) {
	out := Found{Starts: starts, Least: math.Inf(1)}
	if err := c.Validate(); err != nil {
		return out, err
	}
	keep := func(x []float64, f float64) {
		if f < out.Least {
			out.Least, out.Point = f, c.point(x)
		}
	}
	if from != nil {
		x, f, err := c.descend(ctx, flat(from))
		if err != nil {
			return out, err
		}
		out.Descent = &f
		keep(x, f)
	}
	for i := range starts {
		x, f, err := c.descend(ctx, c.start(rand.New(rand.NewPCG(seed, uint64(i)))))
		if err != nil {
			return out, err
		}
		if f-target < reachedBy {
			out.Reached++
		}
		if math.Abs(f-c.AtZero()) < 1e-9 {
			out.Zero++
		}
		keep(x, f)
		if i == 0 {
			out.Best, out.Worst = f, f
		}
		out.Best, out.Worst = min(out.Best, f), max(out.Worst, f)
		if each != nil {
			each(i+1, f)
		}
	}
	for _, factor := range out.Point {
		out.Ranks = append(out.Ranks, rank(factor))
	}
	return out, nil
}

func flat(p Point) (x []float64) {
	for _, f := range p {
		x = append(x, f.RawMatrix().Data...)
	}
	return x
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

// enough ends a descent at the precision of its numbers.
var enough = descent.Until{Iterations: 5000, Gradient: 1e-10, Change: 1e-15, Still: 50}

func (c Config) descend(ctx context.Context, x []float64) ([]float64, float64, error) {
	return c.descendUntil(ctx, x, enough)
}

func (c Config) descendUntil(ctx context.Context, x []float64, until descent.Until) ([]float64, float64, error) {
	at, slope, value := make([]float64, len(x)), make([]float64, len(x)), math.NaN()
	x, f, err := descent.Limited(ctx, func(x, grad []float64) float64 {
		// A descent asks for the value and then for the gradient at the same point: both are made at once.
		if math.IsNaN(value) || !slices.Equal(at, x) {
			copy(at, x)
			value = c.Eval(c.point(at), c.point(slope))
		}
		copy(grad, slope)
		return value
	}, x, until)
	if err != nil {
		return nil, 0, fmt.Errorf("deep: %w", err)
	}
	return x, f, nil
}
