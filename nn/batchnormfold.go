package nn

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// fold is a unit's convolution with its batch norm multiplied in, for Eval:
//
//	w'_o = w_o·s_o,  b'_o = (b_o − mean_o)·s_o + β_o,  s = γ/√(var + eps)
type fold[T kernel.Float] struct {
	weight, bias []T
	arranged     []T    // weight in the order of the forward pass; empty if that has no use for it
	of           uint64 // fingerprint of what it was made from
	stale        bool
}

// folder keeps the folds of a trunk up to date. Weights change without its knowledge: an optimiser, a checkpoint or a
// user writes to Param.Value. So before every Eval Forward it compares a fingerprint of everything that goes into a fold,
// which costs one read of the weights, and refolds what differs.
type folder[T kernel.Float] struct {
	units   []*unit[T] // those with batch norm
	pieces  []foldPiece[T]
	folding bool
}

// foldPiece is a part of a unit's weights that one thread reads.
type foldPiece[T kernel.Float] struct {
	values []T
	unit   int
	of     uint64
}

// foldPieceSize is 512 KiB of float32.
const foldPieceSize = 1 << 17

// prepare makes f keep the folds of units. Parameters must have their memory.
func (f *folder[T]) prepare(units []*unit[T]) {
	for _, u := range units {
		if u.norm == nil {
			continue
		}
		for w := range slices.Chunk(u.weight.Value, foldPieceSize) {
			f.pieces = append(f.pieces, foldPiece[T]{values: w, unit: len(f.units)})
		}
		u.folded = &fold[T]{weight: memory.Alloc[T](len(u.weight.Value)), bias: memory.Alloc[T](u.out().channels),
			arranged: memory.Alloc[T](u.conv.ArrangedSize()), stale: true}
		f.units = append(f.units, u)
	}
}

// refresh folds every unit whose parameters or statistics have changed.
func (f *folder[T]) refresh(team *parallel.Team) {
	f.folding = false
	team.Do(len(f.pieces), f)
	piece, stale := 0, false
	for i, u := range f.units {
		of := u.normFingerprint()
		for ; piece < len(f.pieces) && f.pieces[piece].unit == i; piece++ {
			of = of*0x9e3779b97f4a7c15 ^ f.pieces[piece].of
		}
		u.folded.stale = u.folded.stale || u.folded.of != of
		u.folded.of = of
		stale = stale || u.folded.stale
	}
	if stale {
		f.folding = true
		team.Do(len(f.units), f)
	}
}

// Run reads one piece or folds one unit; refresh calls it through the team.
func (f *folder[T]) Run(part int) {
	if !f.folding {
		p := &f.pieces[part]
		p.of = memory.Fingerprint(uint64(part), p.values)
		return
	}
	if u := f.units[part]; u.folded.stale {
		u.fold()
		u.folded.stale = false
	}
}

// normFingerprint is the fingerprint of the biases and the batch norm.
func (u *unit[T]) normFingerprint() uint64 {
	of := uint64(1)
	for _, v := range [...][]T{u.biases(), u.norm.gamma.Value, u.norm.beta.Value, u.norm.runningMean.Value, u.norm.runningVar.Value} {
		of = memory.Fingerprint(of, v)
	}
	return of
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
	if len(u.folded.arranged) > 0 {
		u.conv.Arrange(u.folded.weight, u.folded.arranged)
	}
}

// foldSize returns the elements of the unit's fold.
func (u *unit[T]) foldSize() int {
	if u.norm == nil {
		return 0
	}
	return u.weight.Size() + u.out().channels + u.conv.ArrangedSize()
}
