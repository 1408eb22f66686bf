package study_test

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/study"
)

func TestASettingThatSomeRunUsesIsShared(t *testing.T) {
	for _, c := range []struct {
		text, set, want string
	}{
		{"[base]\noptim.momentum = 0.5\n[grid]\noptim.kind = ['sgd', 'adam']\n", "", ""},
		{"[base]\noptim.momentum = 0.5\n[grid]\noptim.kind = ['lbfgs', 'adam']\n", "", "[base] optim.momentum has no effect on any run"},
		{"[base]\noptim.momentum = 0.9\noptim.kind = 'adam'\n", "", ""}, // its default
		{"[base]\noptim.kind = 'adam'\n", "optim.momentum=0.9", "--set optim.momentum has no effect on any run"},
		{"[grid]\nloss.smoothing = [0.1, 0.2]\nloss.kind = ['ce', 'ls']\n", "", ""},
		{"[grid]\nloss.smoothing = [0.1, 0.2]\n", "", "[grid] loss.smoothing has no effect on any run"},
	} {
		var set []string
		if c.set != "" {
			set = []string{c.set}
		}
		f, err := study.ParseFile("x.toml", []byte(c.text), set, 0)
		must(t, err)
		configs, _, err := f.Configs()
		must(t, err)
		if err = f.Idle(configs); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q %q: %v; wanted %q", c.text, c.set, err, c.want)
		}
	}
}
