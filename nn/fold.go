package nn

import (
	"math"

	"collapse/internal/kernel"
)

// fold is a unit's convolution with its batch norm multiplied in, for Eval:
//
//	w'_o = w_o·s_o,  b'_o = (b_o − mean_o)·s_o + β_o,  s = γ/√(var + eps)
type fold[T kernel.Float] struct {
	weight, bias []T
	of           uint64 // fingerprint of what it was made from
}

// folder keeps the folds of a trunk up to date. Weights change behind its back: an optimiser, a checkpoint or a user
// writes to Param.Value. So it compares a fingerprint of all that goes into a fold before every Eval Forward, which costs
// one read of the weights, a few per cent of the smallest batch's pass, and folds what differs.
type folder[T kernel.Float] struct{ units []*unit[T] }

// refresh folds every unit whose parameters or statistics have changed, units in parallel.
func (f *folder[T]) refresh(team *kernel.Team) { team.Do(len(f.units), f) }

// Run refreshes one unit; refresh calls it through the team.
func (f *folder[T]) Run(part int) {
	u := f.units[part]
	if u.norm == nil {
		return
	}
	of := kernel.Fingerprint(1, u.weight.Value)
	for _, v := range [...][]T{u.biases(), u.norm.gamma.Value, u.norm.beta.Value, u.norm.runningMean.Value, u.norm.runningVar.Value} {
		of = kernel.Fingerprint(of, v)
	}
	if u.folded == nil {
		u.folded = &fold[T]{weight: kernel.Alloc[T](len(u.weight.Value)), bias: kernel.Alloc[T](u.out().channels), of: ^of}
	}
	if u.folded.of != of {
		u.fold()
		u.folded.of = of
	}
}

func (u *unit[T]) fold() {
	taps := len(u.weight.Value) / u.out().channels
	for o := range u.folded.bias {
		scale := float64(u.norm.gamma.Value[o]) / math.Sqrt(float64(u.norm.runningVar.Value[o])+batchNormEps)
		bias := -float64(u.norm.runningMean.Value[o])
		if u.bias != nil {
			bias += float64(u.bias.Value[o])
		}
		u.folded.bias[o] = T(float64(bias*scale) + float64(u.norm.beta.Value[o]))
		to, from := u.folded.weight[o*taps:(o+1)*taps], u.weight.Value[o*taps:(o+1)*taps]
		for i, w := range from {
			to[i] = w * T(scale)
		}
	}
}

// foldSize returns the elements of the unit's fold.
func (u *unit[T]) foldSize() int {
	if u.norm == nil {
		return 0
	}
	return u.weight.size() + u.out().channels
}
