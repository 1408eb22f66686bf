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

var adamKind = kinds.Kind{Name: "adam", Title: "Adam", Doc: "as torch.optim.Adam, its weight decay coupled",
	Uses: []string{"adam.beta1", "adam.beta2", "adam.eps"}}

// AdamConfig holds the settings of torch.optim.Adam; amsgrad is off. DefaultAdam has torch's defaults.
type AdamConfig struct {
	Beta1, Beta2 float64 // in [0,1)
	Eps          float64 // at least 0
	// WeightDecay λ adds λ·p to the gradient (coupled, before the moments; not AdamW) of every
	// parameter that is not frozen, biases and batch norm included.
	WeightDecay float64
}

// DefaultAdam is β = (0.9, 0.999), ε = 1e-8, no decay.
func DefaultAdam() AdamConfig { return AdamConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8} }

// Validate returns all problems of the configuration at once, or nil.
func (c AdamConfig) Validate() error {
	var errs []error
	for i, beta := range []float64{c.Beta1, c.Beta2} {
		if !(beta >= 0 && beta < 1) {
			errs = append(errs, fmt.Errorf("optim: Adam's beta %d is %g, wanted 0 up to, not including, 1", i+1, beta))
		}
	}
	errs = append(errs, checkNotNegative("Adam's eps", c.Eps), checkNotNegative("weight decay", c.WeightDecay))
	return errors.Join(errs...)
}

// Decayed is c with coupled weight decay.
func (c AdamConfig) Decayed(λ float64) Rule {
	c.WeightDecay = λ
	return c
}

// InLoss is false: decay is coupled.
func (AdamConfig) InLoss() bool { return false }

// Copies counts the two moments.
func (AdamConfig) Copies() int { return 2 }

// Adam is the method of Kingma & Ba 2015 (arXiv:1412.6980, Algorithm 1) as in torch.optim.Adam;
// elementwise.Adam.Update states the rule.
type Adam[T kernel.Float] struct {
	cfg     AdamConfig
	team    *parallel.Team
	params  []*param.Param[T]
	moments [2][][]T // first and second, per parameter
	update  *elementwise.Adam[T]
	steps   int64
}

// NewAdam returns Adam over params, or Validate's error. It reads once, here, which parameters are
// frozen. team may be nil.
func NewAdam[T kernel.Float](params []*param.Param[T], cfg AdamConfig, team *parallel.Team) (*Adam[T], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	a := &Adam[T]{cfg: cfg, team: team, params: trained(params), update: elementwise.NewAdam[T]()}
	for i := range a.moments {
		a.moments[i] = beside(a.params)
	}
	return a, nil
}

// Step makes one update; the loss is not used. It allocates nothing.
func (a *Adam[T]) Step(lr, _ float64) {
	a.steps++
	rule := elementwise.AdamRule{Rate: lr, Beta1: a.cfg.Beta1, Beta2: a.cfg.Beta2, Eps: a.cfg.Eps, Decay: a.cfg.WeightDecay, Step: a.steps}
	for i, p := range a.params {
		a.update.Update(a.team, rule, p.Value, p.Grad, a.moments[0][i], a.moments[1][i])
	}
}

// State returns the step count and <param>.exp_avg and <param>.exp_avg_sq of every parameter, as views.
func (a *Adam[T]) State() State[T] {
	return State[T]{Steps: a.steps, Tensors: a.tensors()}
}

func (a *Adam[T]) tensors() []Tensor[T] {
	var out []Tensor[T]
	for i, p := range a.params {
		out = append(out, Tensor[T]{Name: p.Name + ".exp_avg", Shape: p.Shape, Value: a.moments[0][i]},
			Tensor[T]{Name: p.Name + ".exp_avg_sq", Shape: p.Shape, Value: a.moments[1][i]})
	}
	return out
}

// Load restores what State returned.
func (a *Adam[T]) Load(state State[T]) error {
	return state.restore(a.tensors(), &a.steps)
}
