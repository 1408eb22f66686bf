package measurement

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"collapse.example/collapse/measure"
)

// collapsedSet is four classes in eight coordinates around a simplex, with a classifier that mirrors their means.
func collapsedSet(r *rand.Rand, spread float64) measure.Input[float64] {
	const k, d, n = 4, 8, 200
	var h []float64
	var labels []int32
	w := make([]float64, k*d)
	for c := range k {
		for j := range k {
			w[c*d+j] = -0.25
		}
		w[c*d+c] += 1
	}
	for c := range k {
		for range n {
			for j := range d {
				h = append(h, w[c*d+j]+spread*r.NormFloat64())
			}
			labels = append(labels, int32(c))
		}
	}
	return measure.Input[float64]{Train: measure.Memory(h, d, labels), W: w, B: make([]float64, k)}
}

func reportOf(t *testing.T, in measure.Input[float64], null int) *measure.Report {
	t.Helper()
	r, err := measure.Measure(in, measure.Options{Null: null, Uncertainty: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDialsBeginAtShuffledLabels shuffles the labels and looks where the pointers stand.
func TestDialsBeginAtShuffledLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	in := collapsedSet(r, .02)
	dials := Dials(reportOf(t, in, measure.DefaultNull))
	if len(dials) != 4 {
		t.Fatalf("%d dials", len(dials))
	}
	const shuffles = 20
	sums := make([]float64, len(dials))
	for range shuffles {
		labels := append([]int32{}, in.Train.Labels...)
		r.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		in.Train.Labels = labels
		shuffled := reportOf(t, in, 0)
		for i, d := range dials {
			v, _ := shuffled.Value(d.Key)
			sums[i] += d.Place(v) / shuffles
		}
	}
	for i, d := range dials {
		if at := d.Place(d.Value); !(at > d.Place(d.Limit)) || at > 1 {
			t.Errorf("%s: the pointer of collapsed classes stands at %g, the limit at %g", d.Name, at, d.Place(d.Limit))
		}
		if !(sums[i] < .1) {
			t.Errorf("%s: with shuffled labels the pointer stands at %g on average", d.Name, sums[i])
		}
	}
}

func TestPlaceStaysOnTheDial(t *testing.T) {
	d := Dial{Shuffled: 100, End: 1e-4, Limit: .1, Log: true}
	for v, want := range map[float64]float64{1000: 0, 100: 0, .1: .5, 1e-4: 1, 0: 1, math.Inf(1): 0} {
		if got := d.Place(v); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g lies at %g, wanted %g", v, got, want)
		}
	}
}

// TestCollapsedIsWhatTheHeadlineSays goes from tight to wide classes.
func TestCollapsedIsWhatTheHeadlineSays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	seen := map[bool]bool{}
	for _, spread := range []float64{1e-9, .01, .1, .2, .4, 2} {
		report := reportOf(t, collapsedSet(r, spread), measure.DefaultNull)
		headline := HeadlineOf(report)
		want := strings.HasPrefix(headline, "Collapsed") && !strings.Contains(headline, "degenerate")
		if got := Collapsed(report); got != want {
			t.Errorf("spread %g: %v, but %q", spread, got, headline)
		}
		seen[want] = true
	}
	if !seen[true] || !seen[false] {
		t.Error("the sets are all of one kind")
	}
}

func TestUnusualIsPartOfTheHeadline(t *testing.T) {
	in := collapsedSet(rand.New(rand.NewPCG(5, 4)), .01)
	if got := Unusual(reportOf(t, in, measure.DefaultNull)); got != nil {
		t.Errorf("%q", got)
	}
	for i, k := range in.Train.Labels {
		if k == 3 { // on top of class 2
			rows := in.Train.Features.(*measure.Rows[float64]).H
			copy(rows[i*8:(i+1)*8], rows[(i-200)*8:(i-199)*8])
		}
	}
	report := reportOf(t, in, measure.DefaultNull)
	got := Unusual(report)
	if len(got) == 0 || !strings.Contains(HeadlineOf(report), got[0]) || !strings.Contains(got[0], "classes 2 and 3 coincide") {
		t.Errorf("%q in %q", got, HeadlineOf(report))
	}
}

// TestOnePointHasNoDials: where all features are one point every class mean is the nearest, so that NC4 is 0 and says nothing.
func TestOnePointHasNoDials(t *testing.T) {
	in := collapsedSet(rand.New(rand.NewPCG(5, 6)), .01)
	clear(in.Train.Features.(*measure.Rows[float64]).H)
	report := reportOf(t, in, measure.DefaultNull)
	if v, ok := report.Value(measure.KeyNC4NCCMismatch); !ok || v != 0 || !strings.HasPrefix(HeadlineOf(report), "The class means coincide") {
		t.Fatalf("NC4 %g, %v: %s", v, ok, HeadlineOf(report))
	}
	if dials := Dials(report); len(dials) != 0 {
		t.Errorf("%+v", dials)
	}
	m := &Result{Columns: []Column{NewColumn("features", report)}}
	if good, known := m.met(measure.KeyNC4NCCMismatch); good || known {
		t.Errorf("NC4 is marked: %v, %v", good, known)
	}
}
