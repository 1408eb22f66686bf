package ufm

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"collapse.example/collapse/measure"
)

// Number is a float64 whose NaN, "does not apply", is null in JSON.
type Number float64

// None is the Number for "does not apply".
var None = Number(math.NaN())

// Known reports whether the number applies.
func (x Number) Known() bool { return !math.IsNaN(float64(x)) }

// MarshalJSON writes NaN and infinities as null.
func (x Number) MarshalJSON() ([]byte, error) {
	if v := float64(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
	return []byte("null"), nil
}

// Status says how certain an exact value is.
type Status string

// Proved values follow from an argument; Observed ones have only been seen numerically.
const (
	Proved   Status = "proved"
	Observed Status = "observed"
)

// words names the value in a verdict.
func (e Exact) words() string {
	if e.Status == Proved {
		return "exact optimum"
	}
	return "best known value"
}

// Exact is the global optimum of a model in closed form, or the reason why none is known.
type Exact struct {
	Available bool   `json:"available"`
	Reason    string `json:"reason,omitempty"` // why not available

	Objective Number `json:"objective"` // f*
	Regime    string `json:"regime"`    // "zero", "full", "etf", "rank-d", "tight-frame", "orthogonal-frame", "2 hexagons + 1 orthogonal column", …
	Rank      int    `json:"rank"`      // of the outputs Z
	Bias      Number `json:"bias"`      // β: b = β·1
	Margin    Number `json:"margin"`    // z_k − z_j of class means
	Kappa     Number `json:"kappa"`     // cross-entropy models
	C         Number `json:"c"`         // K√(n λ_W λ_H), MSE models
	Q         Number `json:"q"`         // three factors: K(n λ_2 λ_1 λ_H1)^{1/3}
	Tau       Number `json:"tau"`
	Sigma     Number `json:"sigma"` // singular value of the outputs of class means

	WNorm2         Number         `json:"w_norm2"`          // ‖W‖²_F (W2 of three factors)
	HNorm2         Number         `json:"h_norm2"`          // ‖H‖²_F over all N columns (H1 of three factors)
	ClassMeanNorm2 Number         `json:"class_mean_norm2"` // ‖h_k‖², where all are equal
	Gram           measure.Vector `json:"gram_eigenvalues"` // of H̄ᵀH̄, descending
	WWT            measure.Vector `json:"wwt_eigenvalues"`  // of WWᵀ, descending
	GramDiag       Number         `json:"gram_diag"`
	GramOffdiag    Number         `json:"gram_offdiag"`
	Duality        Number         `json:"duality"` // sd in H̄ = sd·Wᵀ

	Singular        Singular       `json:"singular_values"`
	LocalObjectives measure.Vector `json:"local_objectives"` // values of known local minima above f*
	Attenuation     Number         `json:"attenuation"`      // noisy-features
	Measures        measure.Values `json:"measures"`         // limits, by the keys of package measure
	Status          Status         `json:"status"`
	Source          string         `json:"source"`

	shape shape
}

// Singular holds the singular values of the factors of a three-factor optimum; H1 and H2 are those of
// the class means of H1 and of the features W1·H1.
type Singular struct {
	W2 Number `json:"w2"`
	W1 Number `json:"w1"`
	H1 Number `json:"h1"`
	H2 Number `json:"h2"`
}

// shape describes how an instance is built.
type shape struct {
	kind shapeKind
	x, y float64 // Z̄ = x·P + y·11ᵀ/K, or x·Q
	sd   float64 // H̄ = sd·Wᵀ

	blocks []block // threeCyclic
}

type shapeKind uint8

const (
	noShape      shapeKind = iota
	symmetric              // Z̄ = x·P + y·11ᵀ/K
	projection             // Z̄ = x·Q, Q a random projection of rank d with Q1 = 0
	anyProj                // Z̄ = x·Q, Q a random projection of rank d
	tightFrame             // Z̄ = x·Q, Q1 = 0, Q_kk = d/K
	nonnegative            // orthogonal non-negative means, W an ETF
	threeLinear            // W2·W1·H̄1 = σ·(projection of rank min(d,K))
	threeReLU              // relu(W1·H̄1) non-negative and orthogonal
	threeCyclic            // W1·H̄1 of circulant blocks
	plainReLU              // relu(H̄) non-negative and orthogonal
	zeroOfShape            // everything zero except the bias
	shapeUnknown           // a value without an instance
)

func newExact() Exact {
	return Exact{Objective: None, Bias: None, Margin: None, Kappa: None, C: None, Q: None, Tau: None, Sigma: None,
		WNorm2: None, HNorm2: None, ClassMeanNorm2: None, GramDiag: None, GramOffdiag: None, Duality: None,
		Singular: Singular{None, None, None, None}, Attenuation: None}
}

// unavailable is the result if no closed form is known.
func unavailable(format string, args ...any) Exact {
	e := newExact()
	e.Reason = fmt.Sprintf(format, args...)
	return e
}

// errNoOptimum marks problems whose infimum is not attained or has no unique scale.
var errNoOptimum = errors.New("no optimum: a penalty is 0, so the infimum is not attained or has no unique scale (ZH, footnote 1: the features blow up); descent runs if an optimiser is named (--optimizer lbfgs)")

// Exact returns the global optimum of c. It returns an error only for configurations that Validate refuses; if no closed form
// exists, the result says why.
func (c Config) Exact() (Exact, error) {
	if err := c.Validate(); err != nil {
		return Exact{}, err
	}
	c = c.withDefaults()
	for _, p := range c.penalties() {
		if p.value == 0 && p.name != "lb" {
			return unavailable("%s = 0: %v", p.name, errNoOptimum), nil
		}
	}
	switch c.Model {
	case MSE:
		return c.exactMSE(), nil
	case RescaledMSE:
		return c.exactRescaled(), nil
	case Linear3, ReLU3:
		if c.Loss == "ce" {
			return c.exactThreeCE(), nil
		}
		return c.exactThree(), nil
	case CE, LS:
		return c.exactCE(), nil
	case LSNonneg:
		return c.exactNonneg(), nil
	case Noisy:
		return c.exactNoisy(), nil
	}
	return c.exactReLUPlain(), nil
}

// c is K√(n λ_W λ_H), the one combination of the penalties that matters for MSE.
func (c Config) c() float64 {
	return float64(c.K) * math.Sqrt(float64(c.N)) * math.Sqrt(c.LW) * math.Sqrt(c.LH)
}

// fillSymmetric completes an optimum whose class means have outputs Z̄ = x·P + y·11ᵀ/K, with b = β·1, H̄ = sd·Wᵀ.
func (e *Exact) fillSymmetric(c Config, x, y, beta, sd float64) {
	K := float64(c.K)
	e.Available = true
	e.Bias, e.Margin, e.Duality = Number(beta), Number(x), Number(sd)
	e.shape = shape{kind: symmetric, x: x, y: y, sd: sd}
	trace := (K-1)*x + y
	e.WNorm2, e.HNorm2 = Number(trace/sd), Number(float64(c.N)*sd*trace)
	e.ClassMeanNorm2 = Number(sd * trace / K)
	e.GramDiag, e.GramOffdiag = Number(sd*trace/K), Number(sd*(y-x)/K)
	e.Gram, e.WWT = make(measure.Vector, c.K), make(measure.Vector, c.K)
	for k := range c.K {
		e.Gram[k], e.WWT[k] = sd*x, x/sd
	}
	last := c.K - 1 // descending: y comes last unless it exceeds x
	if y > x {
		last = 0
	}
	e.Gram[last], e.WWT[last] = sd*y, y/sd
	if x > 0 {
		e.Rank += c.K - 1
	}
	if y > 0 {
		e.Rank++
	}
	if x == 0 && y == 0 {
		e.shape.kind = zeroOfShape
		e.Duality = None
	}
	e.Measures = symmetricLimits(c, symmetricMeans{gram: pair{sd * x, sd * y}, wwt: pair{x / sd, y / sd}, outputs: pair{x, y}, beta: beta})
}

// fillProjection completes an optimum with Z̄ = x·Q for a rank-d projection Q.
func (e *Exact) fillProjection(c Config, kind shapeKind, x, beta, sd float64) {
	d := float64(c.D)
	e.Available, e.Rank = true, c.D
	e.Bias, e.Duality = Number(beta), Number(sd)
	e.shape = shape{kind: kind, x: x, sd: sd}
	e.WNorm2, e.HNorm2 = Number(d*x/sd), Number(float64(c.N)*sd*d*x)
	e.Gram, e.WWT = make(measure.Vector, c.K), make(measure.Vector, c.K)
	for k := range c.D {
		e.Gram[k], e.WWT[k] = sd*x, x/sd
	}
	if kind == tightFrame {
		e.ClassMeanNorm2 = Number(sd * x * d / float64(c.K))
		e.GramDiag = e.ClassMeanNorm2
	}
	e.Measures = projectionLimits(c, kind, sd*x, beta)
}
