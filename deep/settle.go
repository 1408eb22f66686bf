package deep

import "collapse.example/collapse/internal/descent"

// rounding is how far ReLUs are rounded, in turn, when a point is settled.
var rounding = []float64{0.03, 0.006, 1e-3, 2e-4}

var finely = []float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6}

// Bounds of settling: descents with rounded ReLUs, how often all of these, and the share by which one round must gain for another.
const (
	roundedRuns = 500
	mostSettled = 4
	settledGain = 1e-6
)

// settle descends to the precision of numbers. Minima of ReLU models lie at kinks, where descents stop early: with ReLUs rounded less and less it
// slides along these.
func (e *explorer) settle(p Point, from string) (end, error) {
	x, f, err := e.descend(e.ctx, flat(p))
	for range mostSettled {
		if err != nil || e.late() {
			break
		}
		lower, at, err := e.slide(x, rounding, roundedRuns)
		if err != nil {
			return end{}, err
		}
		gain := f - at
		if at < f {
			x, f = lower, at
		}
		if gain < settledGain*f {
			break
		}
	}
	return end{x, f, from}, err
}

// finish slides the lowest point once more, in finer steps, if there is time.
func (e *explorer) finish() error {
	if e.late() {
		return e.ctx.Err()
	}
	x, f, err := e.slide(e.best.x, finely, 6*roundedRuns)
	if err == nil && f < e.best.f {
		e.best.x, e.best.f = x, f
	}
	return err
}

func (e *explorer) slide(x []float64, rounding []float64, runs int) ([]float64, float64, error) {
	until := descent.Until{Iterations: runs, Gradient: 1e-9, Change: 1e-10 * e.collapse, Still: 30}
	for _, soft := range rounding {
		c, err := e.Config, error(nil)
		c.soft = soft
		if x, _, err = c.descendUntil(e.ctx, x, until); err != nil {
			return nil, 0, err
		}
	}
	return e.descend(e.ctx, x)
}
