package page

import (
	"encoding/json"
	"encoding/xml"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
)

const hostile = `"><script>alert(1)</script><img src=//evil.example/x>`

// studied is a study with everything a page can show: regular, degenerate and failed runs,
// features, hostile words.
func studied(t *testing.T) findings.Study {
	t.Helper()
	m := judgetest.Common()
	runs := m.Runs(t)
	for i := range runs {
		runs[i].SetFeatures(judgetest.Cloud(2, 2, 60, []float64{3, 2.5}, int(50*runs[i].Noise)), "")
	}
	bad := m.Run(t, "ce", 0.1, 31)
	judgetest.SetFinal(&bad, "clean", "mean_norm_ratio", 0.01)
	bad.SetFeatures(judgetest.Cloud(2, 2, 60, []float64{3, 0.03}, 5), "")
	failed := m.Run(t, "ls", 0.4, 32)
	failed.Status, failed.Error, failed.Label = store.Failed, "train: step 1200: loss is NaN (0.83 at step 1199)", hostile
	return findings.Study{ID: "s", Runs: append(runs, bad, failed), Generated: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
		Commands:      []string{"collapse demo --out demo", "echo " + hostile},
		Substitutions: []recipe.Substitution{{What: "data set", Paper: "MNIST", Here: "glyphs", Why: "nothing is fetched"}, {What: "width", Paper: "2048", Here: "64", Why: "time"}}}
}

