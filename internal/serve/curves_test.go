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

// TestCardsAndChoicesFit: a card is as high as what it says, beside one that says more, and a choice shows the whole name of a setting.
func TestCardsAndChoicesFit(t *testing.T) {
	t.Parallel()
	s := startTest(t, Options{Lab: t.TempDir()})
	tab := useTab(t, time.Minute)
	do(t, tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(s.URL()))
	size := look[[]float64](t, tab, `(() => {
		const box = document.createElement('div'), option = '<option>optim.schedule.warmup_epochs</option>';
		box.innerHTML = '<div class="cards"><a class="card study">short</a><a class="card study"><p style="height:500px">long</p></a></div>'
			+ '<form class="filter"><label><select>' + option + '</select></label></form><select style="max-width:none">' + option + '</select>';
		document.querySelector('main').append(box);
		return [...[...box.querySelectorAll('.card')].map((e) => e.offsetHeight), ...[...box.querySelectorAll('select')].map((e) => e.offsetWidth)];
	})()`)
	if len(size) != 4 || !(size[0] > 0 && size[0] < 100) || size[1] < 500 {
		t.Errorf("cards and choices of %v px, want a low card beside one of 500 px", size)
	}
	if len(size) == 4 && (size[3] < 100 || size[2] < size[3]) {
		t.Errorf("a choice of %g px cuts a name that takes %g", size[2], size[3])
	}
}
