package train

import (
	"strings"
	"testing"

	"collapse.example/collapse/data"
	"collapse.example/collapse/nn"
)

// TestEverySettingIsAConfiguration loads each setting and checks that it says whose it is, and that the network can be described.
func TestEverySettingIsAConfiguration(t *testing.T) {
	list := Settings()
	if len(list) < 20 {
		t.Errorf("only %d settings", len(list))
	}
	for _, s := range list {
		c, err := Setting(s.Name)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if !strings.Contains(s.About, "et al. 20") && !strings.Contains(s.About, "Tirer & Bruna 2022") {
			t.Errorf("%s: %q does not say whose it is", s.Name, s.About)
		}
		if c.Run.Epochs != 200 || c == Default() && s.Name != "md-mlp" {
			t.Errorf("%s: %+v", s.Name, c)
		}
		on := sizes{image: data.Shape{C: 3, H: 32, W: 32}, classes: c.Data.Classes}
		if _, err := nn.EstimateBytes[float32](c.Resolved().arch(on), 4, nn.Train); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if mustPlan(t, c).Schedule.Rate(0) != c.Optim.LR {
			t.Errorf("%s starts at rate %v", s.Name, mustPlan(t, c).Schedule.Rate(0))
		}
	}
}

// TestSettingsThatPapersAndCodesDisagreeOn checks what the reference sheets list as differences.
func TestSettingsThatPapersAndCodesDisagreeOn(t *testing.T) {
	get := func(name string) Config {
		c, err := Setting(name)
		if err != nil {
			t.Fatal(err)
		}
		return c.Resolved()
	}
	if p, c := get("md-mlp"), get("md-mlp-code"); p != Default().Resolved() || c.Net.Depth != 8 || c.Optim.Nesterov || c.Run.Batch != 16 || c.Data.NoiseGenerator != data.GeneratorTorch {
		t.Errorf("md-mlp %+v\ncode %+v", p, c)
	}
	if p, c := get("zhu-adam"), get("zhu-adam-script"); p.Optim.LR != 1e-3 || c.Optim.LR != 1e-4 {
		t.Errorf("zhu-adam %v and %v", p.Optim.LR, c.Optim.LR)
	}
	if p, c := get("zhou-lbfgs"), get("zhou-lbfgs-script"); p.Optim.LR != 0.01 || c.Optim.LR != 0.1 || mustPlan(t, p).Schedule.Rate(100) != 0.01 || mustPlan(t, c).Schedule.Rate(100) == 0.1 {
		t.Errorf("zhou-lbfgs %+v and %+v", p.Optim, c.Optim)
	}
	if p, c := get("zhou-rescaled"), get("zhou-rescaled-script"); p.Optim.WeightDecay != 1e-3 || c.Optim.WeightDecay != 5e-4 || p.Optim.Schedule.Kind != "cosine" || c.Optim.Schedule.Kind != "step" {
		t.Errorf("zhou-rescaled %+v and %+v", p.Optim, c.Optim)
	}
	c, err := ForOneRun(get("zhou-rescaled"), "", "optim.schedule.kind=step", "optim.kind=adam")
	if err != nil || c.Optim.Schedule.Period != 0 || c.Optim.Schedule.MinLR != 0 || c.Optim.Momentum != 0.9 {
		t.Errorf("another schedule on top of a setting: %+v, %v", c.Optim, err)
	}
	if _, err := ForOneRun(get("zhou-rescaled"), "", "optim.schedule.kind=step", "optim.schedule.period=3"); err == nil {
		t.Error("a period of a step schedule was accepted")
	}
	_, err = Setting("zhu-sdg")
	if err == nil || !strings.Contains(err.Error(), "did you mean zhu-sgd?") {
		t.Errorf("a misspelt setting: %v", err)
	}
}
