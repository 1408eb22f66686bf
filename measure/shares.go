package measure

import (
	"math"
	"slices"
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
func (e *Engine[T]) closeDecisions(p *probe, s *samples[T], in *Input[T]) (close [3][]float64) {
	train, unit := &e.train, shareErrors*inputRoundoff(s.isFloat32)
	means := train.means[:train.k*train.d]
	logits, distances := make([]float64, len(in.W)/s.d), make([]float64, train.k)
	for i, c := range p.class {
		x, class := p.at(i), s.number(int(c))
		for j := range logits {
			logits[j] = dot(in.W[j*s.d:][:s.d], x)
			if in.B != nil {
				logits[j] += in.B[j]
			}
		}
		for j := range distances {
			distances[j] = -distance2(x, means[j*s.d:][:s.d]) / 2
		}
		own, there := train.place(class)
		if !there {
			own = -1
		}
		close[0] = append(close[0], closeness(logits, in.W, x, unit, class))
		close[1] = append(close[1], closeness(distances, means, x, unit, own))
		close[2] = append(close[2], min(closeness(logits, in.W, x, unit, -1), closeness(distances, means, x, unit, -1)))
	}
	return close
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
