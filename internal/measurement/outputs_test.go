package measurement

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement/measurementtest"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/measure"
)

// drawResult measures drawn features of one or more layers, with rounding, shuffled labels, classes left out and inputs.
func drawResult(t *testing.T, r *rand.Rand, layers int) *Result {
	t.Helper()
	m := &Result{Main: layers - 1, Notes: []string{"a note"}, Inputs: []featurefiles.Input{
		{Role: "train features", Array: "h", Files: []string{"my.model.npz"}, DType: "float32", Shape: []int{8, 3}}, {Role: "labels", Files: []string{"a.npy", "b.npy", "c.npy"}, DType: "int64", Shape: []int{8}}}}
	for i := range layers {
		k, d := 3+r.IntN(3), 3+r.IntN(9)
		n := 5 * k
		h, labels, w := make([]float64, n*d), make([]int32, n), make([]float64, k*d)
		for j := range w {
			w[j] = r.NormFloat64()
		}
		for s := range labels {
			labels[s] = int32(s % k)
			for j := range d {
				h[s*d+j] = w[s%k*d+j] + .2*r.NormFloat64()
			}
		}
		o, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(h, d, labels), W: w, Classes: k}, measure.Options{Null: 20, Uncertainty: true, KeepMargins: true, KeepSpectrum: true})
		if err != nil {
			t.Fatal(err)
		}
		o.Uncertainty[measure.KeyNC1Pinv], o.InputRounding = 2e-3, map[string]float64{measure.KeyNC1Pinv: 1e-3}
		o.Reason = map[string]string{measure.KeyNC1Pinv: "a reason", measure.KeyCDNV: "a reason", measure.KeyNC2W: "another"}
		o.PerClass["accuracy"][0] = math.NaN()
		o.Dropped = 2 * (i + r.IntN(2))
		o.LeftOut = []measure.LeftOut{{Split: "train", Reason: "one sample", Count: 9, Labels: []string{"q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9"}, Samples: 9}, {Split: "test", Reason: "unknown", Count: 1, Labels: []string{"z"}}}
		m.Columns = append(m.Columns, NewColumn(fmt.Sprint("layer", i), o))
	}
	if r.IntN(2) == 0 {
		m.Values = []string{"cat", "dog", "emu"}
	}
	return m
}

// TestRowsOfCSV reads every row back and finds its number in the report.
func TestRowsOfCSV(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 46))
	for i := range 8 {
		m := drawResult(t, r, 1+i%3)
		var b bytes.Buffer
		if err := m.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"layer", "class", "key", "value", "missing", "weighting", "definition", "source", "uncertainty", "input_rounding", "null_low", "null_median", "null_high", "reason"}; !slices.Equal(rows[0], want) {
			t.Fatalf("%q", rows[0])
		}
		want := 1
		for _, c := range m.Columns {
			want += len(measure.Definitions()) + len(c.Eigenvalues) + len(c.Margins) + 10
			for _, v := range c.PerClass {
				want += len(v)
			}
		}
		if len(rows) != want {
			t.Fatalf("%d rows, want %d", len(rows), want)
		}
		for _, row := range rows[1:] {
			c := &m.Columns[row[0][5]-'0']
			sameRow(t, m, c, row)
		}
	}
}

