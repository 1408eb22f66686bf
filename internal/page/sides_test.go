package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/internal/judge"
)

func TestSideNames(t *testing.T) {
	for _, c := range []struct{ left, right, wantLeft, wantRight string }{
		{`final("test.accuracy", {"loss.kind": "ls"})`, `final("test.accuracy", {"loss.kind": "ce"}) - 0.005`, "label smoothing", "cross entropy − 0.005"},
		{`final("train.nc1_pinv")`, `0.1 * start("train.nc1_pinv")`, "at the end", "0.1 × at the start"},
		{`final("train.nc1_pinv")`, `at("train.nc1_pinv", 0.75)`, "at the end", "after 0.75 of the epochs"},
		{`final("train@layer2.nc1_pinv")`, `final("train@layer1.nc1_pinv")`, "layer2", "layer1"},
		{`final("test.nc1_pinv")`, `final("train.nc1_pinv")`, "test", "train"},
		{`margin_share(0.1, {"net.feature_dim": 5, "loss.kind": "mse"})`, `margin_share(0.1, {"net.feature_dim": [8, 9], "loss.kind": "mse"})`, "d = 5", "d = 8, 9"},
		{`final("train.accuracy", {"net.feature_dim": 5})`, `final("train.accuracy")`, "d = 5", "as in the row"},
		{`slope("data.noise", "test.dilation")`, "0", "measured", "compared with"},
		{"these runs", "the paper", "these runs", "the paper"},
		{`min(final("train.a"), final("train.b"))`, `final("train.c")`, "left", "right"},
		{`final("train.accuracy")`, `final("train.accuracy")`, "left", "right"},
		{"", "", "left", "right"},
	} {
		got := sideNames(&judge.Effect{Kind: judge.Less, Sides: [2]string{c.left, c.right}})
		if got != [2]string{c.wantLeft, c.wantRight} {
			t.Errorf("%s, %s: %q", c.left, c.right, got)
		}
	}
	if got := sideNames(&judge.Effect{Kind: judge.Linear}); got != [2]string{"bend", "rise"} {
		t.Errorf("a claim of linearity: %q", got)
	}
}

// TestSidesOfRecipesHaveNames reads every claim in the results of scale standard. Two are too long for a name.
func TestSidesOfRecipesHaveNames(t *testing.T) {
	files, err := filepath.Glob("../../docs/results/standard/*.json")
	if err != nil {
		t.Fatal(err)
	}
	named, unnamed := 0, map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var results struct{ Claims []judge.Claim }
		if err := json.Unmarshal(text, &results); err != nil {
			t.Fatal(err)
		}
		for _, c := range results.Claims {
			if c.Effect == nil {
				continue
			}
			names := sideNames(c.Effect)
			if names[0] == "" || names[0] == names[1] {
				t.Errorf("%s: %s is called %q", file, c.Effect.Sides, names)
			}
			named++
			if names[0] == "left" {
				unnamed[c.Effect.Sides[0]] = true
			}
		}
	}
	if named < 150 || len(unnamed) > 2 {
		t.Errorf("%d claims, without names: %v", named, unnamed)
	}
}

func TestCellName(t *testing.T) {
	for _, c := range [][2]string{
		{"data.noise = 0.05, net.feature_dim = 5", "η = 0.05, d = 5"}, {"loss.kind = ce (contradicts)", "cross entropy (contradicts)"}, {"", ""}, {"η = 0.05", "η = 0.05"},
	} {
		if got := cellName(c[0]); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
}
