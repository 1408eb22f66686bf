package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/reproduce"
	"collapse.example/collapse/internal/scale"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/trials"
	"collapse.example/collapse/internal/train"
)

const tinyFirst = `id = "first"
title = "A search"
paper = "Someone 2022, Table 1"
kind = "training"
[base]
data = { name = "glyphs", samples_per_class = 20, test_samples_per_class = 10, pipeline = "plain", validation = 0.25 }
net = { depth = 1, width = 8 }
run = { batch = 15, epochs = 1 }
[search]
sampler = "random"
schedule = "full"
trials = 3
[search.space]
"optim.lr" = { log_uniform = [1e-3, 0.5] }
"loss.smoothing" = { uniform = [0.01, 0.25], when = { "loss.kind" = ["ls"] } }
[full]
seeds = 1
[quick]
seeds = 2
[quick.grid]
"loss.kind" = ["ce", "ls"]
`

const tinySecond = `id = "second"
title = "A table"
paper = "Someone 2022, Table 2"
kind = "training"
[base]
data = { name = "glyphs", samples_per_class = 20, test_samples_per_class = 10, pipeline = "plain" }
net = { depth = 1, width = 8 }
run = { batch = 15, epochs = 1 }
[settings_from]
recipe = "first"
match = ["data.name", "loss.kind"]
take = ["optim.lr", "loss.smoothing"]
[full]
seeds = 1
[quick]
seeds = 2
[quick.grid]
"loss.kind" = ["ce", "ls"]
"data.noise" = [0.0, 0.2]
`

// chainedIn is a chained recipe, and what reproduces it in a lab.
func chainedIn(t *testing.T, dir string) (*reproduceCmd, *app, *recipe.Recipe) {
	t.Helper()
	r, err := recipe.LoadFrom(fstest.MapFS{"first.toml": {Data: []byte(tinyFirst)}, "second.toml": {Data: []byte(tinySecond)}}, "second")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{ctx: t.Context(), stdout: io.Discard, stderr: new(bytes.Buffer), flags: new(program)}
	a.flags.Lab = filepath.Join(dir, "lab")
	t.Cleanup(a.closeLab)
	return &reproduceCmd{ID: "second", Scale: "quick", Out: filepath.Join(dir, "page"), whereFlags: whereFlags{Workers: new(2), Silence: time.Minute}}, a, r
}

// ahead are the runs that the recipe would train, and the search before them.
func ahead(c *reproduceCmd, a *app, r *recipe.Recipe) ([]recipe.Run, *study.File, error) {
	job, err := c.job(a, r)
	if err != nil {
		return nil, nil, err
	}
	return job.Ahead(a.reader)
}

// reproducedHere computes the recipe and makes its page.
func reproducedHere(c *reproduceCmd, a *app, r *recipe.Recipe) (reproduced, error) {
	found, err := c.find(a, r)
	if err != nil {
		return reproduced{}, err
	}
	return c.write(a, found, outfile.At(c.Out, page.Kind))
}

func TestAChainedRecipeRunsItsSearchFirst(t *testing.T) {
	longtest.Only(t)
	c, a, r := chainedIn(t, t.TempDir())
	runs, first, err := ahead(c, a, r)
	if err != nil || len(runs) != 8 || first == nil || first.Name != "first.quick" {
		t.Fatalf("%d runs to come after %v, %v", len(runs), first, err)
	}
	if said := reproduce.SearchFirst(first); !strings.Contains(said, "follow from the search first.quick, which runs first: 3 trials of at most 1 epoch in each of 4 combinations") {
		t.Error(said)
	}
	result, err := reproducedHere(c, a, r)
	if err != nil {
		t.Fatal(err)
	}
	checkTaken(t, c, a, r, result)
	if again, err := reproducedHere(c, a, r); err != nil || !slices.EqualFunc(again.Taken, result.Taken, func(a, b recipe.Taken) bool { return a.From == b.From }) || again.Compute.CoreHours != result.Compute.CoreHours {
		t.Errorf("again: %+v, %v", again, err)
	}
	runs, first, err = ahead(c, a, r)
	if err != nil || first != nil || len(runs) != 8 {
		t.Fatalf("%d runs to come after %v, %v", len(runs), first, err)
	}
	_, items, err := reproduce.Items(runs)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if run, err := a.write.Run(item.Hash); err != nil || run.Status != store.Done {
			t.Errorf("%s is foreseen, though the search has ended: %v", item.Note, err)
		}
	}
	dir := a.flags.Lab
	a.closeLab()
	if out, _ := called(t, 0, "--lab", dir, "study", "resume", "second.quick"); !strings.Contains(out, "8 of 8 runs done") {
		t.Error(out)
	}
}

