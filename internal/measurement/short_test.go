package measurement

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"collapse.example/collapse/internal/measurement/measurementtest"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/measure"
)

// short is the short report on a screen.
func short(t *testing.T, m *Result, s screen.Screen, advice bool) string {
	t.Helper()
	var out bytes.Buffer
	next := ""
	if advice {
		next = "next: --all shows all measures, --html page.html draws them"
	}
	if err := m.WriteShort(&out, s, next); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// longest is a result with as much to say as there can be: a long headline, many notes, long reasons, names that act on terminals.
func longest(t *testing.T, layers int) *Result {
	t.Helper()
	m := &Result{Main: layers - 1}
	for i := range layers {
		r := measurementtest.WordsReport()
		r.Facts.Lengths[3] = .02
		r.Facts.Coordinate, r.Facts.CoordinateShare = 5, .9995
		set(r, measure.KeyNC2MeansCentred, .6)
		set(r, measure.KeyNC2MeansOF, .1)
		set(r, measure.KeyAccuracy, .98765)
		set(r, measure.KeyTestAccuracy, .9)
		r.ClassCounts[0] = 30
		r.Missing = map[string]string{measure.KeyNC3Centred: strings.Repeat("no classifier weight was given ", 9)}
		m.Columns = append(m.Columns, NewColumn(fmt.Sprintf("%s\x1b[2J.%d", strings.Repeat("encoder.", 20), i), r))
	}
	for range 20 {
		m.Notes = append(m.Notes, "a note\x1b[2J that is long enough to fill a line of a terminal, and more than that")
	}
	return m
}

// The short report has at most 14 lines, none wider than the screen, whatever there is to say, and nothing in it acts on a terminal.
func TestShortReportFits(t *testing.T) {
	for _, layers := range []int{1, 2, 40} {
		for _, width := range []int{40, 80, 120} {
			for _, marks := range []bool{false, true} {
				text := short(t, longest(t, layers), screen.Screen{Width: width, Marks: marks}, true)
				lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
				if len(lines) > 14 {
					t.Errorf("%d layers, %d columns: %d lines", layers, width, len(lines))
				}
				for _, line := range lines {
					if n := utf8.RuneCountInString(line); n > width || strings.Contains(line, "\x1b") {
						t.Errorf("%d layers, %d columns: %d characters in %q", layers, width, n, line)
					}
				}
				if !strings.Contains(text, "unusual: coordinate 5 carries") && width > 40 || !strings.Contains(text, "NC4") || !strings.HasPrefix(text, "Collapsed, but degenerate") {
					t.Errorf("%d layers, %d columns:\n%s", layers, width, text)
				}
			}
		}
	}
}

// What a reader wants first, with three significant digits.
func TestShortReport(t *testing.T) {
	r := measurementtest.WordsReport()
	set(r, measure.KeyNC1Pinv, 9.12345e-5)
	set(r, measure.KeyNC3Centred, .3456)
	set(r, measure.KeyNC4NCCMismatch, 0)
	set(r, measure.KeyAccuracy, .98765)
	r.Reason = map[string]string{measure.KeyNC2MeansCentred: "rounding"}
	r.InputRounding = map[string]float64{measure.KeyNC2MeansCentred: 2e-3}
	r.Uncertainty = map[string]float64{measure.KeyNC2MeansCentred: 0}
	coinciding := measurementtest.WordsReport()
	coinciding37(coinciding)
	plain := screen.Screen{Width: 80}
	for _, c := range []struct {
		r      *measure.Report
		screen screen.Screen
		advice bool
		want   []string
	}{
		{r, plain, true, []string{"Collapsed: within-class spread is 1.01\u00a0% of between-class spread along the", "directions of the class means; class means are near a simplex ETF.",
			"200 samples, 10 classes of 20, d = 64", "", "                0 if collapsed                shuffled labels", "NC1  9.12·10⁻⁵  within-class variability  8.00 to 10.0",
			"NC2  0.100 ± 0.002  class means to a simplex ETF  0.800 to 1.00"}},
		{r, screen.Screen{Width: 80, Marks: true}, false, []string{"", "", "", "", "", "✓ NC1  9.12·10⁻⁵", "✓ NC2  0.100 ± 0.002", "✗ NC3  0.346 classifier to class means –", "✓ NC4  0\u00a0%", "accuracy 98.8\u00a0%, 100\u00a0% by nearest class centre"}},
		{coinciding, plain, false, []string{"8 of 10 classes are collapsed.", "", "", "", "NC1", "NC2", "NC3  –", "NC4  –", "accuracy 100\u00a0% by nearest class centre", "unusual: classes 3 and 7 coincide"}},
	} {
		text := short(t, &Result{Columns: []Column{NewColumn("features", c.r)}}, c.screen, c.advice)
		lines := strings.Split(text, "\n")
		for i, want := range c.want {
			if i >= len(lines) || !strings.HasPrefix(strings.Join(strings.Fields(lines[i]), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("line %d is not %q:\n%s", i, want, text)
			}
		}
		if strings.Contains(text, "next: --all") != c.advice {
			t.Errorf("advice wanted: %v\n%s", c.advice, text)
		}
	}
}

// Colours surround words and change none; NC2 of two classes has no value, whose angles are fixed.
func TestShortReportColours(t *testing.T) {
	r := measurementtest.WordsReport()
	m := &Result{Columns: []Column{NewColumn("features", r)}}
	painted := short(t, m, screen.Screen{Width: 80, Marks: true, Colours: true}, true)
	bare := strings.NewReplacer("\x1b[32m", "", "\x1b[31m", "", "\x1b[2m", "", "\x1b[1m", "", "\x1b[0m", "").Replace(painted)
	if want := short(t, m, screen.Screen{Width: 80, Marks: true}, true); bare != want || painted == want || !strings.HasPrefix(painted, "\x1b[32mCollapsed") {
		t.Errorf("painted:\n%q\nbare:\n%q", painted, want)
	}
	r.K = 2
	if text := short(t, m, screen.Screen{}, false); !strings.Contains(text, "NC2  –          class means to a simplex ETF  "+NothingOfTwo) {
		t.Errorf("two classes:\n%s", text)
	}
}
