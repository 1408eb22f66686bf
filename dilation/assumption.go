package dilation

import (
	"fmt"
	"math"
)

// Assumption is MD Assumption 4.2, part by part.
type Assumption struct {
	Holds bool `json:"holds"`

	// (1) Both losses have a non-zero NC configuration: κ < 1/2. MD also ask for α0 > 4√(λ_Wλ_H) (elsewhere 2√…), which is not
	// needed: γ > 1 for every α0 > 0.
	Configuration bool `json:"nc_configuration"`
	PrintedAlpha  bool `json:"printed_alpha_condition"` // α0 > 4√(λ_Wλ_H), for information

	// (2) E v = 0 and ‖v‖ ≤ A·r.
	Law bool    `json:"law"`
	A   float64 `json:"a"`

	// (3) √η < C̃(1 − 1/γ) with C̃ = C_MD/(√2·A·‖h1−h2‖) for CE, including A, which MD leave out.
	Noise     bool    `json:"noise_level"`
	SqrtEta   float64 `json:"sqrt_eta"`
	NoiseMost float64 `json:"sqrt_eta_below"`
}

func assume(p Params, sol *Solution) Assumption {
	a := Assumption{Configuration: sol.CE.Kappa < .5 && sol.LS.Kappa < .5,
		PrintedAlpha: p.Alpha > 4*math.Sqrt(p.LW*p.LH), Law: true, A: p.Law.A, SqrtEta: math.Sqrt(p.Eta)}
	a.NoiseMost = p.CMD / (math.Sqrt2 * p.Law.A * sol.CE.Dist) * (1 - 1/sol.Gamma)
	a.Noise = a.SqrtEta < a.NoiseMost
	a.Holds = a.Configuration && a.Law && a.Noise
	return a
}

// Bracket returns the interval [r_max(1 − C′√η), r_max] of MD Lemma C.6 for r*, C′ = √2·A·‖h1−h2‖/C_MD. The √2 is that of Lemma C.4
// with the ½ on the Hessian terms that its own argument gives; with the printed C_1 and C_2 it would be 1.
func (s *Side) Bracket() (low, high float64) {
	slope := math.Sqrt2 * s.p.Law.A * s.Dist / s.p.CMD
	return math.Max(0, s.RMax*(1-slope*math.Sqrt(s.p.Eta))), s.RMax
}

// SmallNoise returns the leading order of 1 − ρ* for η → 0:
//
//	η D² [σ'C²a²ν + λ_H] / (C_MD² [σ'C²a² + 2λ_H]), σ' = κ(1−κ), ν = E v_1²/r²
//
// So ρ* → 1 at rate η (MD's √η is loose) and r*/D ≈ ηD/C_MD: Theorem 4.3 is essentially D_CE > D_LS.
func (s *Side) SmallNoise() float64 {
	bend := s.Kappa * (1 - s.Kappa) * s.C * s.C * s.HNorm * s.HNorm
	return s.p.Eta * s.Dist * s.Dist * (bend*s.p.Law.Second() + s.p.LH) / (s.p.CMD * s.p.CMD * (bend + 2*s.p.LH))
}

// Check is one inequality of MD's appendix C at a solution: Low ≤ Value, and Value ≤ High if there is an upper bound.
type Check struct {
	Name  string   `json:"name"`
	Low   float64  `json:"low"`
	Value float64  `json:"value"`
	High  *float64 `json:"high"`
	Holds bool     `json:"holds"`
}

// checkSlack is the rounding error that a check allows, relative to the size of its numbers or 1.
const checkSlack = 1e-9

func atLeast(name string, low, value float64) Check {
	return Check{Name: name, Low: low, Value: value, Holds: low <= value+checkSlack*math.Max(1, math.Abs(low))}
}

func between(name string, low, value, high float64) Check {
	c := atLeast(name, low, value)
	c.High = &high
	c.Holds = c.Holds && value <= high+checkSlack*math.Max(1, math.Abs(value))
	return c
}

// Words writes the inequality with its numbers.
func (c Check) Words() string {
	if c.High == nil {
		return fmt.Sprintf("%.6g ≤ %.6g", c.Low, c.Value)
	}
	return fmt.Sprintf("%.6g ≤ %.6g ≤ %.6g", c.Low, c.Value, *c.High)
}

// Lemmas checks the steps of MD's appendix C at the solution of a side. Lemmas C.1 and C.2 are not included: Noisy relies on both,
// and TestLemmasC1C2AsPrinted compares its arc with the whole feasible set.
//
//	no dilation beyond r_max helps (MD C.6, upper end)   0 ≤ r* ≤ r_max
//	the constraint of the model is active (MD C.1)       η‖h2−u1‖ = C_MD·r*/D
//	Lemma C.3, MD's constants: u1 nears h1 with r        (C_MD/D)(r_max−r) ≤ η‖u1−h1‖ ≤ (2√2·C_MD/D)(r_max−r)
//	ours for C.4: memorizing less costs                  g(u1) − g(h1) ≥ λ_H‖u1−h1‖² (h1 minimises g over u ≥ 0)
//	ours for C.5: dilation costs at most C2·r²           F(r) − F(0) ≤ (‖w2−w1‖²/4 + 2λ_H)r²
//	Lemma C.6, MD's bracket of r*                        r_max(1 − C′√η) ≤ r* ≤ r_max
//
// MD's own C.4 has a larger constant, (κ(1−κ)‖w2−w1‖²/2 + 2λ_H)(C_MD/D)², and is stated for r ≥ r_max/√2 and r_max − r < η: it holds
// (TestLemmaC4AsPrinted), while ours holds at every r. MD's C.5 asks for some constant, which ours is; the one printed at the end of
// its proof is too small (TestLemmaC5AsPrinted).
func (s *Side) Lemmas() []Check {
	toH1 := math.Hypot(s.U1[0]-s.HNorm, s.U1[1])
	unit := s.p.CMD / s.Dist
	left := s.RMax - s.RStar
	g, _ := s.Noisy(s.RhoStar)
	gAtH1 := s.sampleLoss([2]float64{s.HNorm, 0})
	low, high := s.Bracket()
	return []Check{
		between("r* lies in [0, r_max]", 0, s.RStar, s.RMax),
		between("memorization equals C_MD·r*/‖h1−h2‖", unit*s.RStar, s.Memorization, unit*s.RStar),
		between("C.3: distance of u1 to h1", unit*left, s.p.Eta*toH1, 2*math.Sqrt2*unit*left),
		atLeast("cost of memorizing less, our bound for C.4", s.p.LH*toH1*toH1, g-gAtH1),
		between("cost of dilation, our constant for C.5", 0, s.Spread(s.RStar)-s.Spread(0), (s.WDiffNorm*s.WDiffNorm/4+2*s.p.LH)*s.RStar*s.RStar),
		between("C.6: bracket of r*", low, s.RStar, high),
	}
}
