package serve

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestBandsOnALogarithmicAxis draws a band whose lower edge is below 0 at one epoch: it reaches down to the least value there, and has
// no gap.
func TestBandsOnALogarithmicAxis(t *testing.T) {
	t.Parallel()
	s := startTest(t, Options{Lab: t.TempDir()})
	tab := useTab(t, 3*time.Minute)
	do(t, tab, chromedp.Navigate(s.URL()))
	data := look[[][]float64](t, tab, `(() => {
		const f = document.createElement('figure');
		f.innerHTML = '<div class="panels"><div class="panel-box" data-panel="p" style="width:400px"></div></div>';
		document.body.append(f);
		draw.figure(f, { panels: [{ id: 'p', x: { label: 'epoch' }, y: { scale: 'log' }, series: [
			{ id: 'band-a', kind: 'band', x: [1, 2, 3], y_lo: [0.5, -1, 0.02], y_hi: [2, 3, 0.2] },
			{ id: 'mean-a', label: 'a', kind: 'line', x: [1, 2, 3], y: [1, 1, 0.1] }] }] });
		return [...draw.drawn.values()].at(-1).data().map((v) => v.map((y) => y === null ? -1 : y));
	})()`)
	want := [][]float64{{1, 2, 3}, {2, 3, 0.2}, {0.5, 0.02, 0.02}, {1, 1, 0.1}}
	for i, row := range want {
		for j, v := range row {
			if data[i][j] != v {
				t.Errorf("column %d is %v, want %v", i, data[i], row)
				break
			}
		}
	}
}
