package recipe

import (
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
holds = 'final("train.nc1_pinv") < 1'
`

func TestExpand(t *testing.T) {
	r, err := Parse("x.toml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := r.Expand(Choice{Scale: "paper", Preset: "code", Set: []string{"run.batch=32"}})
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
	quick, err := r.Expand(Choice{Scale: "quick", Seeds: 4, BuiltIn: true})
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
		{`"loss.kind" = ["ce", "mse"]`, `"loss.kind" = ["ce", "hinge"]`, "hinge"},
		{`kind = "training"`, `kind = "trainin"`, "trainin"},
		{`says = "it falls"`, ``, "says"},
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
	if _, err := r.Expand(Choice{Scale: "paper", Preset: "cod"}); err == nil || !strings.Contains(err.Error(), "code") {
		t.Errorf("a preset that does not exist: %v", err)
	}
	if _, err := r.Expand(Choice{Scale: "large"}); err == nil || !strings.Contains(err.Error(), "quick") {
		t.Errorf("a scale that does not exist: %v", err)
	}
}

// Every recipe of the program says only what exists.
func TestEmbeddedRecipes(t *testing.T) {
	ids := List()
	if len(ids) == 0 {
		t.Fatal("no recipe trains a network")
	}
	for _, id := range ids {
		if _, err := Load(id); err != nil {
			t.Error(err)
		}
	}
}
