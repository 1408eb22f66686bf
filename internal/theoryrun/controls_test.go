package theoryrun

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/recipe"
)

// control is a negative control: results with one thing wrong, for which a claim must not hold.
type control struct {
	wrong string // what is wrong
	// make spoils results for the claim about case i.
	make func(r results, i int) results
	// sound, if set, makes results for which the claim holds out of those of the test's short run; nil: it holds for them as they are.
	sound func(r results, i int) results
}

// on is a change of results of one kind: change gets a shallow copy, and copies what it changes below.
func on[T any](change func(r *T, i int)) func(results, int) results {
	return func(r results, i int) results {
		spoiled := *any(r).(*T)
		change(&spoiled, i)
		return any(&spoiled).(results)
	}
}

// item makes a copy of a slice and returns element i of it.
func item[T any](list *[]T, i int) *T {
	*list = append([]T(nil), *list...)
	return &(*list)[i]
}

var caseNumber = regexp.MustCompile(`-(\d+)$`)

// claimCase splits a claim's id into what it says and of which case, from 0.
func claimCase(id string) (base string, i int) {
	if at := caseNumber.FindStringSubmatchIndex(id); at != nil {
		_, err := fmt.Sscan(id[at[2]:], &i)
		if err != nil {
			panic(err)
		}
		return id[:at[0]], i - 1
	}
	return id, 0
}

// shortened is a recipe that takes moments: its claims are the same ones, though some of a short descent do not hold.
func shortened(t *testing.T, id string) *recipe.Recipe {
	t.Helper()
	r, err := recipe.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind == "descent" {
		r.Descent.Iterations, r.Descent.Quick, r.Descent.Seeds = 40, 0, 1
	}
	if r.Kind == "depth" {
		r.Depth.K, r.Depth.Layers, r.Depth.Steps, r.Depth.Starts = []int{2, 3, 6, 10}, []int{2, 4}, 3, longtest.Of(16, 48)
	}
	if r.Kind == "sphere" && !longtest.Whole() { // the largest codes take most of the time; their claims are the smaller ones'
		r.Sphere.Codes, r.Sphere.Starts = r.Sphere.Codes[:5], 4
	}
	r.ReLU.KMax, r.ReLU.Steps, r.ReLU.Starts, r.ReLU.QuickStarts = min(r.ReLU.KMax, 5), min(r.ReLU.Steps, 8), longtest.Of(4, 12), 0
	return r
}

// brief has the results of shortened recipes.
var brief = map[string]results{}

// briefly computes a shortened recipe, once for all tests.
func briefly(t *testing.T, id string) (results, error) {
	t.Helper()
	if found, ok := brief[id]; ok {
		return found, nil
	}
	r := shortened(t, id)
	found, err := runners[r.Kind](t.Context(), r, Options{Quick: true})
	if err == nil {
		brief[id] = found
	}
	return found, err
}

func verdict(t *testing.T, r results, id string) judge.Verdict {
	t.Helper()
	for _, c := range r.claims() {
		if c.ID == id {
			return c.Verdict
		}
	}
	t.Fatalf("claim %s is gone", id)
	return ""
}

// Every claim of every recipe comes out "does not hold" for results that are wrong in the way that it is about, and "holds" for the
// same results without that fault. A claim without such controls fails here, and so do controls that no recipe's claim needs.
func TestEveryClaimHasNegativeControls(t *testing.T) {
	longtest.Only(t)
	used := map[string]bool{}
	for _, id := range recipe.IDs() {
		if recipe.Trains(id) {
			continue
		}
		r, err := recipe.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		found, err := briefly(t, id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		seen := map[string]bool{}
		for _, c := range found.claims() {
			base, i := claimCase(c.ID)
			key := r.Kind + "/" + base
			if used[key] = true; c.ID == "" || seen[c.ID] || len(controls[key]) == 0 {
				t.Errorf("%s: claim %q (%s) has no id, an id of another or no negative control", id, c.ID, c.Statement)
			}
			seen[c.ID] = true
			for _, ctl := range controls[key] {
				sound := found
				if ctl.sound != nil {
					sound = ctl.sound(found, i)
				}
				if v := verdict(t, sound, c.ID); v != judge.Holds {
					t.Errorf("%s: claim %s before “%s”: %s", id, c.ID, ctl.wrong, v)
				}
				if v := verdict(t, ctl.make(sound, i), c.ID); v != judge.Fails {
					t.Errorf("%s: claim %s with “%s”: %s", id, c.ID, ctl.wrong, v)
				}
			}
		}
	}
	for key := range controls {
		if !used[key] {
			t.Errorf("no recipe makes the claim of the controls %s", key)
		}
	}
}

// The text of a claim is not a format of its own: evidence that holds a percent sign is printed as it is.
func TestEvidenceIsPrintedAsItIs(t *testing.T) {
	c := claim("x", "a %d statement", true, "%s", "1 % lower")
	if c.Statement != "a %d statement" || c.Reason != "1 % lower" || strings.Contains(c.Reason, "!") {
		t.Errorf("%+v", c)
	}
}
