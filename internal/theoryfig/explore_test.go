package theoryfig

import (
	"strings"
	"testing"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/ufm"
)

// TestOptimumInWords asks for every kind of optimum that the page can show.
func TestOptimumInWords(t *testing.T) {
	base := ufm.Config{Model: ufm.CE, K: 4, N: 100, D: 8, LW: 0.005, LH: 0.005, LB: ufm.NoBias}
	for _, c := range []struct {
		change func(*ufm.Config)
		want   string
	}{
		{func(*ufm.Config) {}, "simplex ETF"},
		{func(c *ufm.Config) { c.LW = 1 }, "every class is at the origin"},
		{func(c *ufm.Config) { c.Model = ufm.MSE }, "orthogonal"},
		{func(c *ufm.Config) { c.Model, c.D = ufm.MSE, 2 }, "more classes than dimensions"},
		{func(c *ufm.Config) { c.Model, c.Smoothing = ufm.LSNonneg, 0.1 }, "orthogonal frame"},
		{func(c *ufm.Config) { c.D = 1 }, ""}, // no closed form
	} {
		at := base
		c.change(&at)
		got, err := Explore(at)
		if err != nil {
			t.Fatalf("%+v: %v", at, err)
		}
		if !strings.Contains(got.Says, c.want) || (c.want == "") != (got.Says == "") {
			t.Errorf("%s, K = %d, d = %d (%s): %q, want %q", at.Model, at.K, at.D, got.Exact.Regime, got.Says, c.want)
		}
	}
}

// TestSweepOfNoise compares the sweep with solutions of single settings.
func TestSweepOfNoise(t *testing.T) {
	law, err := dilation.NamedLaw("circle")
	if err != nil {
		t.Fatal(err)
	}
	p := dilation.Params{LW: 0.005, LH: 0.005, Alpha: 0.1, CMD: 0.5, Eta: 0.05, Law: law}
	here, err := dilation.Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	f, err := SweepNoise(t.Context(), p, here)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Panels) != 2 || f.Panels[0].Series[1].ID != "ls" || len(f.Panels[0].Series[1].X) != 7 {
		t.Fatalf("%+v", f.Panels)
	}
	noise, memory := f.Panels[0].Series, f.Panels[1].Series
	for i, eta := range noise[0].X {
		at := p
		at.Eta = eta
		s, err := dilation.Solve(at)
		if err != nil {
			t.Fatal(err)
		}
		if noise[0].Y[i] != s.CE.Normalised || noise[1].Y[i] != s.LS.Normalised || memory[1].X[i] != s.LS.Memorization || memory[0].Y[i] != s.CE.Normalised {
			t.Errorf("η = %g: %g, %g", eta, noise[0].Y[i], noise[1].Y[i])
		}
	}
	if ring := noise[2]; ring.X[0] != p.Eta || ring.Y[1] != here.LS.Normalised {
		t.Errorf("the setting is drawn at %v, %v", ring.X, ring.Y)
	}
}
