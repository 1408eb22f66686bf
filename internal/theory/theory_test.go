package theory

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse/recipes"
)

// Every recipe file loads, and every theory recipe names what it shows.
func TestRecipesLoad(t *testing.T) {
	ids := List()
	if len(ids) < 20 {
		t.Errorf("%d recipes, wanted all of the theory", len(ids))
	}
	for _, id := range ids {
		r, err := Load(id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if r.Title == "" || r.Paper == "" || r.Caption == "" {
			t.Errorf("%s lacks a title, paper or caption", id)
		}
	}
	if _, err := Load("tb-fig99"); err == nil || !strings.Contains(err.Error(), "tb-fig1") {
		t.Errorf("an unknown recipe: %v", err)
	}
	if _, err := recipes.Files.Open("tb-fig1.toml"); err != nil {
		t.Error(err)
	}
}

func TestRecipeWithUnknownKeysIsRefused(t *testing.T) {
	for _, text := range []string{"id = \"x\"\nkind = \"descent\"\nitertions = 3\n", "id = \"y\"\nkind = \"descent\"\n", "id = \"x\"\nkind = \"dessent\"\n", "id = "} {
		if _, err := parse("x", []byte(text)); err == nil {
			t.Errorf("%q passed", text)
		}
	}
}

// Quick recipes run in a test; their claims hold, and page and figures are written.
func TestRecipesHold(t *testing.T) {
	for _, id := range []string{"md-fig10", "md-thm3.2", "md-thm4.3", "tb-appD", "tb-fig1", "tb-fig3", "tb-thm5.1", "zhou-fig1", "zhou-fig2", "zhou-fig8", "zhou-thm3.1", "zhou-thm3.2", "zhou-thm3.3", "zhou-lemB.3", "zhou-propC.1", "zhu-thmE.1", "zhu-fig11", "zhu-thmD.1"} {
		r, err := Load(id)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Run(context.Background(), r, Options{Quick: true})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for _, c := range p.Claims {
			if c.Verdict != Holds {
				t.Errorf("%s: %s %s: %s", id, c.Statement, c.Verdict, c.Evidence)
			}
		}
		if id == "zhou-fig2" || id == "tb-fig1" {
			checkPage(t, p)
		}
	}
}

func checkPage(t *testing.T, p *Page) {
	t.Helper()
	dir := t.TempDir()
	index, err := p.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(html), `data-recipe="`+p.ID+`"`) || strings.Contains(string(html), "<script") || strings.Contains(string(html), "http://") {
		t.Errorf("%s: the page lacks its recipe, runs a script or needs the network", p.ID)
	}
	for _, c := range p.Claims {
		if !strings.Contains(string(html), "<td class=\""+strings.ReplaceAll(string(c.Verdict), " ", "-")) {
			t.Errorf("%s: a verdict is not on the page", p.ID)
		}
	}
	for _, f := range p.Figures {
		for _, ext := range []string{".svg", ".png", ".csv", ".json"} {
			if info, err := os.Stat(filepath.Join(dir, "figures", f.ID+ext)); err != nil || info.Size() == 0 {
				t.Errorf("%s%s: %v", f.ID, ext, err)
			}
		}
	}
}

func TestCancelledRecipe(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Load("tb-fig1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, r, Options{}); err == nil {
		t.Error("a cancelled recipe returned no error")
	}
}

// TB Theorem 4.2 is judged false, its proof's steps too, the lower points and the classes where it seems to hold true; the map
// is 0 for few classes and positive for the hexagon's.
func TestReLUTheoremIsJudged(t *testing.T) {
	r, err := Load("tb-thm4.2")
	if err != nil {
		t.Fatal(err)
	}
	r.Cases, r.ReLU.KMax, r.ReLU.Steps = []modelTable{r.Cases[0], r.Cases[4]}, 7, 24
	p, err := Run(context.Background(), r, Options{Quick: true, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Verdict{"TB Theorem 4.2": Fails, "K = 6, d = 7": Holds, "K = 5, d = 6": Holds, "for K = 2, 3, 4": Holds,
		"Appendix E: every s_k²": Fails, "Appendix E: by Jensen": Fails, "Appendix E: that flat": Fails, "the counterexample is feasible": Holds}
	for prefix, verdict := range want {
		i := slices.IndexFunc(p.Claims, func(c Claim) bool { return strings.HasPrefix(c.Statement, prefix) })
		if i < 0 || p.Claims[i].Verdict != verdict {
			t.Errorf("%s: %+v, wanted %s", prefix, p.Claims, verdict)
		}
	}
	if len(p.Claims) != len(want) {
		t.Errorf("%d claims, wanted %d", len(p.Claims), len(want))
	}
	heat := p.Figures[0].Panels[0].Series[0].Heat
	rows := make([]float64, heat.Rows) // largest share of each K from 2
	for i, z := range heat.Z {
		rows[i/heat.Columns] = max(rows[i/heat.Columns], z)
	}
	for i, share := range rows {
		if K := i + 2; K <= 4 && share != 0 || K >= 5 && !(share > .5 && share < 2) {
			t.Errorf("K = %d: up to %g %% below the theorem", K, share)
		}
	}
	checkPage(t, p)
}
