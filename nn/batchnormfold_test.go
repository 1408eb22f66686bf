package nn

import (
	"math/rand/v2"
	"testing"
)

// evalAsTrain sets the running statistics to those of the batch, so that both modes compute the same.
func evalAsTrain(n *Network[float64], batch int) {
	for _, u := range n.trunk.units() {
		if u.norm == nil {
			continue
		}
		count := float64(batch * u.out().pixels())
		for i := range u.norm.runningMean.Value {
			u.norm.runningMean.Value[i] /= batchNormMomentum
			u.norm.runningVar.Value[i] = (u.norm.runningVar.Value[i] - (1 - batchNormMomentum)) / batchNormMomentum * (count - 1) / count
		}
	}
}

// TestEvalIsTrainWithItsStatistics: evaluation folds batch norm into the convolutions, training does not; with the running
// statistics of the batch they agree.
func TestEvalIsTrainWithItsStatistics(t *testing.T) {
	for name, build := range blocks {
		const batch = 5
		in := mapShape{2, 5, 6}
		n := tiny(t, in, 3, batch, nil, build)
		rng := rand.New(rand.NewPCG(7, 3))
		spread(rng, n)
		x, _ := sample(rng, batch, in.size(), 3)
		want := append([]float64(nil), n.Forward(x, batch, Train).Logits...)
		evalAsTrain(n, batch)
		if diff := maxDiff(n.Forward(x, batch, Eval).Logits, want); !(diff <= 1e-9) {
			t.Errorf("%s: evaluation differs from training by %g", name, diff)
		}
	}
}

// TestFoldFollowsEveryChange: of one weight or one statistic between two evaluations, and back.
func TestFoldFollowsEveryChange(t *testing.T) {
	const batch = 4
	in := mapShape{2, 5, 6}
	n, fresh := tiny(t, in, 3, batch, nil, blocks["fixdim"]), tiny(t, in, 3, batch, nil, blocks["fixdim"])
	rng := rand.New(rand.NewPCG(1, 3))
	spread(rng, n)
	x, _ := sample(rng, batch, in.size(), 3)
	n.Forward(x, batch, Train)
	evaluate := func(what string) []float64 {
		for i, s := range fresh.State() {
			copy(s.Values, n.State()[i].Values)
		}
		fresh.trunk.folds = nil
		want := append([]float64(nil), fresh.Forward(x, batch, Eval).Logits...)
		got := append([]float64(nil), n.Forward(x, batch, Eval).Logits...)
		if maxDiff(got, want) != 0 {
			t.Errorf("%s: stale fold", what)
		}
		return got
	}
	before := evaluate("nothing changed")
	if maxDiff(evaluate("nothing changed again"), before) != 0 {
		t.Error("two evaluations differ")
	}
	for _, s := range n.State() {
		if s.Count != nil {
			continue
		}
		was := s.Values[0]
		s.Values[0] += 0.5
		if maxDiff(evaluate(s.Name+" changed"), before) == 0 {
			t.Errorf("%s changed: the logits did not", s.Name)
		}
		s.Values[0] = was
		if maxDiff(evaluate(s.Name+" changed back"), before) != 0 {
			t.Errorf("%s changed back: the logits did not", s.Name)
		}
	}
}
