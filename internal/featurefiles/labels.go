package featurefiles

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// labelled is a column of labels as the files hold them.
type labelled struct {
	role   Role
	parts  []part
	first  []int // first sample of each part, and N at the end
	values []int64
}

func newLabelled(r Role, parts []part, budget *arrayfile.Budget) (*labelled, error) {
	l := &labelled{role: r, first: []int{0}}
	for _, p := range parts {
		if r == Corrupted && p.Categories != nil {
			return nil, fmt.Errorf("%s: the %s is text; want 0 or 1 for each sample", p.where(), r)
		}
		if n := len(p.Shape); n == 0 || p.Len() > 0 && p.Len() != slices.Max(p.Shape) { // a row or a column of them is as good
			return nil, fmt.Errorf("%s: %s of shape %s; want one number for each sample%s", p.where(), r, size(p.Shape), oneHotHint(n))
		}
		if err := budget.Take(sampleMemory * int64(p.Len())); err != nil {
			return nil, fmt.Errorf("%s: %d samples: %w", p.where(), p.Len(), err)
		}
		values, err := p.Int64s()
		if err != nil {
			return nil, fmt.Errorf("%s: %s must be whole numbers: %w", p.where(), r, err)
		}
		l.parts = append(l.parts, p)
		l.values = append(l.values, values...)
		l.first = append(l.first, len(l.values))
	}
	return l, nil
}

func oneHotHint(axes int) string {
	if axes == 2 {
		return " (one-hot rows: take their argmax first)"
	}
	return ""
}

// locate names the file of a sample and its place there.
func (l *labelled) locate(i int) (part, int) {
	k := sort.SearchInts(l.first, i+1) - 1
	return l.parts[k], i - l.first[k]
}

// pair checks that labels and features belong together: shard by shard where both have as many.
func (l *labelled) pair(m *matrix) error {
	if len(l.parts) == len(m.parts) {
		for i, p := range l.parts {
			if n, want := l.first[i+1]-l.first[i], m.first[i+1]-m.first[i]; n != want {
				return fmt.Errorf("%s has %d %s, and %s has %d rows; want one for each row%s", p.where(), n, l.role, m.parts[i].where(), want, m.hint(n))
			}
		}
		return nil
	}
	if len(l.parts) > 1 && len(m.parts) > 1 {
		return fmt.Errorf("%d files of %s (%s …) and %d of %s (%s …); want one for each",
			len(l.parts), l.role, l.parts[0].where(), len(m.parts), m.role, m.parts[0].where())
	}
	if n := len(l.values); n != m.rows() {
		return fmt.Errorf("%s has %d %s, and %s has %d rows; want one for each row%s", names(l.parts), n, l.role, names(m.parts), m.rows(), m.hint(n))
	}
	return nil
}

func names(parts []part) string {
	if len(parts) == 1 {
		return parts[0].where()
	}
	return fmt.Sprintf("%s and %d more", parts[0].where(), len(parts)-1)
}

// signs are the labels of two classes, as losses with margins have them.
var signs = []int64{-1, 1}

// table says which class a label value is.
type table struct {
	k      int
	class  map[int64]int32 // nil: labels are the classes 0…k−1 themselves
	values []int64         // of each class; nil as class
	ignore []ignored
}

// newTable numbers the values of all labels. rows is K of the classifier, 0 without one; stated is
// --classes, 0 without it.
//
// Labels that can be class numbers are: with a classifier, the numbers of its rows. Other values are mapped in ascending order, if a
// classifier does not leave open which row is whose: it has as many rows as there are values. A negative one mostly marks a sample without a
// class and is refused, unless the labels are −1 and 1. Text says nothing of rows: beside a classifier it is refused unless named holds
// (--class-names gave the words in the order of rows). python/collapse/arrays.py decides the same.
func newTable(all []*labelled, rows, stated int, ignore []ignored, words []string, named bool) (*table, error) {
	k, says := max(rows, stated), "--classes says"
	switch {
	case rows > 0:
		says = "the classifier has"
	case named:
		says = "--class-names has"
	}
	distinct := kept(distinctValues(all), ignore)
	if len(distinct) == 0 {
		return nil, fmt.Errorf("%s: every label is one that --ignore-label names; nothing is left to measure", names(all[0].parts))
	}
	lo, hi := distinct[0], distinct[len(distinct)-1]
	if rows > 0 && words != nil && !named {
		return nil, fmt.Errorf("%s: the labels are words, and nothing says which row of the classifier is whose; pass --class-names with the names in the order of its rows", names(all[0].parts))
	}
	if words != nil && !named && stated > len(words) {
		return nil, fmt.Errorf("%s: the labels are %d words, and --classes says %d classes; pass --class-names with the names of all, in order", names(all[0].parts), len(words), stated)
	}
	if lo < 0 {
		if !slices.Equal(distinct, signs) {
			return nil, notAClass(all, ignore)
		}
		if k != 0 && k != 2 {
			return nil, outOfRange(all, k, says, len(distinct), ignore)
		}
	}
	if k == 0 && lo >= 0 && hi == int64(len(distinct)-1) {
		return &table{k: len(distinct), ignore: ignore}, nil
	}
	if k > 0 && lo >= 0 && hi < int64(k) {
		return &table{k: k, ignore: ignore}, nil
	}
	if k > 0 && len(distinct) != k {
		return nil, outOfRange(all, k, says, len(distinct), ignore)
	}
	if len(distinct) > math.MaxInt32 {
		return nil, fmt.Errorf("%s: %d different labels; want classes", all[0].parts[0].where(), len(distinct))
	}
	t := &table{k: len(distinct), class: make(map[int64]int32, len(distinct)), values: distinct, ignore: ignore}
	for c, v := range distinct {
		t.class[v] = int32(c)
	}
	return t, nil
}

