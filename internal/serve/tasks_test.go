package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// hand is a reader who clicks, and counts the clicks. Choosing from a list and typing count as one.
type hand struct {
	t      *testing.T
	tab    context.Context
	clicks int
}

func (h *hand) open(url string) {
	h.t.Helper()
	h.clicks = 0
	do(h.t, h.tab, chromedp.Navigate(url))
	h.arrive("true")
}

// arrive waits for a page that a link leads to, its scripts included.
func (h *hand) arrive(expression string) {
	h.t.Helper()
	until(h.t, h.tab, 20*time.Second, "document.readyState === 'complete' && document.getElementById('status').textContent === 'live' && "+expression)
}

// click clicks in the middle of the first element that is chosen by a selector and holds some text.
func (h *hand) click(selector, text string) {
	h.t.Helper()
	h.clicks++
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find((e) => e.textContent.includes(%q))", selector, text)
	until(h.t, h.tab, 20*time.Second, find)
	where := func() []float64 {
		return look[[]float64](h.t, h.tab, "(() => { const e = "+find+"; e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect(); return [b.left + Math.min(b.width / 2, 60), b.top + b.height / 2]; })()")
	}
	at := where()
	for still := 0; still < 3; at = where() { // a page that is being drawn moves, and may cover what is clicked
		before := at
		until(h.t, h.tab, 20*time.Second, inSightDrawn)
		time.Sleep(30 * time.Millisecond)
		hit := fmt.Sprintf("(() => { const e = %s, at = document.elementFromPoint(%g, %g); return e && at && (e.contains(at) || at.contains(e)); })()", find, at[0], at[1])
		if still++; !slices.Equal(before, where()) || !look[bool](h.t, h.tab, "Boolean("+hit+")") {
			still = 0
		}
	}
	// A page that moved under the hand is clicked again: the click went elsewhere, or, where it moved between press and
	// release, to what holds both places, or nowhere.
	look[bool](h.t, h.tab, fmt.Sprintf("(() => { const e = %s, at = document.elementFromPoint(%g, %g); window.dodged = true; addEventListener('click', (c) => { window.dodged = !e.contains(c.target) && c.target !== at; }, { capture: true, once: true }); return true; })()", find, at[0], at[1]))
	do(h.t, h.tab, chromedp.MouseClickXY(at[0], at[1]))
	if look[bool](h.t, h.tab, "window.dodged === true") {
		h.clicks--
		h.click(selector, text)
	}
}

// pick chooses from a list.
func (h *hand) pick(selector, value string) {
	h.t.Helper()
	h.clicks++
	look[bool](h.t, h.tab, fmt.Sprintf("(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event('change', {bubbles: true})); return s.value === %[2]q; })()", selector, value))
}

// done says that a task took a few clicks.
func (h *hand) done(what string, expression string) {
	h.t.Helper()
	until(h.t, h.tab, 20*time.Second, expression)
	if h.clicks > 4 {
		h.t.Errorf("%s takes %d clicks, wanted at most 4", what, h.clicks)
	}
	h.t.Logf("%s: %d clicks", what, h.clicks)
}

