package measuretest

import (
	"collapse/measure/internal/dd"
)

// Reasons that many definitions share.
const (
	noClassifier = "no classifier"
	noTest       = "no test features"
)

// definitions evaluates each key of the registry; what it says there is what is done here, in that order.
var definitions = map[string]func(*Evaluation) Value{
	"nc1_pinv": func(e *Evaluation) Value { return e.nc1(e.train, e.ranks.Train) },
	"nc1_trace_ratio": func(e *Evaluation) Value {
		return e.traceRatio(e.train)
	},
	"cdnv":          (*Evaluation).cdnv,
	"trace_within":  func(e *Evaluation) Value { return value(e.train.traceWithin(e.set.PerClass)) },
	"trace_between": func(e *Evaluation) Value { return value(e.train.traceBetween()) },
	"rank_between":  func(e *Evaluation) Value { return value(dd.Of(float64(e.train.rank(e.set.PerClass)))) },
	"rank_between_cut": func(e *Evaluation) Value {
		return value(dd.Of(float64(min(e.d, e.k-1) - e.train.rank(e.set.PerClass))))
	},
	"dilation":             func(e *Evaluation) Value { return e.Dilation(e.ranks.Test) },
	"test_nc1_trace_ratio": ofTest(func(e *Evaluation) Value { return e.traceRatio(e.test) }),

	"nc2_w":         ofClassifier(func(e *Evaluation) Value { return from(products(e.w, e.w), simplexETF(e.k)) }),
	"nc2_means_etf": func(e *Evaluation) Value { return from(products(e.train.means, e.train.means), simplexETF(e.k)) },
	"nc2_means_etf_centred": ofMeans(func(e *Evaluation) Value {
		return from(products(e.train.centred, e.train.centred), simplexETF(e.k))
	}),
	"nc2_means_of":          func(e *Evaluation) Value { return from(products(e.train.means, e.train.means), frame(e.k)) },
	"nc2_norm_cv":           ofMeans((*Evaluation).normCV),
	"nc2_cos_deviation":     ofPairs(func(p *pairs) dd.DD { m, _ := moments(p.deviation); return m }),
	"nc2_cos_max_deviation": ofPairs(func(p *pairs) dd.DD { return largest(p.deviation) }),
	"nc2_rank_d":            ofClassifier(func(e *Evaluation) Value { return rankD(products(e.w, e.w), e.d) }),
	"gnc2_distance":         ofPairs(func(p *pairs) dd.DD { _, v := moments(p.distance); return v }),
	"gnc2_log":              ofLogs(func(p *pairs) dd.DD { _, v := moments(p.log); return v }),
	"gnc2_riesz":            (*Evaluation).riesz,

	"nc3_gram":            ofDuality(func(e *Evaluation) Value { return from(products(e.w, e.train.centred), simplexETF(e.k)) }),
	"nc3_direct":          ofClassifier((*Evaluation).direct),
	"nc3_rank_d":          ofDuality(func(e *Evaluation) Value { return rankD(products(e.w, e.train.centred), e.d) }),
	"nc3_uniform_duality": ofDuality((*Evaluation).uniformDuality),

	"nc4_bias":         ofClassifier((*Evaluation).bias),
	"nc4_ncc_mismatch": ofRates(func(r *rates) Value { return value(r.mismatch) }),
	"nc5_ood":          (*Evaluation).orthogonality,

	"numerical_rank": (*Evaluation).numericalRank,

	"cosine_margin_mean": ofRates(func(r *rates) Value { return r.margin(r.marginMean) }),
	"cosine_margin_min":  ofRates(func(r *rates) Value { return r.margin(r.marginMin) }),
	"cosine_margin_max":  ofRates(func(r *rates) Value { return r.margin(r.marginMax) }),

	"accuracy":      ofRates(func(r *rates) Value { return value(r.correct) }),
	"ncc_accuracy":  func(e *Evaluation) Value { return value(e.tally().nearest) },
	"test_accuracy": ofTest(ofClassifier((*Evaluation).testAccuracy)),

	"memorization_redrawn":    ofMemory(func(m *memory) Value { return m.redrawnSum() }),
	"memorization_flipped":    ofMemory(func(m *memory) Value { return value(m.flipped) }),
	"memorization_mean":       ofMemory(func(m *memory) Value { return m.mean() }),
	"memorization_normalised": ofMemory(func(m *memory) Value { return m.normalised() }),

	"mean_norm_ratio":        (*Evaluation).normRatio,
	"config_smallest_entry":  (*Evaluation).smallestEntry,
	"config_max_abs_cos":     (*Evaluation).maxCos,
	"config_support_overlap": (*Evaluation).overlap,
	"config_weight_angle":    ofDuality((*Evaluation).weightAngle),
}

