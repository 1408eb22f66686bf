package figure

import (
	"bytes"
	"collapse.example/collapse/internal/reporttest"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/measure"
)

var update = flag.Bool("update", false, "write the drawings of docs/images anew")

// TestWordsAreDrawnInTheDocs: the drawings in docs are what the program draws.
func TestWordsAreDrawnInTheDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "measures.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Words() {
		var b bytes.Buffer
		if err := chart.WriteSVG(&b, p.Figure, chart.Auto); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("..", "..", "docs", "images", p.ID+".svg")
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		drawn, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(drawn, b.Bytes()) {
			t.Errorf("%s is not what the program draws (%v); write it anew with: go test ./internal/figure -run Words -update", file, err)
		}
		if !strings.Contains(string(text), "(images/"+p.ID+".svg)") {
			t.Errorf("docs/measures.md does not show %s", p.ID)
		}
	}
}

// TestWordsMeanWhatTheyDraw measures the drawn samples: what is called large is, and what is called near 0 is.
func TestWordsMeanWhatTheyDraw(t *testing.T) {
	for _, c := range []struct {
		word, kind, key string
		factor          float64 // the larger is at least so many times the smaller
	}{{"word-nc1", "train", "nc1_pinv", 50}, {"word-nc2", "train", "nc2_cos_deviation", 50}, {"word-dilation", "test", "dilation", 2}, {"word-degenerate", "train", "mean_norm_ratio", 10}} {
		var values []float64
		for _, p := range Words() {
			if p.ID != c.word {
				continue
			}
			for _, panel := range p.Panels {
				values = append(values, measured(t, panel, c.kind, c.key))
			}
		}
		if len(values) != 2 || !(values[0] > c.factor*values[1] || values[1] > c.factor*values[0]) {
			t.Errorf("%s: %s is %v, wanted a factor of %g", c.word, c.key, values, c.factor)
		}
	}
}

// measured is a measure of the samples of one kind in a panel.
func measured(t *testing.T, p chart.Panel, kind, key string) float64 {
	t.Helper()
	var h []float64
	var labels []int32
	for _, s := range p.Series {
		if !strings.HasPrefix(s.ID, kind+"-") {
			continue
		}
		for i := range s.X {
			h, labels = append(h, s.X[i], s.Y[i]), append(labels, int32(s.ID[len(s.ID)-1]-'0'))
		}
	}
	r, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(h, 2, labels)}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if key == "dilation" {
		return math.Sqrt(reporttest.Of(r.Measures, "nc1_pinv"))
	}
	if v, ok := r.Measures.Get(key); ok {
		return v
	}
	t.Fatalf("%s was not measured", key)
	return 0
}