// A folder of own recipes is all that reproduce knows; one recipe may take settings from another of them.
func TestRecipesOfAnOwnFolder(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	book := filepath.Join(dir, "my recipes")
	if err := os.Mkdir(book, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"first.toml": tinyFirst, "second.toml": tinySecond} {
		if err := os.WriteFile(filepath.Join(book, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := called(t, 0, "reproduce", "--list", "--recipes", book); strings.Contains(out, "md-fig1") || !strings.Contains(out, "second") {
		t.Error(out)
	}
	called(t, 0, "--lab", filepath.Join(dir, "lab"), "reproduce", "second", "--recipes", book, "--out", filepath.Join(dir, "page"))
	html, err := os.ReadFile(filepath.Join(dir, "page", "index.html"))
	if err != nil || !strings.Contains(string(html), "collapse reproduce second --scale quick --recipes &#39;"+book+"&#39;") {
		t.Errorf("the page does not say how to make it again: %v", err)
	}
	if _, said := called(t, 2, "reproduce", "md-fig1", "--recipes", book); !strings.Contains(said, `there is no recipe "md-fig1" in `+book) {
		t.Error(said)
	}
	if _, said := called(t, 2, "reproduce", "second", "--recipes", dir); !strings.Contains(said, "holds no file ID.toml") {
		t.Error(said)
	}
}

// checkTaken compares what the runs have with the best trial of their loss, over both seeds, and looks for it on the page.
func checkTaken(t *testing.T, c *reproduceCmd, a *app, r *recipe.Recipe, result reproduced) {
	t.Helper()
	f, err := scale.SearchFile(r.Source(c.choice()), c.choice().OfSource())
	if err != nil {
		t.Fatal(err)
	}
	found, err := trials.Look(a.write.Reader, f)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 4 || len(result.Taken) != 2 || result.Runs != 8 || result.Failed != 0 {
		t.Fatalf("%d searches, taken %+v, %d runs", len(found), result.Taken, result.Runs)
	}
	page, err := os.ReadFile(result.Index)
	if err != nil {
		t.Fatal(err)
	}
	for _, taken := range result.Taken {
		loss := "loss " + strings.Trim(strings.TrimPrefix(taken.Cell[1], "loss.kind="), `"`)
		var best *trials.Row
		for _, p := range found {
			for i := range p.Rows {
				if row := &p.Rows[i]; strings.Contains(p.Where, loss) && (best == nil || row.Value > best.Value || row.Value == best.Value && row.Number < best.Number) {
					best = row
				}
			}
		}
		if !slices.Equal(taken.Settings, best.Settings) {
			t.Errorf("%s takes %q, the best trial has %q", loss, taken.Settings, best.Settings)
		}
		_, value, _ := strings.Cut(best.Settings[0], "=")
		for _, want := range []string{"data-taken", taken.From, value} {
			if !strings.Contains(string(page), want) || !strings.HasPrefix(taken.From, "first.quick, trial ") {
				t.Errorf("the page lacks %q", want)
			}
		}
		checkRuns(t, a, loss, best.Settings)
	}
}

// checkRuns looks for settings in the runs of a loss.
func checkRuns(t *testing.T, a *app, loss string, settings []string) {
	t.Helper()
	runs, err := a.write.StudyRuns("second.quick")
	if err != nil || len(runs) != 8 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	checked := 0
	for _, run := range runs {
		row, err := a.write.Run(run.Hash)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := train.FromCanonical(row.Config)
		if err != nil {
			t.Fatal(err)
		}
		if "loss "+cfg.Loss.Kind != loss {
			continue
		}
		checked++
		for _, s := range settings {
			key, _, _ := strings.Cut(s, "=")
			if got := cfg.SettingsOf([]string{key}); got[0] != s || row.Status != store.Done {
				t.Errorf("%s is %s and has %s, wanted %s", run.Note, row.Status, got[0], s)
			}
		}
	}
	if checked != 4 {
		t.Errorf("%d runs with %s", checked, loss)
	}
}

// writes is called with what is written.
type writes func(text string)

func (w writes) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}

func TestATableIsNotBegunWithoutItsSearch(t *testing.T) {
	c, a, r := chainedIn(t, t.TempDir())
	lab, err := a.openLab()
	if err != nil {
		t.Fatal(err)
	}
	f, err := scale.SearchFile(r.Source(c.choice()), c.choice().OfSource())
	if err != nil {
		t.Fatal(err)
	}
	a.stderr = writes(func(line string) {
		if strings.HasPrefix(line, "1/") { // the first run has ended
			if err := lab.CancelStudy(f.Name); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := reproducedHere(c, a, r); err == nil || !strings.Contains(err.Error(), "the search first.quick was cancelled, and second takes settings from it; continue with: collapse study resume first.quick") {
		t.Errorf("%v", err)
	}
	if _, err := lab.Study("second.quick"); err == nil {
		t.Error("the table was begun without its search")
	}
}

// With workers elsewhere alone, the same worker computes the search and then the table.
func TestAChainedRecipeOnWorkersElsewhere(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	c, a, r := chainedIn(t, dir)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Workers, c.Listen, c.TokenFile = new(0), free.Addr().String(), filepath.Join(dir, "token")
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.options(a); err != nil { // makes the token
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan int, 1)
	go func() {
		worked <- run(ctx, []string{"worker", "--connect", "nats://" + c.Listen, "--token-file", c.TokenFile, "--scratch", filepath.Join(dir, "scratch"), "--slots", "2"}, io.Discard, io.Discard)
	}()
	result, err := reproducedHere(c, a, r)
	stop()
	<-worked
	if err != nil {
		t.Fatal(err)
	}
	checkTaken(t, c, a, r, result)
}
