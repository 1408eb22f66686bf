package recipe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/train"
)

// parsed is a recipe that must be valid.
func parsed(t *testing.T, text string) *Recipe {
	t.Helper()
	r, err := Parse("x.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatAChoiceIsCalled: the words of a choice, and a command that repeats all of it.
func TestWhatAChoiceIsCalled(t *testing.T) {
	for _, test := range []struct {
		c                Choice
		describe, repeat string
	}{
		{Choice{Scale: "quick"}, "Scale quick: 7 runs.", "collapse reproduce x --scale quick"},
		{Choice{Scale: "paper", Preset: "code", Seeds: 1, BuiltIn: true, Set: []string{"run.epochs=3", "optim.lr=0.1"}, Recipes: "my recipes"}, "Scale paper: 7 runs. Preset code.",
			"collapse reproduce x --scale paper --preset code --seeds 1 --built-in --set optim.lr=0.1 --set run.epochs=3 --recipes 'my recipes'"},
	} {
		if got := test.c.Describe(7); got != test.describe {
			t.Errorf("%q, want %q", got, test.describe)
		}
		if got := test.c.Command("x"); got != test.repeat {
			t.Errorf("%q, want %q", got, test.repeat)
		}
	}
	c := Choice{Scale: "quick", Preset: "p", Set: []string{"a=b"}, Seeds: 3, BuiltIn: true, Dir: "d", Recipes: "r"}
	if got, want := c.OfSource(), (Choice{Scale: "quick", Preset: "p", BuiltIn: true, Dir: "d", Recipes: "r"}); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the search is asked for with %+v, want %+v", got, want)
	}
	for key, want := range map[string]bool{"a": true, "b": false, "": false} {
		if (Choice{Set: []string{"c=a", " a = b"}}).sets(key) != want {
			t.Errorf("%q is set: %v", key, !want)
		}
	}
	if got := (Head{}).Notes(); got != nil {
		t.Errorf("%q", got)
	}
	if got := (Head{Ours: "the seeds"}).Notes(); !slices.Equal(got, []string{"Ours, not the paper's: the seeds"}) {
		t.Errorf("%q", got)
	}
}

// TestWhatDepartsFromThePaper: built-in images in place of the full scale's data sets, the scale's substitutions, and what is set by hand, in this order.
func TestWhatDepartsFromThePaper(t *testing.T) {
	r := parsed(t, strings.Replace(small, "[quick]\n", "[quick]\nsubstitution = [ { what = \"epochs\", paper = \"350\", here = \"3\", why = \"time\" } ]\n", 1))
	got, err := r.Departures(Choice{Scale: "quick", BuiltIn: true, Set: []string{"run.batch=32"}})
	want := []Substitution{{"data set", "mnist", "glyphs, drawn by this program", "requested by --built-in, which replaces the paper's data sets", false},
		{"epochs", "350", "3", "time", false}, {"run.batch", "the recipe's", "32", "set by hand", false}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	part := Choice{Scale: "paper", Set: []string{"run.engine=torch", "net.width=[8.0]", "net.width=[8,9]"}}
	if got, err := r.Departures(part); err != nil || len(got) != 2 || got[0] != (Substitution{"only a part of net.width", "[8,16,32]", "[8.0]", "set by hand", true}) || got[1] != (Substitution{"net.width", "the recipe's", "[8,9]", "set by hand", false}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got := Departs([]Substitution{{What: onlyPart + "data.name", Part: true}, {What: "epochs"}, {What: onlyPart + "data.noise", Part: true}}); got != "Of data.name and data.noise only a part was computed. Not as in the paper: epochs." {
		t.Error(got)
	}
	if got, err := r.Departures(Choice{Scale: "paper", Set: []string{"net.width=[32,8,16,8]"}}); err != nil || len(got) != 0 {
		t.Errorf("the whole grid in another order: %+v, %v", got, err)
	}
	if got, err := r.Departures(Choice{Scale: "paper"}); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Departures(Choice{Scale: "pap"}); got != nil || err == nil || err.Error() != `there is no scale "pap", only quick, standard, paper` {
		t.Errorf("%+v, %v", got, err)
	}
	for says, list := range map[string][]Substitution{
		"": nil, "Not as in the paper: a.": {{What: "a"}}, "Not as in the paper: a, b.": {{What: "a"}, {What: "b"}},
		"On H, instead of P: these verdicts are not about the paper's data.":                         {{What: "data set", Paper: "P", Here: "H"}},
		"On H, instead of P: these verdicts are not about the paper's data. Not as in the paper: a.": {{What: "a"}, {What: "data set", Paper: "P", Here: "H"}},
	} {
		if got := Departs(list); got != says {
			t.Errorf("%q, want %q", got, says)
		}
	}
}

// TestTheRunsOfAScale: seed by seed, each with what the grid varies, and with the settings that hand, grid, scale, preset and base give, in this order.
func TestTheRunsOfAScale(t *testing.T) {
	text := strings.NewReplacer("seeds = 1\nset.run.epochs = 3\n", "seeds = 2\nset.run.epochs = 3\nset.optim.lr = 0.5\nset.net.width = 4\ngrid.\"net.width\" = [8, 16]\n",
		"[presets.code]\noptim = {", "[presets.code]\noptim = { lr = 0.25,", "net = { kind = \"mlp\",", "optim = { lr = 0.125 }\nnet = { kind = \"mlp\",").Replace(small)
	r := parsed(t, text)
	list := func(c Choice) (out []string) {
		runs, err := r.Foresee(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			out = append(out, fmt.Sprintf("%s lr %g width %d epochs %d %s", run.Note(), run.Config.Optim.LR, run.Config.Net.Width, run.Config.Run.Epochs, run.Config.Data.Name))
		}
		return out
	}
	for _, test := range []struct {
		c    Choice
		want []string
	}{
		{Choice{Scale: "quick"}, []string{"width = 8, seed 1 lr 0.5 width 8 epochs 3 mnist", "width = 16, seed 1 lr 0.5 width 16 epochs 3 mnist", "width = 8, seed 2 lr 0.5 width 8 epochs 3 mnist", "width = 16, seed 2 lr 0.5 width 16 epochs 3 mnist"}},
		{Choice{Scale: "quick", Seeds: 1, Preset: "code", BuiltIn: true, Set: []string{"net.width=2"}}, []string{"width = 2, seed 1 lr 0.5 width 2 epochs 3 glyphs"}},
		{Choice{Scale: "quick", Seeds: 1, Set: []string{"net.width=[16,4]"}}, []string{"width = 16, seed 1 lr 0.5 width 16 epochs 3 mnist", "width = 4, seed 1 lr 0.5 width 4 epochs 3 mnist"}},
		{Choice{Scale: "quick", Seeds: 1, Set: []string{"net.width=[8]", "optim.lr=0.3", "optim.lr=[0.1,0.10]"}}, []string{"width = 8, rate = 0.1, seed 1 lr 0.1 width 8 epochs 3 mnist"}},
		{Choice{Scale: "quick", Seeds: 1, Set: []string{"net.width=8", "optim.lr=[0.1,0.2]"}}, []string{"width = 8, rate = 0.1, seed 1 lr 0.1 width 8 epochs 3 mnist", "width = 8, rate = 0.2, seed 1 lr 0.2 width 8 epochs 3 mnist"}},
	} {
		if got := list(test.c); !slices.Equal(got, test.want) {
			t.Errorf("%+v:\n%q, want\n%q", test.c, got, test.want)
		}
	}
	runs, err := r.Foresee(Choice{Scale: "quick", BuiltIn: true, Dir: "my \"data\""})
	if d := runs[0].Config.Data; err != nil || d.Size != 32 || !d.Color || d.Samples != 0 || d.TestSamples != 0 || d.Pipeline != "plain" || d.Dir != "my \"data\"" {
		t.Errorf("%+v, %v", d, err)
	}
	many, err := r.Foresee(Choice{Scale: "quick", Seeds: 12})
	if err != nil || many[23].Note() != "width = 16, seed 12" {
		t.Errorf("the last of %d runs is %q, %v", len(many), many[len(many)-1].Note(), err)
	}
	mixed := []Run{{Config: train.Config{Data: train.DataConfig{Name: "b"}}}, {Config: train.Config{Data: train.DataConfig{Name: "a"}}}, {Config: train.Config{Data: train.DataConfig{Name: "b"}}}}
	if got := DataSets(mixed); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("data sets %q", got)
	}
	for c, says := range map[*Choice]string{
		{Scale: "standard"}:                                                      "the recipe has no scale standard, or it lacks seeds",
		{Scale: "quick", Preset: "mine"}:                                         `there is no preset "mine"; wanted one of code`,
		{Scale: "quick", Set: []string{"run.seed=7"}}:                            "--set run.seed=7: a recipe has seeds 1 to N; choose N with --seeds",
		{Scale: "quick", Set: []string{"net.width=[]"}}:                          "--set net.width=[]: has no values, so there would be no run",
		{Scale: "quick", Set: []string{"net.width=[8,"}}:                         "--set net.width=[8,: not a list of values: ",
		{Scale: "quick", Set: []string{"net.w=3"}}:                               "net.width=8",
		{Scale: "quick", Set: []string{"optim.momentum=0.5", "optim.kind=adam"}}: "--set optim.momentum has no effect on any run of x: it applies only with ",
	} {
		if runs, err := r.Foresee(*c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %d runs, %v; want %q", *c, len(runs), err, says)
		}
	}
}

// TestTheStudyOfASearch: base and scale, each key once, the grid but for what is set by hand, the seeds, and the table of the search, in which the preset wins.
func TestTheStudyOfASearch(t *testing.T) {
	text := strings.NewReplacer("[presets.code]\nrun = { batch = 16 }\n", "[presets.code]\nrun = { batch = 16 }\nsearch = { trials = 5, sampler = \"tpe\" }\n",
		"seeds = 2\n", "seeds = 2\nsearch = { trials = 2 }\nset.data.noise = 0.1\n").Replace(searches)
	r, err := LoadFrom(fstest.MapFS{"first.toml": {Data: []byte(text)}}, "first")
	if err != nil {
		t.Fatal(err)
	}
	head := "[study]\nname = \"n\"\ntitle = \"A search\"\n[base]\n"
	space := "[search.space]\n"
	for _, test := range []struct {
		c      Choice
		begins string
		search []string
	}{
		{Choice{Scale: "paper"}, head + "\"data.name\" = \"mnist\"\n\"data.validation\" = 0.2\n\"run.epochs\" = 4\n[grid]\n\"data.name\" = [\"mnist\",\"cifar-10\"]\n\"loss.kind\" = [\"ce\",\"ls\"]\n\"run.seed\" = [1]\n[search]\n",
			[]string{"sampler = 'random'\n", "trials = 4\n"}},
		{Choice{Scale: "quick", Seeds: 3, Set: []string{"data.name=cifar-10"}}, head + "\"data.name\" = \"cifar-10\"\n\"data.noise\" = 0.1\n\"data.validation\" = 0.2\n\"run.epochs\" = 4\n[grid]\n\"loss.kind\" = [\"ce\",\"ls\"]\n\"run.seed\" = [1,2,3]\n[search]\n",
			[]string{"sampler = 'random'\n", "trials = 2\n"}},
		{Choice{Scale: "quick", Preset: "code", Set: []string{"loss.kind=ls"}}, head + "\"data.name\" = \"mnist\"\n\"data.noise\" = 0.1\n\"data.validation\" = 0.2\n\"loss.kind\" = \"ls\"\n\"run.batch\" = 16\n\"run.epochs\" = 4\n[grid]\n\"run.seed\" = [1,2]\n[search]\n",
			[]string{"sampler = 'tpe'\n", "trials = 5\n"}},
	} {
		got, err := r.SearchFile("n", test.c)
		if err != nil || !strings.HasPrefix(string(got), test.begins) || !strings.Contains(string(got), space) {
			t.Errorf("%+v: %v\n%s\nwant\n%s", test.c, err, got, test.begins)
		}
		for _, want := range test.search {
			if !strings.Contains(string(got), want) {
				t.Errorf("%+v: %s\nlacks %s", test.c, got, want)
			}
		}
	}
	for c, says := range map[*Choice]string{
		{Scale: "huge"}:                "there is no scale \"huge\"",
		{Scale: "paper", Preset: "my"}: "there is no preset \"my\"",
		{Scale: "paper", Set: []string{"search.trials=3", "run.epochs=2", "search.sampler=tpe"}}: "search.trials=3, search.sampler=tpe: a recipe's search is fixed; copy it to a study file to change it",
	} {
		if got, err := r.SearchFile("n", *c); got != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %s, %v", *c, got, err)
		}
	}
	r.Search["trials"] = make(chan int)
	if got, err := r.SearchFile("n", Choice{Scale: "paper"}); got != nil || err == nil || !strings.HasPrefix(err.Error(), "recipe: ") {
		t.Errorf("a table that TOML cannot hold: %s, %v", got, err)
	}
	for value, want := range map[string]string{"3": "3", "0.5": "0.5", "true": "true", `"a"`: `"a"`, "a": `"a"`, "cifar-10": `"cifar-10"`, "[1, 2]": "[1, 2]"} {
		if got := quoted(value); got != want {
			t.Errorf("%s is written as %s, want %s", value, got, want)
		}
	}
}

// TestWhatARecipeCannotSay: each is refused for its own reason, on its own line where it has one.
func TestWhatARecipeCannotSay(t *testing.T) {
	claim := small[strings.Index(small, "[[claim]]"):]
	searching := strings.Replace(small, "[quick]", "[search]\ntrials = 3\n[quick]", 1)
	for _, c := range []struct{ text, old, new, want string }{
		{small, "id = \"x\"\n", "", "id, title and paper must be given"},
		{small, "paper = \"Someone 2022, Fig. 1\"\n", "", "id, title and paper must be given"},
		{small, "id = \"a\"\n", "", `claim "": id and says must be given, and each id only once`},
		{small, claim, claim + claim, `claim "a": id and says must be given, and each id only once`},
		{small, "source = \"ours\"\n", "", `line 18: claim "a": source is missing`},
		{small, claim, claim + "[[number]]\nwhat = \"w\"\n", `number "w": place is missing, the table or section of the paper that prints it`},
		{small, claim, claim + "[printed]\nsays = \"s\"\nbecause = \"b\"\nband = [-1, 1]\nruns = 1\n", "[printed]: source is missing"},
		{small, claim, claim + "[printed]\nsource = \"ours\"\n", "[printed] needs says and because"},
		{small, claim, claim + "[[number]]\nplace = \"Table 1\"\n", "judge: "},
		{small, claim, claim + "[[drawing]]\n[[drawing.panel]]\ntitle = \"p\"\nx = \"epoch\"\ny = \"train.nc1_pinvv\"\n", "panel \"p\": "},
		{small, claim, claim + "[[source]]\nclaims = [\"a\"]\n", "a recipe of kind training cannot have source, only base, "},
		{small, "[full]\n", "[full]\nsearch = { trials = 3 }\n", "a search needs [search], and no variants"},
		{small, "[quick]\n", "[quick]\nsearch = { trials = 3 }\n", "a search needs [search], and no variants"},
		{small, claim, "[standard]\nseeds = 1\nsearch = { trials = 3 }\n" + claim, "a search needs [search], and no variants"},
		{searching, "A title", "Another title", "a search needs [search], and no variants"},
		{small, "weight_decay = 0.25", "weight_decay = -0.25", "preset code: "},
		{small, "[quick]\n", "[quick]\nset.net.depth = -3\n", "scale quick: "},
		{small, claim, "[standard]\nseeds = 1\nset.net.depth = -3\n" + claim, "scale standard: "},
		{small, "kind = \"less\"", "kind = \"less\"\ncells = [\"net.depth\"]", `scale quick: claim "a" has cells by net.depth, which does not vary there: give the scale a grid, or leave out cells`},
		{descent, "[descent]\n", "[[source]]\nsource = \"ours\"\n[descent]\n", "[[source]]: claims is missing, the ids of the claims that it is about"},
		{descent, "[descent]\n", "[[source]]\nclaims = [\"a\", \"b\", \"a\"]\nsource = \"ours\"\n[descent]\n", `[[source]]: "a" is named twice`},
		{descent, "[descent]\n", "[[source]]\nclaims = [\"a\", \"b\"]\n[descent]\n", "[[source]] of a, b: "},
		{descent, "[model]\nmodel = \"mse\"\n", "", "model is missing, which a recipe of kind descent needs"},
		{descent, "[model]", "[curve]\nk = [3]\n[model]", "a recipe of kind descent cannot have curve, only model, descent"},
	} {
		text := strings.Replace(c.text, c.old, c.new, 1)
		_, err := Parse("x.toml", []byte(text))
		if text == c.text {
			t.Fatalf("%q is not in the recipe", c.old)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "recipe: x.toml: ") {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
	cells := strings.NewReplacer("[quick]\n", "[quick]\ngrid.\"net.width\" = [8, 16]\ngrid.\"loss.kind\" = [\"ce\"]\n", "kind = \"less\"", "kind = \"less\"\ncells = [\"loss.kind\", \"net.width\"]").Replace(small)
	parsed(t, cells)                                                                      // one of the two varies
	parsed(t, strings.Replace(small, claim, "[standard]\nset.net.depth = -3\n"+claim, 1)) // a scale without seeds is none yet
}

// TestWhoseAClaimIs: by its id, or by that of its cases; one without a source is an error.
func TestWhoseAClaimIs(t *testing.T) {
	ours, theirs := judge.Provenance{Source: "ours"}, judge.Provenance{Source: "paper", Quote: "q"}
	r := Recipe{Head: Head{ID: "x"}, Sources: []Attribution{{[]string{"rate", "k-3"}, theirs}, {[]string{"k"}, ours}}}
	for id, want := range map[string]*judge.Provenance{"rate": &theirs, "rate-12": &theirs, "k-3": &theirs, "k-4": &ours, "k": &ours, "rat": nil, "rate-x": nil, "": nil} {
		p, ok := r.sourceOf(id)
		if ok != (want != nil) || ok && p != *want {
			t.Errorf("%s: %+v, %v", id, p, ok)
		}
	}
	claims := []judge.Claim{{ID: "rate"}, {ID: "own"}}
	claims[1].Provenance = ours
	if err := r.Attribute(claims); err != nil || claims[0].Provenance != theirs || claims[1].Provenance != ours {
		t.Errorf("%+v, %v", claims, err)
	}
	nobodys := []judge.Claim{{ID: "other"}}
	nobodys[0].Source = judge.Unrecorded
	if err := r.Attribute(nobodys); err == nil || err.Error() != `recipe: x: no [[source]] says whose the claim "other" is` {
		t.Error(err)
	}
}

// TestFoldersOfRecipes: what cannot be read is an error that says so; the papers' recipes are those without a folder.
func TestFoldersOfRecipes(t *testing.T) {
	if b, err := BookIn(""); err != nil || b != papers {
		t.Errorf("%v, %v", b, err)
	}
	dir := t.TempDir()
	if _, err := BookIn(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "recipe: ") {
		t.Error(err)
	}
	for name, text := range map[string]string{"y.toml": small, "bad.toml": "id = ", ".hidden.toml": small, "x.toml": small} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := BookIn(dir)
	if err != nil || !slices.Equal(b.IDs(), []string{"bad", "x", "y"}) {
		t.Fatalf("%v, %v", b, err)
	}
	var heads []string
	for _, h := range b.List() {
		heads = append(heads, h.ID)
	}
	if !slices.Equal(heads, []string{"x", "x"}) { // y says that it is x
		t.Errorf("listed are %q", heads)
	}
	for id, want := range map[string]bool{"x": true, "bad": false, "none": false, ".hidden": false, "../x": false} {
		if b.Trains(id) != want {
			t.Errorf("%s trains: %v", id, !want)
		}
	}
	_, err = b.Load("xx")
	var unknown *UnknownError
	if !errors.As(err, &unknown) || unknown.ID != "xx" || unknown.Dir != dir || err.Error() != `there is no recipe "xx" in `+dir {
		t.Error(err)
	}
	if _, err := Load("zzz"); err == nil || err.Error() != `there is no recipe "zzz"` {
		t.Error(err)
	}
	if _, err := LoadFrom(fstest.MapFS{}, "x"); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "recipe: ") {
		t.Error(err)
	}
	if _, err := b.Load("y"); err == nil || !strings.Contains(err.Error(), `recipe: y.toml: id is "x"`) {
		t.Error(err)
	}
}
