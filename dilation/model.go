package dilation

import (
	"errors"
	"fmt"
	"math"
)

// Params are the settings of the model.
type Params struct {
	LW, LH float64 // λ_W, λ_H, above 0
	Alpha  float64 // α0 of label smoothing, in (0,1)
	CMD    float64 // C_MD, above 0
	Eta    float64 // η, noise level, in (0,1)
	Law    Law
}

// Validate returns everything that is wrong at once, or nil.
func (p Params) Validate() error {
	var errs []error
	positive := func(name string, v float64) {
		if !(v > 0) || math.IsInf(v, 0) {
			errs = append(errs, fmt.Errorf("dilation: %s is %g, wanted a finite number above 0", name, v))
		}
	}
	positive("lw", p.LW)
	positive("lh", p.LH)
	positive("c-md", p.CMD)
	if !(p.Alpha > 0 && p.Alpha < 1) {
		errs = append(errs, fmt.Errorf("dilation: alpha is %g, wanted between 0 and 1", p.Alpha))
	}
	if !(p.Eta > 0 && p.Eta < 1) {
		errs = append(errs, fmt.Errorf("dilation: eta is %g, wanted between 0 and 1", p.Eta))
	}
	if len(p.Law.Nodes) == 0 || len(p.Law.Nodes) != len(p.Law.Weights) {
		errs = append(errs, errors.New("dilation: no law of the dilated features"))
	}
	if len(errs) == 0 {
		for _, alpha := range []float64{0, p.Alpha} {
			if kappa := p.kappa(alpha); !(kappa < .5) {
				errs = append(errs, fmt.Errorf("dilation: κ = α/2 + √(2λ_Wλ_H) is %g for α = %g, wanted below 1/2 (else all features are zero)", kappa, alpha))
			}
		}
	}
	return errors.Join(errs...)
}

func (p Params) kappa(alpha float64) float64 { return alpha/2 + math.Sqrt(2*p.LW*p.LH) }

// Side is the model under one loss: cross-entropy (α = 0) or label smoothing.
type Side struct {
	Alpha float64 `json:"alpha"`
	Kappa float64 `json:"kappa"`

	// The noiseless configuration.
	HNorm     float64 `json:"h_norm"`      // a = ‖h1‖ = ‖h2‖
	Dist      float64 `json:"dist"`        // D = ‖h1 − h2‖ = √2·a
	WDiffNorm float64 `json:"w_diff_norm"` // ‖w2 − w1‖ = C·D
	C         float64 `json:"c"`           // w2 − w1 = C(h2 − h1)
	Margin    float64 `json:"margin"`      // x = −⟨w2 − w1, h1⟩

	// The optimum of the noisy model.
	RMax         float64    `json:"r_max"`
	RStar        float64    `json:"r_star"`
	RhoStar      float64    `json:"rho_star"`   // r*/r_max
	Normalised   float64    `json:"normalised"` // r*/D
	Risk         float64    `json:"risk"`
	U1           [2]float64 `json:"u1"` // u1* in the basis (h1/a, h2/a)
	Memorization float64    `json:"memorization"`

	p Params
}

// NewSide returns the noiseless configuration of MD Assumption 4.2(1) under smoothing alpha:
//
//	κ = α/2 + √(2λ_Wλ_H), x = log((1−κ)/κ), a² = √(λ_W/(2λ_H))·x, C = √(2λ_H/λ_W)
//
// p must be valid.
func NewSide(p Params, alpha float64) *Side {
	s := &Side{Alpha: alpha, Kappa: p.kappa(alpha), p: p}
	s.Margin = math.Log1p(-s.Kappa) - math.Log(s.Kappa)
	s.HNorm = math.Sqrt(math.Sqrt(p.LW/(2*p.LH)) * s.Margin)
	s.Dist = math.Sqrt2 * s.HNorm
	s.C = math.Sqrt(2 * p.LH / p.LW)
	s.WDiffNorm = s.C * s.Dist
	s.RMax = p.Eta * s.Dist * s.Dist / p.CMD
	return s
}

// softplus is log(1 + e^t) without overflow.
func softplus(t float64) float64 { return math.Max(t, 0) + math.Log1p(math.Exp(-math.Abs(t))) }

// Spread returns F(r), the loss and penalty of the clean samples at dilation r:
// 2{E softplus(−x + C·D·v_1) + (α/2)x + λ_H(a² + r²)}.
func (s *Side) Spread(r float64) float64 { return s.spread(s.p.Law, r) }

func (s *Side) spread(law Law, r float64) float64 {
	mean, slope := 0.0, s.WDiffNorm*r
	for i, v := range law.Nodes {
		mean += law.Weights[i] * softplus(slope*v-s.Margin)
	}
	return 2 * (mean + s.Alpha/2*s.Margin + s.p.LH*(s.HNorm*s.HNorm+r*r))
}

