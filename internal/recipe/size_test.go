package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A few characters ask for more runs than any machine holds: nothing is made from them.
func TestAGridThatIsTooLargeIsRefused(t *testing.T) {
	r, err := Load("md-fig1")
	if err != nil {
		t.Fatal(err)
	}
	var many strings.Builder
	for i := range 120_000 {
		fmt.Fprintf(&many, "0.%06d,", i+1)
	}
	ten := "=[0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08,0.09,0.1]"
	for name, c := range map[string]Choice{
		"one list":        {Scale: "quick", Set: []string{"optim.lr=[" + strings.TrimSuffix(many.String(), ",") + "]"}},
		"seeds":           {Scale: "quick", Seeds: 1 << 62},
		"some too many":   {Scale: "quick", Seeds: 4167}, // of 24 settings
		"lists":           {Scale: "quick", Set: []string{"optim.lr" + ten, "optim.weight_decay" + ten, "data.noise" + ten, "loss.smoothing" + ten, "optim.momentum" + ten}},
		"lists and seeds": {Scale: "quick", Seeds: 250, Set: []string{"optim.lr" + ten, "optim.weight_decay" + ten}},
	} {
		if runs, err := r.Foresee(c); err == nil || !strings.Contains(err.Error(), "more than 100000 runs") {
			t.Errorf("%s: %d runs, %v", name, len(runs), err)
		}
	}
	for name, c := range map[string]Choice{"seeds": {Scale: "quick", Seeds: -3}, "settings": {Scale: "quick", Set: slices.Repeat([]string{"optim.lr=0.1"}, mostSettings+1)}} {
		if runs, err := r.Foresee(c); err == nil || !strings.Contains(err.Error(), "wanted at least none and at most 1000") {
			t.Errorf("%s: %d runs, %v", name, len(runs), err)
		}
	}
	if runs, err := r.Foresee(Choice{Scale: "quick", Seeds: 4166}); err != nil || len(runs) != 4166*24 {
		t.Errorf("the most that is allowed: %d runs, %v", len(runs), err)
	}
}
