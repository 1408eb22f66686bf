package serve

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"html"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/measure"
	texts "collapse.example/collapse/recipes"
)

// TestAPaperStudyShowsThePapersFigures puts the demo's runs into a study named as reproduce names it: its page has the figures and
// claims that the recipe's own page has, and follows the runs.
func TestAPaperStudyShowsThePapersFigures(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(demoLab(t))); err != nil {
		t.Fatal(err)
	}
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	var items []study.Item
	var hashes []string
	for _, c := range demo.Smoke(1).Grid.Configs() {
		item, err := study.TrainItem(c, demo.Name(c))
		if err != nil {
			t.Fatal(err)
		}
		items, hashes = append(items, item), append(hashes, item.Hash)
	}
	const id = "md-fig1"
	if _, err := study.Save(lab, id+".quick", "Dilation grows", "", items); err != nil {
		t.Fatal(err)
	}
	want := judgedByItself(t, lab, id, hashes)
	if len(want.Claims) < 3 || len(want.Figures) < 2 {
		t.Fatalf("the recipe has %d claims and %d figures of these runs", len(want.Claims), len(want.Figures))
	}
	s := startTest(t, Options{Lab: dir})
	page := func() string {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+"study?study="+id+".quick", nil)
		if answer.StatusCode != http.StatusOK || !strings.Contains(body, "Dilation grows") {
			t.Fatalf("%d: %.300s", answer.StatusCode, body)
		}
		return body
	}
	body := page()
	for _, f := range want.Figures {
		if !strings.Contains(body, `data-figure="`+f.ID+`"`) {
			t.Errorf("figure %s is missing", f.ID)
		}
		if answer, svg := get(t, http.DefaultClient, "GET", s.URL()+"study/figures/"+url.PathEscape(f.ID)+".svg?study="+id+".quick", nil); answer.StatusCode != 200 || !strings.HasPrefix(svg, "<svg") {
			t.Errorf("figure %s: %d", f.ID, answer.StatusCode)
		}
	}
	for _, c := range want.Claims {
		said := `<span class="verdict ` + c.Verdict.Class() + `">`
		if n := strings.Count(body, ">"+html.EscapeString(c.Statement)+"<"); n != 1 || !strings.Contains(body, said) {
			t.Errorf("%s: on the page %d times, wanted once", c.ID, n)
		}
	}
	if _, first := get(t, http.DefaultClient, "GET", s.URL(), nil); !strings.Contains(first, ">"+items[len(items)-1].Note+"</a><small>"+id+".quick</small>") {
		t.Errorf("the list of all runs does not say which study run %q is of", items[len(items)-1].Note)
	}
	if page() != body {
		t.Error("the page differs when nothing has changed")
	}
	if testing.Short() {
		return
	}
	if err := lab.Remove(hashes[0]); err != nil {
		t.Fatal(err)
	}
	if page() == body {
		t.Error("the page is the same after a run has gone")
	}
	if got, now := s.verdicts.known["recipe "+id+".quick"].judged[0], judgedByItself(t, lab, id, hashes[1:]); len(got.Claims) != len(now.Claims) || got.Claims[0].Reason != now.Claims[0].Reason {
		t.Errorf("%+v, want %+v", got.Claims, now.Claims)
	}
}

// judgedByItself is what the recipe says of runs, without a server.
func judgedByItself(t *testing.T, lab *store.Lab, id string, hashes []string) findings.Judged {
	t.Helper()
	runs, err := judge.Load(lab, hashes...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	of, err := findings.OfRecipe(r, recipe.Choice{Scale: "quick"}, runs)
	if err != nil {
		t.Fatal(err)
	}
	judged, err := of.Judge()
	if err != nil {
		t.Fatal(err)
	}
	return judged.SoFar()
}

// TestLivePagesAndReportsAgree gives every recipe that trains made-up runs, some without features: the live page of its study judges each
// claim as the recipe's own page does.
func TestLivePagesAndReportsAgree(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	s := startTest(t, Options{Lab: dir})
	judged := 0
	for i, id := range recipe.IDs() {
		study := id + ".quick"
		if i%longtest.Of(4, 1) != 0 {
			continue
		}
		r, _ := recipeOf(study)
		if r == nil {
			continue
		}
		want := judgedByItself(t, lab, id, madeUp(t, lab, r, study))
		if answer, body := get(t, http.DefaultClient, "GET", s.URL()+"study?study="+study, nil); answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d: %.300s", id, answer.StatusCode, body)
		}
		got := s.verdicts.known["recipe "+study].judged[0]
		if len(got.Claims) != len(want.Claims) || len(got.Figures) != len(want.Figures) {
			t.Fatalf("%s: %d claims and %d figures live, %d and %d in its report", id, len(got.Claims), len(got.Figures), len(want.Claims), len(want.Figures))
		}
		for i, c := range want.Claims {
			if got.Claims[i].Verdict != c.Verdict || got.Claims[i].Reason != c.Reason {
				t.Errorf("%s: claim %s: live %s (%s), in its report %s (%s)", id, c.ID, got.Claims[i].Verdict, got.Claims[i].Reason, c.Verdict, c.Reason)
			}
			judged++
		}
	}
	if judged < longtest.Of(20, 100) {
		t.Errorf("only %d claims were compared", judged)
	}
}

