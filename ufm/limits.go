package ufm

import (
	"math"

	"collapse.example/collapse/measure"
)

// pair holds the eigenvalues of a matrix x·P + y·11ᵀ/K: x on the complement of the ones vector (K−1
// times), y on the ones vector. Such matrices commute, so norms and distances are those of the pairs.
type pair struct{ x, y float64 }

func (a pair) norm(K float64) float64 { return math.Sqrt((K-1)*a.x*a.x + a.y*a.y) }

// distance is ‖U(a) − U(b)‖_F with U(A) = A/‖A‖_F.
func (a pair) distance(b pair, K float64) float64 {
	na, nb := a.norm(K), b.norm(K)
	d := pair{a.x/na - b.x/nb, a.y/na - b.y/nb}.norm(K)
	if d < 1e-14 { // equal up to the rounding of the divisions
		return 0
	}
	return d
}

var (
	simplexPair    = pair{1, 0}
	orthogonalPair = pair{1, 1}
)

// symmetricMeans is the part of a collapsed symmetric point that the measures depend on: H̄ᵀH̄, WWᵀ, W·H̄, b = β·1.
type symmetricMeans struct {
	gram, wwt, outputs pair
	beta               float64
}

// symmetricLimits returns the collapse measures at a symmetric optimum. At the zero point every
// normalised measure is 0/0 and is left out.
func symmetricLimits(c Config, s symmetricMeans) measure.Values {
	K := float64(c.K)
	out := map[string]float64{
		measure.KeyTraceWithin:  0,
		measure.KeyTraceBetween: (K - 1) * s.gram.x / K,
		measure.KeyNC4Bias:      math.Abs(s.beta+s.outputs.y/K) * math.Sqrt(K),
	}
	if !(s.gram.x > 0) {
		return measure.NewValues(out)
	}
	out[measure.KeyNC1Pinv], out[measure.KeyNC1TraceRatio], out[measure.KeyCDNV] = 0, 0, 0
	out[measure.KeyRankBetween] = K - 1
	out[measure.KeyNumericalRank] = 1
	out[measure.KeyNC2W] = s.wwt.distance(simplexPair, K)
	out[measure.KeyNC2MeansETF] = s.gram.distance(simplexPair, K)
	out[measure.KeyNC2MeansOF] = s.gram.distance(orthogonalPair, K)
	out[measure.KeyNC2MeansCentred], out[measure.KeyNC3Gram] = 0, 0
	out[measure.KeyNC2NormCV], out[measure.KeyNC2CosDeviation], out[measure.KeyNC2CosMax] = 0, 0, 0
	// NC3_TB: ⟨W, H̄ᵀ⟩ = tr(W·H̄).
	cos := ((K-1)*s.outputs.x + s.outputs.y) /
		math.Sqrt(((K-1)*s.wwt.x+s.wwt.y)*((K-1)*s.gram.x+s.gram.y))
	out[measure.KeyNC3Direct] = math.Sqrt(math.Max(0, 2-2*cos))
	if math.Abs(1-cos) < 1e-14 {
		out[measure.KeyNC3Direct] = 0
	}
	out[measure.KeyNC4NCCMismatch] = 0
	out[measure.KeyAccuracy], out[measure.KeyNCCAccuracy] = 1, 1
	for _, key := range []string{measure.KeyMarginMean, measure.KeyMarginMin, measure.KeyMarginMax} {
		out[key] = K / (K - 1)
	}
	out[measure.KeyMeanNormRatio] = 1
	return measure.NewValues(out)
}

// projectionLimits returns the measures at Z̄ = x·Q for a rank-d projection Q, as far as they do not
// depend on which Q. eigen is the d-fold eigenvalue of H̄ᵀH̄.
func projectionLimits(c Config, kind shapeKind, eigen, beta float64) measure.Values {
	K, d := float64(c.K), float64(c.D)
	toOF := math.Sqrt(2 - 2*math.Sqrt(d/K))
	out := map[string]float64{
		measure.KeyTraceWithin: 0,
		measure.KeyNC1Pinv:     0, measure.KeyNC1TraceRatio: 0,
		measure.KeyNumericalRank: 1,
		measure.KeyNC2MeansOF:    toOF,
		measure.KeyNC3Direct:     0,
	}
	if kind == anyProj {
		return measure.NewValues(out)
	}
	toETF := math.Sqrt(2 - 2*math.Sqrt(d/(K-1)))
	out[measure.KeyTraceBetween] = d * eigen / K
	out[measure.KeyRankBetween] = d
	out[measure.KeyNC2W], out[measure.KeyNC2MeansETF], out[measure.KeyNC2MeansCentred] = toETF, toETF, toETF
	out[measure.KeyNC3Gram] = toETF
	out[measure.KeyNC2RankD], out[measure.KeyNC3RankD] = 0, 0
	out[measure.KeyNC4Bias] = math.Abs(beta) * math.Sqrt(K)
	if kind == tightFrame {
		out[measure.KeyMeanNormRatio], out[measure.KeyNC2NormCV] = 1, 0
	}
	return measure.NewValues(out)
}