// TestTenTasks is what people come for, done by hand in a browser.
func TestTenTasks(t *testing.T) {
	t.Parallel()
	seeds := longtest.Of(manySeeds, 60)
	dir := ofMany(t, seeds)
	s := startTest(t, Options{Lab: dir})
	h := &hand{t: t, tab: useTab(t, 3*time.Minute)}
	do(t, h.tab, chromedp.EmulateViewport(1440, 900))
	// Without motion, a click does not miss what is still scrolling.
	if _, err := chromedp.Call(h.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}); err != nil {
		t.Fatal(err)
	}
	study := s.URL() + "study?tag=many"

	h.open(s.URL())
	h.done("What was found in a study, without opening it", `document.querySelector('.card.study .says')?.textContent.includes('claim') && document.querySelector('.card.study img')?.naturalWidth > 100`)

	h.click(".card.study", "many")
	h.click("table.runs thead a", "NC1")
	h.done("The run with the lowest NC1", "location.search.includes('sort=nc1') && document.querySelector('table.runs th[aria-sort=ascending]')")
	until(t, h.tab, 10*time.Second, "document.querySelector('table.runs').getBoundingClientRect().top < innerHeight") // the page does not go to its top
	if got, want := look[string](t, h.tab, "document.querySelector('table.runs tbody a').getAttribute('href')"), "/run/"+lowestNC1(t, dir); got != want {
		t.Errorf("the lowest NC1 is that of %s, shown is %s", want, got)
	}

	h.open(study)
	h.pick("select[name='data.noise']", "0.2")
	h.pick("select[name=by]", "loss.kind")
	h.click("button", "Compare groups")
	h.done("Two losses at one noise level, over all seeds", fmt.Sprintf(`document.querySelectorAll('[data-groups] tbody tr').length === 2 && document.querySelector('[data-groups] td').textContent === '%d' && document.querySelector('.uplot')`, seeds))

	h.clicks = 0
	h.click(".legend li[role=button]", "label smoothing")
	h.done("One curve is hidden", `document.querySelector('.legend li[aria-pressed=false]') && [...draw.drawn.values()].every((d) => d.labels) && location.search.includes('hide=')`)
	link := look[string](t, h.tab, "location.href")

	h.open(link) // by somebody else
	h.done("The same view behind a shared link", `document.querySelector('.legend li[aria-pressed=false]')?.textContent.includes('label smoothing') && document.querySelector('select[name="data.noise"]').value === '0.2'`)

	look[bool](t, h.tab, "document.querySelector('.u-over').scrollIntoView({block: 'center', behavior: 'instant'}), true")
	at := look[[]float64](t, h.tab, "(() => { const b = document.querySelector('.u-over').getBoundingClientRect(); return [b.left + b.width * .6, b.top + b.height / 2]; })()")
	move(t, h.tab, input.DispatchMouseEventTypeMouseMoved, at[0], at[1])
	h.done("A value is read", `[...document.querySelectorAll('.values')].some((v) => !v.hidden && v.rows.length === 1 && v.rows[0].cells[2].textContent.trim())`)

	move(t, h.tab, input.DispatchMouseEventTypeMousePressed, at[0]-60, at[1])
	move(t, h.tab, input.DispatchMouseEventTypeMouseMoved, at[0], at[1])
	move(t, h.tab, input.DispatchMouseEventTypeMouseReleased, at[0], at[1])
	h.done("A part of the epochs is enlarged", "location.search.includes('zoom=')")
	h.click(".tools button", "Whole range")
	h.done("and the whole range again", "!location.search.includes('zoom=')")

	h.open(study)
	h.click("table.runs tbody input", "")
	until(t, h.tab, 10*time.Second, "location.search.includes('run=')")
	h.click("table.runs thead a", "test acc.")
	h.arrive("location.search.includes('sort=test') && location.search.includes('run=')")
	h.click("#list p.act a", "next")
	h.arrive("location.search.includes('page=2')")
	look[bool](t, h.tab, "document.querySelector('table.runs tbody input:not(:checked)').click(), true")
	h.click("button", "Compare the chosen runs")
	h.done("Two runs of different pages are compared", `location.pathname === '/compare' && document.querySelectorAll('[data-differences] thead th').length === 3`)

	h.open(study)
	h.click("[data-claim] summary", "How judged")
	h.done("Why a claim has its verdict", `document.querySelector('.how[open]') && document.querySelector('[data-claim] .evidence .whisker')`)

	h.open(study)
	h.click("table.runs tbody th a", "")
	h.arrive("location.pathname.startsWith('/run/') && document.querySelector('.tools select')")
	h.pick(".tools select", "linear")
	h.done("A linear axis", "location.search.includes('y=linear') && document.querySelector('.uplot')")
}

