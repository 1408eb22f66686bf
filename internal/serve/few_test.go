package serve

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// shortRun computes a run of one epoch in eleven classes, the only one of its lab and of its study.
func shortRun(t *testing.T) (dir string, run train.Result) {
	t.Helper()
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lab.Close() })
	c := demo.Smoke(1).Grid.Base
	c.Run.Epochs, c.Data.Classes, c.Data.SamplesPerClass, c.Net.FeatureDim = 1, 11, 20, 12
	if run, err = train.Run(t.Context(), c, lab, train.Options{Tags: []string{"alone"}}); err != nil {
		t.Fatal(err)
	}
	return lab.Dir(), run
}

// TestOneOfEach opens the pages of a study of one run and of its one epoch in eleven classes, of a lab without runs, and of what is not
// there: each shows a picture or says a sentence.
func TestOneOfEach(t *testing.T) {
	dir, run := shortRun(t)
	empty, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	s, none := startTest(t, Options{Lab: dir}), startTest(t, Options{Lab: empty.Dir()})
	for _, c := range []struct {
		address string
		status  int
		words   string
	}{
		{s.URL(), 200, "1 of 1 done"},
		{s.URL() + "study?tag=alone", 200, "There is no picture of these runs together yet."},
		{s.URL() + "run/" + run.Run, 200, "Features and class means at epoch 1"},
		{s.URL() + "study?tag=nobody", 404, "the lab has no runs of the study"},
		{s.URL() + "compare?study=nobody", 404, "has no study \"nobody\""},
		{s.URL() + "run/0000", 404, "has no run"},
		{none.URL(), 200, "The lab is empty."},
		{none.URL() + "compare", 200, "There is nothing to compare yet"},
	} {
		if answer, body := get(t, http.DefaultClient, "GET", c.address, nil); answer.StatusCode != c.status || !strings.Contains(body, c.words) {
			t.Errorf("%s: %d, without %q", c.address, answer.StatusCode, c.words)
		}
	}
	_, body := get(t, http.DefaultClient, "GET", s.URL()+"run/"+run.Run, nil)
	drawn := 0
	for _, panel := range strings.Split(body, `<g class="panel"`)[1:] {
		drawn++
		if !regexp.MustCompile(`class="series"[^>]*><(path|image|text)`).MatchString(panel) {
			t.Errorf("a panel shows nothing: %.300s", panel)
		}
	}
	if drawn < 10 {
		t.Errorf("%d panels", drawn)
	}
}

// TestMeasuringFewAndManyClasses uploads features of one class, of two with a sample each, and of eleven: a page with a sentence and pictures.
func TestMeasuringFewAndManyClasses(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	for _, c := range []struct {
		classes, samples int
		words            []string
	}{
		{1, 20, []string{"there is no other to separate from", "1 class of 20"}},
		{2, 2, []string{"every class has a single sample: there is no spread to see", "2 classes of 1"}},
		{11, 110, []string{"class means are near a simplex ETF", "11 classes of 10"}},
	} {
		const d = 12
		h, labels := make([]float32, c.samples*d), make([]int64, c.samples)
		for i := range labels {
			labels[i] = int64(i % c.classes)
			for j := range d {
				h[i*d+j] = float32((i*7+j*3)%11) / 1000
			}
			h[i*d+i%c.classes]++
		}
		var b bytes.Buffer
		if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{c.samples, d}, h), arrayfile.Of("labels", []int{c.samples}, labels)}); err != nil {
			t.Fatal(err)
		}
		answer, body := upload(t, s, map[string][]byte{"mine.npz": b.Bytes()})
		if answer.StatusCode != http.StatusOK || !strings.Contains(body, `data-figure="plane"`) || !strings.Contains(body, "<svg") {
			t.Errorf("%d classes: %d: %.300s", c.classes, answer.StatusCode, body)
		}
		for _, words := range c.words {
			if !strings.Contains(body, words) {
				t.Errorf("%d classes: the page does not say %q", c.classes, words)
			}
		}
	}
}

