package serve

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"
)

// column is a sort key of a study's runs: a text or a number, NaN for a run without one.
type column struct {
	name, words string
	text        func(*runRow) string
	number      func(*runRow) float64
}

// columns are the sort keys; the first is the default order.
var columns = []column{
	{name: "", words: "newest"},
	{name: "name", words: "name", text: func(r *runRow) string { return r.Name }},
	{name: "state", words: "state", text: func(r *runRow) string { return string(r.Status) }},
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

// order is the order in which a study's runs are listed.
type order struct {
	column
	reversed bool
	base     string // address of the list
}

// orderOf reads ?sort=NAME of a column, or -NAME for the reverse. Any other name sorts by age.
func orderOf(q url.Values, base string) order {
	name, reversed := strings.CutPrefix(q.Get("sort"), "-")
	at := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	if at < 0 {
		return order{base: base}
	}
	return order{columns[at], reversed, base}
}

// sort puts rows, which come newest first, in order: texts from A to Z, numbers from the largest, and those without a number last either
// way.
func (o order) sort(rows []runRow) {
	way := 1
	if o.reversed {
		way = -1
	}
	switch {
	case o.text != nil:
		slices.SortStableFunc(rows, func(a, b runRow) int { return way * strings.Compare(o.text(&a), o.text(&b)) })
	case o.number != nil:
		slices.SortStableFunc(rows, func(a, b runRow) int {
			x, y := o.number(&a), o.number(&b)
			if math.IsNaN(x) || math.IsNaN(y) {
				return cmp.Compare(y, x)
			}
			return way * cmp.Compare(y, x)
		})
	case o.reversed:
		slices.Reverse(rows)
	}
}

// URL is the address of the list in this order.
func (o order) URL() string {
	name := o.name
	if o.reversed {
		name = "-" + name
	}
	if name == "" {
		return o.base
	}
	return o.base + "&sort=" + url.QueryEscape(name)
}

// orderLink is a link to another order.
type orderLink struct {
	Words, URL string
	Chosen     bool
}

// Choices are all columns; choosing the current one reverses the order.
func (o order) Choices() []orderLink {
	var out []orderLink
	for _, c := range columns {
		chosen := c.name == o.name
		out = append(out, orderLink{c.words, order{c, chosen && !o.reversed, o.base}.URL(), chosen})
	}
	return out
}

// anyValue says that one of the rows has a value in a column, so that a list need not show what none of its runs has.
func anyValue(rows []runRow, column string) bool {
	return slices.ContainsFunc(rows, func(r runRow) bool {
		switch column {
		case "Dilation":
			return r.Dilation != "–"
		case "Memorization":
			return r.Memorization != "–"
		}
		return true
	})
}
