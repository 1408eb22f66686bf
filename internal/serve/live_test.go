package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	devpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// TestPagesInABrowser opens every page on the smallest demo's lab and does what a reader would.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	dir := demoLab(t)
	s := startTest(t, Options{Lab: dir})
	hash := someRun(t, dir)
	needChromium(t)

	t.Run("every page draws without an error", func(t *testing.T) {
		tab := useTab(t, 2*time.Minute)
		errors := consoleErrors(t, tab)
		do(t, tab, chromedp.EmulateViewport(1280, 900))
		for _, page := range screens(t, dir) {
			page.open(t, tab, strings.TrimSuffix(s.URL(), "/")+page.path)
			if found := errors(); len(found) > 0 {
				t.Errorf("%s: %q", page.name, found)
			}
		}
	})
	t.Run("sliders of theory", func(t *testing.T) {
		tab := useTab(t, 3*time.Minute)
		do(t, tab, chromedp.Navigate(s.URL()+"theory"))
		until(t, tab, 20*time.Second, factIs("cosine of two class means", "-0.333333"))
		const move = `(name, v) => { const r = document.querySelector('input[data-for="' + name + '"]'); r.value = v; r.dispatchEvent(new Event('input', { bubbles: true })); }`
		look[bool](t, tab, "("+move+")('k', 5), true")
		until(t, tab, 20*time.Second, factIs("cosine of two class means", "-0.25"))
		look[bool](t, tab, "("+move+")('lw', 0), true") // λ_W = 1: every class in one point
		until(t, tab, 20*time.Second, factIs("regime", "zero"))
		if got := look[string](t, tab, "document.querySelector('output[data-of=lw]').textContent"); got != "1" {
			t.Errorf("the slider at its end says λ_W = %s, want 1", got)
		}
		if got := look[string](t, tab, "location.search"); !strings.Contains(got, "lw=1") {
			t.Errorf("the address %s cannot be sent to a colleague: it lacks lw=1", got)
		}
	})
	t.Run("a slider back through the epochs", func(t *testing.T) {
		tab := useTab(t, 3*time.Minute)
		do(t, tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()+"run/"+hash))
		until(t, tab, 20*time.Second, "document.querySelector('.film input[type=range]')")
		look[bool](t, tab, "document.querySelector('#film').scrollIntoView(), true")
		until(t, tab, 20*time.Second, "document.querySelector('#figure-features canvas')")
		look[bool](t, tab, "(() => { const r = document.querySelector('.film input'); r.value = 0; r.dispatchEvent(new Event('input')); r.dispatchEvent(new Event('change')); return true })()")
		until(t, tab, 20*time.Second, "document.querySelector('#figure-features h3').textContent.endsWith('epoch 2') && document.querySelector('#figure-features .files a').href.endsWith('epoch=2')")
		if got := look[string](t, tab, "location.search"); got != "?epoch=2" {
			t.Errorf("the address says %q of the epoch, wanted ?epoch=2", got)
		}
		do(t, tab, chromedp.Reload())
		until(t, tab, 20*time.Second, "document.querySelector('.film input[type=range]')")
		if got := look[string](t, tab, "document.querySelector('.film input').value + ', ' + document.querySelector('#figure-features h3').textContent"); !strings.HasPrefix(got, "0, ") || !strings.HasSuffix(got, "epoch 2") {
			t.Errorf("opened from its address the film stands at %q, wanted epoch 2", got)
		}
		// Play, and stop on the way; a film that has ended before is played again.
		until(t, tab, 20*time.Second, `(() => { const b = document.querySelector('.film button'); if (b.textContent === 'Play') { b.click(); return false; }
			return document.querySelector('.film input').value > 0 && (b.click(), true) })()`)
		epoch := look[string](t, tab, "document.querySelector('.film output').textContent.split(' ')[0]")
		if got := look[string](t, tab, "location.search"); got != "?epoch="+epoch {
			t.Errorf("played and stopped at epoch %s, the address says %q", epoch, got)
		}
		look[bool](t, tab, "(() => { const r = document.querySelector('.film input'); r.value = r.max; r.dispatchEvent(new Event('input')); r.dispatchEvent(new Event('change')); return true })()")
		if got := look[string](t, tab, "location.search"); got != "" {
			t.Errorf("at the newest epoch, which follows the run, the address says %q", got)
		}
	})
	t.Run("a picture is saved", func(t *testing.T) {
		tab := useTab(t, 3*time.Minute)
		do(t, tab, chromedp.Navigate(s.URL()+"run/"+hash))
		until(t, tab, 20*time.Second, "document.querySelector('.uplot')")
		svg := look[string](t, tab, "(() => { const x = new XMLHttpRequest(); x.open('GET', document.querySelector('#figure-measures .files a[download]').href, false); x.send(); return x.getResponseHeader('Content-Disposition') + x.responseText })()")
		if !strings.HasPrefix(svg, "attachment; filename=collapse-measures.svg<svg") || !strings.Contains(svg, "NC1, within-class variability") {
			t.Errorf("saved: %.120s", svg)
		}
	})
	t.Run("a file is dropped", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "mine.npz")
		if err := os.WriteFile(file, featureFile(t), 0o644); err != nil {
			t.Fatal(err)
		}
		tab := useTab(t, 3*time.Minute)
		do(t, tab, chromedp.Navigate(s.URL()+"measure"), chromedp.SetUploadFiles("#drop input[type=file]", []string{file}))
		look[bool](t, tab, `(() => { const from = document.querySelector('#drop input[type=file]'), data = new DataTransfer(); data.items.add(from.files[0]);
			window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })); return true })()`)
		until(t, tab, 30*time.Second, "location.pathname.startsWith('/measure/') && document.querySelector('[data-key=nc1_pinv]') && document.body.innerText.includes('mine.npz')")
	})
	t.Run("themes", func(t *testing.T) {
		tab := newTab(t, newBrowser(t), 3*time.Minute)
		do(t, tab, chromedp.Navigate(s.URL()))
		until(t, tab, 20*time.Second, "document.querySelector('[data-theme-to=dark]')")
		const paper = "getComputedStyle(document.body).backgroundColor"
		look[bool](t, tab, "document.querySelector('[data-theme-to=light]').click(), true")
		light := look[string](t, tab, paper)
		look[bool](t, tab, "document.querySelector('[data-theme-to=dark]').click(), true")
		if dark := look[string](t, tab, paper); dark == light {
			t.Errorf("light and dark have one paper, %s", dark)
		}
		do(t, tab, chromedp.Navigate(s.URL()+"theory"))
		until(t, tab, 20*time.Second, "document.documentElement.dataset.theme === 'dark'")
	})
}

