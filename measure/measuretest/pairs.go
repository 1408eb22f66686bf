package measuretest

import (
	"math"
	"slices"

	"collapse.example/collapse/measure/internal/dd"
)

// pairs are quantities of the pairs i<j of unit vectors ĉ_k of the centred means.
type pairs struct {
	reason    string
	blurred   float64 // distance of unit vectors that rounding of the features could produce; 1 and more: no direction is known
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
	least := math.Inf(1)
	for _, c := range e.train.centred {
		least = min(least, dd.Norm(c).Hi)
	}
	e.pairs.blurred = blur * e.roundoff() * e.train.largest / least
	return e.pairs
}

// newPairs compares rows; reason is the reason given for a row of length zero.
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

// ofWeightPairs is a definition from pairs of rows of W.
func ofWeightPairs(f func(*pairs) dd.DD) func(*Evaluation) Value {
	return ofClassifier(func(e *Evaluation) Value {
		p := newPairs(e.w, 0, "a row of W is zero")
		if p.reason != "" {
			return undefined(p.reason)
		}
		return value(f(p))
	})
}

// minority is the mean cosine between rows of W of classes with at most half the samples of the largest.
func (e *Evaluation) minority() Value {
	most := slices.Max(e.train.count)
	var rows [][]dd.DD
	for k, row := range e.w {
		if 2*e.train.count[k] <= most {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 {
		return undefined("fewer than two small classes")
	}
	p := newPairs(rows, 0, "a row of W is zero")
	if p.reason != "" {
		return undefined(p.reason)
	}
	mean, _ := moments(p.cos)
	return value(mean)
}

// ofPairs is a definition from pairs.
func ofPairs(f func(*pairs) dd.DD) func(*Evaluation) Value {
	return ofMeans(func(e *Evaluation) Value {
		if p := e.pairsOf(); p.reason != "" {
			return undefined(p.reason)
		}
		v := value(f(e.pairs))
		v.Blurred = e.pairs.blurred > 1
		return v
	})
}

// blur is the number of roundings of the largest features up to which a length may be mistaken for zero, and its value withheld.
const blur = 64

// ofLogs is a definition from logarithms of distances.
func ofLogs(f func(*pairs) dd.DD) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		if p := e.pairsOf(); p.reason == "" && p.log == nil {
			return undefined("two centred means have one direction")
		}
		v := ofPairs(f)(e)
		if v.Undefined == "" {
			closest := e.pairs.distance[0]
			for _, x := range e.pairs.distance {
				closest = dd.Min(closest, x)
			}
			v.Blurred = v.Blurred || closest.Hi < e.pairs.blurred
		}
		return v
	}
}

func largest(x []dd.DD) dd.DD {
	most := x[0]
	for _, v := range x {
		most = dd.Max(most, v)
	}
	return most
}

// riesz is the variance of δ^−(d−2) divided by its squared mean; a common factor, here the largest, cancels.
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
