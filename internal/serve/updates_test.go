//go:build unix

package serve

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	devpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// shownEpoch is the epoch that both the tile and the curves in sight of a run's page have reached.
const shownEpoch = `Math.min(Math.max(0, ...[...draw.drawn.values()].map((d) => d.last ? d.data()[0].at(-1) : 0)), parseInt(document.querySelector('[data-tile=epoch]').textContent) || 0)`

// openRun is a tab with the page of a run, live.
func openRun(t testing.TB, s *Server, hash string) context.Context {
	t.Helper()
	tab := useTab(t, 5*time.Minute)
	do(t, tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()+"run/"+hash))
	until(t, tab, 20*time.Second, "document.querySelector('.uplot') && document.getElementById('status').textContent === 'live'")
	return tab
}

// unpaced lets a page ask as soon as it wants to: the server's pace follows from the cost of its answers, which is much beside other work.
func unpaced(t *testing.T, tab context.Context) {
	look[bool](t, tab, "(draw.settle = () => 0, pause = 0, lately = 0, true)")
}

// unfold draws the curves that are folded away.
func unfold(t *testing.T, tab context.Context) {
	look[bool](t, tab, "(document.querySelector('#more').open = true, document.querySelector('#more figure').scrollIntoView(), true)")
	until(t, tab, 20*time.Second, "document.querySelector('#more .uplot')")
}

// scrollPast brings every figure and then each of its panels into sight, where its curves are drawn with all that they hold.
func scrollPast(t *testing.T, tab context.Context) {
	past := func(all, reached string) {
		for i := range look[int](t, tab, all+".length") {
			one := fmt.Sprintf("%s[%d]", all, i)
			look[bool](t, tab, "("+one+".scrollIntoView(), true)")
			until(t, tab, 20*time.Second, fmt.Sprintf(reached, one))
		}
	}
	past("[...document.querySelectorAll('figure[data-json]')]", "'drawn' in %s.dataset")
	past("[...draw.drawn.keys()]", "((d) => !d.last || d.data()[0].at(-1) === d.last())(draw.drawn.get(%s))")
}

