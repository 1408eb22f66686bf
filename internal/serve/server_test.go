package serve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"net/http"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// startTest starts a server on a free port that ends with the test.
func startTest(t testing.TB, opt Options) *Server {
	t.Helper()
	if opt.Listen == "" {
		opt.Listen = "127.0.0.1:0"
	}
	s, err := Start(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// someRun is the hash of a finished run of a lab.
func someRun(t testing.TB, dir string) string {
	t.Helper()
	return someHashes(t, dir, 1)[0]
}

// someHashes are the newest runs of a lab.
func someHashes(t testing.TB, dir string, n int) (hashes []string) {
	t.Helper()
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	runs, err := lab.List(store.Filter{Limit: n})
	if err != nil || len(runs) != n {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, run := range runs {
		hashes = append(hashes, run.Hash)
	}
	return hashes
}

// recorded is a Control that remembers what it was told.
type recorded struct{ what string }

func (r *recorded) Run(_ context.Context, do Action, hash string) error {
	r.what = string(do) + " " + hash
	return nil
}

func (r *recorded) Study(_ context.Context, do Action, name string) error {
	r.what = string(do) + " study " + name
	return nil
}

func (r *recorded) Remark(study, remark string) error {
	r.what = "remark " + study + " " + remark
	return nil
}

func (r *recorded) Describe(hash string, as Description) error {
	for name, v := range map[string]*string{"label": as.Label, "tag": as.Tag, "untag": as.Untag} {
		if v != nil {
			r.what = name + " " + *v + " " + hash
		}
	}
	return nil
}

func TestEveryPageAndFigureOfADemo(t *testing.T) {
	longtest.Only(t)
	dir := demoLab(t)
	s := startTest(t, Options{Lab: dir})
	hash := someRun(t, dir)
	figures := 0
	for path, wants := range map[string][]string{
		"":                                {"12 of 12 done", "label smoothing"},
		"study?tag=demo":                  {"12 of 12 done", "cannot tell", `data-figure="grid"`, `data-figure="dilation`},
		"run/" + hash:                     {"20 of 20", `data-figure="measures"`, `data-figure="features"`, `data-figure="gram"`, `data-figure="margins"`, "run.epochs"},
		"run/" + hash + "?epoch=4":        {"at epoch 4"},
		"run/" + hash[:12]:                {"20 of 20"},
		"compare":                         {"Choose two"},
		"compare?run=" + pairOf(t, dir):   {"data-differences", `data-figure="measures"`},
		"measure":                         {"Drop files here"},
		"theory":                          {"-0.333333", `data-figure="penalty"`, `data-figure="gram"`, "Assumption 4.2"},
		"theory?model=mse&k=3&d=2&lw=0.9": {"regime"},
		"theory?k=6&d=3&ratio=100":        {`data-figure="imbalance"`, "small classes are one point", "cross-polytope", `data-figure="depth"`},
	} {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+path, map[string]string{"Accept": "text/html"})
		if answer.StatusCode != 200 {
			t.Errorf("%s: %d %.300s", path, answer.StatusCode, body)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not hold %q", path, want)
			}
		}
		drawn := false
		for _, link := range links(body) {
			if strings.Contains(link, ".png") { // slow to draw: one for each page
				if drawn {
					continue
				}
				drawn = true
			}
			answer, text := get(t, http.DefaultClient, "GET", strings.TrimSuffix(s.URL(), "/")+link, nil)
			figures++
			if start := map[string]string{".svg": "<svg", ".png": "\x89PNG", ".csv": "figure,panel"}[filepath.Ext(strings.Split(link, "?")[0])]; answer.StatusCode != 200 || !strings.HasPrefix(text, start) {
				t.Errorf("%s: %d, begins %.20q", link, answer.StatusCode, text)
			}
		}
	}
	if figures < 40 {
		t.Errorf("only %d files of figures were linked", figures)
	}
}

// pairOf is the query of a comparison of two runs.
func pairOf(t *testing.T, dir string) string {
	lab, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	runs, err := lab.List(store.Filter{Limit: 2})
	if err != nil || len(runs) != 2 {
		t.Fatal(runs, err)
	}
	return runs[0].Hash + "&run=" + runs[1].Hash
}

// links are the files that a page's figures save as.
func links(body string) []string {
	var out []string
	for _, part := range strings.Split(body, ` download>`) {
		if i := strings.LastIndex(part, `<a href="`); i >= 0 {
			if link := strings.TrimSuffix(part[i+len(`<a href="`):], `"`); strings.Contains(link, "/figures/") || strings.Contains(link, "/features/") {
				out = append(out, strings.ReplaceAll(link, "&amp;", "&"))
			}
		}
	}
	return out
}

func TestALabThatVanishesAndReturns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	s := startTest(t, Options{Lab: dir})
	ask := func(want int, holds string) {
		t.Helper()
		answer, body := get(t, http.DefaultClient, "GET", s.URL(), map[string]string{"Accept": "text/html"})
		if answer.StatusCode != want || !strings.Contains(body, holds) {
			t.Fatalf("%d %.400s; want %d and %q", answer.StatusCode, body, want, holds)
		}
	}
	ask(503, "there is no lab in")
	fill := func(n int) {
		lab, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer lab.Close()
		for i := range n {
			if _, err := lab.Ensure(store.Spec{Kind: store.Solve, Config: map[string]int{"n": i}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(3)
	ask(200, "0 of 3 done")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	ask(503, "there is no lab in")
	fill(5)
	ask(200, "0 of 5 done") // another file of the same name, not the old one that was still open
	if err := os.WriteFile(filepath.Join(dir, "lab.sqlite.new"), []byte("not a database at all, but long enough to be read as a header of one ......................................"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lab.sqlite-wal", "lab.sqlite-shm"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(dir, "lab.sqlite.new"), filepath.Join(dir, "lab.sqlite")); err != nil {
		t.Fatal(err)
	}
	ask(503, "lab.sqlite")
}

func TestTwoServersOnOneLab(t *testing.T) {
	dir := demoLab(t)
	a, b := startTest(t, Options{Lab: dir}), startTest(t, Options{Lab: dir})
	for _, s := range []*Server{a, b} {
		if answer, body := get(t, http.DefaultClient, "GET", s.URL(), nil); answer.StatusCode != 200 || !strings.Contains(body, "12 of 12") {
			t.Errorf("%s: %d", s.URL(), answer.StatusCode)
		}
	}
	if second, err := Start(Options{Lab: dir, Listen: a.Addr().String()}); err == nil {
		second.Close()
		t.Error("two servers listen on one address")
	}
}
