package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
)

// drawing is a call of draw with a text on standard input.
func drawing(t *testing.T, code int, text string, flags ...string) (stdout, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "figure.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdin := os.Stdin
	os.Stdin = file
	defer func() { os.Stdin = stdin }()
	return called(t, code, append([]string{"draw"}, flags...)...)
}

// TestDrawMakesTheChartsOwnPicture: the same bytes as the package chart.
func TestDrawMakesTheChartsOwnPicture(t *testing.T) {
	f := chart.Figure{ID: "f", Panels: []chart.Panel{{ID: "p", Title: "nc1", X: chart.Axis{Label: "epoch"}, Y: chart.Axis{Scale: chart.Log},
		Series: []chart.Series{{ID: "s", Kind: chart.LinePoints, Color: 1, X: chart.Numbers{1, 2, 3}, Y: chart.Numbers{1, 0.1, 0.01}}}}}}
	var text, want strings.Builder
	if err := chart.WriteJSON(&text, f); err != nil {
		t.Fatal(err)
	}
	if err := chart.WriteSVG(&want, f, chart.Auto); err != nil {
		t.Fatal(err)
	}
	if svg, _ := drawing(t, exitOK, text.String()); svg != want.String() {
		t.Errorf("it drew %.80q, want %.80q", svg, want.String())
	}
	var document struct{ SVG string }
	stdout, _ := drawing(t, exitOK, text.String(), "--json")
	if decodeOnly(t, stdout, &document); document.SVG != want.String() {
		t.Errorf("as JSON it drew %.80q", document.SVG)
	}
}

func TestDrawRefusesInWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "chart: a figure in JSON: EOF",
		"[]":                                     "cannot unmarshal array",
		`{"id": "f", "panels": [], "colour": 1}`: `unknown field "colour"`,
		`{"id": "f", "panels": []}`:              "1 to 100 panels",
		`{"id": "f", "panels": [{"id": "p", "series": [{"id": "s", "kind": "pie", "x": [1], "y": [1]}]}]}`: `the kind "pie" is not drawn`,
		`{"id": "f", "title": "` + strings.Repeat("x", largestFigure):                                      "more than 16 MiB; draw fewer points",
	} {
		if stdout, stderr := drawing(t, exitUsage, text); stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%.60q: %.60q, %.300q; want %q", text, stdout, stderr, want)
		}
	}
}
