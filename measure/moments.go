package measure

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	kernelrows "collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/wide"
	"collapse.example/collapse/parallel"
)

// Moments are the result of one pass over a stream or a shard: count, mean and scatter of each class. Moments of parts
// merge (Chan, Golub & LeVeque 1979) in any order and grouping to the same result up to rounding; nothing is the
// difference of two large sums, and means are held in two numbers, so scatter stays accurate if the spread is tiny compared
// with the mean, even as small as its rounding, and is never negative.
type Moments struct {
	K, D    int
	Count   []int     // (K)
	Mean    []float64 // (K×D) class means; zero for classes not seen
	Rest    []float64 // (K×D) what rounding left of them: the means are Mean + Rest; nil: zero
	Scatter []float64 // (K) Σ ‖h − μ_k‖²
	Pooled  []float64 // (D×D) Σ (h − μ_k)(h − μ_k)ᵀ over all classes, symmetric; nil: not kept, and no nc1_pinv

	// Spread (D) is Σ (h_i − μ_ki)² of each coordinate over all rows: uncertainties need it for the size of the rounded
	// numbers. nil: unknown, as in states of version 1.
	Spread []float64

	// Far (at most 64 rows × D) are the rows farthest from zero, kept beside Pooled for the null: under heavy tails they decide it. nil: unknown.
	Far []float64

	// Values holds the label value of each class, ascending, if the classes are not 0 … K−1; nil: they are.
	// Moments with Values merge by value, keeping classes that only one side has.
	Values []int64
	// Float32 is set while float32 holds every added number: class means are then known to 24 bits.
	Float32 bool
	// Dropped counts rows with NaN or infinity that the caller left out; Merge adds it up.
	Dropped int

	within   withinScatter // instead of Pooled, for either weighting; nil: not known
	block    *Moments      // of the rows being added
	scatter  *wide.Scatter[float64]
	residual []float64 // (rows × D)
	apart    []float64 // (classes × D) distances between merged means, weighted
}

// NewMoments returns empty moments of k classes of width d; pooled keeps the D×D scatter for nc1_pinv.
// It panics if k or d is not positive.
func NewMoments(k, d int, pooled bool) *Moments {
	if k < 1 || d < 1 {
		panic("measure: NewMoments needs at least one class and one feature")
	}
	m := &Moments{K: k, D: d, Count: make([]int, k), Mean: make([]float64, k*d), Rest: make([]float64, k*d), Scatter: make([]float64, k), Spread: make([]float64, d), Float32: true}
	if pooled {
		m.Pooled, m.Far = make([]float64, d*d), []float64{}
	}
	return m
}

// Grow adds empty classes until there are k, as a stream reveals its classes one by one. It does
// nothing if there are already k, and panics if m has Values, since these fix the classes.
func (m *Moments) Grow(k int) {
	if m.Values != nil {
		panic("measure: Grow of moments whose classes have values")
	}
	if k > m.K {
		m.Count = append(m.Count, make([]int, k-m.K)...)
		m.Scatter = append(m.Scatter, make([]float64, k-m.K)...)
		m.Mean = append(m.Mean, make([]float64, (k-m.K)*m.D)...)
		if m.Rest != nil {
			m.Rest = append(m.Rest, make([]float64, (k-m.K)*m.D)...)
		}
		m.K, m.block = k, nil
	}
}

// AddSource adds all rows of a split, block by block. Errors are those of AddRows and of the source; rows
// before the failing block stay added.
func AddSource[T kernel.Float](m *Moments, team *parallel.Team, split Split[T]) error {
	n, d := split.Features.Size()
	if d != m.D {
		return &ShapeError{What: "feature width", Found: d, Want: m.D}
	}
	if len(split.Labels) != n {
		return &ShapeError{What: "labels", Found: len(split.Labels), Want: n, Hint: "one label for every feature row"}
	}
	block := max(256, wide.Elements/d, min(m.K, viewElements/d)) // enough rows to make clearing K means negligible
	buf := make([]T, min(block, n)*d)
	for at := 0; at < n; at += block {
		end := min(at+block, n)
		rows, err := split.Features.Read(buf, at, end)
		if err != nil {
			return err
		}
		if err := AddRows(m, team, rows, split.Labels[at:end]); err != nil {
			return shiftRow(err, at)
		}
	}
	return nil
}

