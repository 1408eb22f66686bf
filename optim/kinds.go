package optim

import (
	"fmt"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/nn/param"
	"collapse.example/collapse/parallel"
)

// Rule is an optimiser with its settings: an SGDConfig, AdamConfig or MinibatchLBFGSConfig.
type Rule interface {
	Validate() error
	// Decayed is the rule with coupled weight decay. InLoss says that the rule must see decay in the loss instead; see DecayConfig.
	Decayed(λ float64) Rule
	InLoss() bool
	// Copies is how many vectors as long as the weights the optimiser keeps.
	Copies() int
}

// Kinds lists the optimisers that train networks.
func Kinds() []kinds.Kind { return []kinds.Kind{sgdKind, adamKind, lbfgsKind} }

// New returns the optimiser that rule describes over params, or Validate's error. again recomputes the objective of the current
// batch and its gradients; only L-BFGS calls it. team may be nil.
func New[T kernel.Float](rule Rule, params []*param.Param[T], team *parallel.Team, again func() float64) (Optimizer[T], error) {
	switch r := rule.(type) {
	case SGDConfig:
		return NewSGD(params, r, team)
	case AdamConfig:
		return NewAdam(params, r, team)
	case MinibatchLBFGSConfig:
		return NewMinibatchLBFGS(params, r, team, again)
	}
	return nil, fmt.Errorf("optim: no optimiser for a rule of type %T", rule)
}
