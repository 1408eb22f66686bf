package optim

import (
	"errors"
	"fmt"
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/nn/param"
	"collapse.example/collapse/parallel"
)

var lbfgsKind = kinds.Kind{Name: "lbfgs", Title: "L-BFGS", Doc: "on each minibatch, as torch.optim.LBFGS; weight decay is in the loss",
	Uses: []string{"lbfgs.line_search", "lbfgs.max_iter", "lbfgs.max_eval", "lbfgs.history", "lbfgs.tolerance_grad", "lbfgs.tolerance_change"}}

// LineSearch is how L-BFGS finds the length of a step.
type LineSearch string

const (
	NoLineSearch LineSearch = "none"         // the learning rate is the step
	StrongWolfe  LineSearch = "strong_wolfe" // torch's search, from the learning rate on
)

// MinibatchLBFGSConfig holds the settings of torch.optim.LBFGS. Zeros are torch's defaults, except
// History, where torch has 100 and the papers 10.
type MinibatchLBFGSConfig struct {
	Iterations  int        // max_iter, of one Step; 0: 20
	Evaluations int        // max_eval, after which no further iteration begins; 0: 5/4 of Iterations
	History     int        // pairs remembered; 0: 10
	Gradient    float64    // tolerance_grad on the largest entry; 0: 1e-7
	Change      float64    // tolerance_change of loss and of the largest move; 0: 1e-9
	LineSearch  LineSearch // "" is NoLineSearch
	// Observe, if set, is called after every iteration.
	Observe func(LBFGSIteration)
}

// LBFGSIteration is one iteration inside a Step.
type LBFGSIteration struct {
	Length      float64 // t of the move t·d
	Loss        float64 // after the iteration; before it in a last iteration without line search, where torch does not evaluate it
	Evaluations int     // in this Step so far, including the one at its start
}

// Validate returns all problems of the configuration at once, or nil.
func (c MinibatchLBFGSConfig) Validate() error {
	var errs []error
	if c.Iterations < 0 || c.Evaluations < 0 || c.History < 0 {
		errs = append(errs, fmt.Errorf("optim: L-BFGS with %d iterations, %d evaluations, %d pairs, wanted at least 1 each, or 0 for the default",
			c.Iterations, c.Evaluations, c.History))
	}
	if !(c.Gradient >= 0) || !(c.Change >= 0) {
		errs = append(errs, fmt.Errorf("optim: L-BFGS with tolerances %g and %g, wanted at least 0", c.Gradient, c.Change))
	}
	switch c.LineSearch {
	case "", NoLineSearch, StrongWolfe:
	default:
		errs = append(errs, fmt.Errorf("optim: line search %q, wanted %s or %s", c.LineSearch, NoLineSearch, StrongWolfe))
	}
	return errors.Join(errs...)
}

// Decayed is c: decay is in the loss.
func (c MinibatchLBFGSConfig) Decayed(float64) Rule { return c }

// InLoss is true: the line search, and torch's closure, see the penalty.
func (MinibatchLBFGSConfig) InLoss() bool { return true }

// Copies counts the pairs with one place more, the four vectors of a step, and what the line search keeps.
func (c MinibatchLBFGSConfig) Copies() int {
	copies := 2*c.withDefaults().History + 4
	if c.LineSearch == StrongWolfe {
		copies += 5
	}
	return copies
}

func (c MinibatchLBFGSConfig) withDefaults() MinibatchLBFGSConfig {
	if c.Iterations == 0 {
		c.Iterations = 20
	}
	if c.Evaluations == 0 {
		c.Evaluations = c.Iterations * 5 / 4
	}
	if c.History == 0 {
		c.History = 10
	}
	if c.Gradient == 0 {
		c.Gradient = 1e-7
	}
	if c.Change == 0 {
		c.Change = 1e-9
	}
	return c
}

// MinibatchLBFGS is torch.optim.LBFGS: each Step makes up to Iterations iterations of L-BFGS on one
// minibatch, and the remembered pairs carry over from batch to batch. The first pair of a batch is
// the difference of gradients of two batches, as in torch. For a full batch use LBFGS.
//
// Vectors are in the network's type, sums and step lengths in float64.
type MinibatchLBFGS[T kernel.Float] struct {
	cfg     MinibatchLBFGSConfig
	params  []*param.Param[T]
	closure func() float64
	ops     *vectors[T]
	pairs   *curvature[T]

	grad, previous  []T // gradient at the present point, at the start of the last iteration
	direction, move []T // d, and the last move t·d
	started         bool
	search          *torchWolfe[T] // nil without line search
	evaluations     int            // in this Step
	steps           int64
}