// AddRows adds rows (len(labels)×D) to m. It returns *LabelError, *ShapeError or *NonFiniteError, rows
// counted from the start of this call, and then leaves m as it was.
func AddRows[T kernel.Float](m *Moments, team *parallel.Team, rows []T, labels []int32) error {
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
	if m.scatter == nil && m.Pooled != nil {
		m.scatter = wide.NewScatter[float64](m.D, nil)
	}
	b := m.block
	b.Float32 = allFloat32(rows)
	b.sum(labels, func(to []float64, i int) { kernelrows.AddRow(to, rows[i*m.D:][:m.D]) })
	if !finite(b.Mean) {
		if err := checkFinite("rows", rows, m.D); err != nil {
			return err
		}
		return &RangeError{Where: "rows", Class: firstNonFinite(b.Mean) / m.D}
	}
	m.residual = grow(m.residual, len(rows))
	subtractMeans(b, m.residual, rows, labels)
	if m.Pooled != nil {
		clear(b.Pooled)
		m.scatter.Sum = b.Pooled
		m.scatter.Add(team, m.residual, m.D, len(labels))
		wide.Mirror(b.Pooled, m.D)
		b.Far = farthest(rows, m.D)
	}
	m.merge(team, b, nil)
	return nil
}

// subtractMeans fills the residuals of rows from the means of their block b, and its scatter. Sums of float64 numbers are rounded, by as much
// as tight classes spread; what that left of a mean is the mean of the residuals.
func subtractMeans[T kernel.Float](b *Moments, residuals []float64, rows []T, labels []int32) {
	d := b.D
	clear(b.Scatter)
	clear(b.Spread)
	clear(b.Rest)
	for i, c := range labels {
		residual := residuals[i*d:][:d]
		square := kernelrows.SubRow(residual, rows[i*d:][:d], b.Mean[int(c)*d:][:d])
		if b.Float32 {
			b.Scatter[c] += square
			addSquares(b.Spread, 1, residual)
		} else {
			axpy(b.Rest[int(c)*d:][:d], 1/float64(b.Count[c]), residual)
		}
	}
	if b.Float32 {
		return
	}
	for i, c := range labels {
		residual := residuals[i*d:][:d]
		b.Scatter[c] += kernelrows.SubRow(residual, residual, b.Rest[int(c)*d:][:d])
		addSquares(b.Spread, 1, residual)
	}
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

// Merge adds the samples of o, which is not changed. If either has Values, classes are matched by value (without Values they
// are 0 … K−1) and new ones join. It returns *ShapeError if sizes differ, or only one keeps the pooled scatter.
func (m *Moments) Merge(o *Moments) error {
	named := m.Values != nil || o.Values != nil
	switch {
	case !named && o.K != m.K:
		return &ShapeError{What: "classes of moments", Found: o.K, Want: m.K}
	case o.D != m.D:
		return &ShapeError{What: "width of moments", Found: o.D, Want: m.D}
	case len(o.Pooled) != len(m.Pooled):
		return &ShapeError{What: "elements of the pooled scatter", Found: len(o.Pooled), Want: len(m.Pooled), Hint: "merge moments that all have it, or that all lack it"}
	}
	if !named {
		m.merge(nil, o, nil)
		return nil
	}
	m.Values = m.values()
	m.merge(nil, o, m.adopt(o.values()))
	return nil
}

// values returns the label value of each class.
func (m *Moments) values() []int64 {
	if m.Values != nil {
		return m.Values
	}
	out := make([]int64, m.K)
	for c := range out {
		out[c] = int64(c)
	}
	return out
}

// adopt makes room for the classes of the given values and returns the class of each. m has Values.
func (m *Moments) adopt(values []int64) []int {
	union := slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.Values, values))))
	if len(union) > m.K {
		wider := NewMoments(len(union), m.D, false)
		for c, v := range m.Values {
			to, _ := slices.BinarySearch(union, v)
			wider.Count[to], wider.Scatter[to] = m.Count[c], m.Scatter[c]
			copy(wider.Mean[to*m.D:][:m.D], m.Mean[c*m.D:])
			copy(wider.Rest[to*m.D:][:m.D], m.restOf(c))
		}
		m.K, m.Count, m.Scatter, m.Mean, m.Rest, m.Values, m.block = wider.K, wider.Count, wider.Scatter, wider.Mean, wider.Rest, union, nil
	}
	class := make([]int, len(values))
	for i, v := range values {
		class[i], _ = slices.BinarySearch(m.Values, v)
	}
	return class
}

