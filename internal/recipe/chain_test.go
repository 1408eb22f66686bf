package recipe

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"collapse.example/collapse/internal/train"
)

const searches = `id = "first"
title = "A search"
paper = "Someone 2022, Table 1"
kind = "training"
[base]
data = { name = "mnist", validation = 0.2 }
run = { epochs = 4 }
[presets.code]
run = { batch = 16 }
[search]
sampler = "random"
trials = 4
[search.space]
"optim.lr" = { log_uniform = [1e-3, 0.5] }
optim.weight_decay = { choice = [0.0, 0.1] }
"loss.smoothing" = { uniform = [0.01, 0.25], when = { "loss.kind" = ["ls", "lr"] } }
[full]
seeds = 1
[full.grid]
"data.name" = ["mnist", "cifar-10"]
"loss.kind" = ["ce", "ls"]
[quick]
seeds = 2
[quick.grid]
"loss.kind" = ["ce", "ls"]
`

const chained = `id = "second"
title = "A table"
paper = "Someone 2022, Table 2"
kind = "training"
[base]
data = { name = "mnist" }
optim = { lr = 0.25 }
run = { epochs = 4 }
[presets.code]
run = { batch = 16 }
[settings_from]
recipe = "first"
match = ["data.name", "loss.kind"]
take = ["optim.lr", "loss.smoothing"]
[full]
seeds = 1
[full.grid]
"data.name" = ["mnist", "cifar-10"]
"loss.kind" = ["ls"]
[quick]
seeds = 2
[quick.grid]
"loss.kind" = ["ce", "ls"]
"data.noise" = [0.0, 0.1]
`

func loadPair(t *testing.T, first, second string) (*Recipe, error) {
	t.Helper()
	return LoadFrom(fstest.MapFS{"first.toml": {Data: []byte(first)}, "second.toml": {Data: []byte(second)}}, "second")
}

func pair(t *testing.T) *Recipe {
	t.Helper()
	r, err := loadPair(t, searches, chained)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func cell(loss string) []string { return []string{`data.name="mnist"`, `loss.kind="` + loss + `"`} }

var foundForBoth = Found{{Cell: cell("ls"), Settings: []string{"optim.lr=0.125", "loss.smoothing=0.2"}}, {Cell: cell("ce"), Settings: []string{"optim.lr=0.5"}}}

func TestRunsTakeTheSettingsOfTheirCell(t *testing.T) {
	r := pair(t)
	runs, err := r.Expand(Choice{Scale: "quick"}, foundForBoth)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 8 {
		t.Fatalf("%d runs, wanted 8", len(runs))
	}
	for _, run := range runs {
		lr, smoothing := 0.5, train.Default().Loss.Smoothing
		if run.Config.Loss.Kind == "ls" {
			lr, smoothing = 0.125, 0.2
		}
		if c := run.Config; c.Optim.LR != lr || c.Loss.Smoothing != smoothing {
			t.Errorf("%s: rate %g, smoothing %g; wanted %g, %g", run.Note(), c.Optim.LR, c.Loss.Smoothing, lr, smoothing)
		}
	}
	runs, err = r.Expand(Choice{Scale: "quick", Set: []string{"optim.lr=0.01"}}, foundForBoth)
	if err != nil || runs[0].Config.Optim.LR != 0.01 || runs[1].Config.Optim.LR != 0.01 || runs[1].Config.Loss.Smoothing != 0.2 {
		t.Errorf("with one setting by hand: %+v, %v", runs, err)
	}
	for _, list := range []string{"optim.lr=[0.01]", "optim.lr=[0.01,0.02]"} { // by hand, it is not taken from the search
		runs, err = r.Expand(Choice{Scale: "quick", Set: []string{list}}, foundForBoth)
		if err != nil || runs[0].Config.Optim.LR != 0.01 || !strings.Contains(runs[0].Note(), "0.01") {
			t.Errorf("%s: %+v, %v", list, runs, err)
		}
	}
	foreseen, err := r.Foresee(Choice{Scale: "quick"})
	if err != nil || len(foreseen) != 8 || foreseen[0].Config.Optim.LR != 0.25 {
		t.Errorf("%d runs foreseen, %v", len(foreseen), err)
	}
	if got := r.SettingsFrom.Of([]string{"optim.lr=0.1", "optim.weight_decay=0.1", "loss.smoothing=0.2"}); !slices.Equal(got, []string{"optim.lr=0.1", "loss.smoothing=0.2"}) {
		t.Errorf("of what was searched %q are taken", got)
	}
}

func TestACellWithoutASearchIsRefused(t *testing.T) {
	r, lr := pair(t), Choice{Scale: "quick", Set: []string{"loss.kind=lr"}}
	if _, err := r.Foresee(lr); err == nil || !strings.Contains(err.Error(), `which has none for data.name="mnist", loss.kind="lr"`) {
		t.Errorf("foreseen: %v", err)
	}
	for name, c := range map[string]struct {
		choice Choice
		found  Found
		want   []string
	}{
		"no search yet": {Choice{Scale: "quick", Preset: "code", Seeds: 1}, nil, []string{`which has none for data.name="mnist", loss.kind="ce"`, "run collapse reproduce first --scale quick --preset code if its search is not finished, ", "--set optim.lr=… --set loss.smoothing=…"}},
		"not for all":   {Choice{Scale: "quick"}, foundForBoth[:1], []string{`for data.name="mnist", loss.kind="ce"`, "run collapse reproduce first --scale quick if "}},
		"by hand":       {lr, foundForBoth, []string{`for data.name="mnist", loss.kind="lr"`}},
	} {
		_, err := r.Expand(c.choice, c.found)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; wanted %q", name, err, want)
			}
		}
	}
	byHand := Choice{Scale: "quick", Set: []string{"optim.lr=0.01", "loss.smoothing=0.1"}}
	if runs, err := r.Expand(byHand, nil); err != nil || len(runs) != 8 || r.Source(byHand) != nil {
		t.Errorf("all settings by hand: %d runs, %v", len(runs), err)
	}
	if source := r.Source(Choice{Scale: "quick", Set: []string{"optim.lr=0.01"}}); source == nil || source.ID != "first" {
		t.Errorf("with one setting by hand the source is %v", source)
	}
}

