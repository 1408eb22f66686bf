package featurefiles

import (
	"fmt"
	"slices"
	"strconv"

	"collapse.example/collapse/measure"
)

// ignored is a label that --ignore-label names.
type ignored struct {
	spelled string
	value   int64
	known   bool // false: text that no label is
}

// parseIgnored reads the labels to ignore; words are those of text labels, nil if labels are numbers.
func parseIgnored(spelled, words []string) ([]ignored, error) {
	var out []ignored
	for _, text := range spelled {
		x := ignored{spelled: text, known: true}
		if words != nil {
			at := slices.Index(words, text) // in the order of --class-names, if given
			x.value, x.known = int64(at), at >= 0
		} else {
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("--ignore-label %s: the labels are whole numbers; give one of them, such as -100", text)
			}
			x.value = v
		}
		if slices.ContainsFunc(out, func(o ignored) bool { return o.spelled == text || o.known && x.known && o.value == x.value }) {
			continue
		}
		out = append(out, x)
	}
	return out, nil
}

// ignores reports whether a label value is ignored.
func ignores(list []ignored, v int64) bool {
	return slices.ContainsFunc(list, func(x ignored) bool { return x.known && x.value == v })
}

// kept returns values without those that are ignored.
func kept(values []int64, list []ignored) []int64 {
	return slices.DeleteFunc(values, func(v int64) bool { return ignores(list, v) })
}

// code is how the engine sees an ignored label: the class it would be, else a negative number of its own.
func (t *table) code(j int) int32 {
	x := t.ignore[j]
	if t.class != nil {
		if c, is := t.class[x.value]; is {
			return c
		}
	} else if x.value >= 0 && x.value < int64(t.k) {
		return int32(x.value)
	}
	return -1 - int32(j)
}

// codes are those of all ignored labels that can occur.
func (t *table) codes() []int32 {
	var out []int32
	for j, x := range t.ignore {
		if x.known {
			out = append(out, t.code(j))
		}
	}
	return out
}

// nameLeftOut spells the labels of the classes that a report leaves out.
func (s *Set) nameLeftOut(r *measure.Report) {
	for i := range r.LeftOut {
		l := &r.LeftOut[i]
		for j, c := range l.Classes {
			if c < 0 {
				l.Labels[j] = s.table.ignore[-1-c].spelled
			} else {
				l.Labels[j] = s.className(c)
			}
		}
	}
}

// countIgnored adds to the samples of each ignored label.
func (t *table) countIgnored(count []int, labels []int64) []int {
	if count == nil {
		count = make([]int, len(t.ignore))
	}
	for j, x := range t.ignore {
		for _, v := range labels {
			if x.known && v == x.value {
				count[j]++
			}
		}
	}
	return count
}

// leftOut says what was ignored before anything was summed up.
func (t *table) leftOut(count []int) []measure.LeftOut {
	l := measure.LeftOut{Split: "train", Reason: measure.LeftIgnored}
	for j, n := range count {
		if n > 0 {
			l.Count, l.Samples, l.Labels = l.Count+1, l.Samples+n, append(l.Labels, t.ignore[j].spelled)
		}
	}
	if l.Count == 0 {
		return nil
	}
	return []measure.LeftOut{l}
}

// ignored counts the train samples that are ignored.
func (s *Set) ignored() []measure.LeftOut {
	return s.table.leftOut(s.table.countIgnored(nil, s.labels.values))
}

// noteUnseen notes labels that were to be ignored and that no sample has.
func (s *Set) noteUnseen(all []*labelled, list []ignored) {
	for _, x := range list {
		if !x.known || !slices.ContainsFunc(all, func(l *labelled) bool { return slices.Contains(l.values, x.value) }) {
			s.Notes = append(s.Notes, fmt.Sprintf("--ignore-label %s: no sample has this label", x.spelled))
		}
	}
}

// labelledRows returns the rows (d wide) whose class is not negative, and these classes.
func labelledRows[T float32 | float64](rows []T, classes []int32, d int) ([]T, []int32) {
	if !slices.ContainsFunc(classes, func(c int32) bool { return c < 0 }) {
		return rows, classes
	}
	var keptRows []T
	var keptClasses []int32
	for i, c := range classes {
		if c >= 0 {
			keptRows, keptClasses = append(keptRows, rows[i*d:][:d]...), append(keptClasses, c)
		}
	}
	return keptRows, keptClasses
}

// withoutIgnored returns moments without the classes of ignored labels, and what was left out. The pooled scatter, which their samples
// are part of, goes with them.
func withoutIgnored(m *measure.Moments, list []ignored) (*measure.Moments, []measure.LeftOut) {
	var stay []int
	count := make([]int, len(list))
	spread := false
	for c := range m.K {
		v := int64(c)
		if m.Values != nil {
			v = m.Values[c]
		}
		j := slices.IndexFunc(list, func(x ignored) bool { return x.value == v })
		if j < 0 {
			stay = append(stay, c)
			continue
		}
		count[j] += m.Count[c]
		spread = spread || m.Scatter[c] > 0
	}
	if len(stay) == m.K || len(stay) == 0 {
		return m, nil
	}
	out := &measure.Moments{K: len(stay), D: m.D, Pooled: m.Pooled, Float32: m.Float32, Dropped: m.Dropped}
	if spread {
		out.Pooled = nil
	}
	for _, c := range stay {
		v := int64(c)
		if m.Values != nil {
			v = m.Values[c]
		}
		out.Values, out.Count, out.Scatter = append(out.Values, v), append(out.Count, m.Count[c]), append(out.Scatter, m.Scatter[c])
		out.Mean = append(out.Mean, m.Mean[c*m.D:][:m.D]...)
		if m.Rest != nil {
			out.Rest = append(out.Rest, m.Rest[c*m.D:][:m.D]...)
		}
	}
	return out, (&table{ignore: list}).leftOut(count)
}

// matchRows returns the rows of a classifier with those of the classes of m first: by label value, or in ascending order where the values
// are not row numbers, none is negative and there are as many as rows. nil: as they are.
func matchRows(m *measure.Moments, rows int) ([]int, error) {
	if m.Values == nil {
		if rows != m.K {
			return nil, fmt.Errorf("a classifier of %d classes, and the samples have %d; want one row for each class", rows, m.K)
		}
		return nil, nil
	}
	lo, hi := m.Values[0], m.Values[len(m.Values)-1]
	if lo >= 0 && hi >= int64(rows) && m.K == rows {
		return nil, nil
	}
	if lo < 0 || hi >= int64(rows) {
		bad := lo
		if lo >= 0 {
			bad = hi
		}
		return nil, fmt.Errorf("a classifier of %d rows, and samples of label %d; want labels 0 to %d, the numbers of rows (--ignore-label=%d leaves these samples out)", rows, bad, rows-1, bad)
	}
	taken, order := make([]bool, rows), make([]int, 0, rows)
	for _, v := range m.Values {
		taken[v] = true
		order = append(order, int(v))
	}
	for j, is := range taken {
		if !is {
			order = append(order, j)
		}
	}
	return order, nil
}

// arrange returns the rows of x (width d) in an order; nil: x itself.
func arrange(x []float64, order []int, d int) []float64 {
	if order == nil || x == nil {
		return x
	}
	out := make([]float64, 0, len(x))
	for _, j := range order {
		out = append(out, x[j*d:][:d]...)
	}
	return out
}
