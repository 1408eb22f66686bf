package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/scale"
)

// A dry run of one recipe is its plan, with the time that this machine's steps or runs give.
func TestDryRunOfARecipe(t *testing.T) {
	lab := filepath.Join(t.TempDir(), "lab")
	var got planned
	out, _ := called(t, 0, "--lab", lab, "--threads", "2", "--json", "reproduce", "md-fig3", "--dry-run", "--built-in", "--seeds", "1")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Recipe != "md-fig3" || got.Scale != "quick" || !(got.FLOP > 0) || got.Left != got.FLOP || got.Hours.Cores != 2 || !(got.Hours.Here > 0) || got.GPU == "" {
		t.Errorf("%+v", got.Plan)
	}
	if got.Timed == nil || got.Timed.Missing != got.Runs || !(got.Timed.Seconds > 0) || got.Untimed != "" {
		t.Errorf("timed: %+v %s", got.Timed, got.Untimed)
	}
	out, _ = called(t, 0, "--lab", lab, "reproduce", "md-tab2", "--dry-run", "--scale", "paper", "--data-dir", t.TempDir())
	for _, want := range []string{"runs       192\n", "64 cores", "a run at a time)", "rate       VGG13: 505 GFLOP/s", "not timed: mnist is not on this machine"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if here, other := strings.Index(out, "timed here"), strings.Index(out, "64 cores"); here < 0 || other < here {
		t.Errorf("the time here is not first:\n%s", out)
	}
	out, _ = called(t, 0, "--lab", lab, "reproduce", "tb-fig1", "--dry-run")
	if !strings.Contains(out, "seconds on any machine") || strings.Contains(out, "GPU") {
		t.Error(out)
	}
	if _, errs := called(t, exitUsage, "--lab", lab, "reproduce", "md-fig3", "--dry-run", "--preset", "nosuch"); !strings.Contains(errs, "there is no preset") {
		t.Error(errs)
	}
	if _, err := os.Stat(lab); err == nil {
		t.Error("a dry run made a lab")
	}
}

// A dry run of all has a row for each recipe and a sum; a preset that a recipe lacks is said and stops nothing. The share plans once, with
// such a preset, and prints what the JSON says.
func TestDryRunOfAllRecipes(t *testing.T) {
	longtest.Only(t)
	lab := filepath.Join(t.TempDir(), "lab")
	var got struct {
		Recipes []scale.Plan
		Sum     scale.Plan
	}
	all := []string{"--lab", lab, "reproduce", "--all", "--dry-run", "--seeds", "1"}
	preset := append(slices.Clone(all), "--preset", "code")
	out, _ := called(t, 0, append(longtest.Of(preset, all), "--json")...)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, p := range got.Recipes {
		runs += p.Runs
		refused := len(p.Notes) > 0 && strings.HasPrefix(p.Notes[len(p.Notes)-1], "cannot be computed so: ")
		if longtest.Whole() && refused || !refused && p.Trains != (p.Runs > 0 && p.FLOP > 0) {
			t.Errorf("%+v", p)
		}
	}
	if len(got.Recipes) != len(recipe.IDs()) || got.Sum.Runs == 0 || got.Sum.Runs > runs || !(got.Sum.FLOP > 0) {
		t.Errorf("%d recipes, %d runs, sum %+v", len(got.Recipes), runs, got.Sum)
	}
	if longtest.Whole() {
		out, _ = called(t, 0, preset...)
	} else {
		var printed strings.Builder
		printPlans(&app{stdout: &printed}, append(got.Recipes, got.Sum))
		out = printed.String()
	}
	for _, want := range []string{"\nmd-tab1 ", "\nall ", "there is no preset \"code\"", "32 recipes of the theory: seconds each"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
