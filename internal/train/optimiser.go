package train

import (
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/optim"
)

// newOptimiser builds weight decay and the optimiser that steps on the objective: loss plus decay.
func (n *native[T]) newOptimiser() error {
	w, b := n.net.Classifier()
	var err error
	if n.decay, err = optim.NewDecay(n.net.Params(), w, b, n.in.train.N(), n.cfg.Decay); err != nil {
		return err
	}
	n.opt, err = optim.New(n.cfg.Rule, n.net.Params(), n.team, n.closure)
	return err
}

func (n *native[T]) penaltySquares() []float64 {
	var squares []float64
	for _, p := range n.net.Params() {
		if !p.Frozen {
			squares = append(squares, rows.SumSquares(p.Value))
		}
	}
	return squares
}