// merge adds o, whose class c is class[c] of m (nil: c).
//
// With δ = μ_2 − μ_1: S = S_1 + S_2 + δδᵀ n_1 n_2/n, μ = μ_1 + δ n_2/n. The products δδᵀ of all classes are one
// matrix product.
func (m *Moments) merge(team *parallel.Team, o *Moments, class []int) {
	m.Float32 = m.Float32 && o.Float32
	m.Spread, o = m.spread(), o.withSpread()
	for i, x := range o.Spread {
		m.Spread[i] += x
	}
	m.Dropped += o.Dropped
	m.mergeFar(o)
	m.apart = m.apart[:0]
	if m.Rest == nil {
		m.Rest = make([]float64, m.K*m.D)
	}
	delta := make([]float64, m.D)
	for from, n2 := range o.Count {
		if n2 == 0 {
			continue
		}
		c := from
		if class != nil {
			c = class[from]
		}
		n := float64(m.Count[c] + n2)
		weight := float64(m.Count[c]) * float64(n2) / n
		mean, rest := m.Mean[c*m.D:][:m.D], m.Rest[c*m.D:][:m.D]
		if m.Count[c] == 0 {
			copy(mean, o.Mean[from*m.D:][:m.D])
			clear(rest)
			copy(rest, o.restOf(from))
			m.Scatter[c], m.Count[c] = m.Scatter[c]+o.Scatter[from], n2
			continue
		}
		kernelrows.SubRow(delta, o.Mean[from*m.D:][:m.D], mean) // of close numbers, which is exact
		axpy(delta, -1, rest)
		if o.Rest != nil {
			axpy(delta, 1, o.restOf(from))
		}
		m.Scatter[c] += o.Scatter[from] + weight*dot(delta, delta)
		addSquares(m.Spread, weight, delta)
		addTwofold(mean, rest, float64(n2)/n, delta)
		m.Count[c] += n2
		if m.Pooled != nil && weight > 0 {
			scale(delta, math.Sqrt(weight))
			m.apart = append(m.apart, delta...)
		}
	}
	for i, x := range o.Pooled {
		m.Pooled[i] += x
	}
	if rows := len(m.apart) / m.D; rows > 0 {
		gemm.Multiply(team, gemm.TN, kernel.Dense(rows, m.D, m.apart), kernel.Dense(rows, m.D, m.apart), kernel.Dense(m.D, m.D, m.Pooled), gemm.Epilogue[float64]{Accumulate: true})
	}
}

// restOf returns Rest of class c; nil if it is zero.
func (m *Moments) restOf(c int) []float64 {
	if m.Rest == nil {
		return nil
	}
	return m.Rest[c*m.D:][:m.D]
}

// addTwofold adds a·x to the numbers high + low and keeps high the nearest float64 (Knuth's sum of two).
func addTwofold(high, low []float64, a float64, x []float64) {
	for i, v := range x {
		more := low[i] + a*v
		sum := high[i] + more
		back := sum - high[i]
		low[i] = (high[i] - (sum - back)) + (more - back)
		high[i] = sum
	}
}

// addSquares adds weight·x_i² to each element of sums.
func addSquares(sums []float64, weight float64, x []float64) {
	x = x[:len(sums)]
	for i := range sums {
		sums[i] += weight * x[i] * x[i]
	}
}

// spread returns Spread or, if unknown, what the scatter implies: the diagonal of the pooled scatter, or the classes' scatter
// divided equally between coordinates.
func (m *Moments) spread() []float64 {
	if m.Spread != nil {
		return m.Spread
	}
	out := make([]float64, m.D)
	for i := range out {
		if m.Pooled != nil {
			out[i] = m.Pooled[i*m.D+i]
			continue
		}
		for _, s := range m.Scatter {
			out[i] += s / float64(m.D)
		}
	}
	return out
}

// withSpread returns m, or a copy of it with its implied Spread.
func (m *Moments) withSpread() *Moments {
	if m.Spread != nil {
		return m
	}
	copied := *m
	copied.Spread = m.spread()
	return &copied
}
