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
	t.Parallel()
	dir := demoLab(t)
	s := startTest(t, Options{Lab: dir})
	tab := newTab(t, newBrowser(t), 2*time.Minute)
	page := lookedAt{name: "run", address: s.URL() + "run/" + someRun(t, dir)}
	// inked are how many canvases have axes in the colour of the light theme, and in that of the dark one.
	const inked = `(() => { const near = (p, i, r, g, b) => p[i + 3] > 200 && Math.abs(r - p[i]) < 4 && Math.abs(g - p[i + 1]) < 4 && Math.abs(b - p[i + 2]) < 4;
		let light = 0, dark = 0;
		for (const c of document.querySelectorAll('.uplot canvas, #figure-features canvas')) {
			const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
			let a = false, b = false;
			for (let i = 0; i < p.length; i += 4) { a ||= near(p, i, 0x5c, 0x67, 0x73); b ||= near(p, i, 0x9a, 0xa5, 0xb1); }
			light += a; dark += b;
		}
		return [light, dark]; })()`
	for _, by := range []struct{ name, system, choose string }{{"by the system", "dark", ""}, {"by choice", "light", "document.querySelector('[data-theme-to=dark]').click(), true"}} {
		emulate := func(media string) {
			if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, medium(media, by.system)); err != nil {
				t.Fatal(err)
			}
		}
		emulate("screen")
		if by.choose == "" {
			do(t, tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(page.address))
			unfoldAll(t, tab, page)
		} else {
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