func sameRow(t *testing.T, m *Result, c *Column, row []string) {
	t.Helper()
	number := func(v float64, ok bool) string {
		if !ok {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	want := []string{c.Name, row[1], row[2], "", "", "", "", "", "", "", "", "", "", ""}
	key := row[2]
	at, _ := strconv.Atoi(key[strings.LastIndexByte(key, '_')+1:])
	switch d, known := measure.Lookup(key); {
	case row[1] == "" && known:
		v, ok := c.Measures.Get(key)
		want[3], want[4], want[6], want[7] = number(v, ok), c.Missing[key], d.Formula, d.Source
		if ok {
			want[5] = c.Conventions[key].Weighting
		}
		u, isU := c.Uncertainty[key]
		in, isIn := c.InputRounding[key]
		null, isNull := c.Null[key]
		want[8], want[9], want[10], want[11], want[12], want[13] = number(u, isU), number(in, isIn), number(null.Low, isNull), number(null.Median, isNull), number(null.High, isNull), c.Reason[key]
	case strings.HasPrefix(key, "left_out_"):
		want[4] = map[string]string{"left_out_train": "one sample", "left_out_test": "unknown"}[key]
		if (key == "left_out_test") != (row[1] == "z") {
			t.Fatalf("%q", row)
		}
	case strings.HasPrefix(key, "eigenvalue_between_"):
		want[3], want[6] = number(c.Eigenvalues[at], true), "eigenvalue of Σ_B, descending"
	case strings.HasPrefix(key, "cosine_margin_sorted_"):
		want[3], want[6] = number(c.Margins[at], true), "cosine margins of samples, ascending"
	default:
		for k, v := range c.PerClass[key] {
			if m.Class(c, k) == row[1] {
				want[3] = number(v, !math.IsNaN(v))
				want[4] = map[bool]string{true: "undefined for this class"}[math.IsNaN(v)]
			}
		}
	}
	if !slices.Equal(row, want) {
		t.Fatalf("%q\nwant %q", row, want)
	}
}

// TestSummaryOfAResult restates what a page says of a measurement.
func TestSummaryOfAResult(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 46))
	for i := range 9 {
		m := drawResult(t, r, 1+i%3)
		s, c := m.Summary(), m.MainColumn()
		subject := fmt.Sprintf("%d samples of width %d, %d classes of 5. 9 classes left out.", c.N, c.D, c.K)
		if c.Dropped > 0 {
			subject += fmt.Sprintf(" %d rows with NaN or infinity left out.", c.Dropped)
		}
		names := []string{"value"}
		if len(m.Columns) > 1 {
			names = nil
			for _, o := range m.Columns {
				names = append(names, o.Name)
			}
		}
		if s.Name != "my.model" || s.Subject != subject || !slices.Equal(s.ColumnNames, names) || string(s.Headline) != m.headline() || s.Weighting != "per "+c.Imbalance || !slices.Equal(s.Notes, m.Notes) {
			t.Fatalf("%q, %q, want %q, %q", s.Name, s.Subject, subject, names)
		}
		if want := [][]string{{"train features", "my.model.npz", "h", "float32", "8×3"}, {"labels", "a.npy … c.npy, 3 files", "", "int64", "8"}}; !slices.EqualFunc(s.Inputs.Rows, want, slices.Equal[[]string]) {
			t.Fatalf("%q", s.Inputs.Rows)
		}
		groupsOf(t, m, s)
		tilesOf(t, m, s)
		reasonsOf(t, m, s)
		// the text of a terminal begins with the same
		words, more, _ := strings.Cut(m.subject(), "\n")
		begin := fmt.Sprintf("%d samples, %d classes of 5, d = %d; 9 classes left out", c.N, c.K, c.D)
		if len(m.Columns) > 1 {
			begin = fmt.Sprintf("%d samples, %d classes of 5, %d layers; 9 classes left out", c.N, c.K, len(m.Columns))
		}
		if c.Dropped > 0 {
			begin += fmt.Sprintf("; %d rows with NaN or infinity left out", c.Dropped)
		}
		if words != begin || more != fmt.Sprintf("%-28s my.model.npz (h), float32 8×3\n%-28s a.npy … c.npy, 3 files, int64 8", "train features", "labels") {
			t.Fatalf("%q, want %q; %q", words, begin, more)
		}
	}
	for name, files := range map[string][]string{"": {"-"}, "features": {"a/b/features.npz", "x"}} {
		m := &Result{Inputs: []featurefiles.Input{{Files: files}}}
		if m.name() != name {
			t.Errorf("%q: %q", files, m.name())
		}
	}
	if (&Result{}).name() != "" || (&Result{Inputs: make([]featurefiles.Input, 1)}).name() != "" {
		t.Error("a name without files")
	}
}