// factIs is true in a page once a row of a table of facts has a value.
func factIs(name, value string) string {
	return fmt.Sprintf("[...document.querySelectorAll('[data-facts] tr')].some((r) => r.cells[0].textContent === %q && r.cells[1].textContent === %q)", name, value)
}

// consoleErrors gathers what a tab's console complains of, such as a breach of the content-security policy.
func consoleErrors(t *testing.T, tab context.Context) func() []string {
	t.Helper()
	found := make(chan string, 100)
	messages := chromedp.Console(tab)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == "error" || m.Type == "warning" || m.Type == chromedp.ConsoleException {
				select {
				case found <- fmt.Sprint(m.Type, ": ", m.Text):
				default:
				}
			}
		}
	}()
	return func() (out []string) {
		for {
			select {
			case m := <-found:
				out = append(out, m)
			default:
				return out
			}
		}
	}
}

// TestTicksOfScripts asks the scripts for the places of labels that the server's pictures have.
func TestTicksOfScripts(t *testing.T) {
	t.Parallel()
	s := startTest(t, Options{Lab: t.TempDir()})
	tab := useTab(t, 3*time.Minute)
	do(t, tab, chromedp.Navigate(s.URL()))
	text, err := os.ReadFile(filepath.Join("..", "chart", "testdata", "ticks.json"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := look[[]string](t, tab, `(`+string(text)+`).map((c) => [c, (c.Log ? ink.logTicks : ink.ticks)(c.Lo, c.Hi, c.Want)])
		.filter(([c, at]) => at.length !== c.At.length || at.some((v, i) => !(Math.abs(v - c.At[i]) <= 1e-9 * (c.Hi - c.Lo)))).map((c) => JSON.stringify(c))`)
	if len(wrong) > 0 {
		t.Errorf("%d differ: %v", len(wrong), wrong)
	}
}

// TestCurvesGrowDuringARun watches a run's page, and the list of studies, while it is computed.
func TestCurvesGrowDuringARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	s := startTest(t, Options{Lab: dir})
	browser := newBrowser(t)
	list, page := newTab(t, browser, 2*time.Minute), newTab(t, browser, 2*time.Minute)
	do(t, list, chromedp.Navigate(s.URL()))
	until(t, list, 20*time.Second, "document.body.innerText.includes('The lab is empty')")

	config := demo.Smoke(1).Grid.Base
	config.Run.Epochs, config.Run.MeasureEvery = 2000, 2
	ctx, stop := context.WithCancel(t.Context())
	sink := &started{hash: make(chan string, 1)}
	done := make(chan error, 1)
	go func() {
		team := parallel.NewTeam(1)
		defer team.Close()
		_, err := train.Run(ctx, config, lab, train.Options{Team: team, Sink: sink})
		done <- err
	}()
	defer func() { stop(); <-done }()
	hash := <-sink.hash
	do(t, page, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()+"run/"+hash))
	// Each plot is compared with itself: some have a fixed number of points, and only those in sight are drawn anew.
	const points = "[...draw.drawn.values()].map((d) => d.data ? d.data()[0].length : 0)"
	var first []int
	for len(first) == 0 { // the page loads itself anew once, when the run has features for a film
		until(t, page, 30*time.Second, points+".some((n) => n > 2)")
		first = look[[]int](t, page, points)
	}
	text, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	until(t, page, 30*time.Second, fmt.Sprintf("%s.some((n, i) => n > %s[i] + 5)", points, text))
	epoch := "Number(document.querySelector('[data-tile=epoch]').textContent.split(' ')[0])"
	at := look[int](t, page, epoch)
	until(t, page, 30*time.Second, fmt.Sprintf("%s > %d", epoch, at))
	if _, err := chromedp.Call(list, devpage.BringToFront, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	until(t, list, 30*time.Second, "document.body.innerText.includes('1 running')")
}

// started tells the run's hash.
type started struct{ hash chan string }

func (s *started) Started(e train.Started) { s.hash <- e.Run }
func (s *started) Step(train.StepDone)     {}
func (s *started) Epoch(e train.EpochDone) { time.Sleep(50 * time.Millisecond) } // an epoch that a reader can follow
func (s *started) Note(string)             {}

// TestPagesWithoutScripts reads and uses pages with scripts off.
func TestPagesWithoutScripts(t *testing.T) {
	t.Parallel()
	dir := demoLab(t)
	s := startTest(t, Options{Lab: dir})
	tab := useTab(t, 3*time.Minute)
	if _, err := chromedp.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	do(t, tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()+"run/"+someRun(t, dir)))
	text, err := chromedp.Run(tab, chromedp.OuterHTML("body"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "NC1, within-class variability", "<select name=\"epoch\""} {
		if !strings.Contains(text, want) {
			t.Errorf("without scripts the run's page lacks %s", want)
		}
	}
	if strings.Contains(text, "uplot\"") {
		t.Error("a script ran")
	}
	do(t, tab, chromedp.Navigate(s.URL()+"theory"), chromedp.SetValue("input[name=k]", "6"), chromedp.Submit("#theory"))
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if text, err = chromedp.Run(tab, chromedp.OuterHTML("body")); err == nil && strings.Contains(text, ">-0.2<") {
			break
		}
		if time.Since(start) > 20*time.Second {
			t.Fatal("the form of theory does not compute without scripts")
		}
	}
}

