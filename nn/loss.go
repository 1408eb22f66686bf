package nn

import (
	"errors"
	"fmt"
	"math"

	"collapse/internal/kernel"
)

// Kinds of loss. Sources: Nguyen et al. 2023 (LS, LR) and Zhou et al. 2022 (rescaled MSE).
const (
	CrossEntropy    = "ce"           // −log softmax(z)_y
	LabelSmoothing  = "ls"           // −Σ_j q_j log softmax(z)_j, q = (1−α)·e_y + α/K
	LabelRelaxation = "lr"           // 0 if p_y > 1−α, else KL(q‖p) with q_y = 1−α, the rest ∝ p
	MSE             = "mse"          // Σ_j (z_j − [j=y])²
	RescaledMSE     = "rescaled_mse" // Σ_j w_j (z_j − M·[j=y])², w_y = Alpha, else 1
)

// Reductions of the two squared losses; the others are means over the batch under both.
const (
	ReduceTorch = "torch" // mean over batch and classes: 1/(B·K), as nn.MSELoss
	ReducePaper = "paper" // 1/(2B), as the papers' (1/2N)‖·‖²; K/2 times torch's
)

// LossConfig names a loss and its settings.
type LossConfig struct {
	Kind string
	// Smoothing is α of label smoothing in [0,1], or of label relaxation in (0,1). 0.1 in Nguyen
	// et al.'s code. Other kinds ignore it.
	Smoothing float64
	// Alpha is the weight of the true class's entry and M its target in the rescaled MSE; both
	// must be positive there and are ignored elsewhere. Alpha = M = 1 is the plain MSE.
	Alpha, M float64
	// Reduction is ReduceTorch (also when empty) or ReducePaper.
	Reduction string
}

// Validate returns all problems of the configuration for a network of the given number of
// classes at once, or nil.
func (c LossConfig) Validate(classes int) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("nn: loss "+format, args...)) }
	switch c.Kind {
	case CrossEntropy, MSE:
	case LabelSmoothing:
		if !(c.Smoothing >= 0 && c.Smoothing <= 1) {
			bad("ls: smoothing is %g, wanted 0 to 1 (the papers use 0.1)", c.Smoothing)
		}
	case LabelRelaxation:
		if !(c.Smoothing > 0 && c.Smoothing < 1) {
			bad("lr: smoothing is %g, wanted above 0 and below 1 (the papers use 0.1)", c.Smoothing)
		}
		if classes < 2 {
			bad("lr: %d class, wanted at least 2", classes)
		}
	case RescaledMSE:
		if !(c.Alpha > 0) || math.IsInf(c.Alpha, 0) {
			bad("rescaled_mse: alpha is %g, wanted above 0 (1 is the plain MSE)", c.Alpha)
		}
		if !(c.M > 0) || math.IsInf(c.M, 0) {
			bad("rescaled_mse: m is %g, wanted above 0 (1 is the plain MSE)", c.M)
		}
	default:
		bad("kind is %q, wanted %q, %q, %q, %q or %q", c.Kind, CrossEntropy, LabelSmoothing, LabelRelaxation, MSE, RescaledMSE)
	}
	switch c.Reduction {
	case "", ReduceTorch, ReducePaper:
	default:
		bad("reduction is %q, wanted %q or %q", c.Reduction, ReduceTorch, ReducePaper)
	}
	if classes < 1 {
		bad("over %d classes, wanted at least 1", classes)
	}
	return errors.Join(errs...)
}

// Loss evaluates one kind of loss on logits (batch×K). All arithmetic is in float64 and the
// result does not depend on threads. It is used by one goroutine at a time.
type Loss[T kernel.Float] struct {
	classes int
	row     rowLoss
	z, dz   []float64 // one row of logits and of their gradient
	squared bool
	paper   bool
}

// rowLoss returns the loss of one sample with logits z and true class y and, unless dz is nil,
// writes its gradient there.
type rowLoss interface {
	eval(z []float64, y int, dz []float64) float64
}

// NewLoss returns the loss that c describes for K = classes, or what Validate says against it.
func NewLoss[T kernel.Float](c LossConfig, classes int) (*Loss[T], error) {
	if err := c.Validate(classes); err != nil {
		return nil, err
	}
	l := &Loss[T]{
		classes: classes,
		z:       make([]float64, classes), dz: make([]float64, classes),
		paper: c.Reduction == ReducePaper,
	}
	switch c.Kind {
	case CrossEntropy:
		l.row = smoothed{0}
	case LabelSmoothing:
		l.row = smoothed{c.Smoothing}
	case LabelRelaxation:
		l.row = relaxed{c.Smoothing}
	case MSE:
		l.row, l.squared = squared{weight: 1, target: 1}, true
	case RescaledMSE:
		l.row, l.squared = squared{weight: c.Alpha, target: c.M}, true
	}
	return l, nil
}

// Value returns the mean loss of logits (batch×K) under labels (batch, in [0,K)). It panics if
// shapes disagree or a label is out of range.
func (l *Loss[T]) Value(logits []T, labels []int32) float64 {
	return l.mean(logits, labels, nil)
}

// Gradient returns the mean loss and writes its derivative with respect to the logits to
// dlogits (batch×K). It panics as Value does.
func (l *Loss[T]) Gradient(logits []T, labels []int32, dlogits []T) float64 {
	if len(dlogits) != len(logits) {
		panic("nn: Loss.Gradient: dlogits and logits differ in length")
	}
	return l.mean(logits, labels, dlogits)
}

func (l *Loss[T]) mean(logits []T, labels []int32, dlogits []T) float64 {
	if len(labels) == 0 || len(logits) != len(labels)*l.classes {
		panic("nn: Loss: logits are not batch×Classes")
	}
	scale := l.scale(len(labels))
	sum := 0.0
	for i, y := range labels {
		if y < 0 || int(y) >= l.classes {
			panic("nn: Loss: label out of range")
		}
		for j := range l.z {
			l.z[j] = float64(logits[i*l.classes+j])
		}
		if dlogits == nil {
			sum += l.row.eval(l.z, int(y), nil)
			continue
		}
		sum += l.row.eval(l.z, int(y), l.dz)
		for j, d := range l.dz {
			dlogits[i*l.classes+j] = T(scale * d)
		}
	}
	return scale * sum
}

// scale is the factor in front of the sum over samples.
func (l *Loss[T]) scale(batch int) float64 {
	switch {
	case l.squared && l.paper:
		return 1 / (2 * float64(batch))
	case l.squared:
		return 1 / (float64(batch) * float64(l.classes))
	}
	return 1 / float64(batch)
}