func groupsOf(t *testing.T, m *Result, s Summary) {
	t.Helper()
	seen := map[string]bool{}
	for _, g := range s.Groups {
		shuffled := false
		if g.Title == "" || len(g.Rows) == 0 {
			t.Fatalf("%+v", g)
		}
		for _, row := range g.Rows {
			d, _ := measure.Lookup(row.Key)
			seen[row.Key] = true
			if d.Group != g.Name || len(row.Values) != len(m.Columns) {
				t.Fatalf("%+v in %s", row, g.Name)
			}
			definition := d.Formula
			for i := range m.Columns {
				c := &m.Columns[i]
				text := "–"
				if v, ok := c.Measures.Get(row.Key); ok {
					text = strconv.FormatFloat(v, 'g', 6, 64)
					if row.Key == measure.KeyNC1Pinv {
						text += " ± 0.003"
					} else if u := c.Uncertainty[row.Key] + c.InputRounding[row.Key]; c.Reason[row.Key] != "" && u > 0 {
						text += " ± " + strconv.FormatFloat(u, 'g', 2, 64)
					}
				}
				if row.Values[i] != text {
					t.Fatalf("%s: %q, want %q", row.Key, row.Values[i], text)
				}
				if conv, ok := c.Conventions[row.Key]; ok {
					definition = conv.Formula + ". " + format.Capital(conv.Weighting) + ". " + conv.Source + "."
				}
			}
			c := m.MainColumn()
			v, ok := c.Measures.Get(row.Key)
			null, known := c.Null[row.Key]
			by := ""
			if known && ok && row.Key != measure.KeyRankBetween {
				if by = format.Digits(null.Low) + " to " + format.Digits(null.High); format.Digits(null.Low) == format.Digits(null.High) {
					by = format.Digits(null.Low)
				}
				shuffled = true
			}
			reading := ""
			if ok {
				reading = Reading(row.Key, v, c.Report)
			}
			if row.Definition != definition || row.Shuffled != by || row.Reading != reading || ok && c.Readings[row.Key] != reading {
				t.Fatalf("%+v, want %q, %q, %q", row, definition, by, reading)
			}
		}
		if g.Shuffled != (shuffled && len(m.Columns) == 1) {
			t.Fatalf("%s: shuffled labels %v", g.Name, g.Shuffled)
		}
	}
	for i := range m.Columns {
		for key := range m.Columns[i].Measures.All() {
			if !seen[key] {
				t.Fatalf("%s is in no group", key)
			}
		}
	}
}

func tilesOf(t *testing.T, m *Result, s Summary) {
	t.Helper()
	c := m.MainColumn()
	want := []format.Tile{{Value: strconv.Itoa(c.N), Name: "samples"}, {Value: strconv.Itoa(c.K), Name: "classes"}}
	dialled := map[string]bool{}
	for i, d := range Dials(c.Report) {
		dialled[d.Name] = true
		shown := s.Dials[i]
		v, _ := c.Measures.Get(d.Key)
		if shown.Name != d.Name || shown.Value != ShortValue(d.Key, v) || shown.From != ShortValue(d.Key, d.Shuffled) || !(math.Abs(shown.At-100*d.Place(v)) <= .0501) || !(math.Abs(shown.Limit-100*d.Place(d.Limit)) <= .0501) || shown.About != d.About {
			t.Fatalf("%+v of %+v", shown, d)
		}
	}
	for _, p := range measure.Properties() {
		if v, ok := c.Measures.Get(p.Key); ok && !dialled[p.Name] {
			want = append(want, format.Tile{Value: ShortValue(p.Key, v), Name: p.Name})
		}
	}
	for _, of := range [][2]string{{measure.KeyAccuracy, "accuracy"}, {measure.KeyTestAccuracy, "test accuracy"}} {
		if v, ok := c.Measures.Get(of[0]); ok {
			want = append(want, format.Tile{Value: ShortValue(of[0], v), Name: of[1]})
		}
	}
	if !slices.Equal(s.Tiles, want) || len(s.Dials) != len(dialled) {
		t.Fatalf("%v, want %v; %d dials", s.Tiles, want, len(s.Dials))
	}
}

// reasonsOf: keys stand with their reason, each once.
func reasonsOf(t *testing.T, m *Result, s Summary) {
	t.Helper()
	for _, list := range []struct {
		lines []string
		of    func(c *Column) map[string]string
	}{{s.Open, func(c *Column) map[string]string { return c.Reason }}, {s.Missing, func(c *Column) map[string]string { return c.Missing }}} {
		got := map[string]bool{}
		for _, line := range list.lines {
			keys, reason, _ := strings.Cut(line, ": ")
			for key := range strings.SplitSeq(keys, ", ") {
				got[key+" "+reason] = true
			}
		}
		n := 0
		for i := range m.Columns {
			for key, reason := range list.of(&m.Columns[i]) {
				if n++; len(m.Columns) > 1 {
					reason = m.Columns[i].Name + ": " + reason
				}
				if !got[key+" "+reason] {
					t.Fatalf("%s %s is not among %q", key, reason, list.lines)
				}
			}
		}
		if n != len(got) {
			t.Fatalf("%d keys with a reason, want %d: %q", len(got), n, list.lines)
		}
	}
}

