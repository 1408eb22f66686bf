package measurement

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"collapse.example/collapse/internal/measurement/measurementtest"
	"collapse.example/collapse/internal/reporttest"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/measure"
)

// TestFindingSentences: what the readings say together is a sentence, and the same state begins in the same words.
func TestFindingSentences(t *testing.T) {
	const spread, along = "within-class spread is ", " between-class spread along the directions of the class means"
	for _, c := range []struct {
		change func(*measure.Report)
		want   string
	}{
		{func(*measure.Report) {}, "Collapsed: " + spread + "1.00\u00a0% of" + along + "; class means are near a simplex ETF"},
		{func(r *measure.Report) { r.Facts.Lengths[3] = .02 }, "Collapsed, but degenerate: one class mean lies near the origin (its length is 2.00\u00a0% of the longest); " + spread +
			"1.00\u00a0% of" + along + "; class means are near a simplex ETF"},
		{func(r *measure.Report) { set(r, measure.KeyNC1Pinv, 1e-9) }, "Collapsed completely: samples lie on their class means; class means are near a simplex ETF"},
		{func(r *measure.Report) { set(r, measure.KeyNC2MeansCentred, .6) }, "Collapsed: " + spread + "1.00\u00a0% of" + along + "; class means are not near a simplex ETF"},
		{func(r *measure.Report) {
			set(r, measure.KeyNC2MeansCentred, .6)
			set(r, measure.KeyNC2MeansOF, .1)
			r.ClassCounts[0] = 30
		}, "Collapsed: " + spread + "1.00\u00a0% of" + along + "; class means are near an orthogonal frame, but not near a simplex ETF around the centre of all samples, which large classes shift"},
		{func(r *measure.Report) { r.Facts.Rank = 7 }, "These features cannot tell whether classes have shrunk: 2 of 9 directions between class means are within rounding or below the chosen cut, and NC1 leaves them out"},
		{func(r *measure.Report) { set(r, measure.KeyNC1Pinv, 14.4); r.Directions[0] = 100 }, "No collapse: shuffled labels give the same NC1 (with 20 samples per class in 64 coordinates, class means are far apart by chance)"},
		{func(r *measure.Report) {
			set(r, measure.KeyNC1Pinv, 14.4)
			r.Null, r.Directions = nil, measure.Vector{100, 40, .01, .01}
		}, "No collapse: " + spread +
			"4.00 times" + along + "; only 2 of 4 directions are tight"},
		{func(r *measure.Report) {
			set(r, measure.KeyNC1Pinv, 14.4)
			r.Null, r.Directions = nil, measure.Vector{100, 40, .01}
		}, "No collapse: " + spread +
			"4.00 times" + along + "; only 1 of 3 directions is tight"},
		// One wide direction of nine does not decide: the median of all is tight.
		{func(r *measure.Report) {
			set(r, measure.KeyNC1Pinv, .45)
			r.Null[measure.KeyNC1Pinv] = measure.Null{Low: 9, Median: 10, High: 11}
			r.Directions = measure.Vector{4.42, .01, .01, .01, .01, .01, .01, .01, .01}
		}, "Collapsed: this holds in 8 of 9 directions between class means; over all, " + spread + "70.7\u00a0% of" + along + "; class means are near a simplex ETF"},
		{func(r *measure.Report) { r.Facts.Nearest = measure.Share{Yes: .5, No: .5} }, "No collapse: NC1 is small, but only 50.00\u00a0% of samples are nearest to their own class mean: classes overlap"},
		{func(r *measure.Report) {
			r.Null[measure.KeyNC1Pinv] = measure.Null{Low: 2.6e-4, Median: 3e-4, High: 4e-4}
		}, "No clear collapse: NC1 is small, but still 30.0\u00a0% of its value for shuffled labels"},
		{func(r *measure.Report) { set(r, measure.KeyNC1Pinv, .09); r.Directions = nil }, "On the way to collapse: " + spread + "31.6\u00a0% of" + along + "; class means are near a simplex ETF"},
		{func(r *measure.Report) { r.K = 2 }, "Collapsed: " + spread +
			"0.447\u00a0% of" + along + "; two class means are opposite around their centre whatever the model, so their angles say nothing"},
		{func(r *measure.Report) { r.N = 10 }, "Too few samples to tell: with one sample per class there is no spread to see"},
		{func(r *measure.Report) { set(r, measure.KeyNC1Pinv, .009); r.Directions, r.N = nil, 12 }, "Too few samples to tell: with 12 samples of 10 classes, noise alone is this tight in 1\u00a0% of cases"},
		{func(r *measure.Report) { r.Facts.Nearest = measure.Share{Yes: .8} }, "It is not known whether classes overlap: NC1 is small (" + spread + "1.00\u00a0% of" + along + "), but no sample was compared with all class means"},
		{func(r *measure.Report) { r.Facts.Rank = 0 }, "NC1 cannot be read: it is not known over how many directions it is a mean"},
		{func(r *measure.Report) { r.Facts.Coordinate, r.Facts.CoordinateShare = 5, .9995 }, "Collapsed: " + spread + "1.00\u00a0% of" + along + "; class means are near a simplex ETF; coordinate 5 carries 99.95\u00a0% of the variance between class means"},
		{coinciding37, "8 of 10 classes are collapsed; classes 3 and 7 coincide"},
		{func(r *measure.Report) {
			coinciding37(r)
			r.ClassCounts[3], r.ClassCounts[7] = 5, 6
		}, "8 of 10 classes are collapsed; the 2 smallest classes are one point"},
		{func(r *measure.Report) {
			coinciding37(r)
			r.N = 12
		}, "Too few samples to tell: with 12 samples of 10 classes, noise alone is this tight in 3\u00a0% of cases"},
	} {
		r := measurementtest.WordsReport()
		c.change(r)
		if got := HeadlineOf(r); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// coinciding37 makes classes 3 and 7 of ten tight ones coincide, so that NC1 divides by the noise between them.
func coinciding37(r *measure.Report) {
	set(r, measure.KeyNC1Pinv, 40)
	r.Directions[0] = 400
	r.Facts.Coinciding = [][]int{{3, 7}}
	for range r.K {
		r.Facts.Spread, r.Facts.Apart = append(r.Facts.Spread, .03), append(r.Facts.Apart, 1)
	}
}

// TestReadingsBesideShuffledLabels: a value that shuffled labels reach is said to be no better, and only such a value.
func TestReadingsBesideShuffledLabels(t *testing.T) {
	r := measurementtest.WordsReport()
	for _, c := range []struct {
		key  string
		v    float64
		want string
	}{
		{measure.KeyNC1Pinv, 9e-5, "within-class spread is 1.00\u00a0% of between-class spread (rms over 9 directions)"},
		{measure.KeyNC1Pinv, 9, "within-class spread is 3.16 times between-class spread (rms over 9 directions), no better than with shuffled labels"},
		{measure.KeyNC1Pinv, 90, "within-class spread is 10.0 times between-class spread (rms over 9 directions), worse than with shuffled labels"},
		{measure.KeyNCCAccuracy, .13, "13.00\u00a0% of samples are nearest to their own class centre, no better than with shuffled labels"},
		{measure.KeyNC2MeansCentred, .85, "class means around their centre are far from a simplex ETF, no closer than with shuffled labels"},
		{measure.KeyNC2MeansCentred, 1.3, "class means around their centre are far from a simplex ETF, farther than with shuffled labels"},
		{measure.KeyDilation, .1, "on test samples within-class spread is 10.5\u00a0% of between-class spread along the directions of the class means"},
		{measure.KeyCDNV, .25, "the spread of pairs of classes is 50.0\u00a0% of the distance of their means, over all 64 coordinates"},
		{measure.KeyNCCAccuracy, .6, "60.00\u00a0% of samples are nearest to their own class centre"},
		{measure.KeyMinClassCount, 1, "the rarest class has 1 sample, not more than the 64 directions"},
	} {
		if got := Reading(c.key, c.v, r); got != c.want {
			t.Errorf("%s = %g: %q, want %q", c.key, c.v, got, c.want)
		}
	}
}

// TestTextTable: no line of a table is longer than a terminal, every word of a reading is there, and a reason stands once.
func TestTextTable(t *testing.T) {
	r := measurementtest.WordsReport()
	reason := "the features have 24 significant bits, and rounding them moves this measure"
	r.Reason = map[string]string{measure.KeyNC1Pinv: reason, measure.KeyNC2MeansCentred: reason}
	r.InputRounding = map[string]float64{measure.KeyNC1Pinv: 1e-6, measure.KeyNC2MeansCentred: 1e-3}
	r.Uncertainty = map[string]float64{measure.KeyNC1Pinv: 1e-7, measure.KeyNC2MeansCentred: 1e-4}
	set(r, measure.KeyNC2CosDeviation, 1.25)
	r.Null[measure.KeyNC2CosDeviation] = measure.Null{Low: 1.20345, Median: 1.25, High: 1.2966}
	set(r, measure.KeyNC2Coherence, .99)
	r.LeftOut = []measure.LeftOut{{Split: "train", Count: 3, Labels: []string{"1", "2", "7"}, Reason: "no sample"}}
	r.Missing = map[string]string{}
	for _, d := range measure.Definitions() {
		if _, ok := r.Measures.Get(d.Key); !ok {
			r.Missing[d.Key] = "no classifier weight was given"
		}
	}
	m := &Result{Columns: []Column{NewColumn("features", r)}}
	for _, width := range []int{80, 120} {
		checkTextTable(t, m, width, reason)
	}
}

func checkTextTable(t *testing.T, m *Result, width int, reason string) {
	t.Helper()
	var out bytes.Buffer
	if err := m.WriteText(&out, screen.Screen{Width: width}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for i, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("line %d has %d characters: %q", i, n, line)
		}
	}
	if n := strings.Count(strings.Join(strings.Fields(text), " "), reason); n != 1 {
		t.Errorf("the reason stands %d times:\n%s", n, text)
	}
	words := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"nc1_pinv, nc2_means_etf_centred: " + reason, "nc1_pinv 9e-05 ± ", "8.00 to 10.0", "3 classes left out", "no better than with shuffled labels"} {
		if !strings.Contains(words, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}

// TestEveryMeasureHasAReading: each line of the registry is said in plain words, for values from tiny to large; no reading is of a measure
// that is gone.
func TestEveryMeasureHasAReading(t *testing.T) {
	for key := range readings {
		if _, known := measure.Lookup(key); !known {
			t.Errorf("a reading of %s, which is not a measure", key)
		}
	}
	r := &measure.Report{K: 4, D: 6}
	for _, d := range measure.Definitions() {
		for _, v := range []float64{-1, 0, 1e-7, 0.2, 5} {
			if Reading(d.Key, v, r) == "" {
				t.Errorf("%s = %g has no reading", d.Key, v)
			}
		}
	}
}

// TestTextOfLayers: a value for each layer.
func TestTextOfLayers(t *testing.T) {
	layer := func(spread float64) Column {
		r, _, _ := measurementtest.Spikes(t, 3, 4, 5, spread)
		return NewColumn("layer", r)
	}
	m := &Result{Columns: []Column{layer(0.5), layer(0.1), layer(0.01)}, Main: 2}
	var text bytes.Buffer
	if err := m.WriteText(&text, screen.Screen{Width: 120}); err != nil {
		t.Fatal(err)
	}
	line := ""
	for _, l := range strings.Split(text.String(), "\n") {
		if strings.Contains(l, "nc1_pinv") {
			line = l
		}
	}
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[1] != significant(reporttest.Of(m.Columns[0].Measures, "nc1_pinv")) || fields[3] != significant(reporttest.Of(m.Columns[2].Measures, "nc1_pinv")) {
		t.Errorf("row of nc1_pinv: %q", line)
	}
}

// set gives a report a value.
func set(r *measure.Report, key string, v float64) { r.Measures = r.Measures.With(key, v) }

// TestTwoClassesSayNothing measures sets of two classes that have nothing in common but their sizes: what is always the same is said to be, and
// nothing else is.
func TestTwoClassesSayNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 1))
	least, most := map[string]float64{}, map[string]float64{}
	const models = 4
	for range models {
		s := blobsAround(r, farMeans(r, 2, 5), func(c int) int { return 20 - 8*c }, always(1.))
		w := farMeans(r, 2, 5)
		in := measure.Input[float64]{Train: measure.Memory(s.h, s.d, s.labels), W: append(w[0], w[1]...)}
		report, err := measure.Measure(in, measure.Options{Measures: []string{"all"}})
		if err != nil {
			t.Fatal(err)
		}
		for key, v := range report.Measures.All() {
			if _, seen := least[key]; !seen {
				least[key], most[key] = v, v
			}
			least[key], most[key] = min(least[key], v), max(most[key], v)
		}
	}
	counts := []string{measure.KeyCDNVStd, measure.KeyMinClassCount, measure.KeyRankBetween, measure.KeyRankCut, measure.KeyFeatureRank} // have readings of their own
	for key := range least {
		fixed := most[key]-least[key] < 1e-12
		if fixed != SaysNothing(key, 2) && !slices.Contains(counts, key) || SaysNothing(key, 3) {
			t.Errorf("%s: %g to %g over %d models; says nothing: %v", key, least[key], most[key], models, SaysNothing(key, 2))
		}
	}
}
