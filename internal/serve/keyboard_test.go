package serve

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"collapse.example/collapse/internal/longtest"
)

// followFocus notes what has had the focus, and what did not show it.
const followFocus = `(() => {
	window.had = new Set(); window.unseen = new Set();
	window.nameOf = (e) => e.tagName.toLowerCase() + ' ' + (e.getAttribute('aria-label') || e.name || e.textContent || '').trim().slice(0, 60);
	addEventListener('focusin', (e) => {
		had.add(nameOf(e.target)); // a live page may replace what it shows
		const s = getComputedStyle(e.target);
		if (!(s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0)) unseen.add(nameOf(e.target));
	});
	return true;
})()`

// wantedFocus are the things on a page that a reader can do something with. Radio buttons of a group are one.
const wantedFocus = `[...document.querySelectorAll('a[href],button,input:not([type=hidden]),select,textarea,summary,[tabindex="0"]')]
	.filter((e) => !e.disabled && e.tabIndex >= 0 && e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0)`

// TestKeyboardAlone reaches everything on the main pages with the Tab key, and sees where it is.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	dir := demoLab(t)
	s := startTest(t, Options{Lab: dir})
	run := someRun(t, dir)
	pages := []string{"", "study?tag=demo", "run/" + run, "compare?run=" + run[:12], "measure", "theory", "words"}
	for _, address := range longtest.Of([]string{pages[1], pages[2], pages[5]}, pages) { // the share are those with most to reach
		t.Run("/"+address, func(t *testing.T) {
			tab := useTab(t, 3*time.Minute)
			do(t, tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()+address))
			until(t, tab, 20*time.Second, "document.readyState === 'complete' && ['live', ''].includes(document.getElementById('status').textContent) && [...document.querySelectorAll('figure[data-json]')].slice(0, 1).every((f) => 'drawn' in f.dataset || f.closest('#theory, .twice, details'))")
			look[bool](t, tab, followFocus)
			n := look[int](t, tab, wantedFocus+".length")
			if n < 8 {
				t.Fatalf("%d things to reach", n)
			}
			const left = wantedFocus + `.map(nameOf).filter((n) => !had.has(n))`
			var out []string
			for range 2 { // figures that come into sight bring more
				tabKey(t, tab, look[int](t, tab, wantedFocus+".length")+10)
				until(t, tab, 20*time.Second, inSightDrawn)
				if out = look[[]string](t, tab, left); len(out) == 0 {
					break
				}
			}
			if len(out) > 0 {
				t.Errorf("not reached: %q", out)
			}
			if out := look[[]string](t, tab, "[...unseen]"); len(out) > 0 {
				t.Errorf("the focus is not seen on %q", out)
			}
		})
	}
}

func tabKey(t *testing.T, tab context.Context, times int) {
	t.Helper()
	do(t, tab, chromedp.KeyEvent(strings.Repeat(kb.Tab, times)))
}

// TestWorkByKeyboard hides a curve, reads a value, zooms, and chooses runs, without a mouse.
func TestWorkByKeyboard(t *testing.T) {
	t.Parallel()
	dir := demoLab(t)
	s := startTest(t, Options{Lab: dir})
	tab := useTab(t, 3*time.Minute)
	runs := someHashes(t, dir, 2)
	do(t, tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()+"compare?run="+runs[0]+"&run="+runs[1]))
	until(t, tab, 20*time.Second, "document.querySelector('.u-over')")

	do(t, tab, chromedp.KeyEvent(kb.Tab+kb.Enter))
	until(t, tab, 20*time.Second, "location.hash === '#main'")

	press(t, tab, ".legend li[role=button]", " ")
	until(t, tab, 20*time.Second, "document.querySelector('.legend li[aria-pressed=false]')")
	press(t, tab, ".legend li[role=button]", " ")

	press(t, tab, ".panel-box:has(.u-over)", kb.ArrowLeft)
	until(t, tab, 20*time.Second, "document.querySelector('table.values:not([hidden]) td')")
	press(t, tab, ".panel-box:has(.u-over)", "+")
	until(t, tab, 20*time.Second, "location.search.includes('zoom=')")
	press(t, tab, ".panel-box:has(.u-over)", "0")
	until(t, tab, 20*time.Second, "!location.search.includes('zoom=')")

	do(t, tab, chromedp.Navigate(s.URL()+"study?tag=demo"))
	until(t, tab, 20*time.Second, "document.readyState === 'complete'")
	press(t, tab, "table.runs input[type=checkbox]", " ")
	until(t, tab, 20*time.Second, "location.search.includes('run=')")
	press(t, tab, "table.runs thead a", kb.Enter)
	until(t, tab, 20*time.Second, "location.search.includes('sort=') && location.search.includes('run=')")
}

// press gives a thing the focus, as the Tab key does, and presses keys.
func press(t *testing.T, tab context.Context, selector, keys string) {
	t.Helper()
	if !look[bool](t, tab, fmt.Sprintf("(() => { const e = document.querySelector(%q); e?.focus(); return e !== null && document.activeElement === e; })()", selector)) {
		t.Fatalf("%s does not take the focus", selector)
	}
	do(t, tab, chromedp.KeyEvent(keys))
}
