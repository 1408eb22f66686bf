package measure

import (
	"fmt"
	"io"
	"slices"
)

// WriteTo writes m as a .ncs file; it implements io.WriterTo.
func (m *Moments) WriteTo(to io.Writer) (int64, error) {
	flags := uint32(0)
	m = m.withSpread()
	size := 8 * (1 + len(m.Values) + 2*m.K + m.K*m.D + m.D)
	if m.Pooled != nil {
		flags |= flagPooled
		size += 4 * m.D * (m.D + 1)
	}
	if m.Float32 {
		flags |= flagFloat32
	}
	if m.Values != nil {
		flags |= flagValues
	}
	if m.inTwo() {
		flags |= flagRest
		size += 8 * m.K * m.D
	}
	if m.knowsFar() {
		flags |= flagFar
		size += 8 * len(m.Far)
	}
	w := newStateWriter(kindMoments, flags, m.K, m.D, size)
	w.integer(m.Dropped)
	for _, v := range m.Values {
		w.integer(int(v))
	}
	w.integers(m.Count)
	w.floats(m.Scatter)
	w.floats(m.Mean)
	if m.inTwo() {
		w.floats(m.Rest)
	}
	w.floats(m.Spread)
	for i := range m.D {
		if m.Pooled != nil {
			w.floats(m.Pooled[i*m.D:][:i+1])
		}
	}
	if flags&flagFar != 0 {
		w.floats(m.Far)
	}
	return w.finish(to)
}

// inTwo reports whether a file needs both numbers of the means. Beside a spread that float32 holds, rounding in float64 is nothing.
func (m *Moments) inTwo() bool {
	return !m.Float32 && slices.ContainsFunc(m.Rest, func(x float64) bool { return x != 0 })
}

// parseMoments reads a first pass.
func parseMoments(r *stateReader, flags uint32, k, d int) (*Moments, error) {
	if flags&^(flagPooled|flagFloat32|flagValues|flagRest|flagFar) != 0 {
		return nil, &StateError{fmt.Sprintf("flags %#x are unknown; a newer program wrote it", flags)}
	}
	terms := [][2]int{{1, 1}, {2, k}, {k, d}}
	if !r.first {
		terms = append(terms, [2]int{1, d})
	}
	if flags&flagValues != 0 {
		terms = append(terms, [2]int{1, k})
	}
	if flags&flagRest != 0 {
		terms = append(terms, [2]int{k, d})
	}
	if flags&flagPooled != 0 {
		half := [2]int{d / 2, d + 1}
		if d%2 != 0 {
			half = [2]int{d, (d + 1) / 2}
		}
		terms = append(terms, half)
	}
	farthest := 0
	if flags&flagFar != 0 {
		farthest = r.farthest(d, terms)
		terms = append(terms, [2]int{farthest, d})
	}
	if err := r.need(terms...); err != nil {
		return nil, err
	}
	m := &Moments{K: k, D: d, Float32: flags&flagFloat32 != 0, Dropped: r.integer("number of dropped rows")}
	if flags&flagValues != 0 {
		m.Values = make([]int64, k)
		for i := range m.Values {
			m.Values[i] = int64(r.uint64())
		}
		if !slices.IsSortedFunc(m.Values, strictly) {
			r.fail("label values: not ascending")
		}
	}
	m.Count = r.integers("class count", k)
	all := 0
	for _, n := range m.Count {
		if all += n; all > 1<<52 {
			r.fail("class counts: more samples than numbers can count")
			break
		}
	}
	m.Scatter = r.squares("within-class scatter", k)
	m.Mean = r.floats("class mean", k*d)
	if flags&flagRest != 0 {
		m.Rest = r.floats("rest of a class mean", k*d)
		if !m.inTwo() {
			r.fail("rests of class means: not needed")
		}
	}
	if !r.first {
		m.Spread = r.squares("spread of a coordinate", d)
	}
	if flags&flagPooled != 0 {
		m.Pooled = r.triangle(d)
	}
	m.checkEmpty(r)
	if flags&flagFar != 0 {
		if m.Far = r.floats("one of the farthest rows", farthest*d); flags&flagPooled == 0 || farthest != min(farRows, all) {
			r.fail("farthest rows: not needed, or not as many as there must be")
		}
	}
	return m, r.err()
}

// farthest returns how many of the farthest rows lie behind the other terms.
func (r *stateReader) farthest(d int, others [][2]int) int {
	for rows := farRows; rows > 0; rows-- {
		if r.need(append(others, [2]int{rows, d})...) == nil {
			return rows
		}
	}
	return 0
}

// strictly checks that values are strictly ascending.
func strictly(value, before int64) int {
	if value <= before {
		return -1
	}
	return 1
}

// triangle reads the lower triangle of a symmetric d×d matrix with a non-negative diagonal.
func (r *stateReader) triangle(d int) []float64 {
	out := make([]float64, d*d)
	for i := range d {
		for j, v := range r.floats("pooled scatter", i+1) {
			out[i*d+j], out[j*d+i] = v, v
		}
		if !(out[i*d+i] >= 0) {
			r.fail("pooled scatter: negative diagonal")
		}
	}
	return out
}

// checkEmpty refuses classes that have moments but no samples.
func (m *Moments) checkEmpty(r *stateReader) {
	for c, n := range m.Count {
		if n == 0 && (m.Scatter[c] != 0 || slices.ContainsFunc(slices.Concat(m.Mean[c*m.D:][:m.D], m.restOf(c)), func(x float64) bool { return x != 0 })) {
			r.fail("moments of a class without samples")
		}
	}
}
