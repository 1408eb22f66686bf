package measure

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestErrorsOfMeasurementsSayWhere: what was checked, what was found and what to try.
func TestErrorsOfMeasurementsSayWhere(t *testing.T) {
	for err, want := range map[error]string{
		&NonFiniteError{"train", 4, 7, 3, 2}:                    "measure: train: 3 values in 2 rows are NaN or infinite, the first in row 4, column 7; remove these rows or drop them (--drop-nonfinite)",
		&RangeError{"test", 3}:                                  "measure: test: the features of class 3 are so large that their sums overflow; scale the features down (the normalised measures do not change)",
		&LabelError{"true", 5, 9, 4}:                            "measure: true: sample 5 has label 9, want 0 to 3",
		&ShapeError{"labels", 3, 4, ""}:                         "measure: labels: found 3, want 4",
		&ShapeError{"labels", 3, 4, "count again"}:              "measure: labels: found 3, want 4; count again",
		&UnknownMeasureError{[]string{"nc1_pin", "zzzzzzzzzz"}}: "measure: no measure is called nc1_pin, zzzzzzzzzz; did you mean nc1_pinv?",
		&UnknownMeasureError{[]string{"zzzzzzzzzz"}}:            "measure: no measure is called zzzzzzzzzz; wanted `default`, `all` or keys of the registry (docs/measures.md)",
		&UnknownMeasureError{[]string{"al", "defaul"}}:          "measure: no measure is called al, defaul; did you mean all, default?",
		&StateError{"it is cut"}:                                "measure: state file: it is cut",
		noneLeft("samples", nil):                                "measure: samples: found 0, want 1",
		noneLeft("samples", []LeftOut{{Reason: "a", Samples: 2}, {Reason: "b"}, {Reason: "c", Samples: 1}}): "measure: samples: found 0, want 1; 2 samples are left out (a), 1 samples are left out (c): lower the minimum count or ignore fewer labels",
	} {
		if err.Error() != want {
			t.Errorf("%s\nwant %s", err, want)
		}
	}
	label, nan, other := &LabelError{Row: 2}, &NonFiniteError{Row: 3}, &RangeError{Class: 4}
	if shiftRow(label, 10) != error(label) || shiftRow(nan, 10) != error(nan) || shiftRow(other, 10) != error(other) || label.Row != 12 || nan.Row != 13 || other.Class != 4 {
		t.Errorf("%+v, %+v, %+v", label, nan, other)
	}
	x := []float64{1, 2, math.NaN(), math.Inf(1), 5, math.Inf(-1), 7, 8}
	var bad *NonFiniteError
	if err := checkFinite("w", x, 2); !errors.As(err, &bad) || *bad != (NonFiniteError{"w", 1, 0, 3, 2}) {
		t.Errorf("%+v", err)
	}
	if err := checkFinite("w", x[:2], 2); err != nil || !finite(x[:2]) || finite(x) || finite(x[3:4]) || firstNonFinite(x) != 2 || firstNonFinite(x[:2]) != -1 {
		t.Error(err)
	}
}