// madeUp fills a study with finished runs of a recipe, whose numbers follow from their hashes.
func madeUp(t *testing.T, lab *store.Lab, r *recipe.Recipe, name string) (hashes []string) {
	t.Helper()
	runs, err := r.Foresee(recipe.Choice{Scale: "quick", Seeds: 2, BuiltIn: true})
	if err != nil {
		t.Fatal(err)
	}
	var items []study.Item
	for _, run := range runs {
		item, err := study.TrainItem(run.Config, run.Note())
		if err != nil {
			t.Fatal(err)
		}
		items, hashes = append(items, item), append(hashes, item.Hash)
		lease, row, err := lab.Lease(item.Spec)
		if errors.Is(err, store.ErrDone) || err == nil && row.Status == store.Done {
			continue // another recipe has it, too
		}
		if err != nil {
			t.Fatal(err)
		}
		fill(t, lease, item.Hash)
	}
	if _, err := study.Save(lab, name, r.Title, "", items); err != nil {
		t.Fatal(err)
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// recipesName are the measures that recipes name.
var recipesName = sync.OnceValues(func() (keys []string, err error) {
	files, err := fs.Glob(texts.Files(), "*.toml")
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, name := range files {
		text, err := fs.ReadFile(texts.Files(), name)
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	for _, d := range measure.Definitions() {
		if bytes.Contains(all, []byte(d.Key)) {
			keys = append(keys, d.Key)
		}
	}
	return keys, nil
})

// fill writes three epochs of every measure that recipes name, and features for most runs.
func fill(t *testing.T, lease *store.Lease, hash string) {
	t.Helper()
	random := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(hash))))
	keys := []string{"loss", "objective", measure.KeyAccuracy, "mean_norm_ratio"}
	others, err := recipesName()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range others {
		if key != measure.KeyAccuracy {
			keys = append(keys, key)
		}
	}
	accurate := random.IntN(8) > 0 // else the terminal phase was not reached
	var rows []store.Value
	for epoch := int64(1); epoch <= 3; epoch++ {
		for _, split := range []string{"train", "test", "clean"} {
			for _, key := range keys {
				v := random.Float64()
				if key == measure.KeyAccuracy && accurate {
					v = 1
				}
				rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Split: split, Measure: key}, Step: epoch, Value: v})
			}
		}
	}
	if err := lease.AppendEpoch(3, rows); err != nil {
		t.Fatal(err)
	}
	if random.IntN(4) > 0 {
		const n, d, k = 24, 4, 3
		numbers := func(n int) []float32 {
			out := make([]float32, n)
			for i := range out {
				out[i] = float32(random.NormFloat64())
			}
			return out
		}
		classes := make([]int32, n)
		for i := range classes {
			classes[i] = int32(i % k)
		}
		f, err := os.Create(filepath.Join(lease.Dir, "features.npz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := arrayfile.WriteNPZ(f, []arrayfile.Array{
			arrayfile.Of("train_h", []int{n, d}, numbers(n*d)), arrayfile.Of("train_observed", []int{n}, classes), arrayfile.Of("train_true", []int{n}, classes),
			arrayfile.Of("train_redrawn", []int{n}, make([]uint8, n)), arrayfile.Of("test_h", []int{n, d}, numbers(n*d)), arrayfile.Of("test_true", []int{n}, classes),
			arrayfile.Of("weight", []int{k, d}, numbers(k*d)), arrayfile.Of("bias", []int{k}, numbers(k)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := lease.Finish(); err != nil {
		t.Fatal(err)
	}
}

func TestStudiesThatAreNoRecipes(t *testing.T) {
	for _, name := range []string{"", "mine", "md-fig1", "md-fig1-quick", "nope.quick", "md-fig1.mine", "../md-fig1.quick", ".quick", "md-tab1.quick"} {
		if r, _ := recipeOf(name); r != nil {
			t.Errorf("%q is taken for recipe %s", name, r.ID)
		}
	}
	if r, scale := recipeOf("md-fig1.paper"); r == nil || r.ID != "md-fig1" || scale != "paper" {
		t.Errorf("md-fig1.paper is taken for %v at %q", r, scale)
	}
}
