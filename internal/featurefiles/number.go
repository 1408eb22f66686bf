package featurefiles

import (
	"fmt"
	"slices"
)

// number finds test and true labels and numbers the classes of all labels together.
func (f *finder) number(s *Set) error {
	all := []*labelled{s.labels}
	for _, other := range []struct {
		role Role
		to   **labelled
	}{{TestLabels, &s.tested}, {TrueLabels, &s.truth}} {
		parts, err := f.find(other.role)
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			continue
		}
		l, err := newLabelled(other.role, parts, f.req.Budget)
		if err != nil {
			return err
		}
		*other.to = l
		all = append(all, l)
		s.list(l.role, parts, []int{len(l.values)})
	}
	for _, l := range all {
		if len(l.values) == 0 {
			return fmt.Errorf("%s: the %s are empty", l.parts[0].where(), l.role)
		}
	}
	words, err := unify(all, f.req.ClassNames, f.req.IgnoreLabels)
	if err != nil {
		return err
	}
	if n := len(f.req.ClassNames); n > 0 {
		if f.req.Classes > 0 && f.req.Classes != n {
			return fmt.Errorf("--classes %d, and --class-names has %d; want one of the two", f.req.Classes, n)
		}
		f.req.Classes = n
	}
	rows := 0
	if s.head != nil {
		rows = s.head.k
		if rows == 1 && f.req.Classes != 1 && len(distinctValues(all)) == 2 {
			return errOneRow(s.head.wPart)
		}
		if f.req.Classes > 0 && f.req.Classes != rows {
			return fmt.Errorf("--classes %d, and %s has %d rows; want one for each class", f.req.Classes, s.head.wPart.where(), rows)
		}
	}
	ignore, err := parseIgnored(f.req.IgnoreLabels, words)
	if err != nil {
		return err
	}
	t, err := f.numbering(s, all, rows, ignore, words)
	if err != nil {
		return err
	}
	s.table, s.textual, s.fixed = t, words != nil, f.req.Classes > 0
	s.K, s.TestClasses, s.Values = t.k, t.k, t.names(words, f.req.ClassNames)
	if values := t.values; words == nil && f.req.ClassNames != nil && values != nil && !slices.Equal(values, signs) {
		return fmt.Errorf("%s: the labels have the values %s, and --class-names are those of the classes 0 to %d; number the labels from 0, or leave the names out",
			names(s.labels.parts), shorten(t.names(nil, nil)), t.k-1)
	}
	s.train = t.classes(s.labels)
	var others []int32
	if s.tested != nil {
		s.test = t.classes(s.tested)
		others = append(others, s.test...)
	}
	if s.truth != nil {
		s.clean = t.classes(s.truth)
		others = append(others, s.clean...)
		if err := s.truth.pairLabels(s.labels); err != nil {
			return err
		}
	}
	if others != nil {
		s.TestClasses = 1 + int(max(0, slices.Max(others)))
	}
	if t.values != nil && f.req.Means == nil && (words != nil || f.req.ClassNames == nil) {
		hint := ""
		if rows == 0 && words == nil {
			hint = "; --classes K if labels are class numbers and some classes have no sample"
		}
		s.Notes = append(s.Notes, fmt.Sprintf("the labels of %s have the values %s, numbered as classes 0 to %d in this order%s", names(s.labels.parts), shorten(s.Values), t.k-1, hint))
	}
	s.noteUnseen(all, ignore)
	return nil
}

// numbering numbers the labels: as the state of a first pass does, if there is one.
func (f *finder) numbering(s *Set, all []*labelled, rows int, ignore []ignored, words []string) (*table, error) {
	m := f.req.Means
	if m == nil {
		return newTable(all, rows, f.req.Classes, ignore, words, f.req.ClassNames != nil)
	}
	if rows > 0 {
		var err error
		if s.rows, err = matchRows(m, rows); err != nil {
			return nil, fmt.Errorf("%s: %w", s.head.wPart.where(), err)
		}
	}
	if m.Values == nil {
		return newTable(all, m.K, m.K, ignore, words, f.req.ClassNames != nil)
	}
	t := &table{k: m.K, values: m.Values, class: make(map[int64]int32, m.K), ignore: ignore}
	for c, v := range m.Values {
		t.class[v] = int32(c)
	}
	for _, l := range all {
		for i, v := range l.values {
			if _, ok := t.class[v]; !ok && !ignores(ignore, v) {
				p, row := l.locate(i)
				return nil, fmt.Errorf("%s: %s: sample %d has label %d, which the state of --means does not have; merge the first pass of this shard, too", p.where(), l.role, row, v)
			}
		}
	}
	return t, nil
}

// pairLabels checks that two columns of labels belong to the same samples.
func (l *labelled) pairLabels(with *labelled) error {
	if len(l.values) != len(with.values) {
		return fmt.Errorf("%s has %d %s, and %s has %d %s; want one for each", names(l.parts), len(l.values), l.role, names(with.parts), len(with.values), with.role)
	}
	return nil
}