// TestUpdatesAddUpToThePage writes epochs faster than the page is made anew: the curves that grew by their newest points, some of them
// folded or out of sight, are those of a page that is opened after.
func TestUpdatesAddUpToThePage(t *testing.T) {
	t.Parallel()
	dir, lease := labOf(t, 100)
	s := startTest(t, Options{Lab: dir})
	tab := openRun(t, s, lease.Hash)
	unfold(t, tab)
	// From here on the page as a whole is asked for only when the test says so.
	look[bool](t, tab, "(later = () => Infinity, clearTimeout(timer), refresh = () => {}, true)")
	const last = 215
	for epoch := int64(201); epoch <= last; epoch++ {
		if err := lease.AppendEpoch(epoch, epochRows(epoch)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	until(t, tab, 20*time.Second, fmt.Sprintf("%s === %d", shownEpoch, last))
	scrollPast(t, tab)
	const curves = `[...draw.drawn].map(([box, d]) => JSON.stringify([box.closest('figure').id, box.dataset.panel, d.data()])).sort()`
	grown := look[[]string](t, tab, curves)
	do(t, tab, chromedp.Reload())
	until(t, tab, 20*time.Second, "document.querySelector('.uplot')")
	unfold(t, tab)
	scrollPast(t, tab)
	for i, whole := range look[[]string](t, tab, curves) {
		if grown[i] != whole {
			t.Errorf("grown point by point:\n%s\nopened after:\n%s", grown[i], whole)
		}
	}
}

// TestAPageTriesAgain: if a page's requests fail for a while, it has the newest epochs later, though nothing more is written.
func TestAPageTriesAgain(t *testing.T) {
	t.Parallel()
	dir, lease := labOf(t, 100)
	tab := openRun(t, startTest(t, Options{Lab: dir}), lease.Hash)
	unpaced(t, tab)
	look[bool](t, tab, fmt.Sprintf(`(() => { const real = fetch; let left = %d; window.fetch = (...a) => /\/news|^http/.test(a[0]) && left-- > 0 ? Promise.reject(new Error('cut')) : real(...a); return true; })()`, longtest.Of(2, 4))) // of the page and of its news, not of figures that come into sight; each takes two seconds
	if err := lease.AppendEpoch(201, epochRows(201)); err != nil {
		t.Fatal(err)
	}
	until(t, tab, 30*time.Second, shownEpoch+" === 201")
}

// TestAPageCatchesUp: a run went on after its page was made and before the page listens; nothing more is written.
func TestAPageCatchesUp(t *testing.T) {
	t.Parallel()
	dir, lease := labOf(t, 100)
	tab := openRun(t, startTest(t, Options{Lab: dir}), lease.Hash)
	unpaced(t, tab)
	look[bool](t, tab, `(() => { window.heard = []; window.listen = hear; hear = (m) => heard.push(m); return true; })()`)
	if err := lease.AppendEpoch(201, epochRows(201)); err != nil {
		t.Fatal(err)
	}
	newest := fmt.Sprintf("heard.find((m) => m.state && m.state.runs && m.state.runs[%q] && m.state.runs[%q].epoch === 201)", lease.Hash, lease.Hash)
	until(t, tab, 20*time.Second, "!!"+newest)
	look[bool](t, tab, "(() => { last = null; listen("+newest+"); return true; })()") // the first message that the page heeds
	until(t, tab, 20*time.Second, shownEpoch+" === 201")
}

// TestPrinting writes epochs while some curves are out of sight, and prints: the paper has all of them.
func TestPrinting(t *testing.T) {
	t.Parallel()
	dir, lease := labOf(t, 100)
	s := startTest(t, Options{Lab: dir})
	tab := openRun(t, s, lease.Hash)
	unfold(t, tab)
	for epoch := int64(201); epoch <= 205; epoch++ {
		if err := lease.AppendEpoch(epoch, epochRows(epoch)); err != nil {
			t.Fatal(err)
		}
	}
	const panels = "[...draw.drawn.values()].filter((d) => d.last)"
	const late = panels + ".filter((d) => d.data()[0].at(-1) < 205).length"
	until(t, tab, 20*time.Second, panels+".every((d) => d.last() === 205)")
	if look[int](t, tab, late) == 0 {
		t.Fatal("every panel is in sight or drawn without need: this test shows nothing")
	}
	paper, err := chromedp.Call(tab, devpage.PrintToPDF, devpage.PrintToPDFParams{})
	if err != nil {
		t.Fatal(err)
	}
	if pdf := paper.Data; len(pdf) < 10<<10 {
		t.Errorf("%d bytes were printed", len(pdf))
	}
	if n := look[int](t, tab, late); n > 0 {
		t.Errorf("%d of %d panels lack the newest epochs on paper", n, look[int](t, tab, panels+".length"))
	}
}

// BenchmarkUpdates is how long an epoch takes from the lab to the screen of an open page: runs with short, middling and long epochs,
// on a machine with nothing else to do and beside four workers. A second is the aim.
func BenchmarkUpdates(b *testing.B) {
	for _, workers := range []int{0, 4} {
		for _, pace := range []time.Duration{150 * time.Millisecond, 700 * time.Millisecond, 3 * time.Second} {
			b.Run(fmt.Sprintf("workers=%d/epoch=%v", workers, pace), func(b *testing.B) {
				dir, lease := bigLab(b)
				s := startTest(b, Options{Lab: dir})
				tab := openRun(b, s, lease.Hash)
				crewLab, err := store.Open(b.TempDir(), store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer crewLab.Close()
				for i := range workers {
					startWorker(b, crewLab.Dir(), i)
				}
				if workers > 0 {
					waitForRuns(b, crewLab, workers)
				}
				epoch := int64(201)
				var late []time.Duration
				for b.Loop() {
					late = append(late, updates(b, tab, lease, &epoch, pace)...)
				}
				slices.Sort(late)
				b.ReportMetric(late[len(late)/2].Seconds()*1e3, "median-ms")
				b.ReportMetric(late[len(late)-1].Seconds()*1e3, "worst-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// updates writes epochs at a pace, for about fifteen seconds, and returns how late each was on the screen.
func updates(b *testing.B, tab context.Context, lease *store.Lease, next *int64, pace time.Duration) []time.Duration {
	look[bool](b, tab, `(() => { window.seen = {}; clearInterval(window.watching);
		window.watching = setInterval(() => { const at = `+shownEpoch+`; if (!(at in seen)) seen[at] = Date.now(); }, 10); return true })()`)
	written := map[int64]time.Time{}
	for range max(5, int(15*time.Second/pace)) {
		if err := lease.AppendEpoch(*next, epochRows(*next)); err != nil {
			b.Fatal(err)
		}
		written[*next] = time.Now()
		*next++
		time.Sleep(pace)
	}
	until(b, tab, 20*time.Second, fmt.Sprintf("%s === %d", shownEpoch, *next-1))
	seen := look[map[string]float64](b, tab, "seen")
	var late []time.Duration
	for epoch, at := range written {
		first := time.Time{}
		for shown, when := range seen {
			// An epoch is on the screen as soon as it or a later one is.
			if n, err := strconv.ParseInt(shown, 10, 64); err == nil && n >= epoch {
				if t := time.UnixMilli(int64(when)); first.IsZero() || t.Before(first) {
					first = t
				}
			}
		}
		late = append(late, first.Sub(at))
	}
	return late
}
