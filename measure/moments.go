package measure

import "collapse/internal/kernel"

// Moments are what one pass over a stream or a shard keeps: count, mean and scatter of each class. Moments of
// parts merge (Chan, Golub & LeVeque 1979) in any order and grouping to the same result up to rounding; nothing is ever
// the difference of two large sums, so scatter stays accurate when the spread is tiny beside the mean, and is
// never negative.
type Moments struct {
	K, D    int
	Count   []int     // (K)
	Mean    []float64 // (K×D) class means; zero for classes not seen
	Scatter []float64 // (K) Σ ‖h − μ_k‖²
	Pooled  []float64 // (D×D) Σ (h − μ_k)(h − μ_k)ᵀ over all classes, symmetric; nil: not kept, and no nc1_pinv

	block    *Moments  // of the rows being added
	residual []float64 // (rows × D)
}

// NewMoments returns empty moments of k classes of width d; pooled keeps the D×D scatter for nc1_pinv.
// It panics if k or d is not positive.
func NewMoments(k, d int, pooled bool) *Moments {
	if k < 1 || d < 1 {
		panic("measure: NewMoments needs at least one class and one feature")
	}
	m := &Moments{K: k, D: d, Count: make([]int, k), Mean: make([]float64, k*d), Scatter: make([]float64, k)}
	if pooled {
		m.Pooled = make([]float64, d*d)
	}
	return m
}

// AddRows adds rows (len(labels)×D) to m. It returns *LabelError, *ShapeError or *NonFiniteError, rows
// counted from the start of this call, and then leaves m as it was.
func AddRows[T kernel.Float](m *Moments, team *kernel.Team, rows []T, labels []int32) error {
	if len(rows) != len(labels)*m.D {
		return &ShapeError{What: "elements of feature rows", Found: len(rows), Want: len(labels) * m.D}
	}
	for i, label := range labels {
		if label < 0 || int(label) >= m.K {
			return &LabelError{Where: "rows", Row: i, Label: label, K: m.K}
		}
	}
	if m.block == nil {
		m.block = NewMoments(m.K, m.D, m.Pooled != nil)
	}
	b := m.block
	b.sum(labels, func(to []float64, i int) { kernel.AddRow(to, rows[i*m.D:][:m.D]) })
	if !finite(b.Mean) {
		if err := checkFinite("rows", rows, m.D); err != nil {
			return err
		}
		return &RangeError{Where: "rows", Class: firstNonFinite(b.Mean) / m.D}
	}
	m.residual = grow(m.residual, len(rows))
	clear(b.Scatter)
	for i, c := range labels {
		b.Scatter[c] += kernel.SubRow(m.residual[i*m.D:][:m.D], rows[i*m.D:][:m.D], b.Mean[int(c)*m.D:][:m.D])
	}
	if m.Pooled != nil {
		kernel.Gemm(team, kernel.TN, m.D, m.D, len(labels), m.residual, m.D, m.residual, m.D, b.Pooled, m.D, kernel.Epilogue[float64]{})
	}
	return m.Merge(b)
}

// sum fills counts and means from rows that add adds to a sum.
func (m *Moments) sum(labels []int32, add func(to []float64, row int)) {
	clear(m.Count)
	clear(m.Mean)
	for i, c := range labels {
		m.Count[c]++
		add(m.Mean[int(c)*m.D:][:m.D], i)
	}
	for c, n := range m.Count {
		if n > 0 {
			scale(m.Mean[c*m.D:][:m.D], 1/float64(n))
		}
	}
}

// Merge adds the samples of o, which is not changed. It returns *ShapeError if sizes differ or one keeps the
// pooled scatter and the other does not.
//
// With δ = μ_2 − μ_1: S = S_1 + S_2 + δδᵀ n_1 n_2/n, μ = μ_1 + δ n_2/n.
func (m *Moments) Merge(o *Moments) error {
	switch {
	case o.K != m.K:
		return &ShapeError{What: "classes of moments", Found: o.K, Want: m.K}
	case o.D != m.D:
		return &ShapeError{What: "width of moments", Found: o.D, Want: m.D}
	case len(o.Pooled) != len(m.Pooled):
		return &ShapeError{What: "elements of the pooled scatter", Found: len(o.Pooled), Want: len(m.Pooled), Hint: "merge moments that all keep it, or none"}
	}
	for i, x := range o.Pooled {
		m.Pooled[i] += x
	}
	delta := make([]float64, m.D)
	for c, n2 := range o.Count {
		if n2 == 0 {
			continue
		}
		n := float64(m.Count[c] + n2)
		weight := float64(m.Count[c]) * float64(n2) / n
		mean := m.Mean[c*m.D:][:m.D]
		m.Scatter[c] += o.Scatter[c] + weight*kernel.SubRow(delta, o.Mean[c*m.D:][:m.D], mean)
		for i := 0; m.Pooled != nil && weight > 0 && i < m.D; i++ {
			axpy(m.Pooled[i*m.D:][:m.D], weight*delta[i], delta)
		}
		axpy(mean, float64(n2)/n, delta)
		m.Count[c] += n2
	}
	return nil
}

