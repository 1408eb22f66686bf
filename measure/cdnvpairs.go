package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// Histogram counts values on a logarithmic scale, ten bins for each power of ten.
type Histogram struct {
	// Edges of the bins from the least value to the largest, ascending, one more than Counts: bin i holds
	// Edges[i] ≤ x < Edges[i+1].
	Edges  Vector `json:"edges"`
	Counts []int  `json:"counts"`
	// Zero counts values of 0, and below the smallest bin, 1e-300.
	Zero int `json:"zero"`
}

const (
	binsPerDecade = 10
	leastDecade   = -300
	histogramBins = 600 * binsPerDecade
)

// bins counts values by bin; -1 counts those below all bins.
type bins struct {
	zero  int
	count [histogramBins]int
}

func (b *bins) add(x float64) {
	at := math.Floor(math.Log10(x)*binsPerDecade) - leastDecade*binsPerDecade
	switch {
	case !(at >= 0): // −∞ for 0
		b.zero++
	default:
		b.count[int(min(at, histogramBins-1))]++
	}
}

// histogram returns the bins from the first to the last with a value.
func (b *bins) histogram() Histogram {
	h := Histogram{Zero: b.zero, Counts: []int{}}
	first, last := histogramBins, -1
	for i, n := range b.count {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	for i := first; i <= last; i++ {
		h.Edges = append(h.Edges, edge(i))
		h.Counts = append(h.Counts, b.count[i])
	}
	if last >= 0 {
		h.Edges = append(h.Edges, edge(last+1))
	}
	return h
}

func edge(bin int) float64 { return math.Pow(10, leastDecade+float64(bin)/binsPerDecade) }

// cdnvSweep visits the class-distance normalised variances of all pairs, a stripe of classes at a time, and keeps only
// their number, spread, maximum and histogram.
type cdnvSweep struct {
	*pairs
	variance []float64
	rows     []spread // of the stripe's rows
	most     []float64
	values   []float64 // a row of K for each part
	counts   []bins    // of each part
}

// cdnvPairs fills the measures of the pairs of cdnv other than their mean. The means in e.pairs are known to differ.
func (e *Engine[T]) cdnvPairs(b *builder, variance []float64) {
	if !b.any(KeyCDNVStd, KeyCDNVMax) {
		return
	}
	p, k := &e.pairs, e.train.k
	sweep := cdnvSweep{pairs: p, variance: variance}
	stripe := max(1, min(k, tileElements/k))
	parts := (stripe + pairRows - 1) / pairRows
	parts = min(parts, maxParts)
	sweep.rows, sweep.most, sweep.values, sweep.counts = make([]spread, stripe), make([]float64, stripe), make([]float64, parts*k), make([]bins, parts)
	var all spread
	most := 0.0
	for p.from = 0; p.from < k; p.from = p.to {
		p.to = min(p.from+stripe, k)
		gemm.Multiply(e.opt.Team, gemm.NT, kernel.Dense(p.to-p.from, p.d, p.centred[p.from*p.d:]), kernel.Dense(p.to, p.d, p.centred), kernel.Strided(p.to-p.from, p.to, k, p.tile), gemm.Epilogue[float64]{})
		e.opt.Team.Do(parts, &sweep)
		for i := range p.to - p.from {
			all.merge(sweep.rows[i])
			most = max(most, sweep.most[i])
		}
	}
	total := &sweep.counts[0]
	for i := 1; i < parts; i++ {
		total.zero += sweep.counts[i].zero
		for j, n := range sweep.counts[i].count {
			total.count[j] += n
		}
	}
	b.put(KeyCDNVStd, math.Sqrt(all.m2/all.n))
	b.put(KeyCDNVMax, most)
	b.report.Histograms = map[string]Histogram{KeyCDNV: total.histogram()}
}

// Run handles every parts-th row of the stripe: pairs (i, j < i).
func (s *cdnvSweep) Run(part int) {
	p := s.pairs
	for i := p.from + part; i < p.to; i += len(s.counts) {
		tile, values, most := p.tile[(i-p.from)*p.k:][:i], s.values[part*p.k:][:i], 0.0
		for j, g := range tile {
			values[j] = (s.variance[i] + s.variance[j]) / (2 * p.distance2(i, j, g))
			most = max(most, values[j])
			s.counts[part].add(values[j])
		}
		s.rows[i-p.from], s.most[i-p.from] = spreadOf(values), most
	}
}