// What is set by hand is stronger than the grid in a search, too.
func TestASearchOnBuiltInImagesHasNoDataSetsInItsGrid(t *testing.T) {
	source := pair(t).Source(Choice{Scale: "paper"})
	for _, c := range []Choice{{Scale: "paper", BuiltIn: true}, {Scale: "paper", Set: []string{"data.name=glyphs"}}} {
		text, err := source.SearchFile("x", c)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text); strings.Contains(got, "mnist") || !strings.Contains(got, "glyphs") || !strings.Contains(got, `"loss.kind" = ["ce","ls"]`) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestChainsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct{ first, second, old, new, want string }{
		"key":             {searches, chained, `recipe = "first"`, `recpe = "first"`, "line 12: unknown key settings_from.recpe; did you mean recipe?"},
		"section":         {searches, chained, `[settings_from]`, `[settings_fom]`, "unknown key settings_fom; did you mean settings_from?"},
		"recipe":          {searches, chained, `recipe = "first"`, `recipe = "md-tab11"`, `line 12: settings_from.recipe is "md-tab11", which is not a recipe; did you mean md-tab1?`},
		"itself":          {searches, chained, `recipe = "first"`, `recipe = "second"`, `"second", which itself takes settings from another recipe`},
		"no recipe":       {searches, chained, `recipe = "first"`, ``, `line 11: settings_from.recipe is "", which is not a recipe`},
		"no search":       {small, chained, "", "", "which has no [search]"},
		"searches itself": {searches, chained, "[full]", "[search]\ntrials = 3\n[full]", "searches its own settings"},
		"take":            {searches, chained, `take = ["optim.lr"`, `take = ["optim.lrr"`, `line 14: settings_from.take has "optim.lrr", which first does not search; did you mean optim.lr?`},
		"take nothing":    {searches, chained, `take = ["optim.lr", "loss.smoothing"]`, ``, "settings_from.take is missing; first searches loss.smoothing, optim.lr, optim.weight_decay"},
		"match":           {searches, chained, `match = ["data.name"`, `match = ["data.nam"`, `line 13: settings_from.match has "data.nam"; wanted settings other than the seed; did you mean data.name?`},
		"seed":            {searches, chained, `match = [`, `match = ["run.seed", `, `match has "run.seed"`},
		"match too few":   {searches, chained, `match = ["data.name", `, `match = [`, `line 13: settings_from.match lacks "data.name", by which the searches of first differ`},
		"cell":            {searches, chained, `"loss.kind" = ["ls"]`, `"loss.kind" = ["mse"]`, `scale paper: data.name="mnist", loss.kind="mse": second takes settings from first, which has none for data.name="mnist", loss.kind="mse"`},
		"preset":          {searches, chained, `[presets.code]`, `[presets.mine]`, `line 12: settings_from.recipe is "first", which has no preset mine`},
		"a bad source":    {strings.Replace(searches, "title", "titel", 1), chained, "", "", "recipe: second.toml: recipe: first.toml: line 2: unknown key titel"},
		"scale":           {searches, chained, "[quick]\n", "[standard]\nseeds = 1\n[quick]\n", "scale standard: first: the recipe has no scale standard"},
	} {
		second := strings.Replace(c.second, c.old, c.new, 1)
		first := strings.Replace(c.first, `id = "x"`, `id = "first"`, 1)
		if second == c.second && c.old != "" {
			t.Fatalf("%q is not in the recipe", c.old)
		}
		if _, err := loadPair(t, first, second); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted %q", name, err, c.want)
		}
	}
}
