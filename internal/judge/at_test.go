package judge

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestPlacesInShortRuns: the nearest epoch counts up to half an epoch away, and a script has no start.
func TestPlacesInShortRuns(t *testing.T) {
	for _, c := range []struct {
		epochs   int
		fraction float64
		want     float64
		err      string
	}{
		{3, 0.5, 2, ""}, {2, 0.33, 1, ""}, {4, 0.1, 0, "not measured near epoch 0; the nearest is 1"}, {3, atStart, 0, "a script's epochs begin with 1"}, {3, 1, 3, ""},
	} {
		r := &JudgedRun{Run: &Run{Run: store.Run{Hash: "abc", Kind: store.Script}, last: int64(c.epochs), series: map[SeriesKey][]store.Point{}}}
		for e := 1; e <= c.epochs; e++ {
			r.series[SeriesKey{Split: "val", Measure: "f1"}] = append(r.series[SeriesKey{Split: "val", Measure: "f1"}], store.Point{Step: int64(e), Value: float64(e)})
		}
		got, err := r.Value("val/f1", c.fraction)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%d epochs at %g: %g, %v; wanted %g, %s", c.epochs, c.fraction, got, err, c.want, c.err)
		}
	}
}
