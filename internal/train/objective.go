package train

import (
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// KeyObjective is the training loss plus weight decay, over the whole training set: what the optimiser minimises. For peeled runs it
// is the objective of the unconstrained-features model.
const KeyObjective = "objective"

// penalty is weight decay at the current weights and evaluated features: ½λ‖θ‖², or ½λ_W‖W‖² + ½λ_b‖b‖² + ½λ_H‖H‖². If the features
// are summed per batch, the last term is the mean over batches; a penalty on a constant is left out.
func (s *session[T]) penalty() float64 {
	d, sum := s.cfg.Decay, 0.0
	if d.Kind == optim.DecayAll {
		for _, square := range s.engine.penaltySquares() {
			sum += d.All / 2 * square
		}
		return sum
	}
	half := func(λ float64, p *nn.Param[T]) float64 {
		if p == nil || p.Frozen {
			return 0
		}
		return λ / 2 * rows.SumSquares(p.Value)
	}
	w, b := s.engine.head()
	sum = half(d.Classifier, w) + half(d.Bias, b)
	switch d.Kind {
	case optim.DecayPeeled:
		sum += d.Features / 2 * rows.SumSquares(s.train.features)
	case optim.DecayPeeledBatch:
		share := float64(s.cfg.batch(s.in.sizes())) / float64(s.in.train.N())
		sum += share * d.Features / 2 * rows.SumSquares(s.train.features)
	}
	return sum
}