// TestDocumentsAreSmallerThanTables: JSON has the main column at its top, all columns where there are several, and no curve of margins.
func TestDocumentsAreSmallerThanTables(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 46))
	for layers := 1; layers <= 3; layers++ {
		m := drawResult(t, r, layers)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Finding, Layer  string
			Labels, Notes   []string
			Layers          []struct{ Layer string }
			MarginQuantiles map[string]float64 `json:"margin_quantiles"`
			Margins         []float64
			Inputs          []featurefiles.Input
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		c := m.MainColumn()
		names := len(m.Columns)
		if layers == 1 {
			names = 0
		}
		if doc.Finding != m.headline() || doc.Layer != c.Name || len(doc.Layers) != names || doc.Margins != nil || len(doc.MarginQuantiles) != len(Quantiles) || !(math.Abs(doc.MarginQuantiles["0.5"]-quantile(c.Margins, .5)) < 1e-12) || len(doc.Inputs) != 2 || len(doc.Notes) != 1 || c.Margins == nil {
			t.Fatalf("%+v", doc)
		}
		if (doc.Labels != nil) != (m.Values != nil) || m.Values != nil && (len(doc.Labels) != c.K || doc.Labels[1] != "dog" || c.K > 3 && doc.Labels[3] != "3") {
			t.Fatalf("labels %q", doc.Labels)
		}
	}
}

// quantile of sorted values, linear between them.
func quantile(v []float64, q float64) float64 {
	at := q * float64(len(v)-1)
	i := int(at)
	return v[i] + (at-float64(i))*(v[min(i+1, len(v)-1)]-v[i])
}

// TestTablesOfLayers: short reports of several layers have a line for each, evenly chosen, with all four properties and the accuracy.
func TestTablesOfLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 46))
	for _, layers := range []int{2, 5, 7} {
		m := drawResult(t, r, layers)
		text := short(t, m, screen.Screen{Width: 120}, false)
		lines := strings.Split(text, "\n")
		head := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "layer ") })
		var chosen []int
		for i := range min(layers, 5) {
			chosen = append(chosen, i*(layers-1)/(min(layers, 5)-1))
		}
		if !strings.HasSuffix(lines[head], "nearest centre") || len(strings.Fields(lines[head])) != 7 {
			t.Fatal(text)
		}
		for i, at := range chosen {
			c := &m.Columns[at]
			want := []string{c.Name}
			for _, p := range append(measure.Properties(), measure.Property{Key: measure.KeyNCCAccuracy}) {
				v, ok := c.Measures.Get(p.Key)
				cell := "–"
				if ok {
					cell = ShortValue(p.Key, v)
				}
				want = append(want, strings.Fields(strings.ReplaceAll(cell, "\u00a0", " "))...)
			}
			if got := strings.Fields(strings.ReplaceAll(lines[head+1+i], "\u00a0", " ")); !slices.Equal(got, want) {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	}
	for _, of := range [][3]int{{1, 5, 1}, {2, 5, 2}, {5, 5, 5}, {6, 5, 5}, {100, 5, 5}, {3, 1, 1}} {
		got := spaced(of[0], of[1])
		if len(got) != of[2] || got[0] != 0 || of[2] > 1 && got[len(got)-1] != of[0]-1 || !slices.IsSorted(got) {
			t.Errorf("%v: %v", of, got)
		}
	}
}

