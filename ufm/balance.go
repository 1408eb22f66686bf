package ufm

import (
	"math"

	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/measure"
)

// certifyBalance fills in the balance residual: at any critical point λ_W·WᵀW = λ_H·HHᵀ. With three factors λ_1·W1ᵀW1 = λ_H1·H1H1ᵀ
// and λ_2·W2ᵀW2 = λ_1·W1W1ᵀ, of which only the diagonal remains with a ReLU; the same is true of relu-plain and H ≥ 0.
func (p *Problem) certifyBalance(x []float64, cert *Certificate) {
	at, K, d, N := p.View(x), p.K, p.D, p.K*p.N
	if p.Dim() > hessianVariables && p.N > 1 {
		cert.Missing["balance"] = "too large for columns that differ within classes"
		return
	}
	wtw, hht := p.gram(gemm.TN, d, K, at.W), p.gram(gemm.NT, d, N, at.H)
	if at.W1 == nil {
		cert.Balance = Number(difference(p.pW, wtw, p.pH, hht, d, p.relu || p.Model == LSNonneg))
		return
	}
	inner := difference(p.pW1, p.gram(gemm.TN, d, d, at.W1), p.pH, hht, d, false)
	outer := difference(p.pW, wtw, p.pW1, p.gram(gemm.NT, d, d, at.W1), d, p.relu)
	cert.Balance = Number(math.Hypot(inner, outer))
}

// gram returns aᵀa (TN, a is k×d) or aaᵀ (NT, a is d×k).
func (p *Problem) gram(form gemm.Form, d, k int, a []float64) []float64 {
	out := make([]float64, d*d)
	p.gemm(form, d, d, k, a, a, out, false)
	return out
}

// difference is ‖f·a − g·b‖_F of d×d matrices, or of their diagonals.
func difference(f float64, a []float64, g float64, b []float64, d int, diagonal bool) float64 {
	sum := 0.0
	for i := range d {
		for j := range d {
			if diagonal && i != j {
				continue
			}
			diff := f*a[i*d+j] - g*b[i*d+j]
			sum += diff * diff
		}
	}
	return math.Sqrt(sum)
}

// nonnegReport measures what MD Definition 3.1 requires of an NC configuration, by the keys of package measure, together with the
// spread of norms.
func (p *Problem) nonnegReport(x []float64) measure.Values {
	measures, err := p.Measures(p.View(x))
	if err != nil {
		return measure.Values{}
	}
	out := measure.NewValues(map[string]float64{})
	for _, key := range []string{measure.KeyConfSmallestEntry, measure.KeyConfMaxCos, measure.KeyConfOverlap,
		measure.KeyConfWeightAngle, measure.KeyNC2NormCV, measure.KeyMeanNormRatio} {
		if v, ok := measures.Get(key); ok {
			out = out.With(key, v)
		}
	}
	return out
}
