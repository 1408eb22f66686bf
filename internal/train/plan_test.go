package train

import (
	"testing"

	"collapse.example/collapse/data"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// TestEveryKindHasAPlan: whatever is registered can be built from its name alone, in both precisions.
func TestEveryKindHasAPlan(t *testing.T) {
	for _, k := range optim.Kinds() {
		c := Default()
		c.Optim.Kind = k.Name
		plan := mustPlan(t, c)
		if err := plan.Rule.Validate(); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		if _, err := optim.New[float64](plan.Rule, nil, nil, func() float64 { return 0 }); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	for _, k := range nn.Networks() {
		c := Default()
		c.Net.Kind = k.Name
		a := mustPlan(t, c).Net.arch(data.Shape{C: 3, H: 32, W: 32}, 2)
		if err := a.Validate(); err != nil || a.Kind != k.Name || a.Features() == 0 {
			t.Errorf("%s: %+v: %v", k.Name, a, err)
		}
	}
	for _, k := range nn.Losses() {
		c := Default()
		c.Loss.Kind = k.Name
		if _, err := nn.NewLoss[float32](mustPlan(t, c).Loss, 3); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

// TestPlanHoldsWhatTheConfigurationSays looks at the typed side of each part.
func TestPlanHoldsWhatTheConfigurationSays(t *testing.T) {
	c, err := Load("", nil, "data.noise_kind=per_class", "data.noise_rates=[0.25, 0.5]", "optim.kind=adam", "optim.adam.eps=1e-3",
		"optim.weight_decay=0.125", "optim.schedule.kind=multistep", "optim.schedule.milestones=[3, 5]", "optim.schedule.warmup=2",
		"run.keep=every=4", "run.save_features=last", "run.seed=9")
	if err != nil {
		t.Fatal(err)
	}
	p := mustPlan(t, c)
	if n := p.Noise; len(n.Rates) != 2 || n.Rates[1] != 0.5 || n.Seed != 9 {
		t.Errorf("noise %+v", n)
	}
	if want := (optim.AdamConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-3, WeightDecay: 0.125}); p.Rule != want {
		t.Errorf("optimiser %+v, wanted %+v", p.Rule, want)
	}
	if w, is := p.Schedule.(optim.Warmup); !is || w.Epochs != 2 {
		t.Errorf("schedule %+v", p.Schedule)
	}
	if !p.keep.keeps(8) || p.keep.keeps(9) || !p.saved.holds(200, 200) || p.saved.holds(199, 200) || p.given != c {
		t.Errorf("%+v %+v", p.keep, p.saved)
	}
	peeled := c
	peeled.Optim.Decay, peeled.Optim.WeightDecay = string(optim.DecayPeeled), Default().Optim.WeightDecay
	if p := mustPlan(t, peeled); p.Rule.(optim.AdamConfig).WeightDecay != 0 || p.Decay.Features != c.Optim.LambdaH {
		t.Errorf("peeled: %+v beside %+v", p.Rule, p.Decay)
	}
	// An unknown kind next to a key of the wrong type: nothing is reported twice, and no plan is made.
	wrong := Default()
	wrong.Optim.Kind = "momentum"
	if _, err := newLoader(&wrong).load(&wrong, "c.toml", []byte("[optim]\nkind = 3"), nil); err == nil {
		t.Error("an optimiser called 3")
	}
	if _, err := (Config{}).Plan(); err == nil {
		t.Error("an empty configuration has a plan")
	}
}
