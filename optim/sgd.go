package optim

import (
	"errors"
	"fmt"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/elementwise"
	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/nn/param"
	"collapse.example/collapse/parallel"
)

var sgdKind = kinds.Kind{Name: "sgd", Title: "SGD", Doc: "stochastic gradient descent, as torch.optim.SGD", Uses: []string{"momentum", "nesterov"}}

// SGDConfig holds the settings of torch.optim.SGD; dampening is 0.
type SGDConfig struct {
	Momentum float64 // in [0,1)
	// Nesterov looks ahead along the momentum; it needs Momentum > 0.
	Nesterov bool
	// WeightDecay λ adds λ·p to the gradient (coupled) of every parameter that is not frozen,
	// biases and batch norm included.
	WeightDecay float64
}

// Validate returns all problems of the configuration at once, or nil.
func (c SGDConfig) Validate() error {
	var errs []error
	if !(c.Momentum >= 0 && c.Momentum < 1) {
		errs = append(errs, fmt.Errorf("optim: momentum is %g, wanted 0 up to, not including, 1", c.Momentum))
	}
	errs = append(errs, checkNotNegative("weight decay", c.WeightDecay))
	if c.Nesterov && c.Momentum == 0 {
		errs = append(errs, errors.New("optim: nesterov needs a momentum above 0"))
	}
	return errors.Join(errs...)
}

// Decayed is c with coupled weight decay.
func (c SGDConfig) Decayed(λ float64) Rule {
	c.WeightDecay = λ
	return c
}

// InLoss is false: decay is coupled.
func (SGDConfig) InLoss() bool { return false }

// Copies counts the momentum.
func (c SGDConfig) Copies() int {
	if c.Momentum == 0 {
		return 0
	}
	return 1
}

// SGD is stochastic gradient descent as torch.optim.SGD documents it:
//
//	d = g + λ·p
//	v = μ·v + d        (v starts at 0, so the first step sets v = d)
//	d = d + μ·v        if Nesterov, else d = v
//	p = p − lr·d
//
// Without momentum there is no v and d = g + λ·p.
type SGD[T kernel.Float] struct {
	cfg    SGDConfig
	team   *parallel.Team
	params []*param.Param[T]
	buffer [][]T // v per parameter; nil without momentum
	update *elementwise.SGD[T]
	steps  int64
}

// NewSGD returns SGD over params, or Validate's error. It reads once, here, which parameters are
// frozen. team may be nil.
func NewSGD[T kernel.Float](params []*param.Param[T], cfg SGDConfig, team *parallel.Team) (*SGD[T], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &SGD[T]{cfg: cfg, team: team, params: trained(params), update: elementwise.NewSGD[T]()}
	if cfg.Momentum != 0 {
		s.buffer = beside(s.params)
	}
	return s, nil
}

// Step makes one update; the loss is not used. It allocates nothing.
func (s *SGD[T]) Step(lr, _ float64) {
	rule := elementwise.SGDRule{Rate: lr, Momentum: s.cfg.Momentum, Decay: s.cfg.WeightDecay, Nesterov: s.cfg.Nesterov}
	for i, p := range s.params {
		var v []T
		if s.buffer != nil {
			v = s.buffer[i]
		}
		s.update.Update(s.team, rule, p.Value, p.Grad, v)
	}
	s.steps++
}

// State returns the step count and <param>.momentum_buffer of every parameter, as views.
func (s *SGD[T]) State() State[T] {
	return State[T]{Steps: s.steps, Tensors: s.tensors()}
}

func (s *SGD[T]) tensors() []Tensor[T] {
	var out []Tensor[T]
	for i, v := range s.buffer {
		p := s.params[i]
		out = append(out, Tensor[T]{Name: p.Name + ".momentum_buffer", Shape: p.Shape, Value: v})
	}
	return out
}

// Load restores what State returned.
func (s *SGD[T]) Load(state State[T]) error {
	return state.restore(s.tensors(), &s.steps)
}