// TestPiecesOfLines: what is cut ends in an ellipsis, what is padded keeps its words, and shares have three digits.
func TestPiecesOfLines(t *testing.T) {
	for width := range 8 {
		for _, text := range []string{"", "η = 0", "äöü", "longer words"} {
			got := cut(text, width)
			n := utf8.RuneCountInString(got)
			if whole := utf8.RuneCountInString(text) <= width; whole && got != text || !whole && (n != max(width, 1) || !strings.HasSuffix(got, "…") || !strings.HasPrefix(text, strings.TrimSuffix(got, "…"))) {
				t.Errorf("%q in %d: %q", text, width, got)
			}
			if p := padded(text, width); utf8.RuneCountInString(p) != max(width, utf8.RuneCountInString(text)) || !strings.HasPrefix(p, text) {
				t.Errorf("%q in %d: %q", text, width, p)
			}
		}
	}
	lines := []string{"one", "two is long", "three"}
	for n, want := range [][]string{{}, {"one …"}, {"one", "two i… …"}, lines, lines} {
		if got := atMost(n, 8, lines); !slices.Equal(got, want) {
			t.Errorf("%d lines: %q, want %q", n, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 1: "100", .5: "50.0", .9996: "99.9", .99949: "99.9", .1234: "12.3", 1.5: "150.0", .0004: "0.0"} {
		if got := shortPercent(v); got != want+"\u00a0%" {
			t.Errorf("%g: %q", v, got)
		}
	}
	for n, want := range map[int]string{1: "1 class", 2: "2 classes"} {
		if got := classCount(n); got != want {
			t.Error(got)
		}
	}
	for want, counts := range map[string][]int{"1 class of 4": {4}, "2 classes of 4": {4, 4}, "3 classes of 1 to 9": {4, 9, 1}} {
		if got := classes(counts); got != want {
			t.Errorf("%v: %q", counts, got)
		}
	}
	for err, want := range map[float64]string{0: "", .0123: "± 0.01"} {
		if got := (Dial{Key: measure.KeyNC3Centred, Shuffled: 2, End: 0, Value: 1}).Shown(err); got.Error != want || got.At != 50 {
			t.Errorf("%+v", got)
		}
		if got := (Dial{Key: measure.KeyNC4NCCMismatch, Shuffled: 1, End: 0, Value: .25}).Shown(err); err > 0 && got.Error != "± 1.2\u00a0%" || got.At != 75 || got.Value != "25.0\u00a0%" {
			t.Errorf("%+v", got)
		}
	}
}

// TestWhatIsLeftOut is said once for columns that agree, with eight names at most.
func TestWhatIsLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 46))
	m := drawResult(t, r, 3)
	m.Columns[2].LeftOut[1].Count, m.Columns[2].LeftOut[1].Samples = 8, 1
	m.Notes = nil
	m.NoteLeftOut()
	want := []string{"left out of the train split: 9 classes (q1, q2, q3, q4, q5, q6, q7, q8, …): one sample; 9 samples", "left out of the test split: 1 class (z): unknown", "left out of the test split: 8 classes (z): unknown; 1 sample"}
	if !slices.Equal(m.Notes, want) {
		t.Errorf("%q, want %q", m.Notes, want)
	}
	m.Columns[2].LeftOut = m.Columns[2].LeftOut[1:]
	if got := m.Columns[2].leftOutWords("%s"); got != "" {
		t.Errorf("of the train split %q is left out", got)
	}
}

// TestMarksOfShortReports: a property is met if its value, with its rounding, is below its limit; unknown where classes coincide or say nothing.
func TestMarksOfShortReports(t *testing.T) {
	for _, of := range []struct {
		key         string
		v, open     float64
		change      func(*measure.Report)
		good, known bool
	}{
		{measure.KeyNC3Centred, .3, 0, nil, true, true}, {measure.KeyNC3Centred, .3, .001, nil, false, true}, {measure.KeyNC3Centred, .31, 0, nil, false, true}, {measure.KeyNC4NCCMismatch, .01, 0, nil, true, true},
		{measure.KeyNC4NCCMismatch, .005, .006, nil, false, true}, {measure.KeyNC2MeansCentred, .3, 0, nil, true, true}, {measure.KeyNC2MeansCentred, .2, .11, nil, false, true},
		{measure.KeyNC2MeansCentred, .3, 0, func(r *measure.Report) { r.D = 8 }, true, false}, {measure.KeyNC2MeansCentred, .3, 0, func(r *measure.Report) { r.D = 9 }, true, true},
		{measure.KeyNC2MeansCentred, .1, 0, func(r *measure.Report) { r.K = 2 }, false, false}, {measure.KeyNC1Pinv, 9e-5, 0, nil, true, true}, {measure.KeyNC1Pinv, 14, 0, func(r *measure.Report) { r.Directions = nil }, false, true},
		{measure.KeyNC1Pinv, .1, 0, func(r *measure.Report) { r.Directions = nil }, false, false}, {measure.KeyNC3Centred, .1, 0, func(r *measure.Report) { r.Missing = map[string]string{measure.KeyNC1Pinv: "class means coincide"} }, false, false},
	} {
		r := measurementtest.WordsReport()
		set(r, of.key, of.v)
		r.Uncertainty = map[string]float64{of.key: of.open}
		if of.change != nil {
			of.change(r)
		}
		m := &Result{Columns: []Column{NewColumn("features", r)}}
		if good, known := m.met(of.key); good != of.good || known != of.known {
			t.Errorf("%s of %g ± %g: %v, %v: %s", of.key, of.v, of.open, good, known, HeadlineOf(r))
		}
	}
	m := &Result{Columns: []Column{NewColumn("features", measurementtest.WordsReport())}}
	if good, known := m.met(measure.KeyNC3Centred); good || known {
		t.Error("a property that was not measured is marked")
	}
}

