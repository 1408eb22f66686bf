package serve

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// column is a sort key of a study's runs, from the least: the lower, the more collapsed. A number is NaN for a run without one.
type column struct {
	name, words string
	compare     func(a, b *runRow) int
	number      func(*runRow) float64
}

// columns are the sort keys that every list has; the first is the default order.
var columns = []column{
	{name: "", words: "newest"},
	{name: "name", words: "run", compare: func(a, b *runRow) int { return strings.Compare(a.Name, b.Name) }},
	{name: "state", words: "state", compare: func(a, b *runRow) int { return strings.Compare(string(a.Status), string(b.Status)) }},
	{name: "epoch", words: "epoch", number: func(r *runRow) float64 { return float64(r.LastEpoch) }},
	{name: "train", words: "train acc.", number: newest("train", "accuracy")},
	{name: "test", words: "test acc.", number: newest("test", "accuracy")},
	{name: "nc1", words: "NC1", number: newest("train", "nc1_pinv")},
	{name: "dilation", words: "dilation", number: newest("test", "dilation")},
	{name: "memorization", words: "memorization", number: newest("train", "memorization_flipped")},
}

func newest(split, key string) func(*runRow) float64 {
	return func(r *runRow) float64 {
		if p, ok := r.Newest(split, key); ok {
			return p.Value
		}
		return math.NaN()
	}
}

// bySetting sorts by the values of a setting.
func bySetting(key string) column {
	return column{name: key, words: judge.ShortKey(key), compare: func(a, b *runRow) int { return figure.CompareSettings(key, a.Settings[key], b.Settings[key]) }}
}

// order is the order in which a study's runs are listed.
type order struct {
	column
	reversed bool
	base     string   // address of the list
	settings []string // that a list can be sorted by, too
	own      []judge.SeriesKey
}

// orderOf reads ?sort=NAME of a column or a setting, or -NAME for the reverse. Any other name sorts by age, and is said not to be known.
func orderOf(q url.Values, base string, settings []string, own ...judge.SeriesKey) (o order, known bool) {
	name, reversed := strings.CutPrefix(q.Get("sort"), "-")
	o = order{base: base, settings: settings, own: own}
	for _, c := range o.columns() {
		if c.name == name {
			o.column, o.reversed = c, reversed
			return o, true
		}
	}
	return o, false
}

// columns are all sort keys of the list.
func (o order) columns() []column {
	all := slices.Clone(columns)
	for _, key := range o.settings {
		all = append(all, bySetting(key))
	}
	for _, key := range o.own {
		all = append(all, column{name: judge.NameOf(key), words: judge.NameOf(key), number: newest(key.Split, key.Measure)})
	}
	return all
}

// sort puts rows, which come newest first, in order; those without a number come last either way.
func (o order) sort(rows []runRow) {
	way := 1
	if o.reversed {
		way = -1
	}
	switch {
	case o.compare != nil:
		slices.SortStableFunc(rows, func(a, b runRow) int { return way * o.compare(&a, &b) })
	case o.number != nil:
		slices.SortStableFunc(rows, func(a, b runRow) int {
			x, y := o.number(&a), o.number(&b)
			if math.IsNaN(x) || math.IsNaN(y) {
				return cmp.Compare(y, x)
			}
			return way * cmp.Compare(x, y)
		})
	case o.reversed:
		slices.Reverse(rows)
	}
}

// key is the order as an address names it.
func (o order) key() string {
	if o.reversed {
		return "-" + o.name
	}
	return o.name
}

// URL is the address of the list in this order.
func (o order) URL() string {
	if o.key() == "" {
		return o.base
	}
	return o.base + "&sort=" + url.QueryEscape(o.key())
}

// sorted is a column's head: a link to the list sorted by it, or by it in reverse if it is.
type sorted struct {
	Words, URL string
	Chosen     bool
	Arrow      string // ↓ or ↑ if it is chosen
}

// By is the head of a column.
func (o order) By(name string) sorted {
	for _, c := range o.columns() {
		if c.name != name {
			continue
		}
		s := sorted{Words: c.words, Chosen: c.name == o.name}
		s.URL = order{column: c, reversed: s.Chosen && !o.reversed, base: o.base}.URL() + "#list"
		if s.Chosen {
			s.Arrow = map[bool]string{true: "↓", false: "↑"}[o.reversed]
		}
		return s
	}
	return sorted{Words: name}
}

// anyValue says that one of the rows has a value in a column, so that a list need not show what none of its runs has.
func anyValue(rows []runRow, column string) bool {
	return slices.ContainsFunc(rows, func(r runRow) bool {
		switch column {
		case "NC1":
			return r.NC1 != "–"
		case "Accuracy":
			return r.Accuracy != "–"
		case "Test":
			return r.Test != "–"
		case "Dilation":
			return r.Dilation != "–"
		case "Memorization":
			return r.Memorization != "–"
		case "Reported":
			return r.Reported != ""
		}
		return true
	})
}