// NewMinibatchLBFGS returns L-BFGS over params, or Validate's error. closure computes the objective of the
// current batch at the parameters' values and leaves its gradients in their Grad; Step calls it after
// moving them. It reads once, here, which parameters are frozen. team may be nil.
func NewMinibatchLBFGS[T kernel.Float](params []*param.Param[T], cfg MinibatchLBFGSConfig, team *parallel.Team, closure func() float64) (*MinibatchLBFGS[T], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	l := &MinibatchLBFGS[T]{cfg: cfg.withDefaults(), params: trained(params), closure: closure}
	n := 0
	for _, p := range l.params {
		n += len(p.Value)
	}
	l.ops = newVectors[T](team, n)
	l.pairs = newCurvature(l.cfg.History, n, l.ops)
	for _, v := range []*[]T{&l.grad, &l.previous, &l.direction, &l.move} {
		*v = memory.Alloc[T](n)
	}
	if cfg.LineSearch == StrongWolfe {
		l.search = newTorchWolfe(l, n)
	}
	return l, nil
}

// Step makes one step of torch.optim.LBFGS from the loss and the gradients in Grad, which count as
// the closure's first call. It allocates nothing.
func (l *MinibatchLBFGS[T]) Step(lr, loss float64) {
	l.steps++
	l.evaluations = 1
	l.gather(l.grad)
	if l.ops.maxAbs(l.grad) <= l.cfg.Gradient {
		return
	}
	for i := 1; i <= l.cfg.Iterations; i++ {
		length := lr
		if !l.started {
			length *= math.Min(1, 1/l.ops.sumAbs(l.grad))
		}
		l.choose()
		slope := l.ops.inner(l.grad, l.direction)
		if slope > -l.cfg.Change {
			l.remember(length) // torch keeps this move although it is not made
			return
		}
		before := loss
		length, loss = l.advance(length, loss, slope, i == l.cfg.Iterations)
		l.remember(length)
		if l.cfg.Observe != nil {
			l.cfg.Observe(LBFGSIteration{Length: length, Loss: loss, Evaluations: l.evaluations})
		}
		if l.evaluations >= l.cfg.Evaluations || l.ops.maxAbs(l.grad) <= l.cfg.Gradient ||
			l.ops.maxAbs(l.move) <= l.cfg.Change || math.Abs(loss-before) < l.cfg.Change {
			return
		}
	}
}

// choose stores the last pair and sets the direction from the gradient and the pairs.
func (l *MinibatchLBFGS[T]) choose() {
	if l.started {
		s, y := l.pairs.candidate()
		copy(s, l.move)
		l.ops.sub(y, l.grad, l.previous)
		l.pairs.keep(func(sy, _ float64) bool { return sy > 1e-10 })
	}
	l.started = true
	copy(l.direction, l.grad)
	l.ops.scale(l.direction, -1)
	l.pairs.apply(l.direction)
	copy(l.previous, l.grad)
}

// remember keeps the move of the given length.
func (l *MinibatchLBFGS[T]) remember(length float64) {
	copy(l.move, l.direction)
	l.ops.scale(l.move, length)
}

// advance moves the parameters along the direction. Without line search the last iteration of a Step
// needs no new loss or gradient.
func (l *MinibatchLBFGS[T]) advance(length, loss, slope float64, last bool) (float64, float64) {
	if l.search != nil {
		found := l.search.run(length, loss, slope)
		copy(l.grad, found.grad)
		l.search.place(found.step)
		return found.step, found.value
	}
	offset := 0
	for _, p := range l.params {
		l.ops.axpy(p.Value, length, l.direction[offset:offset+len(p.Value)])
		offset += len(p.Value)
	}
	if last {
		return length, loss
	}
	loss = l.evaluate(l.grad)
	return length, loss
}

// evaluate calls the closure and copies the gradients into grad.
func (l *MinibatchLBFGS[T]) evaluate(grad []T) float64 {
	loss := l.closure()
	l.evaluations++
	l.gather(grad)
	return loss
}

// gather concatenates the parameters' gradients.
func (l *MinibatchLBFGS[T]) gather(grad []T) {
	for _, p := range l.params {
		grad = grad[copy(grad, p.Grad):]
	}
}
