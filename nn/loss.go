package nn

import (
	"errors"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kinds"
)

// lossKind is a kind of loss and how to compute it.
type lossKind struct {
	Kind
	squared bool                                             // scaled as squared errors are: see LossConfig.Reduction
	check   func(c LossConfig, classes int, bad *complaints) // checks its own settings; nil: it has none
	row     func(c LossConfig) rowLoss
}

// Reductions of the squared losses; the others are means over the batch under both.
const (
	ReduceTorch = "torch" // mean over batch and classes: 1/(B·K), as nn.MSELoss
	ReducePaper = "paper" // 1/(2B), as the papers' (1/2N)‖·‖²; K/2 times torch's
)

// LossConfig names a loss and its settings. A kind ignores those that it does not use; see Losses.
type LossConfig struct {
	Kind string `json:"kind"`
	// Smoothing is α of label smoothing in [0,1], or of label relaxation in (0,1). 0.1 in Nguyen
	// et al.'s code.
	Smoothing float64 `json:"smoothing"`
	// Alpha is the weight of the true class's entry and M its target in the rescaled MSE, both
	// positive. Alpha = M = 1 is the plain MSE.
	Alpha float64 `json:"alpha"`
	M     float64 `json:"m"`
	// Reduction is ReduceTorch (also when empty) or ReducePaper, of squared losses.
	Reduction string `json:"reduction"`
}

// DefaultLoss is cross entropy, with the usual value of every other loss's settings.
func DefaultLoss() LossConfig {
	return LossConfig{Kind: CrossEntropy, Smoothing: 0.1, Alpha: 1, M: 1, Reduction: ReduceTorch}
}

// kind returns the kind of c; the zero value if there is none.
func (c LossConfig) kind() (lossKind, bool) {
	at := slices.IndexFunc(lossKinds, func(k lossKind) bool { return k.Name == c.Kind })
	if at < 0 {
		return lossKind{}, false
	}
	return lossKinds[at], true
}

// Validate returns all problems of the configuration for a network of the given number of
// classes at once, or nil.
func (c LossConfig) Validate(classes int) error {
	bad := &complaints{}
	bad.oneOf("loss kind", c.Kind, kinds.Names(Losses())...)
	if k, known := c.kind(); known && k.check != nil {
		k.check(c, classes, bad)
	}
	if c.Reduction != "" {
		bad.oneOf("loss reduction", c.Reduction, ReduceTorch, ReducePaper)
	}
	bad.when(classes < 1, "loss over %d classes, wanted at least 1", classes)
	return errors.Join(bad.errs...)
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

// NewLoss returns the loss that c describes for K = classes, or Validate's error.
func NewLoss[T kernel.Float](c LossConfig, classes int) (*Loss[T], error) {
	if err := c.Validate(classes); err != nil {
		return nil, err
	}
	k, _ := c.kind()
	return &Loss[T]{classes: classes, row: k.row(c), z: make([]float64, classes), dz: make([]float64, classes),
		squared: k.squared, paper: c.Reduction == ReducePaper}, nil
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
