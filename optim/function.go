package optim

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
