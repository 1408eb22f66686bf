package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/page"
)

// TestTheDemoIsOnePage reads the page of the smallest demo.
func TestTheDemoIsOnePage(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr := called(t, exitOK, "--lab", filepath.Join(dir, "lab"), "--json", "demo", "--scale", "smoke", "--out", filepath.Join(dir, "page"))
	var out collapseResult
	decodeOnly(t, stdout, &out)
	if out.Collapsed < 2 || out.Headline != fmt.Sprintf("Collapsed at epoch %d", out.Collapsed) || len(out.Dials) != 4 || len(out.Unusual) == 0 || len(out.Moments) != out.Epochs {
		t.Errorf("%.600s", stdout)
	}
	if !strings.Contains(stderr, "epoch 10/30  NC1 ") || !strings.Contains(stderr, "  collapsed\n") {
		t.Errorf("progress: %s", stderr)
	}
	written, err := os.ReadFile(out.Index)
	if err != nil {
		t.Fatal(err)
	}
	page := string(written)
	files, err := os.ReadDir(filepath.Join(dir, "page")) // the page, and the list of what the program wrote
	if err != nil || len(files) != 2 || len(page) > 1_500_000 {
		t.Errorf("%v, %d files, %d bytes", err, len(files), len(page))
	}
	for _, want := range []string{"<h1 data-finding>" + out.Headline + "</h1>", `data-dial="NC1"`, `data-dial="NC4"`, `data-figure="gram"`, "script-src &#39;sha256-", "What is unusual"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if found := regexp.MustCompile(`(src|href)="([^#d]|d[^a])|url\(`).FindString(page); found != "" {
		t.Errorf("the page asks for %s", found)
	}
	var film struct {
		Classes []int
		Moments []struct {
			Epoch          int
			Collapsed      bool
			Means, Samples []int
			At             []float64
			Values         []string
		}
	}
	data := page[strings.Index(page, `id="film-data">`)+len(`id="film-data">`):]
	if err := json.Unmarshal([]byte(data[:strings.Index(data, "</script>")]), &film); err != nil {
		t.Fatal(err)
	}
	if len(film.Moments) != out.Epochs {
		t.Fatalf("%d epochs in the film", len(film.Moments))
	}
	for i, m := range film.Moments {
		if m.Epoch != i+1 || m.Collapsed != (m.Epoch >= out.Collapsed) || len(m.Means) != 3*4 || len(m.Samples) != 3*len(film.Classes) || len(m.At) != 4 || len(m.Values) != 4 {
			t.Errorf("epoch %d: %+v", i+1, m)
		}
	}
}

func TestADialInCharacters(t *testing.T) {
	d := measurement.Dial{Shuffled: 1, Limit: .5}
	for v, want := range map[float64]string{1: "●────═════", 0: "─────════●", .5: "─────●════"} {
		d.Value = v
		if got := drawn(d, 10); got != want {
			t.Errorf("%g: %s, wanted %s", v, got, want)
		}
	}
}

// titleOf is the heading of a page.
func titleOf(t *testing.T, index string) string {
	t.Helper()
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`<h1>([^<]*)</h1>`).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// TestSmallDemosAreTrue reads what `demo minority` and `demo theory` claim from their numbers.
func TestSmallDemosAreTrue(t *testing.T) {
	longtest.Only(t)
	var minority minorityResult
	stdout, _ := called(t, exitOK, "--json", "demo", "minority", "--out", filepath.Join(t.TempDir(), "minority"))
	decodeOnly(t, stdout, &minority)
	if !strings.HasPrefix(minority.Headline, "Minority collapse: the 5 smallest of 10") || !minority.Solved.Optimum.Reached || titleOf(t, minority.Index) != minority.Headline {
		t.Errorf("%.300s", stdout)
	}
	var theory theoryResult
	stdout, _ = called(t, exitOK, "--json", "demo", "theory", "--out", filepath.Join(t.TempDir(), "theory"))
	decodeOnly(t, stdout, &theory)
	if !theory.Deep.Lower || !strings.Contains(theory.Headline, "4 ReLU layers") || len(theory.Hexagons) == 0 {
		t.Errorf("%.300s", stdout)
	}
}

// trainCalls are the calls of `collapse train` on built-in images in a text.
var trainCalls = regexp.MustCompile(`collapse (train --data glyphs[^\n#|` + "`" + `]*)`)

// TestExamplesConclude makes every call of `collapse train` that README, docs and help show on built-in images: each ends with a
// headline about collapse and without a warning.
func TestExamplesConclude(t *testing.T) {
	longtest.Only(t)
	var texts []string
	for _, lines := range examples {
		texts = append(texts, lines...)
	}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(docs, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	lab, calls := filepath.Join(t.TempDir(), "lab"), map[string]bool{}
	for _, found := range trainCalls.FindAllStringSubmatch(strings.ReplaceAll(strings.Join(texts, "\n"), "\\\n", " "), -1) {
		if !strings.Contains(found[1], "…") { // a pattern, not a call
			calls[strings.TrimSpace(found[1])] = true
		}
	}
	if len(calls) < 2 {
		t.Errorf("%d calls", len(calls))
	}
	for words := range calls {
		stdout, _ := called(t, exitOK, append([]string{"--lab", lab, "--json"}, strings.Fields(words)...)...)
		var out trainResult
		decodeOnly(t, stdout, &out)
		if !strings.HasPrefix(out.Finding, "Collapsed") && !strings.HasPrefix(out.Finding, "On the way to collapse") || len(out.States) > 0 {
			t.Errorf("%s: %q, %q", words, out.Finding, out.States)
		}
	}
}

// TestOnlyFlagsWidenFeatures: a file and a setting keep what feature_dim = 0 means in them.
func TestOnlyFlagsWidenFeatures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.toml")
	if err := os.WriteFile(file, []byte("[data]\nname = 'glyphs'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]float64{"": 64, "--data glyphs": 64, "--feature-dim 0": 0, "--set net.feature_dim=0": 0, "--feature-dim 5": 5,
		"--net resnet18": 0, "--setting md-mlp": 0, file: 0} {
		stdout, _ := called(t, exitOK, append([]string{"--json", "train", "--print-config"}, strings.Fields(call)...)...)
		var config struct {
			Net struct {
				FeatureDim float64 `json:"feature_dim"`
			}
		}
		decodeOnly(t, stdout, &config)
		if config.Net.FeatureDim != want {
			t.Errorf("%q: d = %g, wanted %g", call, config.Net.FeatureDim, want)
		}
	}
}

// TestDemoMemorizationShowsBothVerdicts: of the runs just computed, and of those that ship with the program.
func TestDemoMemorizationShowsBothVerdicts(t *testing.T) {
	earlier, err := shippedRuns()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	now := page.Result{Headline: "These cannot tell.", Claims: []judge.Claim{{ID: "growth", Verdict: judge.CannotTell}}}
	printBeside(&app{stdout: &out}, now, earlier)
	for _, want := range []string{"on 1824 earlier runs", "not computed now: they are of collapse reproduce md-fig1 --scale standard, on other images", "holds          With label noise, memorization and dilation √NC1_test grow together, whatever the loss [cannot tell]", "[not asked]"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, out.String())
		}
	}
}
