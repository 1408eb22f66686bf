package measuretest

import "collapse.example/collapse/measure/internal/dd"

// rates are fractions of samples, and their cosine margins.
type rates struct {
	correct, nearest, mismatch       dd.DD
	marginMean, marginMin, marginMax dd.DD
	reason                           string // why there are no margins
}

// ofRates is a definition from rates that needs a classifier.
func ofRates(f func(*rates) Value) func(*Evaluation) Value {
	return ofClassifier(func(e *Evaluation) Value { return f(e.rate()) })
}

func (r *rates) margin(x dd.DD) Value {
	if r.reason != "" {
		return undefined(r.reason)
	}
	return value(x)
}

// argmax returns the index of the largest score. A score that is larger only by the rounding of the evaluation is a tie; the lower
// index wins ties.
func argmax(scores []dd.DD, rounding float64) int {
	best := 0
	for j, x := range scores {
		if x.Sub(scores[best]).Hi > rounding {
			best = j
		}
	}
	return best
}

// logitArgmax returns argmax w_k·h + b_k.
func (e *Evaluation) logitArgmax(h []dd.DD) int {
	scores, size := make([]dd.DD, e.k), 0.0
	for k, w := range e.w {
		scores[k] = dd.Dot(w, h).Add(e.b[k])
		size = max(size, dd.Norm(w).Hi*dd.Norm(h).Hi+e.b[k].Abs().Hi)
	}
	return argmax(scores, tiny*size)
}

// rate goes over the samples, once.
func (e *Evaluation) rate() *rates {
	if e.rates != nil {
		return e.rates
	}
	r, s := &rates{}, e.train
	e.rates = r
	weight := s.weights(e.set.PerClass)
	directions := e.weightDirections(r)
	first := true
	for i, c := range s.labels {
		h := s.rows[i]
		near := e.nearest(h)
		if near == int(c) {
			r.nearest = r.nearest.Add(weight[c])
		}
		if e.w == nil {
			continue
		}
		best := e.logitArgmax(h)
		if best == int(c) {
			r.correct = r.correct.Add(weight[c])
		}
		if best != near {
			r.mismatch = r.mismatch.Add(weight[c])
		}
		if r.reason != "" {
			continue
		}
		m, ok := e.marginOf(h, int(c), directions)
		if !ok {
			r.reason = "a sample lies at the global mean"
			continue
		}
		r.marginMean = r.marginMean.Add(weight[c].Mul(m))
		if first {
			r.marginMin, r.marginMax, first = m, m, false
		}
		r.marginMin, r.marginMax = dd.Min(r.marginMin, m), dd.Max(r.marginMax, m)
	}
	return r
}

// nearest returns argmin ‖h − μ_k‖.
func (e *Evaluation) nearest(h []dd.DD) int {
	scores, least := make([]dd.DD, e.k), dd.DD{}
	for k, mean := range e.train.means {
		scores[k] = dd.Distance2(h, mean).Sqrt().Neg()
		if k == 0 || least.Less(scores[k]) {
			least = scores[k]
		}
	}
	return argmax(scores, e.train.zero())
}

// weightDirections returns the unit vectors of w_k − w_G; if there are none, r says why.
func (e *Evaluation) weightDirections(r *rates) [][]dd.DD {
	if e.w == nil {
		r.reason = noClassifier
		return nil
	}
	centred, size := e.centredWeights()
	directions, ok := units(centred, tiny*size)
	if !ok {
		r.reason = "w_k − w_G is zero for a class"
	}
	return directions
}

// centredWeights returns the rows w_k − w_G, and max ‖w_k‖.
func (e *Evaluation) centredWeights() (centred [][]dd.DD, size float64) {
	centre := make([]dd.DD, e.d)
	for _, w := range e.w {
		size = max(size, dd.Norm(w).Hi)
		for j, x := range w {
			centre[j] = centre[j].Add(x.Over(float64(e.k)))
		}
	}
	for _, w := range e.w {
		centred = append(centred, dd.Difference(w, centre))
	}
	return centred, size
}

// testCentres are the fractions of test samples nearest to their class's training centre, and of those that W assigns to another
// class than the nearest centre.
func (e *Evaluation) testCentres() (nearest, mismatch dd.DD) {
	weight := e.test.weights(e.set.PerClass)
	for i, c := range e.test.labels {
		near := e.nearest(e.test.rows[i])
		if near == int(c) {
			nearest = nearest.Add(weight[c])
		}
		if e.w != nil && e.logitArgmax(e.test.rows[i]) != near {
			mismatch = mismatch.Add(weight[c])
		}
	}
	return nearest, mismatch
}

// marginOf is cos_c − max over j≠c of cos_j, cos_j = cos(h − h_G, w_j − w_G).
func (e *Evaluation) marginOf(h []dd.DD, c int, directions [][]dd.DD) (dd.DD, bool) {
	u, ok := unit(dd.Difference(h, e.train.centre), e.train.zero())
	if !ok {
		return dd.DD{}, false
	}
	var own dd.DD
	var others []dd.DD
	for j, w := range directions {
		if cos := dd.Dot(w, u); j == c {
			own = cos
		} else {
			others = append(others, cos)
		}
	}
	return own.Sub(largest(others)), true
}

// testAccuracy is the fraction of test samples with argmax_k (w_k·h + b_k) = y.
func (e *Evaluation) testAccuracy() Value {
	var sum dd.DD
	weight := e.test.weights(e.set.PerClass)
	for i, c := range e.test.labels {
		if e.logitArgmax(e.test.rows[i]) == int(c) {
			sum = sum.Add(weight[c])
		}
	}
	return value(sum)
}
