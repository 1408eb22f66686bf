package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOneRunRefusesWhatHasNoEffect(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	for _, c := range []struct {
		text      string
		overrides []string
		want      string // "": accepted
	}{
		{"", []string{"optim.kind=adam", "optim.momentum=0.9"}, "optim.momentum: is 0.9, but has an effect only with optim.kind = sgd"},
		{"", []string{"loss.smoothing=0.2"}, "loss.smoothing: is 0.2, but has an effect only with loss.kind = ls or lr"},
		{"", []string{"loss.smoothing=0.2", "loss.kind=ls"}, ""},
		{"[loss]\nsmoothing = 0.2\n", nil, "c.toml:2: loss.smoothing"},
		{"[loss]\nsmoothing = 0.1\n", nil, ""}, // its default: a file may hold every key
		{"[loss]\nsmoothing = 0.2\n", []string{"loss.kind=ls"}, ""},
		{"", []string{"net.kind=vgg13", "net.width=0"}, "net.width: is 0"},
		{PrintConfig(Default()), nil, ""},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ForOneRun(Default(), file, c.overrides...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q %q: %v; wanted %q", c.text, c.overrides, err, c.want)
		}
	}
	for _, s := range Settings() {
		c, err := Setting(s.Name)
		if err == nil {
			err = os.WriteFile(file, []byte(PrintConfig(c)), 0o600)
		}
		if err == nil {
			_, err = ForOneRun(Default(), file)
		}
		if err != nil {
			t.Errorf("%s, printed and read: %v", s.Name, err)
		}
	}
}

func TestSharedSettingsArePassedOver(t *testing.T) {
	c, err := LoadShared("optim.momentum=0.5", "optim.kind=adam")
	if err != nil || c.Optim.Momentum != Default().Optim.Momentum {
		t.Fatalf("%v: momentum %g", err, c.Optim.Momentum)
	}
	own, err := Load("", nil, "optim.kind=adam")
	if err != nil || own != c {
		t.Errorf("%v: %+v and %+v", err, own, c)
	}
	sgd, err := LoadShared("optim.momentum=0.5")
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"optim.momentum=0.5", "optim.lbfgs.history=3"}
	if idle := Idle(settings, []Config{c, sgd}); len(idle) != 1 || idle[0].Key != "optim.lbfgs.history" {
		t.Errorf("idle in both: %v", idle)
	}
	if idle := Idle(settings, []Config{c}); len(idle) != 2 {
		t.Errorf("idle in one: %v", idle)
	}
}

func TestKeysHaveDefaults(t *testing.T) {
	for _, k := range Keys() {
		if c, err := Load("", nil, k.Name+"="+k.Default); err != nil || c != Default() {
			t.Errorf("%s=%s: %v, %+v", k.Name, k.Default, err, c)
		}
	}
}
