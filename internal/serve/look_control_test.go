package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestLookingFindsFaults gives the script that looks at pages a page with every fault it is to find, and one with the same parts in order.
func TestLookingFindsFaults(t *testing.T) {
	t.Parallel()
	const ticks = `<svg viewBox="0 0 100 100" width="%d"><g class="panel" data-panel="p"><g class="axes">` +
		`<text text-anchor="middle" font-size="10" y="50">0</text><text text-anchor="end" x="90" y="50" font-size="10">x →</text></g></g></svg>`
	const canvas = `<figure data-figure="f" id="g"><div data-panel="q"></div></figure><script>const draw = {drawn: new Map([[document.querySelector('[data-panel=q]'), {labels: () => ({x: 1, y: 0, px: %g})}]])}</script>`
	parts := func(small, gray, wide, word string, svg int, px float64) string {
		return `<!doctype html><body style="margin:0;background:#fff;font:16px sans-serif"><p style="` + small + `">some text</p><p style="` + gray + `">more text</p>` +
			`<div style="` + wide + `">a box</div><p style="width:4em;` + word + `">comprehensive</p><figure data-figure="f" id="f">` + fmt.Sprintf(ticks, svg) + `</figure>` + fmt.Sprintf(canvas, px)
	}
	faulty := parts("font-size:10.9px", "color:#777;opacity:.9", "width:2000px", "overflow-wrap:anywhere", 100, 10.5)
	sound := parts("font-size:11px", "color:#767676", "width:200px", "", 110, 11)
	tab := useTab(t, 3*time.Minute)
	seen := map[string]found{}
	for name, text := range map[string]string{"faulty": faulty, "sound": sound} {
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		do(t, tab, chromedp.EmulateViewport(390, 900), chromedp.Navigate("file://"+file))
		seen[name] = look[found](t, tab, lookScript(t)+"(true)")
		a := seen[name].Axes
		for i, panel := range []string{"p", "q"} { // of a picture, and of a canvas
			if len(a) != 2 || a[i].X != 1 || a[i].Y != 0 || a[i].Figure != "f" || a[i].Panel != panel {
				t.Errorf("%s: axes %+v, wanted two panels with one label on one axis", name, a)
			}
		}
	}
	if p := seen["sound"].Problems; len(p) > 0 {
		t.Errorf("the sound page has problems: %q", p)
	}
	for _, want := range []string{"px wide", "reaches beyond", "text of 10.9 px", "text of 10.0 px", "drawn text of 10.5 px", "contrast of 3.", "a word is broken"} {
		if !strings.Contains(strings.Join(seen["faulty"].Problems, "\n"), want) {
			t.Errorf("%q was not found; found: %q", want, seen["faulty"].Problems)
		}
	}
}
