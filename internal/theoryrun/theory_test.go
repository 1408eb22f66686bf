package theoryrun

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/recipe"
)

// Every kind of recipe that trains nothing has a runner.
func TestKindsHaveRunners(t *testing.T) {
	for _, kind := range recipe.Kinds() {
		if _, ok := runners[kind]; ok == (kind == recipe.KindTraining) {
			t.Errorf("kind %s: runner %v", kind, ok)
		}
	}
	if len(runners) != len(recipe.Kinds())-1 {
		t.Errorf("%d runners for %d kinds, one of which trains", len(runners), len(recipe.Kinds()))
	}
}

// refuted are claims of quick recipes that do not hold. The pace of a descent is judged over seeds, of which the quick scale has one.
var refuted = map[string]bool{"tb-appD generic-1": true, "tb-fig3 pace": true}

// Quick recipes run in a test; their claims hold, but for those that are refuted, and each has a source. The share leaves out the longer of the two descents.
func TestRecipesHold(t *testing.T) {
	for _, id := range []string{"md-fig10", "md-thm3.2", "md-thm4.3", "tb-appD", "tb-fig1", "tb-fig3", "tb-thm5.1", "zhou-fig1", "zhou-fig2", "zhou-fig8", "zhou-thm3.1", "zhou-thm3.2", "zhou-thm3.3", "zhou-lemB.3", "zhou-propC.1", "zhu-thmE.1", "zhu-fig11", "zhu-thmD.1", "imb-minority", "imb-smoothing", "imb-squares", "gen-codes"} {
		if id == "tb-fig3" && !longtest.Whole() {
			continue
		}
		found, err := quick(t, id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		claims := resultOf(found).Claims
		for _, c := range claims {
			if (c.Verdict == judge.Holds) == refuted[id+" "+c.ID] {
				t.Errorf("%s: %s %s: %s", id, c.Statement, c.Verdict, c.Reason)
			}
		}
		if r, err := recipe.Load(id); err != nil || r.Attribute(claims) != nil {
			t.Errorf("%s: %v, %v", id, err, r.Attribute(claims))
		}
	}
}

// The shares of ZH Fig. 2 at K = 10 are those that other code computed.
func TestSharesOfTheLandscape(t *testing.T) {
	r, err := recipe.Load("zhou-fig2")
	if err != nil {
		t.Fatal(err)
	}
	found, err := turningsOf(r.Landscape)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"CE": .82, "MSE α = 1, M = 1": .13, "MSE α = 5, M = 1": .52, "MSE α = 20, M = 1": .70, "MSE α = 1, M = 5": .89, "MSE α = 1, M = 10": .82}
	for _, l := range found.losses {
		if share, ok := want[l.name]; !ok || math.Abs(l.share-share) >= .01 {
			t.Errorf("%s: %.3f, wanted about %.2f", l.name, l.share, share)
		}
	}
	if len(found.losses) != len(want) {
		t.Errorf("%d losses, wanted %d", len(found.losses), len(want))
	}
}

// quick computes a recipe at its quick scale. Only a descent takes longer for that than for the negative controls: in the share, other
// recipes are computed once for both.
func quick(t *testing.T, id string) (results, error) {
	t.Helper()
	r, err := recipe.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind != "descent" && !longtest.Whole() {
		return briefly(t, id)
	}
	return runners[r.Kind](t.Context(), r, Options{Quick: true})
}

func TestCancelledRecipe(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := recipe.Load("tb-fig1")
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
	r, err := recipe.Load("tb-thm4.2")
	if err != nil {
		t.Fatal(err)
	}
	r.Cases, r.ReLU.KMax, r.ReLU.Steps = []recipe.Model{r.Cases[0], r.Cases[4]}, 7, 24
	r.ReLU.QuickStarts = longtest.Of(4, r.ReLU.QuickStarts)
	p, err := Run(context.Background(), r, Options{Quick: true, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]judge.Verdict{"TB Theorem 4.2": judge.Fails, "K = 6, d = 7": judge.Holds, "K = 5, d = 6": judge.Holds, "for K = 2, 3, 4": judge.Holds,
		"Appendix E: every s_k²": judge.Fails, "Appendix E: by Jensen": judge.Fails, "Appendix E: that flat": judge.Fails, "the counterexample is feasible": judge.Holds}
	for prefix, verdict := range want {
		i := slices.IndexFunc(p.Claims, func(c judge.Claim) bool { return strings.HasPrefix(c.Statement, prefix) })
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
}
