package cli

import (
	"cmp"
	"strconv"

	"collapse.example/collapse/ufm"
)

// pointFile is the file to read, "" for none.
func (c *solveModelCmd) pointFile() string { return cmp.Or(c.At, c.Init) }

// config turns the flags into a configuration.
func (c *solveModelCmd) config() (ufm.Config, error) {
	lb, err := parseBias(c.LB)
	if err != nil {
		return ufm.Config{}, err
	}
	size := func(flag *int, usual int) int {
		switch {
		case flag != nil:
			return *flag
		case c.pointFile() != "":
			return 0 // from the file
		}
		return usual
	}
	cfg := ufm.Config{Model: ufm.Model(c.Model), K: size(c.K, 4), D: size(c.D, 20), N: size(c.N, 50), LW: c.LW, LH: c.LH, LB: lb,
		L2: c.L2, L1: c.L1, LH1: c.LH1, Loss: c.Loss, Alpha: c.Alpha, M: c.M, Layers: c.HeadLayers, Sigma: c.Sigma}
	if c.Alpha == 0 || c.M == 0 {
		return cfg, usagef("--alpha and --m are %g and %g, wanted above 0", c.Alpha, c.M)
	}
	if c.Model == "ls" || c.Model == "ls-nonneg" {
		cfg.Smoothing = c.Smoothing
	}
	return cfg, nil
}

func parseBias(text string) (float64, error) {
	if text == "none" {
		return ufm.NoBias, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, usagef("--lb is %q, wanted a number, 0 for a free bias, or none", text)
	}
	return v, nil
}

// initScale reads --init-scale: one number for all, or one per factor.
func (c *solveModelCmd) initScale(cfg ufm.Config) (ufm.InitScale, error) {
	s := c.InitScale
	for _, v := range s {
		if !(v >= 0) {
			return ufm.InitScale{}, usagef("--init-scale is %g, wanted at least 0", v)
		}
	}
	switch {
	case len(s) == 0:
		return ufm.InitScale{}, nil
	case len(s) == 1:
		return ufm.InitScale{W: s[0], W1: s[0], H: s[0]}, nil
	case len(s) == 2 && !cfg.ThreeFactor():
		return ufm.InitScale{W: s[0], H: s[1]}, nil
	case len(s) == 3 && cfg.ThreeFactor():
		return ufm.InitScale{W: s[0], W1: s[1], H: s[2]}, nil
	}
	return ufm.InitScale{}, usagef("--init-scale has %d numbers, wanted one, or one per factor", len(s))
}

// effects says which flags each model and method reads.
func (c *solveModelCmd) effects() []effect {
	model := ufm.Model(c.Model)
	cfg := ufm.Config{Model: model, Layers: c.HeadLayers}
	three, noisy := cfg.ThreeFactor(), model == ufm.Noisy
	method, starts := ufm.Method(c.Optimizer), c.Optimizer != ""
	descends := method == ufm.GD || method == ufm.Momentum
	point := !noisy && !c.ExactOnly
	return []effect{
		{"lw lh", !three, "goes with the models of two factors, W and H"},
		{"l2 l1 lh1", three, "goes with linear3 and relu3, and with noisy-features under --head-layers 2"},
		{"lb", !three && !noisy && model != ufm.ReLUPlain, "goes with mse, rescaled-mse, ce, ls and ls-nonneg, which can have a bias"},
		{"alpha m", model == ufm.RescaledMSE, "goes with rescaled-mse"},
		{"smoothing", model == ufm.LS || model == ufm.LSNonneg, "goes with ls and ls-nonneg"},
		{"loss", model == ufm.Linear3 || model == ufm.ReLU3, "goes with linear3 and relu3; the other models are named by their loss"},
		{"sigma head-layers", noisy, "goes with noisy-features"},
		{"optimizer init init-scale iters step momentum trace-at at save", !noisy, "goes with models that have a point; noisy-features is a regression on fixed features"},
		{"optimizer init init-scale iters step momentum trace-at at save seed", !c.ExactOnly, "is about a point, and --exact-only asks for none"},
		{"optimizer init init-scale iters step momentum trace-at seed", c.At == "", "is about a search, and --at examines an existing point"},
		{"init init-scale iters step momentum trace-at", starts, "goes with --optimizer"},
		{"init-scale", c.Init == "", "is about a random start, and --init names a start"},
		{"iters trace-at", method != ufm.Auto, "goes with --optimizer gd, momentum or lbfgs; auto ends by itself"},
		{"step", descends, "goes with --optimizer gd or momentum"},
		{"momentum", method == ufm.Momentum, "goes with --optimizer momentum"},
		{"seed", !point || c.Init == "" || method == ufm.Auto, "is about a random start, and --init names a start"},
	}
}