// Uncovered names registry keys that have no definition here, each with the reason. A test compares both with the registry.
var Uncovered = map[string]string{}

// Keys returns the keys that have a definition here.
func Keys() []string {
	keys := make([]string, 0, len(definitions))
	for key := range definitions {
		keys = append(keys, key)
	}
	return keys
}

// ofClassifier is a definition that needs W.
func ofClassifier(f func(*Evaluation) Value) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		if e.w == nil {
			return undefined(noClassifier)
		}
		return f(e)
	}
}

// ofTest is a definition that needs test features.
func ofTest(f func(*Evaluation) Value) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		if e.test == nil {
			return undefined(noTest)
		}
		return f(e)
	}
}

// ofMeans is a definition that needs class means that do not all coincide.
func ofMeans(f func(*Evaluation) Value) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		if !(frobenius(e.train.centred).Hi > e.train.zero()) {
			return undefined("the class means coincide")
		}
		return f(e)
	}
}

// ofDuality needs both.
func ofDuality(f func(*Evaluation) Value) func(*Evaluation) Value { return ofClassifier(ofMeans(f)) }

// nc1 is split.nc1 over all directions that are not zero if rank is 0.
func (e *Evaluation) nc1(s *split, rank int) Value {
	if rank == 0 {
		rank = s.rank(e.set.PerClass)
	}
	return s.nc1(rank, e.set.PerClass)
}

// traceRatio is tr Σ_W / tr Σ_B.
func (e *Evaluation) traceRatio(s *split) Value {
	between := s.traceBetween()
	if !(between.Sqrt().Hi > s.zero()) {
		return undefined("the class means coincide")
	}
	return value(s.traceWithin(e.set.PerClass).Div(between))
}

// cdnv is the mean over i<j of (v_i + v_j) / (2 ‖μ_i − μ_j‖²).
func (e *Evaluation) cdnv() Value {
	s := e.train
	var sum dd.DD
	for i, a := range s.means {
		for j, b := range s.means[:i] {
			distance := dd.Distance2(a, b)
			if !(distance.Sqrt().Hi > s.zero()) {
				return undefined("two class means coincide")
			}
			sum = sum.Add(s.variance[i].Add(s.variance[j]).Div(distance.Times(2)))
		}
	}
	return value(sum.Over(float64(e.k * (e.k - 1) / 2)))
}

// normCV is the standard deviation over the mean of ‖μ_k − h_G‖.
func (e *Evaluation) normCV() Value {
	var norms []dd.DD
	for _, c := range e.train.centred {
		norms = append(norms, dd.Norm(c))
	}
	mean, variance := moments(norms)
	return value(variance.Sqrt().Div(mean))
}

// direct is ‖U(W) − U(H̄ᵀ)‖.
func (e *Evaluation) direct() Value {
	w, h := frobenius(e.w), frobenius(e.train.means)
	if !(w.Hi > 0 && h.Hi > 0) {
		return undefined("a matrix of zeros has no direction")
	}
	var sum dd.DD
	for k, row := range e.w {
		for j, x := range row {
			sum = sum.Add(x.Div(w).Sub(e.train.means[k][j].Div(h)).Square())
		}
	}
	return value(sum.Sqrt())
}

// dual returns the unit vectors of w_k and of μ_k − h_G.
func (e *Evaluation) dual() (w, c [][]dd.DD, ok bool) {
	w, first := units(e.w, 0)
	c, second := units(e.train.centred, e.train.zero())
	return w, c, first && second
}

// uniformDuality is the variance over classes of cos(w_k, μ_k − h_G).
func (e *Evaluation) uniformDuality() Value {
	w, c, ok := e.dual()
	if !ok {
		return undefined("w or a centred mean is zero")
	}
	var cosines []dd.DD
	for k := range w {
		cosines = append(cosines, dd.Dot(w[k], c[k]))
	}
	_, variance := moments(cosines)
	return value(variance)
}

