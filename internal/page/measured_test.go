package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/measurement/measurementtest"
	"collapse.example/collapse/measure"
)

// TestMeasuredPageOfSeparation: both panels and what shuffled labels give.
func TestMeasuredPageOfSeparation(t *testing.T) {
	r := measurementtest.WordsReport()
	r.Histograms = map[string]measure.Histogram{measure.KeyCDNV: {Edges: measure.Vector{1, 2, 4}, Counts: []int{30, 15}, Zero: 2}}
	m := &measurement.Result{Columns: []measurement.Column{measurement.NewColumn("features", r)}}
	if html := savedPage(t, m); !strings.Contains(html, `data-panel="directions"`) || !strings.Contains(html, `data-panel="pairs"`) || !strings.Contains(html, `class="chance">8.00 to 10.0<`) {
		t.Error("the page lacks a panel or the column of shuffled labels")
	}
}

func savedPage(t *testing.T, m *measurement.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePage(m, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMeasuredPageOfManyClasses: pictures aggregate, and the page stays small.
func TestMeasuredPageOfManyClasses(t *testing.T) {
	const k = 250
	html := savedPage(t, &measurement.Result{Columns: []measurement.Column{spiked(t, k, 3, k+6, 0.01)}})
	for _, want := range []string{"250 classes do not fit", "each curve is sorted separately", `data-panel="histogram"`, "Only 20 of 250 classes are drawn"} {
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
	m := &measurement.Result{Columns: []measurement.Column{spiked(t, 3, 4, 5, 0.5), spiked(t, 3, 4, 5, 0.1), spiked(t, 3, 4, 5, 0.01)}, Main: 2, Values: []string{"<ant>", "bee", "cat"}}
	html := savedPage(t, m)
	if !strings.Contains(html, `data-series="nc1_pinv" data-kind="line+points" data-points="3"`) {
		t.Error("no curve of nc1_pinv over three layers")
	}
	if n := strings.Count(html, `<details class="fold">`); n != 3 {
		t.Errorf("%d folds, want 2 layers and the table of numbers", n)
	}
	if strings.Contains(html, "<ant>") || !strings.Contains(html, "&lt;ant&gt;") {
		t.Error("a class name is not escaped")
	}
}

// TestMeasuredPageWithoutAnything: one class leaves nearly all undefined, and the page says so.
func TestMeasuredPageWithoutAnything(t *testing.T) {
	html := savedPage(t, &measurement.Result{Columns: []measurement.Column{spiked(t, 1, 4, 2, 0.1)}})
	if !strings.Contains(html, ">One class ") || !strings.Contains(html, "there is no other to separate from") || strings.Contains(html, "NaN") {
		t.Error("a single class must leave NC1 undefined, without NaN on the page")
	}
}

// TestFiguresOfOnePageCanBeSaved: the page holds a file of each figure, which is the drawing as a whole.
func TestFiguresOfOnePageCanBeSaved(t *testing.T) {
	html := savedPage(t, &measurement.Result{Columns: []measurement.Column{spiked(t, 3, 4, 5, 0.01)}})
	ids := find(t, html, `data-figure="([^"]*)"`)
	names := find(t, html, `href="data:image/svg(?:\+|&#43;)xml;base64,[^"]+" download="([^"]*)\.svg"`)
	if len(ids) < 3 || !slices.Equal(ids, names) {
		t.Fatalf("figures %q, files %q", ids, names)
	}
	for i, text := range find(t, html, `href="data:image/svg(?:\+|&#43;)xml;base64,([^"]+)"`) {
		svg, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "&#43;", "+"))
		if err != nil || !strings.Contains(string(svg), "<svg ") || !strings.HasSuffix(strings.TrimSpace(string(svg)), "</svg>") {
			t.Errorf("%s: %v, %.80q", ids[i], err, svg)
		}
	}
}

// spiked is a layer of spikes.
func spiked(t *testing.T, k, n, d int, spread float64) measurement.Column {
	r, h, labels := measurementtest.Spikes(t, k, n, d, spread)
	c := measurement.NewColumn(fmt.Sprintf("layer%g", spread), r)
	c.Sample, c.Classes = h, labels
	return c
}

// TestMeasuredPageBeginsWithDials: the model's name in the title, four dials above all pictures, and every number folded away.
func TestMeasuredPageBeginsWithDials(t *testing.T) {
	m := &measurement.Result{Columns: []measurement.Column{spiked(t, 3, 4, 5, 0.01)}, Inputs: []featurefiles.Input{{Role: "features", Files: []string{"out/vgg<13>.npz"}}}}
	html := savedPage(t, m)
	if title := find(t, html, `<title>([^<]*)</title>`); len(title) == 0 || title[0] != "vgg&lt;13&gt;: collapse measures" {
		t.Errorf("the title is %q", title[:min(1, len(title))])
	}
	dials := find(t, html, `data-dial="(NC\d)"`)
	if want := len(measurement.Dials(m.Columns[0].Report)); want == 0 || len(dials) != want || strings.LastIndex(html, "data-dial") > strings.Index(html, "data-figure") {
		t.Errorf("dials %q, want %d of them above the pictures", dials, want)
	}
	for _, x := range (&measurement.Result{Columns: []measurement.Column{spiked(t, 2, 4, 5, 0.01)}}).Summary().Tiles {
		if x.Name == "NC2" {
			t.Errorf("NC2 is %s of two classes, whose angles say nothing", x.Value)
		}
	}
	if fold := strings.LastIndex(html[:strings.Index(html, "data-key")], "<details"); fold < 0 || strings.Contains(html[fold:strings.Index(html, "data-key")], "</details>") {
		t.Error("the table of every number is not folded")
	}
}
