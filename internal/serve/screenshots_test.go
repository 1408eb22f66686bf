package serve

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/store"
)

// TestScreenshots writes a picture of each main page, in light and dark, at three widths, into the folder that
// COLLAPSE_SCREENSHOTS names; scripts/screenshots.sh calls it. The lab is that of COLLAPSE_LAB, else the smallest demo's.
func TestScreenshots(t *testing.T) {
	to := os.Getenv("COLLAPSE_SCREENSHOTS")
	if to == "" {
		t.Skip("COLLAPSE_SCREENSHOTS is not set: no pictures of pages are made")
	}
	dir := os.Getenv("COLLAPSE_LAB")
	if dir == "" {
		dir = demoLab(t)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(dir)) // pictures show the lab's name, not where it lies
	s := startTest(t, Options{Lab: filepath.Base(dir)})
	browser := newBrowser(t)
	for _, page := range screens(t, dir) {
		for _, theme := range []string{"light", "dark"} {
			for name, width := range map[string]int64{"wide": 1440, "middle": 820, "narrow": 390} {
				tab := newTab(t, browser, 3*time.Minute)
				do(t, tab, chromedp.EmulateViewport(width, 900))
				page.open(t, tab, s.URL()+"theme?to="+theme+"&back="+url.QueryEscape(page.path))
				if page.first != "" {
					look[bool](t, tab, page.first+"; true")
				}
				do(t, tab, chromedp.Sleep(400*time.Millisecond))
				if wide := look[int](t, tab, "document.documentElement.scrollWidth"); int64(wide) > width {
					t.Errorf("%s at %d is %d wide: it overflows", page.name, width, wide)
				}
				shot := chromedp.CaptureScreenshot()
				if os.Getenv("COLLAPSE_SCREENSHOTS_FULL") != "" {
					shot = chromedp.FullScreenshot(100)
				}
				png, err := chromedp.Run(tab, shot)
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(to, fmt.Sprintf("serve-%s-%s-%s.png", page.name, theme, name))
				if err := os.WriteFile(file, png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// screen is a page to be pictured: file is given to its form, ready says when it is whole, and first what is done to it.
type screen struct{ name, path, file, ready, first string }

// open waits until the page of an address, which leads to the screen's, is whole.
func (p screen) open(t *testing.T, tab context.Context, address string) {
	do(t, tab, chromedp.Navigate(address))
	if p.file != "" {
		do(t, tab, chromedp.SetUploadFiles("#drop input[type=file]", []string{p.file}))
		look[bool](t, tab, "document.querySelector('#drop button').click(), true")
	}
	until(t, tab, 30*time.Second, p.ready)
}

func screens(t *testing.T, dir string) []screen {
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	runs, err := lab.List(store.Filter{Kinds: []store.Kind{store.Train}, Statuses: []store.Status{store.Done}, Limit: 2})
	if err != nil || len(runs) < 2 {
		t.Fatalf("the lab has %d finished runs, %v; wanted two to compare", len(runs), err)
	}
	counted, err := lab.RunCounts()
	if err != nil {
		t.Fatal(err)
	}
	studyPath := studyRows(counted, nil)[0].URL // the newest
	const drawn = "document.querySelectorAll('.uplot').length > 0"
	return []screen{
		{"studies", "/", "", "document.querySelector('.card.study img')?.complete", ""},
		{"study", studyPath, "", "document.querySelector('figure')", ""},
		{"list", studyPath + "&sort=nc1&data.noise=0.2", "", "document.querySelector('table.runs')", "document.querySelector('#list').scrollIntoView({behavior: 'instant'})"},
		{"groups", strings.Replace(studyPath, "/study?", "/compare?", 1) + "&by=loss.kind", "", drawn, ""},
		{"words", "/words", "", "document.querySelector('figure')", ""},
		{"run", "/run/" + runs[0].Hash, "", drawn, ""},
		{"features", "/run/" + runs[0].Hash, "", drawn, "document.querySelector('#film').scrollIntoView()"},
		{"compare", "/compare?run=" + runs[0].Hash + "&run=" + runs[1].Hash, "", drawn, ""},
		{"drop", "/measure", "", "document.querySelector('#drop')", ""},
		{"measure", "/measure", filepath.Join(lab.RunDir(runs[0].Hash), "features.npz"), "location.pathname.startsWith('/measure/') && document.querySelector('figure')", ""},
		{"theory", "/theory", "", "document.querySelector('#optimum-figures svg')", ""},
	}
}
