package theoryrun

import (
	"math"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// proof is a point below the frame, at which steps of Appendix E fail.
type proof struct{ setting }

// border is Kλ_2, above which g is convex.
func (p proof) border() float64 { return float64(p.cfg.K) * p.cfg.L2 }

// mean is the mean of s_k².
func (p proof) mean() float64 {
	mean := 0.0
	for _, s := range p.exact.Gram {
		mean += s / float64(p.cfg.K)
	}
	return mean
}

func (p proof) name() string {
	return format.Sprintf("%s, K = %d, q = %.4g", p.exact.Regime, p.cfg.K, float64(p.exact.Q))
}

// g is the function g of Appendix E with a = Kλ_2: (a/2)(a + 3z)/(z + a)².
func g(z, a float64) float64 { return a / 2 * (a + 3*z) / ((z + a) * (z + a)) }

// claims judges steps of Appendix E: where the s_k² lie, Jensen's step, and which points (86) allows.
func (p proof) claims() []judge.Claim {
	border, name := p.border(), p.name()
	outside := 0
	var ratios []string
	for _, s := range p.exact.Gram {
		if !(s > border) {
			outside++
		}
		ratios = append(ratios, format.Sprintf("%.2f", s/border))
	}
	flat, value := g(p.mean(), border), float64(p.exact.Objective)
	nuclear, classifier := p.cfg.LH1*float64(p.exact.HNorm2), p.cfg.L2*float64(p.exact.WNorm2)
	return []judge.Claim{
		claim("proof-convex", "Appendix E: every s_k² of relu(H̄) lies where g is convex, above Kλ_2, because g(Kλ_2) = ½ = f(0)", outside == 0,
			"%s: s_k²/(Kλ_2) = %s. Only the mean of g must be below ½: single s_k² may be 0 or lie where g is concave, and %d of %d do", name, strings.Join(ratios, ", "), outside, p.cfg.K),
		claim("proof-jensen", "Appendix E: by Jensen a flat spectrum of the same mean gives (86) no larger value", flat <= value,
			"%s: the mean of g(s_k²) is f = %.6f, g of the mean %.6f", name, value, flat),
		p.flatClaim(),
		claim("proof-feasible", "the counterexample is feasible in (86): its pre-activations have a nuclear norm that no orthogonal relu(H) has", math.Abs(nuclear-classifier) < 1e-6*classifier,
			"%s: √(λ_1λ_H1)‖H‖_* = %.6f = λ_2‖W2‖² = %.6f", name, nuclear, classifier),
	}
}

// flatClaim judges that (86) allows a frame whose spectrum is flat with the same mean. A frame with singular value s has the nuclear
// norm √n·K·s and λ_2‖W2‖² = λ_2·K·s²/(s² + Kλ_2)².
func (p proof) flatClaim() judge.Claim {
	K, mean, border := float64(p.cfg.K), p.mean(), p.border()
	left := math.Sqrt(float64(p.cfg.N)*p.cfg.L1*p.cfg.LH1) * K * math.Sqrt(mean)
	right := p.cfg.L2 * K * mean / ((mean + border) * (mean + border))
	return claim("proof-flat", "Appendix E: that flat spectrum is feasible in (86)", math.Abs(left-right) < 1e-6*right,
		"%s: an orthogonal relu(H) of this spectrum has √(λ_1λ_H1)‖H‖_* = %.4f, where the constraint asks for λ_2‖W2‖² = %.4f. Jensen's step drops the constraint, so that it would not be enough even where every s_k² is above Kλ_2: without it g falls to 0 as s_k grows",
		p.name(), left, right)
}

// figure draws g over z/(Kλ_2) with the spectrum of the counterexample on it.
func (p proof) figure() chart.Figure {
	curve := chart.Series{ID: "g", Label: "g(z)", Kind: chart.Line, Color: chart.ColorFor(0)}
	for i := range 161 {
		z := float64(i) / 40
		curve.X, curve.Y = append(curve.X, z), append(curve.Y, g(z, 1))
	}
	points := chart.Series{ID: "spectrum", Label: "s_k² of the " + p.name(), Kind: chart.Points, Marker: chart.Circle, Size: 8, Color: chart.ColorFor(1)}
	for _, s := range p.exact.Gram {
		points.X, points.Y = append(points.X, s/p.border()), append(points.Y, g(s/p.border(), 1))
	}
	return chart.Figure{ID: "proof", Title: "The step of the proof that fails", Columns: 1,
		Caption: "g is convex to the right of Kλ_2 only. The proof puts every s_k² there, because g ≤ ½ there alone; but the mean over k must be below ½, not each term.",
		Panels: []chart.Panel{{ID: "g", X: chart.Axis{Label: "z/(Kλ_2)", Zero: true}, Y: chart.Axis{Label: "g(z)", Range: chart.Range(.25, .6)}, Series: []chart.Series{curve,
			{ID: "half", Label: "f(0) = ½", Kind: chart.HLine, Dashed: true, Color: chart.Muted, Y: chart.Numbers{.5}},
			{ID: "border", Label: "z = Kλ_2", Kind: chart.VLine, Dashed: true, Color: chart.ColorFor(2), X: chart.Numbers{1}}, points}}}}
}
