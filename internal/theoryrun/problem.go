package theoryrun

import (
	"fmt"

	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/ufm"
)

// setting is a problem with its exact optimum.
type setting struct {
	cfg   ufm.Config
	exact ufm.Exact
}

func settingOf(m recipe.Model) (setting, error) {
	cfg, err := config(m)
	if err != nil {
		return setting{}, err
	}
	exact, err := cfg.Exact()
	return setting{cfg, exact}, err
}

// config turns a section into a problem.
func config(m recipe.Model) (ufm.Config, error) {
	c := ufm.Config{Model: ufm.Model(m.Model), Loss: m.Loss, K: m.K, D: m.D, N: m.N, LW: m.LW, LH: m.LH, LB: ufm.NoBias,
		L2: m.L2, L1: m.L1, LH1: m.LH1, Alpha: m.Alpha, M: m.M, Smoothing: m.Smoothing, Sigma: m.Sigma, Layers: m.Layers}
	switch lb := m.LB.(type) {
	case nil:
	case string:
		if lb != "none" {
			return c, fmt.Errorf("theoryrun: lb is %q, wanted a number or \"none\"", lb)
		}
	case float64:
		c.LB = lb
	case int64:
		c.LB = float64(lb)
	default:
		return c, fmt.Errorf("theoryrun: lb is %v, wanted a number or \"none\"", lb)
	}
	return c, c.Validate()
}

// flags lists the setting as the flags of collapse solve.
func flags(m recipe.Model) string {
	out := fmt.Sprintf("%s --k %d --d %d --n %d", m.Model, m.K, m.D, m.N)
	if m.L2 > 0 {
		return out + fmt.Sprintf(" --l2 %g --l1 %g --lh1 %g", m.L2, m.L1, m.LH1)
	}
	out += fmt.Sprintf(" --lw %g --lh %g", m.LW, m.LH)
	if m.LB != nil {
		out += fmt.Sprintf(" --lb %v", m.LB)
	}
	return out
}
