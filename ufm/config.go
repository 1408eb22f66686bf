package ufm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Model names an unconstrained-features model.
type Model string

// The models.
const (
	MSE         Model = "mse"          // ZH (3), TB (5)
	RescaledMSE Model = "rescaled-mse" // ZH (4)
	Linear3     Model = "linear3"      // TB (14): W2·W1·H1
	ReLU3       Model = "relu3"        // TB (20): W2·relu(W1·H1)
	CE          Model = "ce"           // ZU (5)
	LS          Model = "ls"           // CE with smoothed targets
	LSNonneg    Model = "ls-nonneg"    // MD (4): label smoothing, H ≥ 0, MD's penalties
	Noisy       Model = "noisy-features"
	ReLUPlain   Model = "relu-plain" // TB section 7: W·relu(H)
)

// Models lists every model in the order of documentation.
func Models() []Model {
	return []Model{MSE, RescaledMSE, Linear3, ReLU3, CE, LS, LSNonneg, Noisy, ReLUPlain}
}

// NoBias is the value of Config.LB for a model without bias.
var NoBias = math.Inf(1)

// Config says which model, at which size, with which penalties.
//
// Penalties are (λ/2)‖·‖² of W, H (and b) or of W2, W1, H1, except for LSNonneg, which has MD's:
// λ_W‖W‖² + (λ_H/n)‖H‖². For Noisy, LH is that of TB (5), and λ̃_H = n·λ_H.
type Config struct {
	Model Model
	K     int // classes, at least 2
	N     int // samples per class, at least 1
	D     int // width of the features, at least 1

	LW, LH float64 // λ_W, λ_H of the two-factor models
	LB     float64 // λ_b: 0 for a free bias, NoBias for none

	L2, L1, LH1 float64 // λ of W2, W1, H1 of the three-factor models
	Loss        string  // Linear3 and ReLU3: "mse" (also "") or "ce"

	Alpha, M  float64 // RescaledMSE: weight of the true class, target; 0 means 1
	Smoothing float64 // LS, LSNonneg: α in [0,1)

	Sigma  float64 // Noisy: standard deviation σ_e of the noise
	Layers int     // Noisy: 1 (also 0) or 2
}

// ThreeFactor reports whether the variables are W2, W1, H1 rather than W, H, b.
func (c Config) ThreeFactor() bool {
	return c.Model == Linear3 || c.Model == ReLU3 || c.Model == Noisy && c.Layers == 2
}

// HasBias reports whether b is a variable.
func (c Config) HasBias() bool {
	return !c.ThreeFactor() && c.Model != ReLUPlain && c.Model != Noisy && !math.IsInf(c.LB, 1)
}

// CrossEntropy reports whether the loss is cross-entropy (with smoothed or plain targets).
func (c Config) CrossEntropy() bool {
	return c.Model == CE || c.Model == LS || c.Model == LSNonneg || c.ThreeFactor() && c.Loss == "ce"
}

// withDefaults replaces zeros by their defaults.
func (c Config) withDefaults() Config {
	if c.Alpha == 0 {
		c.Alpha = 1
	}
	if c.M == 0 {
		c.M = 1
	}
	if c.Loss == "" {
		c.Loss = "mse"
	}
	if c.Layers == 0 {
		c.Layers = 1
	}
	return c
}

// Validate returns everything that is wrong with the configuration at once, or nil. Zero penalties are
// allowed: descent runs on them, and Exact says why there is no optimum.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("ufm: "+format, args...)) }
	if !slices.Contains(Models(), c.Model) {
		bad("model is %q, wanted one of %s", c.Model, modelList())
	}
	if c.K < 2 {
		bad("k is %d, wanted at least 2 classes", c.K)
	}
	if c.N < 1 {
		bad("n is %d, wanted at least 1 sample per class", c.N)
	}
	if c.D < 1 {
		bad("d is %d, wanted a width of at least 1", c.D)
	}
	if c.Loss != "mse" && c.Loss != "ce" {
		bad("loss is %q, wanted mse or ce", c.Loss)
	}
	if c.Loss == "ce" && !c.ThreeFactor() {
		bad("loss ce goes with linear3 and relu3; %s has its own loss", c.Model)
	}
	for _, p := range c.penalties() {
		if !(p.value >= 0) || math.IsInf(p.value, 0) && p.name != "lb" {
			bad("%s is %g, wanted a finite penalty of at least 0", p.name, p.value)
		}
	}
	errs = append(errs, c.validateLoss()...)
	return errors.Join(errs...)
}

