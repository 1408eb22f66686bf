package optim

import "math"

// Function is a smooth function of many variables in float64, for the full-batch methods: Descend,
// LBFGS, ProjectedLBFGS.
type Function interface {
	Dim() int
	// Eval returns the value at x and overwrites grad with the gradient. It must not keep x or grad.
	Eval(x, grad []float64) float64
}

// Stop says why a full-batch method ended.
type Stop string

// The reasons.
const (
	StopGradient   Stop = "gradient below tolerance"
	StopStalled    Stop = "no further decrease in floating point"
	StopIterations Stop = "iteration limit"
	StopCancelled  Stop = "cancelled"
	StopDiverged   Stop = "diverged: the objective is not finite"
)

// Outcome is how a full-batch method ended. The point is the caller's x, changed in place.
type Outcome struct {
	Value       float64
	GradNorm    float64 // largest entry of the gradient, of the projected one under bounds
	Iterations  int
	Evaluations int
	Stop        Stop
}

// maxAbs returns the largest |x_i|; NaN if any entry is NaN.
func maxAbs(x []float64) float64 {
	worst := 0.0
	for _, v := range x {
		if v = math.Abs(v); !(v <= worst) {
			worst = v
		}
	}
	return worst
}

// inner is the scalar product, summed in four strands.
func inner(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// axpy adds f·x to y.
func axpy(y []float64, f float64, x []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += f * v
	}
}
