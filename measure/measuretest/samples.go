package measuretest

import "collapse/measure/internal/dd"

// pairs are numbers of the pairs i<j of unit vectors ĉ_k of the centred means.
type pairs struct {
	reason    string
	cos       []dd.DD
	deviation []dd.DD // |cos + 1/(K−1)|
	distance  []dd.DD // δ = ‖ĉ_i − ĉ_j‖
	log       []dd.DD // log δ; nil if a distance is zero
}

func (e *Evaluation) pairsOf() *pairs {
	if e.pairs != nil {
		return e.pairs
	}
	e.pairs = newPairs(e.train.centred, e.train.zero(), "a class mean is the global mean")
	return e.pairs
}

// newPairs compares rows; reason says what a row of length zero is.
func newPairs(rows [][]dd.DD, zero float64, reason string) *pairs {
	p := &pairs{}
	u, ok := units(rows, zero)
	if !ok {
		p.reason = reason
		return p
	}
	target, apart := dd.Of(1).Over(float64(len(rows)-1)), true // no two in one direction
	for i, a := range u {
		for _, b := range u[:i] {
			cos, d := dd.Dot(a, b), dd.Distance2(a, b).Sqrt()
			p.cos, p.deviation = append(p.cos, cos), append(p.deviation, cos.Add(target).Abs())
			p.distance, p.log = append(p.distance, d), append(p.log, d.Log())
			apart = apart && d.Hi > tiny
		}
	}
	if !apart {
		p.log = nil
	}
	return p
}

// coherence is the largest |cos|.
func (p *pairs) coherence() dd.DD {
	var most dd.DD
	for _, x := range p.cos {
		most = dd.Max(most, x.Abs())
	}
	return most
}

// cosStd is the standard deviation of cosines.
func (p *pairs) cosStd() dd.DD {
	_, variance := moments(p.cos)
	return variance.Sqrt()
}

// ofWeightPairs is a definition by pairs of rows of W.
func ofWeightPairs(f func(*pairs) dd.DD) func(*Evaluation) Value {
	return ofClassifier(func(e *Evaluation) Value {
		p := newPairs(e.w, 0, "a row of W is zero")
		if p.reason != "" {
			return undefined(p.reason)
		}
		return value(f(p))
	})
}

// ofPairs is a definition by pairs.
func ofPairs(f func(*pairs) dd.DD) func(*Evaluation) Value {
	return ofMeans(func(e *Evaluation) Value {
		if p := e.pairsOf(); p.reason != "" {
			return undefined(p.reason)
		}
		return value(f(e.pairs))
	})
}

// ofLogs is a definition by logarithms of distances.
func ofLogs(f func(*pairs) dd.DD) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		if p := e.pairsOf(); p.reason == "" && p.log == nil {
			return undefined("two centred means have one direction")
		}
		return ofPairs(f)(e)
	}
}

func largest(x []dd.DD) dd.DD {
	most := x[0]
	for _, v := range x {
		most = dd.Max(most, v)
	}
	return most
}

// riesz is the variance of δ^−(d−2) over its squared mean; a common factor, here the largest, changes nothing.
func (e *Evaluation) riesz() Value {
	if e.d <= 2 {
		return undefined("the exponent is not positive")
	}
	return ofLogs(func(p *pairs) dd.DD {
		least := p.log[0]
		for _, x := range p.log {
			least = dd.Min(least, x)
		}
		var kernel []dd.DD
		for _, x := range p.log {
			kernel = append(kernel, least.Sub(x).Times(float64(e.d-2)).Exp())
		}
		mean, variance := moments(kernel)
		return variance.Div(mean.Square())
	})(e)
}

// rates are shares of samples and their cosine margins.
type rates struct {
	correct, nearest, mismatch       dd.DD
	marginMean, marginMin, marginMax dd.DD
	reason                           string // why there are no margins
}

// ofRates is a definition by rates that need a classifier.
func ofRates(f func(*rates) Value) func(*Evaluation) Value {
	return ofClassifier(func(e *Evaluation) Value { return f(e.tally()) })
}

func (r *rates) margin(x dd.DD) Value {
	if r.reason != "" {
		return undefined(r.reason)
	}
	return value(x)
}

// argmax returns the place of the largest score. What is larger by the rounding of the evaluation alone is a tie; ties
// go to the lower place.
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

// tally goes over the samples.
func (e *Evaluation) tally() *rates {
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

// testCentres are the shares of test samples nearest to their class's training centre, and of those that W gives another class.
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

// testAccuracy is the share of test samples with argmax_k (w_k·h + b_k) = y.
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
