package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
)

// lookedAt is a page to look at: a report in a folder, or a live page.
type lookedAt struct {
	name, address string
	missing       bool                     // the answer is 404
	folder        string                   // of a report, "" for a live page
	drawn         map[string]*chart.Figure // the figures, where no file holds them
}

// aspects are how each page is looked at: at the widths of a desk, a tablet and a phone; printed from a dark theme.
var aspects = struct {
	widths []int64
	media  []emulation.SetEmulatedMediaParams
}{
	[]int64{1440, 820, 390},
	[]emulation.SetEmulatedMediaParams{medium("screen", "light"), medium("screen", "dark"), medium("print", "dark")},
}

func medium(media, scheme string) emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
}

// found is what testdata/look.js answers.
type found struct {
	Problems []string
	Axes     []struct {
		Figure, Panel string
		X, Y          int
	}
}

// lookAt opens a page with everything unfolded, looks at it in some aspects, and reports what a reader could not see or read: what the
// console complains of, what reaches beyond the screen, text under 11 px, axes with fewer than three labels, contrast under 4.5:1,
// words broken inside.
func lookAt(t *testing.T, tab context.Context, complaints func() []string, page lookedAt, in func(width, media int) bool) {
	t.Helper()
	if err := call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		t.Fatal(err)
	}
	do(t, tab, chromedp.EmulateViewport(aspects.widths[0], 900), chromedp.Navigate(page.address))
	unfoldAll(t, tab, page)
	told := map[string]bool{}
	for i, width := range aspects.widths {
		do(t, tab, chromedp.EmulateViewport(width, 900))
		if page.folder == "" {
			until(t, tab, 20*time.Second, "typeof draw === 'undefined' || draw.fits()") // curves follow their panels in a while
		}
		for j, m := range aspects.media {
			if !in(i, j) {
				continue
			}
			if err := call(tab, emulation.SetEmulatedMedia, m); err != nil {
				t.Fatal(err)
			}
			seen := look[found](t, tab, fmt.Sprintf("%s(%v)", lookScript(t), m.Media == "print"))
			for _, p := range seen.problems(t, page) {
				if !told[p] {
					told[p] = true
					t.Errorf("%s at %d px, %s %s: %s", page.name, width, m.Media, m.Features[0].Value, p)
				}
			}
		}
	}
	for _, c := range complaints() {
		if page.missing && strings.Contains(c, "404") {
			continue
		}
		t.Errorf("%s: the console: %s", page.name, c)
	}
}

// unfoldAll opens what is folded, and has every figure of a live page drawn.
func unfoldAll(t *testing.T, tab context.Context, page lookedAt) {
	t.Helper()
	until(t, tab, 20*time.Second, "document.readyState === 'complete'")
	look[bool](t, tab, "document.querySelectorAll('details').forEach((d) => { d.open = true }), true")
	if page.folder == "" {
		look[bool](t, tab, `(Promise.all([...document.querySelectorAll('figure[data-json]')].filter((f) => !f.closest('.twice')).map((f) => draw.enhance(f)))
			.then(() => Promise.all([...draw.drawn.values()].map((d) => d.ready))).then(() => { window.unfolded = true }), true)`)
		until(t, tab, 30*time.Second, "window.unfolded")
	}
}

func lookScript(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join("testdata", "look.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// problems are those of the page and of its axes. An axis whose places are named, such as classes, has as many labels as names, if
// those are fewer than three.
func (f found) problems(t *testing.T, page lookedAt) []string {
	t.Helper()
	out := f.Problems
	known := map[string]*chart.Figure{}
	for _, a := range f.Axes {
		if a.X >= 3 && a.Y >= 3 {
			continue
		}
		if known[a.Figure] == nil {
			known[a.Figure] = page.definition(t, a.Figure)
		}
		for _, p := range known[a.Figure].Panels {
			if p.ID != a.Panel {
				continue
			}
			if a.X < fewest(p.X) {
				out = append(out, fmt.Sprintf("%s/%s: %d labels on the x axis", a.Figure, a.Panel, a.X))
			}
			if a.Y < fewest(p.Y) {
				out = append(out, fmt.Sprintf("%s/%s: %d labels on the y axis", a.Figure, a.Panel, a.Y))
			}
		}
	}
	return out
}

func fewest(a chart.Axis) int {
	if a.Ticks != nil {
		return min(3, len(a.Ticks))
	}
	return 3
}

// definition is a figure of a page as data: the file beside a report, or what a live page draws from.
func (p lookedAt) definition(t *testing.T, id string) *chart.Figure {
	t.Helper()
	if f := p.drawn[id]; f != nil {
		return f
	}
	for _, w := range figure.Words() { // saved pages have no files of these
		if w.ID == id {
			return &w.Figure
		}
	}
	var text []byte
	if p.folder != "" {
		var err error
		if text, err = os.ReadFile(filepath.Join(p.folder, "figures", id+".json")); err != nil {
			t.Fatal(err)
		}
	} else {
		_, body := get(t, http.DefaultClient, "GET", p.address, map[string]string{"Accept": "text/html"})
		_, rest, _ := strings.Cut(body, `data-figure="`+id+`" data-json="`)
		path, _, _ := strings.Cut(rest, `"`)
		base, _, _ := strings.Cut(p.address[len("http://"):], "/")
		_, json := get(t, http.DefaultClient, "GET", "http://"+base+strings.ReplaceAll(path, "&amp;", "&"), nil)
		text = []byte(json)
	}
	f := new(chart.Figure)
	if err := json.Unmarshal(text, f); err != nil {
		t.Fatalf("%s of %s: %v: %.200s", id, p.name, err, text)
	}
	return f
}