// TestReadingsChangeAtTheirLimits goes through readings by size: as many different words as there are steps, in order, and each limit belongs to the
// smaller side.
func TestReadingsChangeAtTheirLimits(t *testing.T) {
	r := measurementtest.WordsReport()
	for key, limits := range map[string][]float64{measure.KeyNC1TraceRatio: {1e-6, 1e-3, .1, 1}, measure.KeyVCI: {1e-3, .1, .5}, measure.KeyNC2W: {1e-6, .05, .3}, measure.KeyNC5OOD: {.01, .1, .5}, measure.KeyOODEnergy: {.4, .6, .9, .999},
		measure.KeyConfMaxCos: {1e-6, .05, .5}, measure.KeyNC2NormCV: {1e-6, .05, .3}, measure.KeyNC3Duality: {1e-6, .05, .3}} {
		var seen []string
		for _, l := range limits {
			at, beyond := plainReading(key, l, r), plainReading(key, l*(1+1e-9), r)
			if at == beyond || at != plainReading(key, l*(1-1e-9), r) || slices.Contains(seen, at) {
				t.Errorf("%s: %q at %g, %q beyond", key, at, l, beyond)
			}
			seen = append(seen, at)
		}
		if last := plainReading(key, 1e9, r); slices.Contains(seen, last) {
			t.Errorf("%s: %q", key, last)
		}
	}
	few := measurementtest.WordsReport()
	few.D = 4
	for want, of := range map[string]struct {
		key string
		v   float64
		r   *measure.Report
	}{
		"class means span all 9 directions they can":                                                                         {measure.KeyRankBetween, 9, r},
		"class means span 8 of at most 9 directions":                                                                         {measure.KeyRankBetween, 8, r},
		"class means span all 4 directions they can":                                                                         {measure.KeyRankBetween, 4, few},
		"none of them was cut as rounding":                                                                                   {measure.KeyRankCut, 0, r},
		"1 of them were cut as rounding and do not enter nc1_pinv":                                                           {measure.KeyRankCut, 1, r},
		"two class means around their centre have a cosine of up to ±0.200 (0.111 in a simplex)":                             {measure.KeyNC2Coherence, .2, r},
		"two rows of the classifier have a cosine of up to ±0.500 (at least 0.408 in 4 directions)":                          {measure.KeyNC2WCoherence, .5, few},
		"classes are points compared with their distances":                                                                   {measure.KeyCDNV, 1e-6, r},
		"pairs of classes are well separated compared with their spread":                                                     {measure.KeyCDNV, .1, r},
		"the spread of pairs of classes is 50.0\u00a0% of the distance of their means, over all 64 coordinates":              {measure.KeyCDNV, .25, r},
		"the spread of the closest two classes is 3.00 times the distance of their means, over all 4 coordinates":            {measure.KeyCDNVMax, 9, few},
		"test samples lie on their class mean":                                                                               {measure.KeyDilation, 1e-6, r},
		"on test samples within-class spread is 52.7\u00a0% of between-class spread along the directions of the class means": {measure.KeyDilation, .5, r},
		"on test samples within-class spread is 79.1\u00a0% of between-class spread along the directions of the class means": {measure.KeyDilation, .5, few},
		"within-class spread is 1.00\u00a0% of between-class spread (rms over 9 directions)":                                 {measure.KeyNC1Pinv, 9e-5, r},
		"the worst sample points more to another class":                                                                      {measure.KeyMarginMin, -1e-9, r},
		"even the worst sample points most to its own class":                                                                 {measure.KeyMarginMin, 0, r},
		"cosines of class means are on average 0.0100 off −0.111":                                                            {measure.KeyNC2CosDeviation, .01, r},
		"the worst pair of class means is 0.0100 off −0.111":                                                                 {measure.KeyNC2CosMax, .01, r},
		"class means point into about 3.50 of at most 9 directions":                                                          {measure.KeyParticipation, 3.5, r},
		"the layer's variance is worth 3.50 equal directions (4 in a simplex)":                                               {measure.KeyFeatureStableRank, 3.5, few},
		"the layer's features fill 3 of 4 directions (4 = the class means alone)":                                            {measure.KeyFeatureRank, 3, few},
		"the classifier's rows are at least 1.10 from the hull of the others, as directions (1.11: a simplex ETF)":           {measure.KeyGNC2WMargin, 1.1, r},
		"the classifier always picks the nearest class centre":                                                               {measure.KeyNC4NCCMismatch, 0, r},
		"the classifier does not pick the nearest centre's class for 25.00\u00a0%":                                           {measure.KeyNC4NCCMismatch, .25, r},
		"degenerate: one class mean lies near the origin":                                                                    {measure.KeyMeanNormRatio, .0999, r},
		"shortest class mean over the longest":                                                                               {measure.KeyMeanNormRatio, .1, r},
		"the rarest class has 64 samples, not more than the 64 directions":                                                   {measure.KeyMinClassCount, 64, r},
		"the rarest class has 65 samples":                                                                                    {measure.KeyMinClassCount, 65, r},
		"class means have negative entries: they do not come from a ReLU":                                                    {measure.KeyConfSmallestEntry, -1e-9, r},
		"class means have no negative entry":                                                                                 {measure.KeyConfSmallestEntry, 0, r},
		"the row furthest from its class mean is 60.0° off":                                                                  {measure.KeyConfWeightAngle, math.Pi / 3, r},
		"": {"no such key", 1, r},
	} {
		if got := plainReading(of.key, of.v, of.r); got != want {
			t.Errorf("%s of %g: %q, want %q", of.key, of.v, got, want)
		}
	}
	for ratio, want := range map[float64]string{1.99: "199\u00a0%", 2: "2.00 times"} {
		if got := ratioWords(ratio); got != want {
			t.Errorf("%g: %q", ratio, got)
		}
	}
}

