package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"collapse/measure"
)

// spikes are k classes of n samples around k unit vectors in d ≥ k dimensions, offset by one, with a spread.
func spikes(t *testing.T, k, n, d int, spread float64) MeasuredColumn {
	t.Helper()
	var in measure.Input[float64]
	h, w := make([]float64, k*n*d), make([]float64, k*d)
	var labels []int32
	for i := range k * n {
		for j := range d {
			h[i*d+j] = 1 + spread*math.Sin(float64(3*i+7*j*j))
		}
		h[i*d+i%k] += 2
		labels = append(labels, int32(i%k))
	}
	for c := range k {
		w[c*d+c] = 1
	}
	in.Train, in.W, in.Classes = measure.Memory(h, d, labels), w, k
	r, err := measure.Measure(in, measure.Options{KeepMeans: true, KeepMargins: true, KeepSpectrum: true})
	if err != nil {
		t.Fatal(err)
	}
	c := NewMeasuredColumn(fmt.Sprintf("layer%g", spread), r)
	c.Sample, c.Classes = h, labels
	return c
}

func savedPage(t *testing.T, m *Measured) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.WritePage(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMeasuredPageOfManyClasses: pictures aggregate, and the page stays small.
func TestMeasuredPageOfManyClasses(t *testing.T) {
	const k = 250
	html := savedPage(t, &Measured{Columns: []MeasuredColumn{spikes(t, k, 3, k+6, 0.01)}})
	for _, want := range []string{"250 classes do not fit", "each curve is sorted for itself", `data-panel="histogram"`, "Only 20 of 250 classes are drawn"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if len(html) > 1<<20 {
		t.Errorf("the page has %d bytes", len(html))
	}
	if n := strings.Count(html, `data-series="means" data-kind="points" data-points="20"`); n != 2 {
		t.Errorf("%d panels of 20 class means, want 2", n)
	}
}

// TestMeasuredPageOfLayers: a curve over depth, the main column open and the others folded.
func TestMeasuredPageOfLayers(t *testing.T) {
	m := &Measured{Columns: []MeasuredColumn{spikes(t, 3, 4, 5, 0.5), spikes(t, 3, 4, 5, 0.1), spikes(t, 3, 4, 5, 0.01)}, Main: 2, Values: []string{"<ant>", "bee", "cat"}}
	html := savedPage(t, m)
	if !strings.Contains(html, `data-series="nc1_pinv" data-kind="line+points" data-points="3"`) {
		t.Error("no curve of nc1_pinv over three layers")
	}
	if n := strings.Count(html, `<details class="fold">`); n != 2 {
		t.Errorf("%d folded layers, want 2", n)
	}
	if strings.Contains(html, "<ant>") || !strings.Contains(html, "&lt;ant&gt;") {
		t.Error("a class name is not escaped")
	}
	var text bytes.Buffer
	if err := m.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	line := ""
	for _, l := range strings.Split(text.String(), "\n") {
		if strings.Contains(l, "nc1_pinv") {
			line = l
		}
	}
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[1] != significant(m.Columns[0].Measures["nc1_pinv"]) || fields[3] != significant(m.Columns[2].Measures["nc1_pinv"]) {
		t.Errorf("row of nc1_pinv: %q", line)
	}
}

// TestMeasuredPageWithoutAnything: one class leaves nearly all undefined, and the page says so.
func TestMeasuredPageWithoutAnything(t *testing.T) {
	html := savedPage(t, &Measured{Columns: []MeasuredColumn{spikes(t, 1, 4, 2, 0.1)}})
	if !strings.Contains(html, "One class:") || !strings.Contains(html, "there is no other to be apart from") || strings.Contains(html, "NaN") {
		t.Error("a single class must leave NC1 undefined, without NaN on the page")
	}
}

// TestGramMaps: means of a simplex ETF differ from it by nothing.
func TestGramMaps(t *testing.T) {
	const k = 5
	mean := make([][]float64, k)
	for i := range mean {
		mean[i] = make([]float64, k)
		for j := range k {
			mean[i][j] = -1.0 / k
		}
		mean[i][i]++
	}
	cosines, off := gramMaps(mean, -1.0/(k-1))
	for i := range off {
		want := -1.0 / (k - 1)
		if i%(k+1) == 0 {
			want = 1
		}
		if !(math.Abs(off[i]) <= 1e-15) || !(math.Abs(cosines[i]-want) <= 1e-15) {
			t.Errorf("entry %d: %g off, cosine %g", i, off[i], cosines[i])
		}
	}
	mean[0][0] *= 2
	if _, off := gramMaps(mean, -1.0/(k-1)); !(off[0] > 0.1) {
		t.Errorf("a longer mean is %g off on the diagonal", off[0])
	}
}

// TestEveryMeasureHasAReading: each line of the registry is said in plain words, for values from tiny to large.
func TestEveryMeasureHasAReading(t *testing.T) {
	r := &measure.Report{K: 4, D: 6}
	for _, d := range measure.Definitions() {
		if _, ok := readings[d.Key]; !ok {
			t.Errorf("%s has no reading", d.Key)
		}
		for _, v := range []float64{-1, 0, 1e-7, 0.2, 5} {
			if Reading(d.Key, v, r) == "" {
				t.Errorf("%s = %g has no reading", d.Key, v)
			}
		}
	}
}
