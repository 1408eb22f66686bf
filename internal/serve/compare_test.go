package serve

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/store"
)

// TestCompareAnyNumber chooses no run, one, as many as fit and more: a picture or a sentence, never an error.
func TestCompareAnyNumber(t *testing.T) {
	dir := demoLab(t)
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	runs, err := lab.List(store.Filter{Limit: mostCompared + 1})
	if err != nil || len(runs) != mostCompared+1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	s := startTest(t, Options{Lab: dir})
	for n, words := range map[int]string{0: "Choose two to eight runs", 1: "One run is chosen", 2: "What differs", mostCompared: "What differs", mostCompared + 1: "9 runs are chosen. These are the first 8"} {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+"compare?"+choose(runs[:n]), nil)
		if answer.StatusCode != http.StatusOK || !strings.Contains(body, words) {
			t.Errorf("%d runs: %d, without %q", n, answer.StatusCode, words)
		}
		if drawn := strings.Contains(body, "<svg"); drawn != (n > 1) {
			t.Errorf("%d runs: drawn: %v", n, drawn)
		}
		if answer, figure := get(t, http.DefaultClient, "GET", s.URL()+"compare/figures/measures.json?"+choose(runs[:n]), nil); n > 0 && (answer.StatusCode != http.StatusOK || !strings.Contains(figure, `"kind":"line"`)) {
			t.Errorf("the curves of %d runs: %d: %.100s", n, answer.StatusCode, figure)
		}
	}
}

// TestCompareUnknownRuns names runs that the lab does not have, and a name that many have: a sentence, beside the runs that there are.
func TestCompareUnknownRuns(t *testing.T) {
	dir := demoLab(t)
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	runs, err := lab.List(store.Filter{})
	if err != nil || len(runs) < 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	s := startTest(t, Options{Lab: dir})
	unknown := strings.Repeat("0", 64)
	for _, c := range []struct {
		query, words string
		drawn        bool
	}{
		{"run=" + unknown, "The lab has no run", false},
		{"run=nonsense&" + choose(runs[:1]), "One run is chosen", false},
		{choose(runs[:2]) + "&run=" + unknown, "The lab has no run", true},
		{choose(runs[:2]) + "&run=" + sharedDigit(t, runs), "give more digits", true},
	} {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+"compare?"+c.query, nil)
		if answer.StatusCode != http.StatusOK || !strings.Contains(body, c.words) || strings.Contains(body, "<svg") != c.drawn {
			t.Errorf("%s: %d; with %q: %v; drawn: %v", c.query, answer.StatusCode, c.words, strings.Contains(body, c.words), strings.Contains(body, "<svg"))
		}
	}
}

// sharedDigit is a digit with which several runs start.
func sharedDigit(t *testing.T, runs []store.Run) string {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Hash[:1]] {
			return r.Hash[:1]
		}
		seen[r.Hash[:1]] = true
	}
	t.Fatal("no two runs start alike")
	return ""
}

func choose(runs []store.Run) string {
	var words []string
	for _, r := range runs {
		words = append(words, "run="+r.Hash)
	}
	return strings.Join(words, "&")
}

// TestTheCursorNamesWhatItReads moves over a curve of eight runs: each value has its run's name, largest first, inside the panel.
func TestTheCursorNamesWhatItReads(t *testing.T) {
	t.Parallel()
	dir := demoLab(t)
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	runs, err := lab.List(store.Filter{Limit: mostCompared})
	if err != nil {
		t.Fatal(err)
	}
	s := startTest(t, Options{Lab: dir})
	tab := useTab(t, 3*time.Minute)
	do(t, tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(s.URL()+"compare?"+choose(runs)))
	until(t, tab, 20*time.Second, `document.querySelector('.panel-box .uplot .u-over')`)
	look[bool](t, tab, `(() => { const over = document.querySelector('.panel-box .uplot .u-over'), at = over.getBoundingClientRect();
		over.scrollIntoView({block: 'center'}); const b = over.getBoundingClientRect();
		over.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: b.left + b.width * 0.8, clientY: b.top + b.height / 2})); return true; })()`)
	until(t, tab, 20*time.Second, `!document.querySelector('.panel-box .values').hidden`)
	rows := look[[][]string](t, tab, `[...[...document.querySelectorAll('.panel-box .values')].find((v) => !v.hidden).rows].map((r) => [...r.cells].slice(1).map((c) => c.textContent))`)
	if len(rows) != mostCompared {
		t.Errorf("%d values of %d runs: %q", len(rows), mostCompared, rows)
	}
	for _, r := range rows {
		if len(r) != 2 || len(r[0]) < 4 || r[1] == "" {
			t.Errorf("a name and a value: %q", r)
		}
	}
	if !look[bool](t, tab, `(() => { const v = [...document.querySelectorAll('.panel-box .values')].find((v) => !v.hidden), shown = [...v.rows].map((r) => r.cells[2].textContent).join(),
		[at, ...curves] = draw.drawn.get(v.closest('.panel-box')).data();
		return at.some((_, i) => curves.map((c) => c[i]).sort((a, b) => b - a).map(ink.digits).join() === shown); })()`) {
		t.Errorf("not the values of an epoch, largest first: %q", rows)
	}
	if out := look[float64](t, tab, `(() => { const v = [...document.querySelectorAll('.panel-box .values')].find((v) => !v.hidden), b = v.getBoundingClientRect(), p = v.closest('.panel-box').getBoundingClientRect();
		return Math.max(p.left - b.left, b.right - p.right); })()`); out > 1 {
		t.Errorf("the values stand %g pixels outside their panel", out)
	}
}
