package measure

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// A share of samples (an accuracy, a mismatch) changes only if a sample is decided otherwise, and rounding does that to samples whose
// decision is closer than the rounding of its own numbers. Their share is estimated from a probe: by how many samples are within some
// multiple of it, over the multiple, since decisions that close are few and evenly spread.

const (
	closeSamples  = 8   // of a probe within a multiple of their rounding: enough to estimate a density
	mostShareWork = 1e9 // products of a probe
	shareErrors   = 3   // standard deviations of a sample's rounding
)

// shareKeys are the shares of train and of test samples: by logits, by nearest centres, and where the two differ.
var shareKeys = [2][3]string{{KeyAccuracy, KeyNCCAccuracy, KeyNC4NCCMismatch}, {KeyTestAccuracy, KeyTestNCCAccuracy, KeyTestNCCMismatch}}

// shares states the uncertainties of shares of samples.
func (e *Engine[T]) shares(r *Report, in *Input[T]) error {
	splits := []*samples[T]{&e.train}
	if in.Test.Features != nil && e.test.n > 0 {
		splits = append(splits, &e.test)
	}
	for i, s := range splits {
		keys := slices.DeleteFunc(slices.Clone(shareKeys[i][:]), func(key string) bool { _, ok := r.Value(key); return !ok })
		if len(keys) == 0 {
			continue
		}
		rows := len(in.W)/s.d + e.train.k
		p, err := newProbe(s, min(manyRows(s.d), max(fewRows, int(mostShareWork/float64(rows)/float64(s.d)))))
		if err != nil {
			return err
		}
		close := e.closeDecisions(p, s, in)
		for j, key := range shareKeys[i] {
			if v, ok := r.Value(key); ok {
				given := closeShare(close[j])
				r.state(key, given*float64(s.d)*eps64/inputRoundoff(s.isFloat32), given)
				r.InputRounding[key] = min(r.InputRounding[key], max(v, 1-v)-r.Uncertainty[key])
			}
		}
	}
	return nil
}

// closeDecisions returns, for each share, how close each sample of a probe of s is to another decision, over the rounding of its numbers.
func (e *Engine[T]) closeDecisions(p *probe, s *samples[T], in *Input[T]) [3][]float64 {
	task := &closeTask{p: p, w: in.W, b: in.B, k: e.train.k, means: e.train.means[:e.train.k*e.train.d], unit: shareErrors * inputRoundoff(s.isFloat32),
		class: make([]int, len(p.class)), place: make([]int, len(p.class))}
	for i, c := range p.class {
		task.class[i] = s.number(int(c))
		own, there := e.train.place(task.class[i])
		if !there {
			own = -1
		}
		task.place[i] = own
	}
	task.centre = e.train.centre
	task.centred = relative(task.means, task.centre)
	task.halves = make([]float64, task.k)
	for j := range task.halves {
		m := task.centred[j*p.d:][:p.d]
		task.halves[j] = -dot(m, m) / 2
	}
	for j := range task.close {
		task.close[j] = make([]float64, len(p.class))
	}
	e.opt.Team.Do((len(p.class)+closeRows-1)/closeRows, task)
	return task.close
}

// closeRows is how many samples a part of a closeTask has.
const closeRows = 64

// closeTask finds the closeness of a probe's samples in parts.
type closeTask struct {
	p            *probe
	w, b, means  []float64
	k            int
	unit         float64
	centre       []float64 // a point among the means, around which products lose nothing
	centred      []float64 // (k×d) means minus the centre
	halves       []float64 // (k) minus half their squares
	class, place []int     // of each sample: the classifier's row of its class, and the class mean; −1: there is none
	close        [3][]float64
}

// Run fills one part.
func (t *closeTask) Run(part int) {
	from, d := part*closeRows, t.p.d
	m := min(closeRows, len(t.class)-from)
	x := t.p.h[from*d:][:m*d]
	logits := scoresOf(x, t.w, t.b, d)
	distances := scoresOf(relative(x, t.centre), t.centred, t.halves, d) // −‖x − μ_j‖²/2 but for what all classes share
	for i := range m {
		h := x[i*d:][:d]
		byLogits, byDistances := logits[i*(len(t.w)/d):][:len(t.w)/d], distances[i*t.k:][:t.k]
		t.close[0][from+i] = closeness(byLogits, t.w, h, t.unit, t.class[from+i])
		t.close[1][from+i] = closeness(byDistances, t.means, h, t.unit, t.place[from+i])
		t.close[2][from+i] = min(closeness(byLogits, t.w, h, t.unit, -1), closeness(byDistances, t.means, h, t.unit, -1))
	}
}

// scoresOf returns x wᵀ + b of samples x (m×d) by rows w (k×d), m×k.
func scoresOf(x, w, b []float64, d int) []float64 {
	m, k := len(x)/d, len(w)/d
	out := make([]float64, m*k)
	gemm.Multiply(nil, gemm.NT, kernel.Dense(m, d, x), kernel.Dense(k, d, w), kernel.Dense(m, k, out), gemm.Epilogue[float64]{Bias: b})
	return out
}

// closeness returns how far the scores of x by rows are from another decision, over the rounding of x in their difference: whether row own
// wins or, if own < 0, which row does. A score's gradient is its row.
func closeness(scores, rows, x []float64, unit float64, own int) float64 {
	if own >= len(scores) {
		own = -1
	}
	one, other := own, -1
	for j, v := range scores {
		switch {
		case one < 0:
			one = j
		case j == own:
		case own < 0 && v > scores[one]:
			one, other = j, one
		case other < 0 || v > scores[other]:
			other = j
		}
	}
	if other < 0 {
		return math.Inf(1)
	}
	moved, d := 0.0, len(x)
	a, b := rows[one*d:][:d], rows[other*d:][:d]
	for i, v := range x {
		by := (a[i] - b[i]) * v
		moved += by * by
	}
	if moved == 0 {
		return math.Inf(1) // nothing that is rounded decides
	}
	return math.Abs(scores[one]-scores[other]) / (unit * math.Sqrt(moved))
}

// closeShare returns the share of samples closer than 1. It sorts.
func closeShare(close []float64) float64 {
	slices.Sort(close)
	n, _ := slices.BinarySearch(close, 1)
	if n >= closeSamples || len(close) < closeSamples {
		return float64(n) / float64(max(1, len(close)))
	}
	within := max(1, close[closeSamples-1])
	return float64(closeSamples) / within / float64(len(close))
}
