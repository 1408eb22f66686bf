package measuretest

import (
	"slices"

	"collapse.example/collapse/measure/internal/dd"
)

// Reasons that many definitions share.
const (
	noClassifier = "no classifier"
	noTest       = "no test features"
	allSingle    = "every class has a single sample: no spread can be seen"
)

// definitions evaluates each key of the registry, in the order of the registry and by the definitions given there.
var definitions = map[string]func(*Evaluation) Value{
	"nc1_pinv": func(e *Evaluation) Value { return e.nc1(e.train, e.ranks.Train) },
	"nc1_trace_ratio": func(e *Evaluation) Value {
		return e.traceRatio(e.train)
	},
	"cdnv": ofSpreads(func(x []dd.DD) dd.DD { m, _ := moments(x); return m }),
	"trace_within": func(e *Evaluation) Value {
		if !e.train.spreads() {
			return undefined(allSingle)
		}
		return value(e.train.traceWithin(e.set.PerClass))
	},
	"trace_between": func(e *Evaluation) Value { return value(e.train.traceBetween()) },
	"rank_between":  func(e *Evaluation) Value { return value(dd.Of(float64(e.rankBetween()))) },
	"rank_between_cut": func(e *Evaluation) Value {
		return value(dd.Of(float64(min(e.d, e.k-1) - e.rankBetween())))
	},
	"dilation":             func(e *Evaluation) Value { return e.Dilation(e.ranks.Test) },
	"test_nc1_trace_ratio": ofTest(func(e *Evaluation) Value { return e.traceRatio(e.test) }),

	"nc2_w":         ofClassifier(func(e *Evaluation) Value { return from(products(e.w, e.w), simplexETF(e.k)) }),
	"nc2_means_etf": func(e *Evaluation) Value { return from(products(e.train.means, e.train.means), simplexETF(e.k)) },
	"nc2_means_etf_centred": ofMeans(func(e *Evaluation) Value {
		return from(products(e.train.centred, e.train.centred), simplexETF(e.k))
	}),
	"nc2_means_of":          func(e *Evaluation) Value { return from(products(e.train.means, e.train.means), frame(e.k)) },
	"nc2_norm_cv":           ofMeans(func(e *Evaluation) Value { return variation(e.train.centred) }),
	"nc2_cos_deviation":     ofPairs(func(p *pairs) dd.DD { m, _ := moments(p.deviation); return m }),
	"nc2_cos_max_deviation": ofPairs(func(p *pairs) dd.DD { return largest(p.deviation) }),
	"nc2_rank_d":            ofClassifier(func(e *Evaluation) Value { return rankD(products(e.w, e.w), e.d) }),
	"gnc2_distance":         ofPairs(func(p *pairs) dd.DD { _, v := moments(p.distance); return v }),
	"gnc2_log":              ofLogs(func(p *pairs) dd.DD { _, v := moments(p.log); return v }),
	"gnc2_riesz":            (*Evaluation).riesz,

	"nc3_gram":            ofDuality(func(e *Evaluation) Value { return from(products(e.w, e.train.centred), simplexETF(e.k)) }),
	"nc3_direct":          ofClassifier(func(e *Evaluation) Value { return e.apart(e.train.means) }),
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
	"ncc_accuracy":  func(e *Evaluation) Value { return value(e.rate().nearest) },
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
	"min_class_count":        func(e *Evaluation) Value { return value(dd.Of(slices.Min(e.train.count))) },

	"cdnv_std": ofSpreads(func(x []dd.DD) dd.DD { _, v := moments(x); return v.Sqrt() }),
	"cdnv_max": ofSpreads(largest),
	"vci":      ofCloud((*Evaluation).vci),

	"nc2_w_centred": ofClassifier(func(e *Evaluation) Value {
		w, _ := e.centredWeights()
		return from(products(w, w), simplexETF(e.k))
	}),
	"nc2_w_norm_cv":       ofClassifier(func(e *Evaluation) Value { return variation(e.w) }),
	"nc2_w_cos_deviation": ofWeightPairs(func(p *pairs) dd.DD { m, _ := moments(p.deviation); return m }),
	"nc2_w_cos_std":       ofWeightPairs((*pairs).cosStd),
	"nc2_w_coherence":     ofWeightPairs((*pairs).coherence),
	"nc2_w_minority_cos":  ofClassifier((*Evaluation).minority),
	"participation_between": ofMeans(func(e *Evaluation) Value {
		var trace dd.DD
		for _, row := range e.train.centred {
			trace = trace.Add(dd.Dot(row, row))
		}
		return value(trace.Div(frobenius(products(e.train.centred, e.train.centred))).Square())
	}),
	"nc2_w_seli": ofClassifier(func(e *Evaluation) Value {
		w, size := e.centredWeights()
		if !(frobenius(w).Hi > tiny*size) {
			return undefined("all rows of W are the same")
		}
		return e.seli(w, false)
	}),
	"nc2_means_seli": ofMeans(func(e *Evaluation) Value { return e.seli(aroundTheirMean(e.train.means), true) }),
	"gnc2_w_margin":  ofClassifier((*Evaluation).oneVsRest),
	"nc2_cos_std":    ofPairs((*pairs).cosStd),
	"nc2_coherence":  ofPairs((*pairs).coherence),

	"nc3_centred":      ofDuality(func(e *Evaluation) Value { return e.apart(e.train.centred) }),
	"w_mean_alignment": ofDuality((*Evaluation).alignment),

	"test_ncc_accuracy": ofTest(func(e *Evaluation) Value { n, _ := e.testCentres(); return value(n) }),
	"test_nc4_ncc_mismatch": ofTest(ofClassifier(func(e *Evaluation) Value {
		_, m := e.testCentres()
		return value(m)
	})),

	"feature_rank":        ofCloud((*Evaluation).featureRank),
	"feature_stable_rank": ofCloud((*Evaluation).stableRank),

	"ood_auroc_msp":         ofLogits(softmaxScore),
	"ood_auroc_max_logit":   ofLogits(largest),
	"ood_auroc_energy":      ofLogits(energy),
	"ood_auroc_neco":        ofOOD(ofCloud((*Evaluation).neco)),
	"ood_auroc_mahalanobis": ofOOD(ofCloud((*Evaluation).mahalanobis)),
}

// Uncovered lists registry keys without a definition here, each with the reason. A test compares both with the registry.
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

// ofOOD is a definition that needs out-of-distribution features.
func ofOOD(f func(*Evaluation) Value) func(*Evaluation) Value {
	return func(e *Evaluation) Value {
		if e.ood == nil {
			return undefined("no out-of-distribution features")
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
