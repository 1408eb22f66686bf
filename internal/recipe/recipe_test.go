package recipe

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const small = `id = "x"
title = "A title"
paper = "Someone 2022, Fig. 1"
kind = "training"
[base]
net = { kind = "mlp", depth = 2 }
[presets.code]
optim = { weight_decay = 0.25 }
[full]
seeds = 2
variants = [ { optim.kind = "sgd", optim.lr = 0.05 }, { optim.kind = "adam", optim.lr = 0.001 } ]
[full.grid]
"net.width" = [8, 16, 32]
"loss.kind" = ["ce", "mse"]
[quick]
seeds = 1
set.run.epochs = 3
[[claim]]
id = "a"
says = "it falls"
source = "ours"
kind = "less"
left = 'final("train.nc1_pinv")'
right = 'start("train.nc1_pinv")'
`

func TestExpand(t *testing.T) {
	r, err := Parse("x.toml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := r.Foresee(Choice{Scale: "paper", Preset: "code", Set: []string{"run.batch=32"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2*2*3*2 {
		t.Fatalf("%d runs, wanted 24", len(runs))
	}
	seen := map[string]bool{}
	for i, run := range runs {
		c := run.Config
		if want := uint64(1 + i/12); c.Run.Seed != want {
			t.Errorf("run %d has seed %d, wanted %d: seeds come one after the other", i, c.Run.Seed, want)
		}
		if c.Optim.WeightDecay != 0.25 || c.Run.Batch != 32 || c.Net.Depth != 2 {
			t.Errorf("run %d: decay %g, batch %d, depth %d", i, c.Optim.WeightDecay, c.Run.Batch, c.Net.Depth)
		}
		if want := map[string]float64{"sgd": 0.05, "adam": 0.001}[c.Optim.Kind]; c.Optim.LR != want {
			t.Errorf("%s has rate %g, wanted %g", c.Optim.Kind, c.Optim.LR, want)
		}
		seen[strings.Join(run.Varied, " ")] = true
	}
	if len(seen) != 12 {
		t.Errorf("%d different cells, wanted 12", len(seen))
	}
	quick, err := r.Foresee(Choice{Scale: "quick", Seeds: 4, BuiltIn: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(quick) != 4 || quick[3].Config.Run.Epochs != 3 || quick[3].Config.Data.Name != "glyphs" {
		t.Errorf("%d quick runs, last %+v", len(quick), quick[len(quick)-1].Config)
	}
}

func TestRecipesThatSayTooMuch(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"depth = 2", "dept = 2", "depth"},
		{`seeds = 2`, `sedes = 2`, "sedes"},
		{`seeds = 1`, `seeds = 0`, "seeds"},
		{`"net.width" = [8, 16, 32]`, `"net.width" = [8, -16]`, "net.width"},
		{`final("train.nc1_pinv")`, `final("train.nc1_pinvv")`, "nc1_pinvv"},
		{`kind = "less"`, `kind = "lesss"`, `line 18: judge: claim "a": kind is "lesss"; wanted one of less, more, `},
		{`kind = "less"`, `kind = "lesss"`, `; did you mean less?`},
		{`kind = "less"`, `kind = "equal"`, `line 18: judge: claim "a": a claim of kind equal needs a band`},
		{`"loss.kind" = ["ce", "mse"]`, `"loss.kind" = ["ce", "hinge"]`, "hinge"},
		{`kind = "training"`, `kind = "trainin"`, "trainin"},
		{`says = "it falls"`, ``, "says"},
		{`kind = "less"`, "kind = \"less\"\ncells = [\"net.width\"]", `scale quick: claim "a" has cells by net.width, which does not vary there`},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		if text == small {
			t.Fatalf("%q is not in the recipe", c.old)
		}
		if _, err := Parse("x.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted one that names %q", c.new, err, c.want)
		}
	}
}

func TestPresetsAndScalesThatDoNotExist(t *testing.T) {
	r, err := Parse("x.toml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Foresee(Choice{Scale: "paper", Preset: "cod"}); err == nil || !strings.Contains(err.Error(), "code") {
		t.Errorf("a preset that does not exist: %v", err)
	}
	if _, err := r.Foresee(Choice{Scale: "large"}); err == nil || !strings.Contains(err.Error(), "quick") {
		t.Errorf("a scale that does not exist: %v", err)
	}
}

// Every recipe of the program says only what exists, and what it shows.
func TestEmbeddedRecipes(t *testing.T) {
	theory := 0
	for _, h := range List() {
		r, err := Load(h.ID)
		if err != nil {
			t.Error(err)
			continue
		}
		if r.Title == "" || r.Paper == "" || r.Caption == "" {
			t.Errorf("%s lacks a title, paper or caption", h.ID)
		}
		if r.Head != h || r.Trains() != Trains(h.ID) {
			t.Errorf("%s is listed as %+v", h.ID, h)
		}
		if !r.Trains() {
			theory++
		}
	}
	if training := len(IDs()) - theory; theory < 20 || training < 20 {
		t.Errorf("%d recipes of the theory and %d that train, wanted all of them", theory, training)
	}
	if _, err := Load("tb-fig99"); err == nil || !strings.Contains(err.Error(), "did you mean tb-fig9?") {
		t.Errorf("an unknown recipe: %v", err)
	}
	if _, err := Load("../recipes/tb-fig1"); err == nil || Trains("../recipes/tb-fig5") {
		t.Errorf("a path as an ID: %v", err)
	}
}

const descent = `id = "x"
title = "A title"
paper = "Someone 2022, Fig. 1"
kind = "descent"
[model]
model = "mse"
[descent]
iterations = 3
`

// A recipe of the theory says what its kind reads, all of it and nothing else.
func TestTheoryRecipesThatSayTooMuchOrTooLittle(t *testing.T) {
	if _, err := Parse("x.toml", []byte(descent)); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"iterations = 3", "itertions = 3", "itertions"},
		{"iterations = 3", "iterations = \"three\"", "iterations is a text; wanted a whole number"},
		{"\"descent\"", "\"dessent\"", "dessent"},
		{"\"descent\"", "\"training\"", "model"},
		{"[descent]\niterations = 3\n", "", "descent is missing"},
		{"[descent]\n", "[curve]\nk = [3]\n[descent]\n", "curve"},
		{"[descent]\n", "[full]\nseeds = 3\n[descent]\n", "full"},
		{"title = \"A title\"\n", "", "title"},
		{"id = \"x\"", "id = \"y\"", `id is "y"`},
		{descent, "id = ", "x.toml"},
	} {
		text := strings.Replace(descent, c.old, c.new, 1)
		if text == descent {
			t.Fatalf("%q is not in the recipe", c.old)
		}
		if _, err := Parse("x.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, wanted one that names %q", c.new, err, c.want)
		}
	}
}

// Every section that a recipe can have belongs to a kind, and every section of a kind is one that a recipe can have.
func TestSectionsAreThoseOfTheModel(t *testing.T) {
	model, kinds := map[string]bool{}, map[string]bool{}
	for _, part := range []reflect.Type{reflect.TypeFor[Theory](), reflect.TypeFor[Training]()} {
		for i := range part.NumField() {
			model[part.Field(i).Tag.Get("toml")] = true
		}
	}
	for _, names := range sections {
		for _, name := range names {
			kinds[name] = true
		}
	}
	if !maps.Equal(model, kinds) {
		t.Errorf("the model has %v, the kinds %v", slices.Sorted(maps.Keys(model)), slices.Sorted(maps.Keys(kinds)))
	}
}
