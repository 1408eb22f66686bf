package measure

import (
	"fmt"
	"math"
	"slices"
)

const defaultBudget = 0.5e9

// wanted is the set of requested measures.
type wanted struct {
	keys      map[string]bool // nil: the whole registry except without
	named     map[string]bool // named by the caller, possibly in addition to "default"
	left      map[string]bool // default measures left out of this measurement; see leaveUnasked
	without   []string
	expensive bool // expensive measures whatever their cost
	budget    float64
}

// newWanted reads Options.Measures.
func newWanted(opt Options) (wanted, error) {
	w := wanted{budget: opt.Budget, without: opt.Without}
	if w.budget == 0 {
		w.budget = defaultBudget
	}
	var unknown []string
	for _, key := range opt.Measures {
		switch _, known := Lookup(key); {
		case key == "all":
			w.expensive = true
		case key == "default":
		case known:
			if w.named == nil {
				w.named = map[string]bool{}
			}
			w.named[key] = true
		default:
			unknown = append(unknown, key)
		}
	}
	if unknown != nil {
		return w, &UnknownMeasureError{Keys: unknown}
	}
	if !slices.Contains(opt.Measures, "all") && !slices.Contains(opt.Measures, "default") {
		w.keys = w.named
	}
	return w, nil
}

func (w *wanted) any(keys ...string) bool {
	for _, key := range keys {
		if w.keys[key] || w.keys == nil && !w.left[key] && !slices.Contains(w.without, key) {
			return true
		}
	}
	return false
}

// pays reports whether to compute an expensive measure of the given work; if named, always.
func (w *wanted) pays(work float64) bool { return w.keys != nil || w.expensive || work <= w.budget }

// builder fills a report: every requested key ends up in Measures or in Missing.
type builder struct {
	*wanted
	report *Report
	im     Imbalance
}

func newBuilder(w *wanted, im Imbalance) *builder {
	n := len(definitions)
	w.left = nil
	return &builder{wanted: w, im: im, report: &Report{
		Measures: Values{make(map[string]float64, n)}, Missing: make(map[string]string, n),
		PerClass: make(map[string]Vector, 16), Conventions: make(map[string]Convention, n),
		Imbalance: im.String(),
	}}
}

const (
	outOfRange = "the value leaves the range of float64; scale the features towards 1"
	notGiven   = "its inputs were not given"
)

// put stores a value.
func (b *builder) put(key string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		b.miss(key, outOfRange)
		return
	}
	if b.any(key) {
		b.report.Measures.of[key] = value
	}
}

// miss stores why a value is undefined; the first reason stays.
func (b *builder) miss(key, reason string) {
	if _, known := b.report.Missing[key]; !known && b.any(key) {
		b.report.Missing[key] = reason
	}
}

func (b *builder) missAll(reason string, keys ...string) {
	for _, key := range keys {
		b.miss(key, reason)
	}
}

// missExpensive stores why a measure is left out of "default".
func (b *builder) missExpensive(key string, work float64) {
	const nominal = 20e9 // operations per second of a modest machine; the text says "about"
	b.miss(key, fmt.Sprintf("not requested: about %.1f s; --measures all", max(0.1, work/nominal)))
}

// finish adds the conventions, and a reason for every key that is still empty.
func (b *builder) finish() *Report {
	for i := range definitions {
		d := &definitions[i]
		if !b.any(d.Key) {
			continue
		}
		if _, done := b.report.Measures.of[d.Key]; done {
			b.report.Conventions[d.Key] = Convention{Name: d.Name, Formula: d.Formula, Weighting: d.weighting(b.im), Source: d.Source}
			continue
		}
		b.miss(d.Key, notGiven)
	}
	return b.report
}