func move(t *testing.T, tab context.Context, kind input.DispatchMouseEventType, x, y float64) {
	t.Helper()
	p := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1}
	if kind == input.DispatchMouseEventTypeMouseMoved {
		p.ClickCount = 0
	}
	if _, err := chromedp.Call(tab, input.DispatchMouseEvent, p); err != nil {
		t.Fatal(err)
	}
}

// lowestNC1 is the hash of the run whose newest NC1 is the lowest; of equal ones the newest.
func lowestNC1(t *testing.T, dir string) string {
	t.Helper()
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	rows, err := lab.List(store.Filter{Tag: "many"})
	if err != nil {
		t.Fatal(err)
	}
	best, at := math.Inf(1), ""
	for _, r := range rows {
		newest, err := lab.NewestEach([]string{r.Hash}, []string{"nc1_pinv"})
		if err != nil {
			t.Fatal(err)
		}
		values := newest[0]
		if i := slices.IndexFunc(values, func(v store.Value) bool { return v.Split == "train" }); i >= 0 && values[i].Value < best {
			best, at = values[i].Value, r.Hash
		}
	}
	return at
}

// TestGroupsPage: what a page of groups cannot show is said; its picture is a file.
func TestGroupsPage(t *testing.T) {
	s := startTest(t, Options{Lab: manyLab(t)})
	for query, want := range map[string]string{
		"by=loss.kind":                "<td>80</td>",
		"by=loss.kind&data.noise=0.1": "<td>20</td>",
		"by=loss.kid":                 "Did you mean loss.kind?",
		"by=run.seed":                 "20 values of run.seed: these are the first 10",
		"by=loss.kind&data.noise=7":   "No run is like that.",
		"by=run.seed&find=<b>":        "No run is like that.",
	} {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+"compare?tag=many&"+query, nil)
		if answer.StatusCode != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, "<b>\"") {
			t.Errorf("%s: %d, lacks %s", query, answer.StatusCode, want)
		}
	}
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"compare?tag=many&by=run.seed", nil); strings.Count(body, `<tr><th scope="row"><a href="/study`) != figure.MostGroups {
		t.Errorf("not %d groups", figure.MostGroups)
	}
	if answer, svg := get(t, http.DefaultClient, "GET", s.URL()+"compare/figures/measures.svg?tag=many&by=loss.kind", nil); answer.StatusCode != 200 || !strings.Contains(svg, "label smoothing") {
		t.Errorf("the picture: %d", answer.StatusCode)
	}
	if answer, _ := get(t, http.DefaultClient, "GET", s.URL()+"compare?by=loss.kind", nil); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("groups of no study: %d", answer.StatusCode)
	}
}

// TestGroupsLeaveDegenerateRunsOut, and say so, unless a state is asked for.
func TestGroupsLeaveDegenerateRunsOut(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	for seed, ratio := range []float64{0.9, 0.01} {
		lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Tags: []string{"two"}, Config: map[string]any{"run": map[string]any{"seed": seed}}})
		if err != nil {
			t.Fatal(err)
		}
		row := store.Value{Key: store.Key{Series: "epoch", Split: "train", Measure: "mean_norm_ratio"}, Step: 1, Value: ratio}
		if err := errors.Join(lease.AppendEpoch(1, []store.Value{row}), lease.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	s := startTest(t, Options{Lab: lab.Dir()})
	for query, out := range map[string]bool{"": true, "&state=done": false} {
		_, body := get(t, http.DefaultClient, "GET", s.URL()+"compare?tag=two&by=loss.kind"+query, nil)
		if strings.Contains(body, "1 degenerate run left out") != out || strings.Contains(body, "<td>1</td>") != out {
			t.Errorf("%q: left out is %v, wanted %v", query, !out, out)
		}
	}
}
