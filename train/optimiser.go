package train

import (
	"strconv"

	"collapse/optim"
)

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