func (c Config) validateLoss() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("ufm: "+format, args...)) }
	if !(c.Alpha > 0) || math.IsInf(c.Alpha, 0) || !(c.M > 0) || math.IsInf(c.M, 0) {
		bad("alpha and m are %g and %g, wanted finite and above 0", c.Alpha, c.M)
	}
	if !(c.Smoothing >= 0 && c.Smoothing < 1) {
		bad("smoothing is %g, wanted 0 up to, not including, 1", c.Smoothing)
	}
	if !(c.Sigma >= 0) || math.IsInf(c.Sigma, 0) {
		bad("sigma is %g, wanted a finite standard deviation of at least 0", c.Sigma)
	}
	if c.Layers != 1 && c.Layers != 2 {
		bad("layers is %d, wanted 1 or 2", c.Layers)
	}
	if c.Model == LSNonneg && c.D < c.K {
		bad("ls-nonneg needs d ≥ k (non-negative orthogonal means), got d = %d, k = %d", c.D, c.K)
	}
	return errs
}

func modelList() string {
	var names []string
	for _, m := range Models() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

type penalty struct {
	name  string
	value float64
}

// penalties lists the penalties that the model uses, under the names of the flags.
func (c Config) penalties() []penalty {
	if c.ThreeFactor() {
		return []penalty{{"l2", c.L2}, {"l1", c.L1}, {"lh1", c.LH1}}
	}
	out := []penalty{{"lw", c.LW}, {"lh", c.LH}}
	if c.HasBias() {
		out = append(out, penalty{"lb", c.LB})
	}
	return out
}

// Words states the objective in words and symbols, with its penalty convention.
func (c Config) Words() string {
	c = c.withDefaults()
	switch c.Model {
	case Noisy:
		if c.Layers == 2 {
			return "argmin over W2, W1 of 1/(2N)·|W2·W1·(H1* + E) − Y|² + l2/2·|W2|² + l1/2·|W1|², H1* the optimal features of linear3, E noise of standard deviation sigma"
		}
		return "argmin over W of 1/(2N)·|W·(H* + E) − Y|² + lw/2·|W|², H* the optimal features of mse without bias, E noise of standard deviation sigma"
	case LSNonneg:
		return fmt.Sprintf("(1/N)·Σ cross-entropy with targets (1−α)e_k + (α/K)1, α = %g, + lw·|W|² + (lh/n)·|H|², H ≥ 0%s", c.Smoothing, c.biasWords(" + lb·|b|²"))
	case Linear3, ReLU3:
		inner := "W2·W1·H1"
		if c.Model == ReLU3 {
			inner = "W2·relu(W1·H1)"
		}
		loss := "1/(2N)·|" + inner + " − Y|²"
		if c.Loss == "ce" {
			loss = "(1/N)·Σ cross-entropy of " + inner
		}
		return loss + " + l2/2·|W2|² + l1/2·|W1|² + lh1/2·|H1|²"
	case ReLUPlain:
		return "1/(2N)·|W·relu(H) − Y|² + lw/2·|W|² + lh/2·|H|²"
	}
	return c.twoFactorWords() + " + lw/2·|W|² + lh/2·|H|²" + c.biasWords(" + lb/2·|b|²")
}

func (c Config) twoFactorWords() string {
	b := ""
	if c.HasBias() {
		b = " + b1ᵀ"
	}
	switch c.Model {
	case RescaledMSE:
		return fmt.Sprintf("1/(2N)·Σ ω·(W·H%s − M·Y)², ω = %g on the true class and 1 elsewhere, M = %g", b, c.Alpha, c.M)
	case CE:
		return "(1/N)·Σ cross-entropy of W·H" + b
	case LS:
		return fmt.Sprintf("(1/N)·Σ cross-entropy of W·H%s with targets (1−α)e_k + (α/K)1, α = %g", b, c.Smoothing)
	}
	return "1/(2N)·|W·H" + b + " − Y|²"
}

func (c Config) biasWords(penalty string) string {
	if !c.HasBias() {
		return ", no bias"
	}
	if c.LB == 0 {
		return ", bias free"
	}
	return penalty
}
