//go:build unix

package serve

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/store"
)

const workers = 4

// tabsWindow is how long costs are gathered.
const tabsWindow = 4 * time.Second

// BenchmarkTenTabs is what ten tabs of one browser cost four workers: processor time of the serving process over that of the workers,
// which are processes that compute runs of the demo, one thread each, as fast as they can. One tab is in front, as in a browser. The
// server is a process of its own too, so that what drives the browser is not taken for the server's.
func BenchmarkTenTabs(b *testing.B) {
	dir := b.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer lab.Close()
	var crew []*beside
	for i := range workers {
		crew = append(crew, startWorker(b, dir, i))
	}
	server, url := startServer(b, dir)
	runs := waitForRuns(b, lab, workers)
	browser := newBrowser(b)
	var tabs []context.Context
	for _, path := range []string{"run/" + runs[0], "study?tag=demo", "", "compare?run=" + runs[0] + "&run=" + runs[1], "run/" + runs[1],
		"run/" + runs[2], "run/" + runs[3], "?again=1", "study?tag=demo&page=1", "run/" + runs[0] + "?again=1"} {
		tab := newTab(b, browser, 5*time.Minute)
		do(b, tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url+path))
		until(b, tab, time.Minute, "document.getElementById('status').textContent === 'live'")
		tabs = append(tabs, tab)
	}
	if _, streams := server.tell(b); streams != 1 {
		b.Fatalf("ten tabs of one browser have %g streams", streams)
	}
	for front, name := range []string{"run", "study", "studies"} {
		b.Run("front="+name, func(b *testing.B) {
			for i, tab := range tabs {
				inSight(b, tab, i == front)
			}
			var total cost
			for b.Loop() {
				time.Sleep(time.Second) // what was missed while hidden is fetched once
				total.add(measured(b, browser, server, crew))
			}
			total.report(b)
		})
	}
}

// inSight makes a tab what it is in a window: without one, a browser takes every tab for visible.
func inSight(b testing.TB, tab context.Context, visible bool) {
	look[bool](b, tab, fmt.Sprintf("Object.defineProperty(document, 'hidden', { configurable: true, value: %v }), document.dispatchEvent(new Event('visibilitychange'))", !visible))
}

// cost is what everybody's processors did, in seconds, and the epochs that ended, in a time of so many seconds.
type cost struct{ seconds, server, workers, browser, epochs float64 }

func (c *cost) add(d cost) {
	c.seconds, c.server, c.workers = c.seconds+d.seconds, c.server+d.server, c.workers+d.workers
	c.browser, c.epochs = c.browser+d.browser, c.epochs+d.epochs
}

func (c *cost) report(b *testing.B) {
	b.ReportMetric(c.server/c.seconds*1e3, "server-ms/s")
	b.ReportMetric(c.workers/c.seconds, "workers-s/s")
	b.ReportMetric(c.browser/c.seconds*1e3, "browser-ms/s")
	b.ReportMetric(c.epochs/c.seconds, "epochs/s")
	b.ReportMetric(100*c.server/c.workers, "%ofworkers")
	b.ReportMetric(0, "ns/op")
}

// measured is the cost of one window.
func measured(b *testing.B, browser context.Context, server *beside, crew []*beside) cost {
	at := func() (c cost) {
		for _, w := range crew {
			spent, done := w.tell(b)
			c.workers += spent
			c.epochs += done
		}
		c.server, _ = server.tell(b)
		c.browser = browserTime(b, browser)
		return c
	}
	began, before := time.Now(), at()
	time.Sleep(tabsWindow)
	after := at()
	return cost{time.Since(began).Seconds(), after.server - before.server, after.workers - before.workers,
		after.browser - before.browser, after.epochs - before.epochs}
}

// browserTime is the processor time of all the browser's processes.
func browserTime(b testing.TB, browser context.Context) float64 {
	found, err := chromedp.CallBrowser(browser, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for _, p := range found.ProcessInfo {
		total += p.CPUTime
	}
	return total
}

// waitForRuns are the hashes of so many runs that are being worked on and have a measured epoch.
func waitForRuns(b testing.TB, lab *store.Lab, n int) []string {
	b.Helper()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(50 * time.Millisecond) {
		rows, err := lab.List(store.Filter{Statuses: []store.Status{store.Running}})
		if err != nil {
			b.Fatal(err)
		}
		var out []string
		for _, r := range rows {
			if r.LastEpoch > 0 {
				out = append(out, r.Hash)
			}
		}
		if len(out) == n {
			return out
		}
	}
	b.Fatalf("%d workers did not begin", n)
	return nil
}
