package recipe

import (
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/train"
)

// TestRecipesHaveNoIdleSettings looks for settings of recipes that no run of either scale reads.
func TestRecipesHaveNoIdleSettings(t *testing.T) {
	for _, h := range List() {
		if !h.Trains() {
			continue
		}
		r, err := Load(h.ID)
		if err != nil {
			t.Fatal(err)
		}
		var configs []train.Config
		for _, scale := range []string{"quick", "paper"} {
			runs, err := r.Foresee(Choice{Scale: scale, Seeds: 1})
			if err != nil {
				t.Fatal(err)
			}
			configs = append(configs, configsOf(runs)...)
		}
		written := slices.Concat(train.SettingsIn(r.Base), train.SettingsIn(r.Quick.Set), train.SettingsIn(r.Full.Set))
		for _, u := range train.Idle(written, configs) {
			t.Errorf("%s: %s has no effect on any run: it means something with %s only", h.ID, u.Key, u.Needs)
		}
	}
}

func TestASettingForNoRunOfARecipeIsRefused(t *testing.T) {
	r, err := Load("md-fig1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Foresee(Choice{Scale: "quick", Set: []string{"optim.adam.eps=1e-6"}}); err == nil || !strings.Contains(err.Error(), "optim.adam.eps has no effect on any run") {
		t.Errorf("%v", err)
	}
}