// Noisy returns g(ρ), the loss and penalty of a noisy sample at its best location u1 within distance ρ·D of h2, u1 ≥ 0, and u1 in
// the basis (h1/a, h2/a). With u = (R sin p, a − R cos p), R = ρD: g = softplus(t) − (α/2)t + λ_H‖u‖², t = C·a(u_y − u_x), minimised
// over p between arccos(a/R) (the h1 axis; 0 if R ≤ a) and π/4. That the minimiser lies on this arc is MD's Lemma C.1 and, for ρ ≥
// 1/√2, C.2; for smaller ρ the arc is ours.
func (s *Side) Noisy(rho float64) (float64, [2]float64) { return s.noisy(rho, 65, fine) }

func (s *Side) noisy(rho float64, points int, tolerance float64) (float64, [2]float64) {
	a, radius := s.HNorm, rho*s.Dist
	if rho >= 1 {
		u := [2]float64{a, 0}
		return s.sampleLoss(u), u
	}
	low := 0.0
	if radius > a {
		low = math.Acos(a / radius)
	}
	place := func(p float64) [2]float64 {
		sin, cos := math.Sincos(p)
		return [2]float64{radius * sin, math.Max(0, a-radius*cos)}
	}
	p, g := scanned(func(p float64) float64 { return s.sampleLoss(place(p)) }, low, math.Pi/4, points, tolerance)
	return g, place(p)
}

// sampleLoss is the loss of a sample at u with observed class 1, plus its penalty.
func (s *Side) sampleLoss(u [2]float64) float64 {
	t := s.C * s.HNorm * (u[1] - u[0])
	return softplus(t) - s.Alpha/2*t + s.p.LH*(u[0]*u[0]+u[1]*u[1])
}

// RiskAt returns R(ρ) = F(ρ·r_max) + 2η·g(ρ).
func (s *Side) RiskAt(rho float64) float64 {
	g, _ := s.Noisy(rho)
	return s.Spread(rho*s.RMax) + 2*s.p.Eta*g
}

// Grid of Solve.
const (
	riskPoints  = 801 // of ρ in [0,1]
	coarseNodes = 24  // of the circle, to find the bracket
	coarseNoisy = 9   // scan points of g, likewise for the bracket

	coarseTolerance = 1e-4  // of the location of g's minimum, likewise: its value is good to 1e-8
	fine            = 1e-10 // of the final locations
)

// solve finds the minimum of the risk over ρ in [0,1].
func (s *Side) solve() {
	law := s.p.Law
	if law.Name == "circle" && s.WDiffNorm*s.RMax < 4 { // equally spaced angles converge exponentially
		law = circleLaw(coarseNodes)
	}
	coarse := func(rho float64) float64 {
		g, _ := s.noisy(rho, coarseNoisy, coarseTolerance)
		return s.spread(law, rho*s.RMax) + 2*s.p.Eta*g
	}
	best, at := math.Inf(1), 0
	for i := range riskPoints {
		if v := coarse(float64(i) / (riskPoints - 1)); v < best {
			best, at = v, i
		}
	}
	low, high := math.Max(0, float64(at-1)/(riskPoints-1)), math.Min(1, float64(at+1)/(riskPoints-1))
	s.RhoStar, s.Risk = scanned(s.RiskAt, low, high, 3, fine)
	s.RStar = s.RhoStar * s.RMax
	s.Normalised = s.RStar / s.Dist
	_, s.U1 = s.Noisy(s.RhoStar)
	s.Memorization = s.p.Eta * math.Hypot(s.U1[0], s.U1[1]-s.HNorm)
}

// Solution is the model under both losses.
type Solution struct {
	CE    *Side   `json:"ce"`
	LS    *Side   `json:"ls"`
	Gamma float64 `json:"gamma"` // ‖H_CE‖/‖H_LS‖ = √(x_CE/x_LS), above 1 for every α0 > 0

	Assumption Assumption `json:"assumption"`
	Theorem    bool       `json:"theorem"` // r*/D smaller for LS than for CE
}

// Solve returns the optimum under cross-entropy and under label smoothing, or the error of Validate.
func Solve(p Params) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	sol := &Solution{CE: NewSide(p, 0), LS: NewSide(p, p.Alpha)}
	sol.CE.solve()
	sol.LS.solve()
	sol.Gamma = math.Sqrt(sol.CE.Margin / sol.LS.Margin)
	sol.Assumption = assume(p, sol)
	sol.Theorem = sol.LS.Normalised < sol.CE.Normalised
	return sol, nil
}

// CurvePoint is the risk at one dilation.
type CurvePoint struct {
	R      float64    `json:"r"`
	Rho    float64    `json:"rho"`
	Risk   float64    `json:"risk"`
	Spread float64    `json:"spread"` // F(r)
	Noisy  float64    `json:"noisy"`  // g(ρ)
	U1     [2]float64 `json:"u1"`
}

// Curve returns the risk at n ≥ 2 dilations from 0 to r_max.
func (s *Side) Curve(n int) []CurvePoint {
	out := make([]CurvePoint, n)
	for i := range out {
		rho := float64(i) / float64(n-1)
		g, u := s.Noisy(rho)
		f := s.Spread(rho * s.RMax)
		out[i] = CurvePoint{R: rho * s.RMax, Rho: rho, Risk: f + 2*s.p.Eta*g, Spread: f, Noisy: g, U1: u}
	}
	return out
}