// TestFewPointsAreSeen looks at a run of one epoch in a browser, whose last class no sample shows: every curve is a point of its colour, the
// clouds have their axes.
func TestFewPointsAreSeen(t *testing.T) {
	t.Parallel()
	dir, run := shortRun(t)
	const k, d = 11, 3
	h, classes, means := make([]float32, 4*(k-1)*d), make([]int32, 4*(k-1)), make([]float32, k*d)
	for i := range classes {
		classes[i] = int32(i % (k - 1))
		for j := range d {
			h[i*d+j] = float32((i*5 + j*3) % 7)
		}
	}
	counts := make([]int64, k)
	for i := range k - 1 {
		counts[i] = 4
		means[i*d] = float32(i)
	}
	if err := rundir.Dir(run.Dir).Writer(nil).WriteFrame(1, []arrayfile.Array{
		arrayfile.Of(rundir.FrameFeatures, []int{len(classes), d}, h), arrayfile.Of(rundir.FrameObserved, []int{len(classes)}, classes), arrayfile.Of(rundir.FrameTrue, []int{len(classes)}, classes),
		arrayfile.Of(rundir.FrameMeans, []int{k, d}, means), arrayfile.Of(rundir.FrameCounts, []int{k}, counts), arrayfile.Of(rundir.Weight, []int{k, d}, means), arrayfile.Of(rundir.Bias, []int{k}, make([]float32, k)),
	}); err != nil {
		t.Fatal(err)
	}
	s := startTest(t, Options{Lab: dir})
	tab := useTab(t, 2*time.Minute)
	complaints := consoleErrors(t, tab)
	page := lookedAt{name: "run", address: s.URL() + "run/" + run.Run}
	do(t, tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(page.address))
	unfoldAll(t, tab, page)
	blank := look[[]string](t, tab, `(() => {
		const near = (a, b) => a.every((v, i) => Math.abs(v - b[i]) < 9), first = parseInt(ink.color(1).slice(1), 16), want = [first >> 16, first >> 8 & 255, first & 255];
		return [...document.querySelectorAll('.uplot canvas')].filter((c) => {
			const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
			for (let i = 0; i < p.length; i += 4) if (p[i + 3] > 200 && near([p[i], p[i + 1], p[i + 2]], want)) return false;
			return true; }).map((c) => c.closest('[data-panel]').dataset.panel); })()`)
	if n := look[int](t, tab, "document.querySelectorAll('.uplot canvas').length"); n < 9 || len(blank) > 0 {
		t.Errorf("of %d panels of curves these show no point: %q", n, blank)
	}
	clouds := look[[]string](t, tab, `[...document.querySelectorAll('#figure-features [data-panel]')].map((box) => JSON.stringify(draw.drawn.get(box).labels()))`)
	for _, c := range clouds {
		var x, y int
		if _, err := fmt.Sscanf(c, `{"x":%d,"y":%d,`, &x, &y); err != nil || x < 3 || y < 3 {
			t.Errorf("a cloud's axes have labels %s, %v", c, err)
		}
	}
	if len(clouds) != 2 {
		t.Errorf("%d clouds", len(clouds))
	}
	if found := complaints(); len(found) > 0 {
		t.Errorf("the console: %q", found)
	}
}

// TestARunPageSaysTheHeadline: the page of a finished run asks for the headline that the features have by `collapse measure`; one whose features
// are gone has none, and none is made up.
func TestARunPageSaysTheHeadline(t *testing.T) {
	dir, run := shortRun(t)
	set, err := featurefiles.Open(featurefiles.Request{Files: []string{run.Features}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	report, err := set.Measure(0, measure.Options{Null: measure.DefaultNull})
	if err != nil {
		t.Fatal(err)
	}
	want := template.HTMLEscapeString(measurement.HeadlineOf(report))
	if want == "" {
		t.Fatal("the features have no headline")
	}
	address := "run/" + run.Run + "/finding"
	s := startTest(t, Options{Lab: dir})
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"run/"+run.Run, nil); !strings.Contains(body, `data-summary="/`+address+`"`) {
		t.Error("the page of the run does not ask for the headline")
	}
	if answer, body := get(t, http.DefaultClient, "GET", s.URL()+address, nil); answer.StatusCode != 200 || !strings.Contains(body, ">"+want+".</p>") {
		t.Errorf("%d %q, want %q", answer.StatusCode, body, want)
	}
	runs := read(t, dir, store.Filter{})
	said, err := findings.Study{ID: "report", Runs: runs}.Judge()
	if err != nil || len(runs) != 1 || !strings.Contains(said.Headline(), measurement.HeadlineOf(report)+". After 1 epoch:") {
		t.Errorf("the report of %d runs says %q: %v", len(runs), said.Headline(), err)
	}
	if err := os.Remove(run.Features); err != nil {
		t.Fatal(err)
	}
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+address, nil); !strings.Contains(body, want) {
		t.Errorf("the headline was not kept: %q", body)
	}
	if said, err = (findings.Study{ID: "report", Runs: read(t, dir, store.Filter{})}).Judge(); err != nil || strings.Contains(said.Headline(), measurement.HeadlineOf(report)) {
		t.Errorf("without features the report says %q: %v", said.Headline(), err)
	}
	fresh := startTest(t, Options{Lab: dir})
	if answer, body := get(t, http.DefaultClient, "GET", fresh.URL()+address, nil); answer.StatusCode != 200 || strings.TrimSpace(body) != "" {
		t.Errorf("without features: %d %q, want nothing", answer.StatusCode, body)
	}
}