func writeStudy(t *testing.T, s findings.Study) (Result, string) {
	t.Helper()
	res, err := WriteStudy(outfile.At(t.TempDir(), Kind), s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(res.Index)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// pageOf makes the page without its files.
func pageOf(t *testing.T, s findings.Study) (Result, string) {
	t.Helper()
	found := judged(t, s)
	p, _ := show(found)
	html, err := execute("study", p)
	if err != nil {
		t.Fatal(err)
	}
	return resultOf(found), string(html)
}

func judged(t *testing.T, s findings.Study) findings.StudyFindings {
	t.Helper()
	found, err := s.Judge()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func find(t *testing.T, html, pattern string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(html, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestPageIsSelfContained(t *testing.T) {
	WithSmallPictures(t)
	res, first := writeStudy(t, studied(t))
	dir := filepath.Dir(res.Index)
	pages := map[string]string{"index.html": first, "more.html": read(t, res.More)}
	ids := map[string]map[string]bool{}
	for name, html := range pages {
		ids[name] = checkAlone(t, name, html)
	}
	figures := map[string]bool{}
	for name, html := range pages {
		for _, l := range find(t, html, `href="([^"]*)"`) {
			file, anchor, some := strings.Cut(l, "#")
			if file == "" {
				file = name
			}
			if some && !ids[file][anchor] {
				t.Errorf("%s: link to %s goes nowhere", name, l)
			}
			if strings.HasPrefix(l, "figures/") {
				figures[l] = true
			}
			if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
				t.Errorf("%s: link %q: %v", name, l, err)
			}
		}
	}
	if len(figures) != 4*len(res.Figures) || len(res.Figures) < 8 {
		t.Errorf("%d file links for %d figures", len(figures), len(res.Figures))
	}
	left, err := filepath.Glob(filepath.Join(dir, "figures", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %q", left)
	}
}

// checkAlone looks for what a page must not hold, and returns its ids.
func checkAlone(t *testing.T, name, html string) map[string]bool {
	t.Helper()
	for _, bad := range []string{"http:", "https:", "<script", "<img", "<link", "<iframe", "@import", "url(", " onload", "javascript:"} {
		if strings.Contains(strings.ReplaceAll(html, "http-equiv", ""), bad) {
			t.Errorf("%s holds %q", name, bad)
		}
	}
	if strings.Contains(html, "//evil.example") && strings.Contains(html, "src=//evil") && strings.Contains(html, "<img src") {
		t.Error("a hostile name became an element")
	}
	csp := find(t, html, `Content-Security-Policy" content="([^"]*)"`)
	if len(csp) != 1 || !strings.Contains(csp[0], "default-src 'none'") || strings.Contains(csp[0], "script-src") {
		t.Errorf("%s: content security policy %q", name, csp)
	}
	ids := map[string]bool{}
	for _, id := range find(t, html, `\sid="([^"]*)"`) {
		if ids[id] {
			t.Errorf("%s: id %q twice", name, id)
		}
		ids[id] = true
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html, -1) {
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Fatalf("%s: an inline picture is not well-formed: %v", name, err)
		}
	}
	return ids
}

// TestNumbersOfTheMainFigure computes the means again from the runs and finds them in the figure's
// JSON, inside the axis ranges of the drawn panel, and in the table.
func TestNumbersOfTheMainFigure(t *testing.T) {
	s := studied(t)
	_, html := pageOf(t, s)
	var mem, dil []float64
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Loss == "ls" && r.Noise == 0.2 && r.Status == store.Done {
			m, _, _ := r.Final("train", "memorization_flipped")
			d, _, _ := r.Final("test", "dilation")
			mem, dil = append(mem, m), append(dil, d)
		}
	}
	_, pictures := show(judged(t, s))
	dir := t.TempDir()
	if err := outfile.At(dir, Kind).Write(func(files *outfile.Files) error { return writePicture(files, pictures[0].Figure) }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "dilation.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f chart.Figure
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, series := range f.Panels[0].Series {
		for i := range series.X {
			if series.Label != "label smoothing" || series.Labels[i] != "0.2" {
				continue
			}
			found = true
			if !judgetest.Near(series.X[i], judge.Mean(mem), 1e-12) || !judgetest.Near(series.Y[i], judge.Mean(dil), 1e-12) || series.N[i] != 6 ||
				!judgetest.Near(series.XHi[i]-series.X[i], judge.Deviation(mem), 1e-12) || !judgetest.Near(series.Y[i]-series.YLo[i], judge.Deviation(dil), 1e-12) {
				t.Errorf("LS at η = 0.2 is at (%g, %g), wanted (%g, %g)", series.X[i], series.Y[i], judge.Mean(mem), judge.Mean(dil))
			}
		}
	}
	if !found {
		t.Error("LS at η = 0.2 is not in the figure")
	}
	at := regexp.MustCompile(`data-panel="dilation-memorization_flipped" data-x-min="([^"]*)" data-x-max="([^"]*)" data-x-scale="linear" data-y-min="([^"]*)" data-y-max="([^"]*)"`).FindStringSubmatch(html)
	if at == nil {
		t.Fatal("the panel of dilation is not in the page")
	}
	var limit [4]float64
	for i := range limit {
		if limit[i], err = strconv.ParseFloat(at[i+1], 64); err != nil {
			t.Fatal(err)
		}
	}
	if limit[0] != 0 || limit[2] != 0 || !(limit[1] > judge.Mean(mem) && limit[1] < 300) || !(limit[3] > judge.Mean(dil) && limit[3] < 2) {
		t.Errorf("axis ranges %v", limit)
	}
	if want := format.PlusMinus(judge.Mean(mem), judge.Deviation(mem)); !strings.Contains(html, ">"+want+"</td>") {
		t.Errorf("%s is not in a table", want)
	}
	for _, words := range []string{"memorization, Σ‖h − h*‖ over flipped samples →", "↑ √NC1 of the test features", "↑ test accuracy (%)"} {
		if !strings.Contains(html, words) {
			t.Errorf("axis %q is not in the page", words)
		}
	}
}

func TestPageTellsTheWholeStory(t *testing.T) {
	res, html := pageOf(t, studied(t))
	if res.Failed != 1 || res.Degenerate != 1 || res.Runs != 62 || res.Terminal != 61 {
		t.Errorf("counts %+v", res)
	}
	if v := find(t, html, `data-claim="growth" data-verdict="([^"]*)"`); len(v) != 1 || v[0] != "holds" {
		t.Errorf("verdict on growth %q", v)
	}
	if len(find(t, html, `data-claim="([^"]*)"`)) != len(res.Claims) || len(res.Claims) < 6 {
		t.Error("not every claim is on the page")
	}
	for _, c := range res.Claims {
		if n := strings.Count(html, ">"+template.HTMLEscapeString(c.Statement)+"<"); n != 1 {
			t.Errorf("a claim stands %d times on the page: %s", n, c.Statement)
		}
	}
	if key := strings.Index(html, "data-figure="); key < 0 || key > strings.Index(html, "data-claim=") {
		t.Error("the key figure does not stand before the claims")
	}
	for _, want := range []string{
		"the more a network memorizes", "loss is NaN (0.83 at step 1199)", "data-failed", "data-substitutions", "nothing is fetched", "collapse demo --out demo",
		"Degenerate runs, as in M-D Fig. 4(a)", "The same with degenerate runs", `data-figure="epochs-noise-0.4"`, `data-figure="epochs-noise-0-more"`,
		`data-figure="features-noise-0.1"`, "avx2", "Test CPU", "optim.momentum", "limit of collapse: 0", "3 February 2026",
		"&lt;script&gt;alert(1)&lt;/script&gt;", "data.noise", "0 | 0.05 | 0.1 | 0.2 | 0.4",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if !strings.Contains(res.Headline, "the more a network memorizes") || len(res.Facts) != 2 {
		t.Errorf("headline %q, facts %q", res.Headline, res.Facts)
	}
}

func TestHeadlineFollowsTheVerdict(t *testing.T) {
	m := judgetest.Common()
	m.Slope = map[string]float64{"ce": -0.0002, "ls": -0.0002}
	if _, html := pageOf(t, findings.Study{Runs: m.Runs(t)}); !strings.Contains(html, "do not grow together") {
		t.Error("a study in which dilation falls is not headed so")
	}
	m = judgetest.Common()
	m.Train = func(string, float64, int) float64 { return 0.99 }
	res, html := pageOf(t, findings.Study{Runs: m.Runs(t)})
	if !strings.Contains(html, "These runs cannot tell") || res.Terminal != 0 {
		t.Error("a study outside the terminal phase is not headed so")
	}
}

func TestPageOfOneRun(t *testing.T) {
	m := judgetest.Common()
	m.Train = func(string, float64, int) float64 { return 0.9995 }
	r := m.Run(t, "ls", 0.1, 3)
	r.SetFeatures(judgetest.Cloud(4, 3, 30, []float64{2, 2, 2}, 3), "")
	res, html := pageOf(t, findings.Study{Runs: []judge.Run{r}})
	if !strings.Contains(html, "One run: label smoothing, η = 0.1, seed 3") || len(res.Claims) != 0 {
		t.Error("the page of one run does not name it, or judges claims on it")
	}
	if !strings.Contains(html, "training accuracy 99.95\u00a0%") {
		t.Error("the headline rounds its accuracy to 100 %, which it is not")
	}
	if !strings.Contains(html, "Projection of the d-dimensional features") {
		t.Error("a projection is not labelled as one")
	}
}

func TestPageOfNothing(t *testing.T) {
	m := judgetest.Common()
	r := m.Run(t, "ls", 0.1, 3)
	r.Status, r.Error = store.Interrupted, ""
	for _, s := range []findings.Study{{}, {Runs: []judge.Run{r}}, {Runs: []judge.Run{{Run: store.Run{Hash: "ab", Kind: store.Solve, Status: store.Done}}}}} {
		if _, html := pageOf(t, s); !strings.Contains(html, "</html>") {
			t.Error("no page")
		}
	}
}

// TestNumbersThatAreNotFinite: nothing of them is drawn, and the page says so.
func TestNumbersThatAreNotFinite(t *testing.T) {
	m := judgetest.Common()
	r := m.Run(t, "ce", 0.1, 1)
	r.SetFeatures(judgetest.Cloud(2, 2, 30, []float64{3, 2.5}, 3), "")
	r.Features().TrainH[0], r.Features().TestH[3] = math.NaN(), math.Inf(1)
	_, html := pageOf(t, findings.Study{Runs: []judge.Run{r}})
	for _, d := range find(t, html, ` d="([^"]*)"`) {
		if strings.Contains(d, "NaN") || strings.Contains(d, "Inf") {
			t.Fatal("a path holds a number that is not finite")
		}
	}
	if !strings.Contains(html, "not drawn (not finite)") {
		t.Error("the page does not count what it could not draw")
	}
}

func TestSigns(t *testing.T) {
	for _, c := range [][2]string{{"penalty λ_W", "penalty λ<sub>W</sub>"}, {"C_MD <b>", "C<sub>MD</sub> &lt;b&gt;"}, {"nc1_pinv", "nc1_pinv"}, {"‖h₁−h₂‖", "‖h₁−h₂‖"}} {
		if got := string(signs(c[0])); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}