// TestWhatIsWanted: "default" and "all" are sets, names are added to them or stand alone.
func TestWhatIsWanted(t *testing.T) {
	for _, c := range []struct {
		opt                        Options
		pinv, cdnv, exp, cheap, at bool // nc1_pinv, cdnv, work above the budget, below and at it
	}{
		{Options{}, true, true, false, true, true},
		{Options{Measures: []string{"default"}}, true, true, false, true, true},
		{Options{Measures: []string{"all"}}, true, true, true, true, true},
		{Options{Measures: []string{KeyNC1Pinv}}, true, false, true, true, true},
		{Options{Measures: []string{KeyNC1Pinv, "default"}}, true, true, false, true, true},
		{Options{Without: []string{KeyCDNV}}, true, false, false, true, true},
		{Options{Measures: []string{KeyCDNV}, Without: []string{KeyCDNV}}, false, true, true, true, true},
	} {
		w, err := newWanted(c.opt)
		if err != nil || w.any(KeyNC1Pinv) != c.pinv || w.any(KeyCDNV) != c.cdnv || w.any() || w.any(KeyNC1Pinv, KeyCDNV) != (c.pinv || c.cdnv) {
			t.Errorf("%+v: %v, nc1_pinv %v, cdnv %v", c.opt, err, w.any(KeyNC1Pinv), w.any(KeyCDNV))
		}
		if w.pays(defaultBudget*1.01) != c.exp || w.pays(defaultBudget/2) != c.cheap || w.pays(defaultBudget) != c.at {
			t.Errorf("%+v: above the budget %v, below %v, at it %v", c.opt, w.pays(defaultBudget*1.01), w.pays(defaultBudget/2), w.pays(defaultBudget))
		}
	}
	if w, _ := newWanted(Options{Budget: 7}); !w.pays(7) || w.pays(7.1) || defaultBudget != .5e9 {
		t.Error("the budget is not that of the options")
	}
	b := newBuilder(&wanted{budget: 1}, PerClass)
	for work, want := range map[float64]string{1: "not requested: about 0.1 s; --measures all", 40e9: "not requested: about 2.0 s; --measures all"} {
		b.report.Missing = map[string]string{}
		if b.missExpensive(KeyVCI, work); b.report.Missing[KeyVCI] != want {
			t.Errorf("%g: %q", work, b.report.Missing[KeyVCI])
		}
	}
	b.miss(KeyVCI, "another reason")
	b.put(KeyCDNV, math.NaN())
	b.put(KeyCDNVMax, math.Inf(-1))
	b.put(KeyCDNVStd, 0)
	r := b.finish()
	if r.Imbalance != "class" || !strings.HasPrefix(r.Missing[KeyVCI], "not requested") || r.Missing[KeyCDNV] != outOfRange || r.Missing[KeyCDNVMax] != outOfRange || r.Missing[KeyNC1Pinv] != notGiven {
		t.Errorf("%v", r.Missing)
	}
	if v, ok := r.Value(KeyCDNVStd); v != 0 || !ok || r.Measures.Len() != 1 || len(r.Conventions) != 1 || r.Conventions[KeyCDNVStd].Weighting == "" {
		t.Errorf("%v, %v", r.Measures, r.Conventions)
	}
}

// TestValuesComeInOrder: those of the registry first, then others by name; a loop may end early, and a changed copy leaves the first alone.
func TestValuesComeInOrder(t *testing.T) {
	v := NewValues(map[string]float64{"zz": 1, KeyCDNV: 2, "aa": 3, KeyNC1Pinv: 4})
	var keys []string
	for key := range v.All() {
		keys = append(keys, key)
	}
	if !slices.Equal(keys, []string{KeyNC1Pinv, KeyCDNV, "aa", "zz"}) {
		t.Errorf("%q", keys)
	}
	for stop := 1; stop <= 4; stop++ {
		n := 0
		for range v.All() {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d values before %d", n, stop)
		}
	}
	w := v.With("zz", 5)
	if x, _ := v.Get("zz"); x != 1 || v.Len() != 4 {
		t.Errorf("the first is changed to %g", x)
	}
	if x, ok := w.Get("zz"); x != 5 || !ok {
		t.Errorf("%g, %v", x, ok)
	}
	if x, ok := (Values{}).With("a", 1).Get("a"); x != 1 || !ok {
		t.Errorf("%g, %v", x, ok)
	}
	text, err := json.Marshal(w)
	var back Values
	if err = errors.Join(err, json.Unmarshal(text, &back)); err != nil || back.Len() != 4 {
		t.Errorf("%s, %v", text, err)
	}
	list, err := json.Marshal(Vector{1, math.NaN(), math.Inf(1), 1e-300, -2.5})
	if err != nil || string(list) != "[1,null,null,1e-300,-2.5]" {
		t.Errorf("%s, %v", list, err)
	}
	if d, ok := Lookup("zz"); ok || d.Key != "" {
		t.Errorf("%+v", d)
	}
}

