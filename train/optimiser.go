package train

import (
	"strconv"

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
