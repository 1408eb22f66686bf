package measure

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// momentsOf adds the rows of in between the given cuts, one call each.
func momentsOf(t testing.TB, in Input[float64], pooled bool, from, to int) *Moments {
	rows := in.Train.Features.(*Rows[float64])
	m := NewMoments(in.Classes, rows.D, pooled)
	if err := AddRows(m, nil, rows.H[from*rows.D:to*rows.D], in.Train.Labels[from:to]); err != nil {
		t.Fatal(err)
	}
	return m
}

// Any split, merged in any order, gives what the two-pass engine gives.
func TestMomentsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		// An offset far above the spread: a difference of raw second moments would lose everything.
		rows := in.Train.Features.(*Rows[float64])
		offset := rapid.SampledFrom([]float64{0, 1e4}).Draw(t, "offset")
		for i := range rows.H {
			rows.H[i] += offset
		}
		n, d := rows.Size()
		want := measureRapid(t, in, Options{KeepSpectrum: true})
		if want.Eigenvalues == nil || want.Eigenvalues[0] > 1e4*want.Eigenvalues[len(want.Eigenvalues)-1] {
			t.Skip("Σ_B nearly rank-deficient")
		}
		first := rapid.IntRange(0, n).Draw(t, "first cut")
		second := rapid.IntRange(first, n).Draw(t, "second cut")
		spans := [][2]int{{0, first}, {first, second}, {second, n}}
		order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")
		merged := NewMoments(in.Classes, d, true)
		for _, i := range order {
			part := NewMoments(in.Classes, d, true)
			if err := AddRows(part, nil, rows.H[spans[i][0]*d:spans[i][1]*d], in.Train.Labels[spans[i][0]:spans[i][1]]); err != nil {
				t.Fatal(err)
			}
			if err := merged.Merge(part); err != nil {
				t.Fatal(err)
			}
		}
		got, err := merged.Report(in.W, in.B, Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for key, v := range want.Measures.of {
			g, ok := got.Measures.of[key]
			if !ok {
				continue
			}
			found++
			if !(math.Abs(g-v) <= 1e-6*(1+math.Abs(v))) || offset == 0 && !(math.Abs(g-v) <= 1e-9*(1+math.Abs(v))) {
				t.Fatalf("%s: merged %.17g, two passes %.17g", key, g, v)
			}
		}
		if found < 20 {
			t.Fatalf("only %d measures from moments; missing %v", found, got.Missing)
		}
		if a, b := got.Measures.of[KeyTraceWithin], want.Measures.of[KeyTraceWithin]; !(math.Abs(a-b) <= 1e-12*b*(1+offset)) {
			t.Fatalf("tr Σ_W: merged %.17g, two passes %.17g", a, b)
		}
	})
}

func TestMomentsMissing(t *testing.T) {
	in := gaussian[float64](300, 8, 3, .3, 6)
	plain, err := momentsOf(t, in, false, 0, 300).Report(in.W, in.B, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for key, part := range map[string]string{KeyNC1Pinv: "not kept", KeyAccuracy: "one pass", KeyMarginMean: "one pass", KeyNumericalRank: "one pass"} {
		if _, ok := plain.Measures.of[key]; ok || !strings.Contains(plain.Missing[key], part) {
			t.Errorf("%s: reason %q, want one with %q", key, plain.Missing[key], part)
		}
	}
	byClass, err := momentsOf(t, in, true, 0, 300).Report(nil, nil, Options{Imbalance: PerClass})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := byClass.Measures.of[KeyNC1Pinv]; ok || !strings.Contains(byClass.Missing[KeyNC1Pinv], "weighs samples") {
		t.Errorf("per class: reason %q", byClass.Missing[KeyNC1Pinv])
	}
	want := mustMeasure(t, in, Options{Imbalance: PerClass})
	for _, key := range []string{KeyTraceWithin, KeyNC1TraceRatio, KeyCDNV} {
		if got := byClass.Measures.of[key]; !(math.Abs(got-want.Measures.of[key]) <= 1e-12*got) {
			t.Errorf("per class %s: %g, want %g", key, got, want.Measures.of[key])
		}
	}
}

func TestMomentsRefuse(t *testing.T) {
	m := NewMoments(2, 2, true)
	var label *LabelError
	var shape *ShapeError
	var nan *NonFiniteError
	if err := AddRows(m, nil, []float32{1, 2, 3, 4}, []int32{0, 2}); !errors.As(err, &label) || label.Row != 1 {
		t.Error(err)
	}
	if err := AddRows(m, nil, []float32{1, 2, 3}, []int32{0, 1}); !errors.As(err, &shape) {
		t.Error(err)
	}
	if err := AddRows(m, nil, []float32{1, 2, 3, float32(math.NaN())}, []int32{0, 1}); !errors.As(err, &nan) || nan.Row != 1 || nan.Col != 1 {
		t.Error(err)
	}
	for _, o := range []*Moments{NewMoments(3, 2, true), NewMoments(2, 3, true), NewMoments(2, 2, false)} {
		if err := m.Merge(o); !errors.As(err, &shape) {
			t.Error(err)
		}
	}
	if _, err := m.Report(nil, nil, Options{}); err == nil {
		t.Error("a report of no samples")
	}
	for _, c := range m.Count {
		if c != 0 {
			t.Error("a refused call changed the moments")
		}
	}
}

// States without the pooled scatter say as much about NC1 as those with it, and as the whole set: the spread of the coordinates stands in.
func TestUncertaintyWithoutPooledScatter(t *testing.T) {
	in, opt := gaussian[float32](600, 12, 5, .4, 21), Options{Uncertainty: true}
	states := func(pooled bool) *Report {
		m := NewMoments(5, 12, pooled)
		if err := AddSource(m, nil, in.Train); err != nil {
			t.Fatal(err)
		}
		second, err := MeasureSecondPass(in, m, opt)
		if err != nil {
			t.Fatal(err)
		}
		r, err := second.Report(m, in.W, in.B, opt)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	with, without := states(true), states(false)
	size := without.Measures.of[KeyNC1Pinv]
	if u := without.Uncertainty[KeyNC1Pinv]; !(u > 0 && u <= 1e-11*size) {
		t.Errorf("nc1_pinv: %g ± %g, want less than 1e-11 of it", size, u)
	}
	for name, of := range map[string]func(*Report) float64{
		"uncertainty": func(r *Report) float64 { return r.Uncertainty[KeyNC1Pinv] }, "input rounding": func(r *Report) float64 { return r.InputRounding[KeyNC1Pinv] },
	} {
		got, want := of(without), of(with)
		if !(want > 0 && got >= want/4 && got <= 4*want) {
			t.Errorf("%s of nc1_pinv without pooled scatter: %g, with it %g", name, got, want)
		}
	}
}

// TestRowsWhoseSumsOverflow: each row is finite, and their sum is not; the error names the class, and nothing is added.
func TestRowsWhoseSumsOverflow(t *testing.T) {
	m := NewMoments(3, 2, false)
	err := AddRows(m, nil, []float64{1, 2, 1, 1e308, 1, 1e308}, []int32{0, 2, 2})
	var large *RangeError
	if !errors.As(err, &large) || large.Where != "rows" || large.Class != 2 {
		t.Errorf("%v", err)
	}
	if m.Count[0]+m.Count[2] != 0 {
		t.Errorf("added: %v", m.Count)
	}
}