// TestHelpersOfReports: quantiles between order statistics, degenerate means, and conditions on shares that are only bounded.
func TestHelpersOfReports(t *testing.T) {
	r := &Report{Margins: Vector{1, 2, 4, 8}}
	for q, want := range map[float64]float64{0: 1, .5: 3, 1: 8, 1. / 3: 2, .75: 5} {
		if got, ok := r.MarginQuantile(q); !ok || !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%g-quantile %g, want %g", q, got, want)
		}
	}
	if _, ok := (&Report{}).MarginQuantile(.5); ok {
		t.Error("a quantile of nothing")
	}
	for _, q := range []float64{-.01, 1.01, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%g is a quantile", q)
				}
			}()
			r.MarginQuantile(q)
		}()
	}
	for _, c := range []struct {
		k          int
		lengths    Vector
		bad, known bool
	}{{2, Vector{.1, 1}, false, true}, {2, Vector{.0999, 1}, true, true}, {2, Vector{0, 0}, false, false}, {1, Vector{1}, false, false}, {2, nil, false, false}} {
		if bad, known := (&Report{K: c.k, Facts: Facts{Lengths: c.lengths}}).Degenerate(); known != c.known || known && bad != c.bad {
			t.Errorf("%v: %v, %v", c.lengths, bad, known)
		}
	}
	for _, c := range []struct {
		s    Share
		x    float64
		want Truth
	}{{Share{.5, .5}, .5, True}, {Share{.5, .5}, .51, False}, {Share{.4, .2}, .5, Unknown}, {Share{.4, .2}, .4, True}, {Share{.4, .2}, .8, Unknown}, {Share{.4, .2}, .81, False}, {Share{}, 0, True}} {
		if got := c.s.AtLeast(c.x); got != c.want {
			t.Errorf("%+v is at least %g: %v, want %v", c.s, c.x, got, c.want)
		}
	}
	if at, share := largestCoordinate([]float64{1, 3, -1, -3, 0, 0}, 3, 2); at != 1 || !(math.Abs(share-.9) <= 1e-15) {
		t.Errorf("coordinate %d has %g of the squares", at, share)
	}
	if at, share := largestCoordinate(make([]float64, 4), 2, 2); at != 0 || share != 0 {
		t.Errorf("of nothing: %d, %g", at, share)
	}
	if (&Report{}).Class(3) != 3 || (&Report{Classes: []int{4, 7}}).Class(1) != 7 {
		t.Error("classes are numbered otherwise")
	}
}

// TestBinsOfAHistogram: ten to a power of ten, from the first value to the last; what is below them all counts as zero.
func TestBinsOfAHistogram(t *testing.T) {
	var b bins
	for _, x := range []float64{0, 1e-301, 1, 1.2, 1.3, 9.9, 10, 1e-300} {
		b.add(x)
	}
	h := b.histogram()
	if h.Zero != 2 || len(h.Edges) != len(h.Counts)+1 || len(h.Counts) != 3011 || h.Counts[0] != 1 || h.Counts[3000] != 2 || h.Counts[3001] != 1 || h.Counts[3009] != 1 || h.Counts[3010] != 1 {
		t.Errorf("%d values of zero, %d bins", h.Zero, len(h.Counts))
	}
	for i, want := range map[int]float64{0: 1e-300, 3000: 1, 3010: 10, 3011: math.Pow(10, 1.1)} {
		if !(math.Abs(h.Edges[i]-want) <= 1e-12*want) {
			t.Errorf("edge %d is %g, want %g", i, h.Edges[i], want)
		}
	}
	var none, large bins
	if h := none.histogram(); len(h.Edges) != 0 || h.Counts == nil || len(h.Counts) != 0 {
		t.Errorf("%+v", h)
	}
	large.add(math.MaxFloat64)
	large.add(math.Inf(1))
	if h := large.histogram(); len(h.Counts) != 1 && len(h.Counts) != 2 || h.Zero != 0 {
		t.Errorf("%+v", h)
	}
}

// TestPartsOfAJoinedSource: the part of each row, past parts without rows.
func TestPartsOfAJoinedSource(t *testing.T) {
	rows := func(n int) Source[float64] { return &Rows[float64]{H: make([]float64, 2*n), D: 2} }
	s, err := Join(rows(0), rows(2), rows(0), rows(0), rows(1), rows(0))
	if err != nil {
		t.Fatal(err)
	}
	j := s.(*joined[float64])
	for row, want := range []int{1, 1, 4} {
		if got := j.part(row); got != want {
			t.Errorf("row %d is in part %d, want %d", row, got, want)
		}
	}
	if n, d := j.Size(); n != 3 || d != 2 {
		t.Errorf("%d rows of %d", n, d)
	}
	one := rows(3)
	if got, err := Join(one); err != nil || got != one {
		t.Errorf("one part: %v, %v", got, err)
	}
	var shape *ShapeError
	if _, err := Join[float64](); !errors.As(err, &shape) || shape.What != "shards of features" {
		t.Error(err)
	}
	if _, err := Join(rows(1), &Rows[float64]{H: make([]float64, 3), D: 3}); !errors.As(err, &shape) || *shape != (ShapeError{"width of feature shard 1", 3, 2, "all shards have the width of the first"}) {
		t.Error(err)
	}
	if n, d := (&Rows[float64]{H: make([]float64, 4)}).Size(); n != 0 || d != 0 {
		t.Errorf("rows without width: %d of %d", n, d)
	}
}
