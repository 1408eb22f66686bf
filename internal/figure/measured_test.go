package figure

import (
	"math"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/measurement/measurementtest"
	"collapse.example/collapse/measure"
)

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

// TestSeparationPicture: directions and pairs are drawn where they are known.
func TestSeparationPicture(t *testing.T) {
	r := measurementtest.WordsReport()
	r.Histograms = map[string]measure.Histogram{measure.KeyCDNV: {Edges: measure.Vector{1, 2, 4}, Counts: []int{30, 15}, Zero: 2}}
	r.Null[measure.KeyCDNV] = measure.Null{Low: 1, Median: 3, High: 4}
	m := &measurement.Result{Columns: []measurement.Column{measurement.NewColumn("features", r)}}
	p := separation(m, m.MainColumn())
	if len(p.Panels) != 2 || len(p.Panels[0].Series[0].Y) != 9 || len(p.Table.Rows) != 9 || len(p.Notes) != 1 {
		t.Fatalf("%+v", p)
	}
	pairs := p.Panels[1].Series
	if len(pairs) != 2 || pairs[1].X[0] != 3 || len(pairs[0].X) != 6 || pairs[0].X[4] != 4 || pairs[0].Y[0] != 0 || pairs[0].Y[1] != 30 || pairs[0].Y[4] != 15 {
		t.Errorf("%+v", pairs)
	}
	r.Directions, r.Histograms = nil, nil
	if p := separation(m, m.MainColumn()); len(p.Panels) != 0 {
		t.Error("a picture without data has panels")
	}
}

// TestRoundingIsNotStructure: differences of rounding are drawn as zero, larger ones fill the colours.
func TestRoundingIsNotStructure(t *testing.T) {
	for _, c := range []struct{ largest, want float64 }{{1e-13, 1e-6}, {0.25, 0.25}} {
		if got := symmetric(chart.Numbers{c.largest, -c.largest / 2}); *got != [2]float64{-c.want, c.want} {
			t.Errorf("%g: range %v", c.largest, *got)
		}
	}
}