const secondLook = "one pass cannot give it: it needs every sample again, beside the class means"

// Report returns every measure that one pass can give; w (K×D) and b (K) are the classifier, nil if there is
// none. rcond of Σ_B's eigenvalues is that of float64 features unless opt.RankCutoff says otherwise.
// Only PerSample weighting has an nc1_pinv, because the pooled scatter weighs samples.
func (m *Moments) Report(w, b []float64, opt Options) (*Report, error) {
	want, err := newWanted(opt)
	if err != nil {
		return nil, err
	}
	out := newBuilder(&want, opt.Imbalance)
	s := &samples[float64]{name: "moments", d: m.D, k: m.K, count: m.Count, means: append([]float64(nil), m.Mean...)}
	s.tallyCounts()
	if s.n == 0 {
		return nil, &ShapeError{What: "samples in the moments", Found: 0, Want: 1}
	}
	for c, n := range m.Count { // setMeans divides sums
		scale(s.mean(c), float64(n))
	}
	s.setMeans(opt.Imbalance)
	var h *head
	if w != nil {
		h = new(head)
		if err := setHead(h, w, b, m.K, m.D); err != nil {
			return nil, err
		}
	}
	e := &Engine[float64]{opt: opt, want: want, geometry: geometry{team: opt.Team}}
	e.train = *s
	e.momentsWithin(out, m)
	e.geometry.all(out, e.train.shape(newCutoff[float64](opt.RankCutoff, s.means, s.d, s.k), h))
	for _, key := range []string{KeyAccuracy, KeyNCCAccuracy, KeyNC4NCCMismatch, KeyMarginMean, KeyMarginMin, KeyMarginMax, KeyNumericalRank} {
		out.miss(key, secondLook)
	}
	r := out.report
	r.N, r.D, r.K, r.ClassCounts = s.n, s.d, s.k, append([]int(nil), m.Count...)
	e.keep(r, false)
	return out.finish(), nil
}

// momentsWithin fills NC1 and its relatives.
func (e *Engine[T]) momentsWithin(b *builder, m *Moments) {
	s := &e.train
	s.tally.reset(s.k)
	copy(s.tally.scatter, m.Scatter)
	reason := e.operator(s)
	if reason == "" {
		b.put(KeyRankBetween, float64(s.between.rank))
	} else {
		b.miss(KeyRankBetween, reason)
	}
	switch {
	case reason != "":
	case m.Pooled == nil:
		b.miss(KeyNC1Pinv, "the pooled scatter was not kept")
	case e.opt.Imbalance == PerClass:
		b.miss(KeyNC1Pinv, "the pooled scatter weighs samples, not classes; ask for the weighting per sample")
	default:
		s.tally.white[0] = s.between.whitenScatter(m.Pooled, s.centred, s.k, s.d)
	}
	e.within(b, reason, reason == "" && m.Pooled != nil && e.opt.Imbalance == PerSample)
}

// whitenScatter returns Σ_i ‖z_i‖² = Σ_j a_jᵀ S a_j, a_j the rows of the operator on residuals.
func (b *between) whitenScatter(pooled, c []float64, k, d int) float64 {
	row, image := make([]float64, d), make([]float64, d)
	total := 0.0
	for j := range b.rank {
		clear(row)
		if b.fromP {
			for i, x := range b.op[j*k:][:k] {
				axpy(row, x, c[i*d:][:d])
			}
		} else {
			copy(row, b.op[j*d:][:d])
		}
		for i := range d {
			image[i] = dot(pooled[i*d:][:d], row)
		}
		total += max(0, dot(row, image)) // S is positive semidefinite: below zero is rounding
	}
	return total
}
