package optim

import "math"

// Constants of the strong Wolfe conditions, as usual for quasi-Newton directions (Nocedal & Wright
// 2006, section 3.1).
const (
	wolfeDecrease  = 1e-4
	wolfeCurvature = 0.9
	// flatShare is how far above the start, relative to its value, rounding may put a point that is
	// better by its slope (Hager & Zhang 2005, the approximate Wolfe conditions).
	flatShare = 4e-16
)

// wolfe is a line search along direction from start.
type wolfe struct {
	f         Function
	start     []float64
	direction []float64
	x, grad   []float64 // at the last evaluated step
	f0, slope float64   // at step 0; slope < 0
	evals     int
}

// trial is a step with its value and slope.
type trial struct{ step, value, slope float64 }

func (w *wolfe) at(step float64) trial {
	for i, d := range w.direction {
		w.x[i] = w.start[i] + step*d
	}
	w.evals++
	value := w.f.Eval(w.x, w.grad)
	return trial{step, value, inner(w.grad, w.direction)}
}

// accepts says whether t satisfies the strong Wolfe conditions, or their approximate form where
// differences of values are rounding.
func (w *wolfe) accepts(t trial) bool {
	if !(math.Abs(t.slope) <= -wolfeCurvature*w.slope) {
		return false
	}
	if t.value <= w.f0+wolfeDecrease*t.step*w.slope {
		return true
	}
	return t.value <= w.f0+flatShare*math.Abs(w.f0) && t.slope <= (2*wolfeDecrease-1)*w.slope
}

// tooHigh says that a minimum lies between step 0 and t.
func (w *wolfe) tooHigh(t trial) bool {
	return !(t.value <= w.f0+wolfeDecrease*t.step*w.slope+flatShare*math.Abs(w.f0))
}

// run searches from the step first. ok is false if no acceptable step was found; x and grad are then
// those of the last trial.
func (w *wolfe) run(first float64) (trial, bool) {
	low, t := trial{0, w.f0, w.slope}, w.at(first)
	for range 30 {
		switch {
		case w.accepts(t):
			return t, true
		case w.tooHigh(t) || low.step > 0 && t.value >= low.value:
			return w.zoom(low, t)
		case t.slope >= 0:
			return w.zoom(t, low)
		}
		low, t = t, w.at(math.Min(10*t.step, math.Max(2*t.step, t.step+2*(t.step-low.step))))
	}
	return t, false
}

// zoom shrinks the bracket between low, the better end with a slope towards high, and high.
func (w *wolfe) zoom(low, high trial) (trial, bool) {
	t := low
	for range 40 {
		t = w.at(cubicStep(low, high))
		switch {
		case w.accepts(t):
			return t, true
		case w.tooHigh(t) || t.value > low.value:
			high = t
		default:
			if t.slope*(high.step-low.step) >= 0 {
				high = low
			}
			low = t
		}
		if math.Abs(high.step-low.step) <= 1e-16*math.Abs(low.step) {
			break
		}
	}
	return t, false
}

// cubicStep minimises the cubic through both ends' values and slopes, kept away from the ends.
func cubicStep(a, b trial) float64 {
	width := b.step - a.step
	middle := a.step + width/2
	step, ok := cubicMinimum(a, b)
	if !ok {
		return middle
	}
	if margin := 0.1 * math.Abs(width); !(math.Abs(step-a.step) >= margin && math.Abs(step-b.step) >= margin) || (step-a.step)*(step-b.step) > 0 {
		return middle
	}
	return step
}

// cubicMinimum is the minimum of the cubic through both ends' values and slopes (Nocedal & Wright 2006,
// eq. 3.59), wherever it lies; ok is false where the cubic has none. A quotient 0/0 gives NaN.
func cubicMinimum(a, b trial) (step float64, ok bool) {
	if a.step > b.step {
		a, b = b, a
	}
	d1 := a.slope + b.slope - 3*(a.value-b.value)/(a.step-b.step)
	root := d1*d1 - a.slope*b.slope
	if !(root >= 0) || math.IsInf(root, 0) {
		return 0, false
	}
	d2 := math.Sqrt(root)
	return b.step - (b.step-a.step)*((b.slope+d2-d1)/(b.slope-a.slope+2*d2)), true
}