// TestResultsOfFiles measures files as `collapse measure` does, and a finished run's features as its page says it.
func TestResultsOfFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 46))
	const k, d, n = 3, 5, 30
	w, h, labels := make([]float64, k*d), make([]float64, n*d), make([]int32, n)
	for i := range w {
		w[i] = r.NormFloat64()
	}
	for i := range labels {
		labels[i] = int32(i % k)
		for j := range d {
			h[i*d+j] = w[i%k*d+j] + .01*r.NormFloat64()
		}
	}
	dir := t.TempDir()
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("train_h", []int{n, d}, h), arrayfile.Of("train_observed", []int{n}, labels), arrayfile.Of("weight", []int{k, d}, w), arrayfile.Of("bias", []int{k}, make([]float64, k))}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "features.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := measure.Options{Null: measure.DefaultNull, KeepMargins: true}
	for _, page := range []bool{false, true} {
		set, err := featurefiles.Open(featurefiles.Request{Files: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Of(set, opt, page)
		set.Close()
		if err != nil || len(m.Columns) != 1 || m.Main != 0 || len(m.Inputs) == 0 {
			t.Fatalf("%+v, %v", m, err)
		}
		c := m.MainColumn()
		direct, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(h, d, labels), W: w, B: make([]float64, k), Classes: k}, opt)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range direct.Measures.All() {
			if got, ok := c.Measures.Get(key); !ok || !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
				t.Errorf("%s: %g, want %g", key, got, want)
			}
		}
		if (len(c.Sample) == n*d) != page || (len(c.Classes) == n) != page || (c.ClassMeans != nil) != page || c.Eigenvalues == nil {
			t.Errorf("page %v: %d samples, %d means", page, len(c.Sample), len(c.ClassMeans))
		}
		if said, err := HeadlineOfRun(context.Background(), dir, nil); err != nil || said != m.headline() || !strings.HasPrefix(said, "Collapsed") {
			t.Errorf("%q, %v, want %q", said, err, m.headline())
		}
	}
	if said, err := HeadlineOfRun(context.Background(), t.TempDir(), nil); err == nil || said != "" {
		t.Errorf("of no features: %q", said)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if said, err := HeadlineOfRun(stopped, dir, nil); err == nil || said != "" {
		t.Errorf("stopped: %q", said)
	}
}
