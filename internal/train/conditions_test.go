package train

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// unusedKeys are the keys without effect in the default configuration with the given overrides.
func unusedKeys(t *testing.T, overrides ...string) map[string]string {
	t.Helper()
	c, err := Load("", nil, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, u := range c.Unused() {
		keys[u.Key] = u.Needs
	}
	return keys
}

func TestUnusedKeysAreThoseOfOtherKinds(t *testing.T) {
	for _, c := range []struct {
		overrides    []string
		unused, used []string
	}{
		{nil, []string{"net.stem", "net.stem_width", "net.etf", "loss.smoothing", "loss.alpha", "loss.m", "loss.reduction", "optim.adam.eps",
			"optim.lbfgs.history", "optim.lambda_h", "optim.schedule.milestones", "optim.schedule.period", "data.noise_rates", "run.tap_pool"},
			[]string{"net.depth", "net.feature_dim", "optim.momentum", "optim.weight_decay", "optim.schedule.every", "data.noise", "run.batch"}},
		{[]string{"loss.kind=lr"}, []string{"loss.alpha", "loss.reduction"}, []string{"loss.smoothing"}},
		{[]string{"loss.kind=mse"}, []string{"loss.alpha", "loss.smoothing"}, []string{"loss.reduction"}},
		{[]string{"loss.kind=rescaled_mse"}, []string{"loss.smoothing"}, []string{"loss.alpha", "loss.m", "loss.reduction"}},
		{[]string{"net.kind=vgg13"}, []string{"net.depth", "net.feature_dim", "net.stem", "net.activation"}, []string{"net.bias"}},
		{[]string{"net.kind=resnet18-adapt"}, []string{"net.stem", "net.width"}, []string{"net.stem_width", "net.feature_dim"}},
		{[]string{"optim.kind=adam"}, []string{"optim.momentum", "optim.nesterov", "optim.lbfgs.max_iter"}, []string{"optim.adam.beta1", "optim.lr"}},
		{[]string{"optim.schedule.kind=constant"}, []string{"optim.schedule.every", "optim.schedule.gamma"}, []string{"optim.schedule.warmup"}},
		{[]string{"optim.schedule.kind=multistep", "optim.schedule.milestones=3"}, []string{"optim.schedule.every"}, []string{"optim.schedule.gamma"}},
	} {
		got := unusedKeys(t, c.overrides...)
		for _, key := range c.unused {
			if got[key] == "" {
				t.Errorf("%v: %s is not said to be without effect", c.overrides, key)
			}
		}
		for _, key := range c.used {
			if needs, is := got[key]; is {
				t.Errorf("%v: %s is said to need %s", c.overrides, key, needs)
			}
		}
	}
	if got, want := unusedKeys(t)["loss.smoothing"], "loss.kind = ls or lr"; got != want {
		t.Errorf("loss.smoothing needs %q, wanted %q", got, want)
	}
}

// TestEverySettingOfAKindIsAKey guards the names that kinds have for their settings.
func TestEverySettingOfAKindIsAKey(t *testing.T) {
	c := Default()
	var keys []string
	for _, f := range c.fields() {
		keys = append(keys, f.key)
	}
	for section, list := range map[string][]nn.Kind{"net.": nn.Networks(), "loss.": nn.Losses(), "optim.": optim.Kinds()} {
		if len(list) == 0 || !slices.Equal(kinds.Names(list), kinds.Names(Kinds(section+"kind"))) {
			t.Errorf("kinds of %s: %v", section, Kinds(section+"kind"))
		}
		for _, k := range list {
			if k.Name == "" || k.Title == "" || k.Doc == "" || strings.ContainsAny(k.Doc, "\n|") {
				t.Errorf("%s%s lacks a title or a line that a table can hold", section, k.Name)
			}
			for _, setting := range k.Uses {
				if !slices.Contains(keys, section+setting) {
					t.Errorf("%s uses %s%s, which is not a key", k.Name, section, setting)
				}
			}
		}
	}
}

// TestWhatWasOnceWrittenKeepsItsName: runs of cross entropy once had a smoothing in their identity although they do not use it, and still have.
func TestWhatWasOnceWrittenKeepsItsName(t *testing.T) {
	c, err := Load("", nil, "loss.smoothing=0.3", "loss.reduction=paper", "optim.schedule.kind=constant", "optim.schedule.every=3")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"data":{"test_digest":"b","train_digest":"a"},"loss":{"reduction":"paper","smoothing":0.3},"optim":{"schedule":{"every":3,"kind":"constant"}}}`
	if got := string(Canonical(c, "a", "b")); got != want {
		t.Errorf("identity %s\nwanted   %s", got, want)
	}
}

// kindTable is the table of docs/training.md that lists the kinds of a section.
func kindTable(section string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| `%s.kind` | what | settings that not every kind uses |\n|---|---|---|\n", section)
	for _, k := range Kinds(section + ".kind") {
		uses := make([]string, len(k.Uses))
		for i, setting := range k.Uses {
			uses[i] = "`" + setting + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s: %s | %s |\n", k.Name, k.Title, k.Doc, strings.Join(uses, ", "))
	}
	return b.String()
}

// docs/training.md lists every kind, and which settings have an effect for it.
func TestKindsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/training.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"net", "loss", "optim"} {
		if want := kindTable(section); !strings.Contains(string(page), want) {
			t.Errorf("docs/training.md does not hold the table of the kinds; it should read\n%s", want)
		}
	}
}