// weightAngle is the largest angle between w_k and μ_k − h_G: 2 atan(‖ŵ − ĉ‖/‖ŵ + ĉ‖).
func (e *Evaluation) weightAngle() Value {
	w, c, ok := e.dual()
	if !ok {
		return undefined("w or a centred mean is zero")
	}
	var most dd.DD
	for k := range w {
		opposite := make([]dd.DD, e.d)
		for j, x := range c[k] {
			opposite[j] = x.Neg()
		}
		half := dd.Atan2(dd.Distance2(w[k], c[k]).Sqrt(), dd.Distance2(w[k], opposite).Sqrt())
		most = dd.Max(most, half.Times(2))
	}
	return value(most)
}

// bias is ‖b + W h_G‖.
func (e *Evaluation) bias() Value {
	var sum dd.DD
	for k, w := range e.w {
		sum = sum.Add(dd.Dot(w, e.train.centre).Add(e.b[k]).Square())
	}
	return value(sum.Sqrt())
}

// orthogonality is the mean over k of |cos(μ_k, μ_OOD)|.
func (e *Evaluation) orthogonality() Value {
	if e.ood == nil {
		return undefined("no out-of-distribution features")
	}
	mean, first := unit(e.ood.means[0], e.ood.zero())
	means, second := units(e.train.means, e.train.zero())
	if !first || !second {
		return undefined("a mean is zero")
	}
	var sum dd.DD
	for _, u := range means {
		sum = sum.Add(dd.Dot(u, mean).Abs().Over(float64(e.k)))
	}
	return value(sum)
}

// numericalRank is the mean over k of (‖H_k‖_* / ‖H_k‖)².
func (e *Evaluation) numericalRank() Value {
	classes := make([][][]dd.DD, e.k)
	for i, c := range e.train.labels {
		classes[c] = append(classes[c], e.train.rows[i])
	}
	var sum dd.DD
	for _, rows := range classes {
		length := frobenius(rows)
		if !(length.Hi > 0) {
			return undefined("all features of a class are zero")
		}
		var nuclear dd.DD
		for _, s := range dd.SingularValues(rows, length.Times(1e-29)) {
			nuclear = nuclear.Add(s)
		}
		sum = sum.Add(nuclear.Div(length).Square().Over(float64(e.k)))
	}
	return value(sum)
}

// normRatio is min ‖μ_k‖ / max ‖μ_k‖.
func (e *Evaluation) normRatio() Value {
	least, most := dd.Norm(e.train.means[0]), dd.DD{}
	for _, m := range e.train.means {
		least, most = dd.Min(least, dd.Norm(m)), dd.Max(most, dd.Norm(m))
	}
	if !(most.Hi > 0) {
		return undefined("all class means are zero")
	}
	return value(least.Div(most))
}

// smallestEntry is min over k, c of μ_kc.
func (e *Evaluation) smallestEntry() Value {
	least := e.train.means[0][0]
	for _, m := range e.train.means {
		for _, x := range m {
			least = dd.Min(least, x)
		}
	}
	return value(least)
}

// maxCos is max over i<j of |cos(μ_i, μ_j)|.
func (e *Evaluation) maxCos() Value {
	u, ok := units(e.train.means, e.train.zero())
	if !ok {
		return undefined("a class mean is zero")
	}
	var most dd.DD
	for i, a := range u {
		for _, b := range u[:i] {
			most = dd.Max(most, dd.Dot(a, b).Abs())
		}
	}
	return value(most)
}

// overlap is max over i<j of Σ_c min(|μ_ic|, |μ_jc|) / min(‖μ_i‖₁, ‖μ_j‖₁).
func (e *Evaluation) overlap() Value {
	var most dd.DD
	for i, a := range e.train.means {
		for _, b := range e.train.means[:i] {
			var shared, first, second dd.DD
			for c, x := range a {
				first, second = first.Add(x.Abs()), second.Add(b[c].Abs())
				shared = shared.Add(dd.Min(x.Abs(), b[c].Abs()))
			}
			least := dd.Min(first, second)
			if !(least.Hi > 0) {
				return undefined("a class mean is zero")
			}
			most = dd.Max(most, shared.Div(least))
		}
	}
	return value(most)
}