// distinctValues returns the label values that occur, ascending.
func distinctValues(all []*labelled) []int64 {
	lo, hi := all[0].values[0], all[0].values[0]
	for _, l := range all {
		lo, hi = min(lo, slices.Min(l.values)), max(hi, slices.Max(l.values))
	}
	const few = 1 << 20
	if hi-lo >= 0 && hi-lo < few { // class numbers, nearly always; the difference may overflow
		seen := make([]bool, hi-lo+1)
		for _, l := range all {
			for _, v := range l.values {
				seen[v-lo] = true
			}
		}
		var out []int64
		for i, ok := range seen {
			if ok {
				out = append(out, lo+int64(i))
			}
		}
		return out
	}
	seen := map[int64]bool{}
	for _, l := range all {
		for _, v := range l.values {
			seen[v] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// notAClass names the first negative label.
func notAClass(all []*labelled, ignore []ignored) error {
	for _, l := range all {
		for i, v := range l.values {
			if v < 0 && !ignores(ignore, v) {
				p, row := l.locate(i)
				return fmt.Errorf("%s: %s: sample %d has label %d, which is not a class; leave its samples out with --ignore-label=%[4]d", p.where(), l.role, row, v)
			}
		}
	}
	panic("featurefiles: no label is negative")
}

// outOfRange names the first label that cannot be a class number of the k that something says there are.
func outOfRange(all []*labelled, k int, says string, distinct int, ignore []ignored) error {
	for _, l := range all {
		for i, v := range l.values {
			if v >= 0 && v < int64(k) || ignores(ignore, v) {
				continue
			}
			p, row := l.locate(i)
			return fmt.Errorf("%s: %s: sample %d has label %d; want 0 to %d, since %s %d classes (%d different labels: they cannot be matched to classes in order either)",
				p.where(), l.role, row, v, k-1, says, k, distinct)
		}
	}
	panic("featurefiles: no label is out of range")
}

// all returns the label value of every class.
func (t *table) all() []int64 {
	if t.values != nil {
		return t.values
	}
	out := make([]int64, t.k)
	for c := range out {
		out[c] = int64(c)
	}
	return out
}

// classes maps labels; ignored ones to their codes.
func (t *table) classes(l *labelled) []int32 {
	out := make([]int32, len(l.values))
	for i, v := range l.values {
		if t.class == nil {
			out[i] = int32(v)
		} else {
			out[i] = t.class[v]
		}
	}
	for j, x := range t.ignore {
		code := t.code(j)
		for i, v := range l.values {
			if v == x.value && x.known {
				out[i] = code
			}
		}
	}
	return out
}

// names spells the label of each class: words if labels are text, what was named if they are class numbers (or −1 and 1), nil without names.
func (t *table) names(words, named []string) []string {
	switch {
	case t.values == nil && words != nil:
		return words[:t.k]
	case named != nil && words == nil, t.values == nil:
		return named
	}
	out := make([]string, t.k)
	for c, v := range t.values {
		out[c] = strconv.FormatInt(v, 10)
		if words != nil {
			out[c] = words[v]
		}
	}
	return out
}

// unify numbers text labels over all files: as they are named or, with no names, in alphabetical order. It returns nil if labels are
// numbers: names are those of class numbers then. Words to ignore need no name; they follow those that have one.
func unify(all []*labelled, named, ignored []string) ([]string, error) {
	seen, text, other := map[string]int64{}, part{}, part{}
	for _, l := range all {
		for _, p := range l.parts {
			if p.Categories == nil {
				other = p
				continue
			}
			text = p
			for _, w := range p.Categories {
				seen[w] = 0
			}
		}
	}
	if text.path == "" {
		return nil, nil
	}
	if other.path != "" {
		return nil, fmt.Errorf("labels of %s are text, those of %s are numbers; want one kind", text.where(), other.where())
	}
	words := make([]string, 0, len(seen))
	for w := range seen {
		words = append(words, w)
	}
	slices.Sort(words)
	if named != nil {
		other := slices.DeleteFunc(words, func(w string) bool { return slices.Contains(named, w) })
		if i := slices.IndexFunc(other, func(w string) bool { return !slices.Contains(ignored, w) }); i >= 0 {
			return nil, fmt.Errorf("labels of %s hold %q, which is none of --class-names (%s)", text.where(), other[i], shorten(named))
		}
		words = slices.Concat(named, other)
	}
	for i, w := range words {
		seen[w] = int64(i)
	}
	for _, l := range all {
		for i, p := range l.parts {
			for at := l.first[i]; at < l.first[i+1]; at++ {
				l.values[at] = seen[p.Categories[l.values[at]]]
			}
		}
	}
	return words, nil
}

// shorten lists at most a few words.
func shorten(words []string) string {
	const most = 8
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:most-2], ", ") + ", …, " + words[len(words)-1]
}

// mask reads a mask of zeros and ones.
func mask(l *labelled) ([]bool, error) {
	out := make([]bool, len(l.values))
	for i, v := range l.values {
		if v != 0 && v != 1 {
			p, row := l.locate(i)
			return nil, fmt.Errorf("%s: %s: sample %d is %d; want 0 or 1 for each sample (not a list of sample numbers)", p.where(), l.role, row, v)
		}
		out[i] = v == 1
	}
	return out, nil
}