// TestABrowserFromElsewhere tries a wrong token, and a page of another origin.
func TestABrowserFromElsewhere(t *testing.T) {
	t.Parallel()
	dir := demoLab(t)
	browser := newBrowser(t)
	guarded := startTest(t, Options{Lab: dir, Token: "a token that is long enough"})
	tab := newTab(t, browser, 3*time.Minute)
	do(t, tab, chromedp.Navigate(guarded.publicURL()+"?token=wrong"))
	until(t, tab, 20*time.Second, "document.body.innerText.includes('not this server') && !document.body.innerText.includes('seed')")
	do(t, tab, chromedp.Navigate(guarded.URL()))
	until(t, tab, 20*time.Second, "document.querySelector('.card.study') && location.search === ''")
	until(t, tab, 20*time.Second, "document.getElementById('status').textContent === 'live'")

	open := startTest(t, Options{Lab: dir})
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>other</title><body>%s</body>`, open.URL())
	}))
	defer other.Close()
	do(t, tab, chromedp.Navigate(other.URL))
	until(t, tab, 20*time.Second, "document.title === 'other'")
	look[bool](t, tab, `(() => { window.got = {}; const u = document.body.innerText.trim();
		fetch(u).then((r) => r.text()).then((x) => { got.read = x }, (e) => { got.read = 'refused' });
		fetch(u + 'measure', { method: 'POST', body: new FormData(), mode: 'no-cors' }).then((r) => { got.post = r.type }, () => { got.post = 'refused' });
		const f = document.createElement('iframe'); f.src = u; document.body.append(f);
		const e = new EventSource(u + 'events'); e.onmessage = () => { got.events = 'read' }; e.onerror = () => { got.events = got.events || 'refused' };
		const i = new Image(); i.onload = () => { got.image = 'loaded' }; i.onerror = () => { got.image = 'refused' }; i.src = u + 'theory/figures/gram.svg?show=1';
		return true })()`)
	until(t, tab, 20*time.Second, "got.read && got.post && got.events && got.image")
	if got := look[map[string]string](t, tab, "got"); got["read"] != "refused" || got["events"] != "refused" || got["image"] != "refused" || got["post"] == "basic" {
		t.Errorf("a page of another origin: %v", got)
	}
	do(t, tab, chromedp.Sleep(300*time.Millisecond))
	if framed := look[bool](t, tab, "(() => { try { return document.querySelector('iframe').contentDocument !== null && document.querySelector('iframe').contentDocument.body.innerText.includes('Studies') } catch (e) { return false } })()"); framed {
		t.Error("the page can be framed")
	}
}
