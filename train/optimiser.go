package train

import (
	"strconv"

	"collapse/internal/kernel"
	"collapse/nn"
	"collapse/optim"
)

// newOptimiser builds weight decay and the optimiser that steps on the objective: loss plus decay.
func (s *session[T]) newOptimiser() error {
	w, b := s.net.Classifier()
	decay := s.cfg.decay()
	var err error
	if s.decay, err = optim.NewDecay(s.net.Params(), w, b, s.in.train.N(), decay); err != nil {
		return err
	}
	o := s.cfg.Optim
	switch o.Kind {
	case "adam":
		s.opt, err = optim.NewAdam(s.net.Params(), optim.AdamConfig{Beta1: o.Adam.Beta1, Beta2: o.Adam.Beta2, Eps: o.Adam.Eps,
			WeightDecay: decay.Coupled()}, s.team)
	case "lbfgs":
		s.opt, err = optim.NewMinibatchLBFGS(s.net.Params(), o.LBFGS.optim(), s.team, s.again)
	default:
		s.opt, err = optim.NewSGD(s.net.Params(), optim.SGDConfig{Momentum: o.Momentum, Nesterov: o.Nesterov, WeightDecay: decay.Coupled()}, s.team)
	}
	return err
}

// decay is weight decay as package optim wants it. L-BFGS must see the penalty in the loss, as the released code has it.
func (c Config) decay() optim.DecayConfig {
	o := c.Optim
	return optim.DecayConfig{Kind: optim.DecayKind(o.Decay), All: o.WeightDecay, Classifier: o.LambdaW, Bias: o.LambdaB, Features: o.LambdaH,
		InLoss: o.Kind == "lbfgs"}
}

// keyObjective is the training loss and what weight decay adds to it, over the whole training set: what the optimiser lowers. Of peeled
// runs it is the objective of the unconstrained-features model.
const keyObjective = "objective"

// penalty is weight decay at the present weights and evaluated features: ½λ‖θ‖², or ½λ_W‖W‖² + ½λ_b‖b‖² + ½λ_H‖H‖². Where the code sums
// features over a batch, the last term is its mean over batches; where it penalises a constant, that is left out.
func (s *session[T]) penalty() float64 {
	half := func(λ float64, p *nn.Param[T]) float64 {
		if p == nil || p.Frozen {
			return 0
		}
		return λ / 2 * kernel.SumSquares(p.Value)
	}
	d, sum := s.cfg.decay(), 0.0
	if d.Kind == optim.DecayAll {
		for _, p := range s.net.Params() {
			sum += half(d.All, p)
		}
		return sum
	}
	w, b := s.net.Classifier()
	sum = half(d.Classifier, w) + half(d.Bias, b)
	switch d.Kind {
	case optim.DecayPeeled:
		sum += d.Features / 2 * kernel.SumSquares(s.train.features)
	case optim.DecayPeeledBatch:
		share := float64(s.net.MaxBatch()) / float64(s.in.train.N())
		sum += share * d.Features / 2 * kernel.SumSquares(s.train.features)
	}
	return sum
}

func (l LBFGSConfig) optim() optim.MinibatchLBFGSConfig {
	return optim.MinibatchLBFGSConfig{Iterations: l.MaxIter, Evaluations: l.MaxEval, History: l.History, Gradient: l.ToleranceGrad,
		Change: l.ToleranceChange, LineSearch: optim.LineSearch(l.LineSearch)}
}

// schedule is the learning rate by epoch. Check has accepted its settings.
func (c Config) schedule() optim.Schedule {
	o, k := c.Optim, c.Optim.Schedule
	var s optim.Schedule = optim.Constant(o.LR)
	switch k.Kind {
	case "step":
		s = optim.StepLR{Base: o.LR, Every: k.Every, Gamma: k.Gamma}
	case "multistep":
		s = optim.MultiStep{Base: o.LR, Milestones: k.milestones(), Gamma: k.Gamma}
	case "cosine":
		s = optim.CosineRestarts{Base: o.LR, Period: k.Period, Factor: k.Factor, Min: k.MinLR}
	}
	if k.Warmup > 0 {
		s = optim.Warmup{Epochs: k.Warmup, Then: s}
	}
	return s
}

// milestones reads the list; Check has accepted it.
func (k ScheduleConfig) milestones() []int {
	var list []int
	for _, text := range split(k.Milestones) {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic("train: a list of milestones that Check refuses")
		}
		list = append(list, n)
	}
	return list
}
