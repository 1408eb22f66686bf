package serve

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPaperIsWhite prints a run's page from the dark theme, as the system's and as the reader's choice: words and canvases are dark on
// white, and light again on the screen after.
func TestPaperIsWhite(t *testing.T) {
	dir := demoLab(t)
	s := startTest(t, Options{Lab: dir})
	browser := newBrowser(t)
	page := lookedAt{name: "run", address: s.URL() + "run/" + someRun(t, dir)}
	// inked are how many canvases have axes in the colour of the light theme, and in that of the dark one.
	const inked = `(() => { const near = (p, i, want) => p[i + 3] > 200 && want.every((v, k) => Math.abs(v - p[i + k]) < 4);
		const of = (want) => [...document.querySelectorAll('.uplot canvas, #figure-features canvas')].filter((c) => { const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
			for (let i = 0; i < p.length; i += 4) if (near(p, i, want)) return true;
			return false; }).length;
		return [of([0x5c, 0x67, 0x73]), of([0x9a, 0xa5, 0xb1])]; })()`
	for _, by := range []struct{ name, system, choose string }{{"by the system", "dark", ""}, {"by choice", "light", "document.querySelector('[data-theme-to=dark]').click(), true"}} {
		tab := newTab(t, browser, time.Minute)
		emulate := func(media string) {
			if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, medium(media, by.system)); err != nil {
				t.Fatal(err)
			}
		}
		emulate("screen")
		do(t, tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(page.address))
		unfoldAll(t, tab, page)
		if by.choose != "" {
			look[bool](t, tab, by.choose)
		}
		onScreen := look[[]int](t, tab, inked)
		if onScreen[0] > 0 || onScreen[1] < 10 {
			t.Errorf("dark %s: %d canvases in light ink, %d in dark ink on the screen", by.name, onScreen[0], onScreen[1])
		}
		emulate("print")
		look[bool](t, tab, "dispatchEvent(new Event('beforeprint'))")
		if n := look[[]int](t, tab, inked); n[1] > 0 || n[0] != onScreen[1] {
			t.Errorf("dark %s: %d canvases in light ink, %d in dark ink on paper", by.name, n[0], n[1])
		}
		for _, p := range look[found](t, tab, lookScript(t)+"(true)").Problems {
			t.Errorf("dark %s: on paper %s", by.name, p)
		}
		emulate("screen")
		look[bool](t, tab, "dispatchEvent(new Event('afterprint'))")
		if n := look[[]int](t, tab, inked); n[0] != onScreen[0] || n[1] != onScreen[1] {
			t.Errorf("dark %s: %d canvases in light ink, %d in dark ink on the screen after printing", by.name, n[0], n[1])
		}
	}
}
