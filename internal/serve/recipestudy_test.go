package serve

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"collapse/internal/demo"
	"collapse/internal/judge"
	"collapse/internal/page"
	"collapse/internal/recipe"
	"collapse/internal/store"
	"collapse/internal/study"
)

// TestAPaperStudyShowsThePapersFigures puts the demo's runs into a study named as reproduce names it: its page has the figures and
// claims that the recipe's own page has, and follows the runs.
func TestAPaperStudyShowsThePapersFigures(t *testing.T) {
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
		if answer.StatusCode != http.StatusOK || !strings.Contains(body, "Dilation grows") || !strings.Contains(body, want.Title) {
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
	if n := strings.Count(body, `class="verdict `); n != len(want.Claims) {
		t.Errorf("%d verdicts, want %d", n, len(want.Claims))
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
	if got, now := s.recipes.known[id+".quick"].judged, judgedByItself(t, lab, id, hashes[1:]); len(got.Claims) != len(now.Claims) || got.Claims[0].Reason != now.Claims[0].Reason {
		t.Errorf("%+v, want %+v", got.Claims, now.Claims)
	}
}

// judgedByItself is what the recipe says of runs, without a server.
func judgedByItself(t *testing.T, lab *store.Lab, id string, hashes []string) page.Judged {
	t.Helper()
	runs, err := judge.Load(lab, hashes...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	of, err := page.OfRecipe(r, recipe.Choice{Scale: "quick"}, runs)
	if err != nil {
		t.Fatal(err)
	}
	judged, err := of.Judge()
	if err != nil {
		t.Fatal(err)
	}
	return judged
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
