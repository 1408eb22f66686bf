package judge

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitName(t *testing.T) {
	for name, want := range map[string][3]string{
		"train.nc1_pinv":            {"train", "", "nc1_pinv"},
		"train@layer1.0.nc1_pinv":   {"train", "layer1.0", "nc1_pinv"},
		"test@features.3.cdnv":      {"test", "features.3", "cdnv"},
		"images_per_s":              {"", "", "images_per_s"},
		"train@blocks/3.cdnv":       {"train", "blocks/3", "cdnv"},
		"val/map@0.5":               {"val", "", "map@0.5"},
		"recall@10":                 {"", "", "recall@10"},
		"train@layer4.1.conv2.cdnv": {"train", "layer4.1.conv2", "cdnv"},
	} {
		split, layer, key := SplitName(name)
		if got := [3]string{split, layer, key}; got != want {
			t.Errorf("%s: %q, wanted %q", name, got, want)
		}
	}
}

// TestTellingKeys: of settings that change together one is kept, and settings of settings go first.
func TestTellingKeys(t *testing.T) {
	for _, c := range []struct{ always, want, rows string }{
		{"data", "optim.lr", "data=a optim.lr=1 optim.schedule.kind=x run.epochs=5; data=a optim.lr=2 optim.schedule.kind=y run.epochs=6"},
		{"data", "", "data=a optim.lr=1; data=b optim.lr=2"},
		{"data", "optim.lr run.epochs", "optim.lr=1 run.epochs=5; optim.lr=2 run.epochs=5; optim.lr=2 run.epochs=6"},
		{"data", "optim.lr", "optim.lr=1; run.seed=3"}, // what one does not have tells them apart as well
	} {
		var rows []map[string]string
		var keys []string
		for text := range strings.SplitSeq(c.rows, "; ") {
			row := map[string]string{}
			for setting := range strings.FieldsSeq(text) {
				k, v, _ := strings.Cut(setting, "=")
				if row[k] = v; k != c.always && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
			rows = append(rows, row)
		}
		if got := strings.Join(Telling(rows, []string{c.always}, keys), " "); got != c.want {
			t.Errorf("%s: %q, wanted %q", c.rows, got, c.want)
		}
	}
}

// TestTitlesHaveNoKeys: a title says what differs, in words.
func TestTitlesHaveNoKeys(t *testing.T) {
	g := Experiment{Settings: map[string]string{"data.name": "glyphs", "data.classes": "4", "optim.weight_decay": "0.01", "optim.schedule.kind": "step"}}
	if got := g.describe([]string{"optim.schedule.kind", "optim.weight_decay"}); got != "glyphs, 4 classes, schedule step, weight decay 0.01" {
		t.Error(got)
	}
}
