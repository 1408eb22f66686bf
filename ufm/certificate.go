package ufm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"collapse.example/collapse/measure"
)

// Tolerances of verdicts, all relative: small penalties make objective, gradient and curvature small together, so that no absolute
// size distinguishes an optimum from a point that is twice as high.
const (
	provedGap      = 1e-10 // Fenchel bound below which a point is proved global, as a fraction of f*
	matchGap       = 1e-8  // distance to the exact value that counts as matching, also as a fraction
	criticalDrop   = 1e-8  // fraction of f that a step with the penalties' curvature could gain; see isCritical
	curvatureLimit = 1e-6  // how negative an eigenvalue must be to count as a descent direction; see fallsBelow
)

// hessianVariables is the number of variables above which no Hessian eigenvalue is computed.
const hessianVariables = 2_000_000

// Certificate says what a point is, and what proves it.
type Certificate struct {
	Verdict      string `json:"verdict"`
	DualNorm     Number `json:"dual_norm"` // ‖∇g‖₂
	Threshold    Number `json:"threshold"` // √(λ_Wλ_H)
	GapBound     Number `json:"gap_bound"` // f − f* is at most this
	Residual     Number `json:"residual"`  // largest gradient entry; KKT residual for ls-nonneg; for relu3 with the best slopes at kinks
	MinHessian   Number `json:"min_hessian_eigenvalue"`
	Negative     *int   `json:"negative_eigenvalues"`
	NegativeMany *int   `json:"negative_eigenvalues_at_least,omitempty"`
	Balance      Number `json:"balance"` // ‖λ_W WᵀW − λ_H HHᵀ‖_F

	NonnegReport measure.Values    `json:"configuration,omitzero"` // ls-nonneg: MD Definition 3.1
	Missing      map[string]string `json:"missing"`                // why a number is null
	Notes        []string          `json:"notes,omitempty"`        // what the numbers refer to

	// Direction, at a strict saddle, is a unit vector along which the objective falls, as described in the verdict.
	Direction []float64 `json:"-"`
}

// Certify examines the point x against the exact optimum e.
func (p *Problem) Certify(x []float64, e Exact) Certificate {
	rng := rand.New(rand.NewPCG(11, 13))
	cert := Certificate{DualNorm: None, Threshold: None, GapBound: None, MinHessian: None, Balance: None, Missing: map[string]string{}}
	small, y := p.collapsed(x)
	grad := make([]float64, len(y))
	value := small.Eval(y, grad)
	small.settleKinks(y, grad, value)
	residual := small.kktResidual(y, grad)
	cert.Residual = Number(residual)
	critical := small.isCritical(y, grad, value)
	if math.IsNaN(value) || math.IsInf(value, 0) || math.IsNaN(residual) || math.IsInf(residual, 0) {
		cert.Residual = None
		cert.Verdict = "not finite: objective or gradient overflow here (after a descent: it diverged, take a smaller step)"
		return cert
	}
	small.certifyDual(y, rng, &cert)
	small.certifyBalance(y, &cert)
	if small != p { // back to N columns: ‖∇g‖₂ and μ both scale with 1/√n
		root := math.Sqrt(float64(p.N))
		cert.DualNorm, cert.Threshold = cert.DualNorm/Number(root), cert.Threshold/Number(root)
	}
	p.certifyCurvature(x, rng, &cert)
	if p.Model == LSNonneg {
		cert.NonnegReport = p.nonnegReport(x)
	}
	cert.Verdict = p.verdict(x, value, critical, e, &cert)
	return cert
}

// collapsed returns the problem with one column per class, and the class means, if the problem is large and all columns of every
// class of x are equal; else p and x. Objective, balance, bound and the ratio of dual norm and threshold are the same there.
func (p *Problem) collapsed(x []float64) (*Problem, []float64) {
	if p.N == 1 || p.Variables() < hessianVariables {
		return p, x
	}
	at, K, n := p.View(x), p.K, p.N
	for j := range p.D * K {
		column := at.H[j*n:][:n]
		for _, v := range column {
			if v != column[0] {
				return p, x
			}
		}
	}
	small, err := NewProblem(p.reduced(), p.team)
	if err != nil {
		return p, x
	}
	return small, p.reduce(at, func(j, k int) float64 { return at.H[j*K*n+k*n] }).X
}

func (p *Problem) certifyDual(x []float64, rng *rand.Rand, cert *Certificate) {
	if !p.twoFactor() {
		reason := "no dual certificate for " + string(p.Model)
		cert.Missing["dual_norm"], cert.Missing["threshold"], cert.Missing["gap_bound"] = reason, reason, reason
		return
	}
	s, _, _ := p.dualNorm(rng)
	cert.DualNorm, cert.Threshold = Number(s), Number(p.threshold())
	bound, err := p.GapBound(x, rng)
	if err != nil {
		cert.Missing["gap_bound"] = err.Error()
		return
	}
	cert.GapBound = Number(bound)
}

// certifyCurvature fills in the Hessian fields. For ls-nonneg it considers only the free variables: at a vertex of the critical cone
// a direction into the bound does not count.
func (p *Problem) certifyCurvature(x []float64, rng *rand.Rand, cert *Certificate) {
	if p.Dim() > hessianVariables {
		reason := fmt.Sprintf("%d variables: Hessian eigenvalues are computed up to %d", p.Dim(), hessianVariables)
		cert.Missing["min_hessian_eigenvalue"], cert.Missing["negative_eigenvalues"] = reason, reason
		return
	}
	p.Linearize(x)
	if p.Model == ReLU3 {
		if _, kinks := p.kinks(p.View(x)); len(kinks) > 0 {
			reason := fmt.Sprintf("%d features lie on a kink of the ReLU with a slope to either side: the objective has no Hessian there", len(kinks))
			cert.Missing["min_hessian_eigenvalue"], cert.Missing["negative_eigenvalues"] = reason, reason
			return
		}
	}
	free := p.freeVariables(x)
	apply := operator(p.HessVec)
	if p.relu {
		cert.Notes = append(cert.Notes, "Hessian eigenvalues are those of the active piece: near a kink of the ReLU a negative one need not be a way down")
	}
	if p.Model == LSNonneg {
		cert.Notes = append(cert.Notes, "the smallest Hessian eigenvalue is over variables that are not at their bound")
		apply = p.freeHessian(free)
	}
	value, vector, ok := smallestEigen(len(free), apply, rng)
	cert.MinHessian = Number(value)
	if !ok {
		cert.Notes = append(cert.Notes, "min_hessian_eigenvalue: Lanczos did not converge, the value is an upper bound")
	}
	falls := p.fallsBelow(x)
	if value < -falls {
		cert.Direction = make([]float64, len(x))
		for i, j := range free {
			cert.Direction[j] = vector[i]
		}
	}
	if p.Model == LSNonneg {
		cert.Missing["negative_eigenvalues"] = "counted only without a sign constraint"
		return
	}
	count, err := p.NegativeEigenvalues()
	if err == nil {
		cert.Negative = &count
		return
	}
	cert.Missing["negative_eigenvalues"] = err.Error()
	some := p.negativeAtLeast(apply, falls, rng)
	cert.NegativeMany = &some
}

// freeVariables lists the variables that are not at their bound: all of them without a sign constraint.
// W is always among them.
func (p *Problem) freeVariables(x []float64) []int {
	free := make([]int, 0, len(x))
	for i, v := range x {
		if !p.nonneg(i) || v != 0 {
			free = append(free, i)
		}
	}
	return free
}

// freeHessian is the Hessian's block for the variables in free. Variables at their bound are left out altogether: as rows of zeros
// they would add eigenvalues 0.
func (p *Problem) freeHessian(free []int) operator {
	in, product := make([]float64, p.Dim()), make([]float64, p.Dim())
	return func(v, out []float64) {
		for i, j := range free {
			in[j] = v[i]
		}
		p.HessVec(in, product)
		for i, j := range free {
			out[i] = product[j]
		}
	}
}

// deflationLimit is how many negative eigenvalues negativeAtLeast looks for.
const deflationLimit = 24

// negativeAtLeast counts negative eigenvalues by Lanczos with deflation: each eigenvector found is shifted away before the next
// search.
func (p *Problem) negativeAtLeast(apply operator, falls float64, rng *rand.Rand) int {
	var found [][]float64
	var shift []float64
	deflated := func(v, out []float64) {
		apply(v, out)
		for i, q := range found {
			addScaled(out, shift[i]*dot(q, v), q)
		}
	}
	for len(found) < deflationLimit {
		value, vector, ok := smallestEigen(p.Dim(), deflated, rng)
		if !ok || !(value < -falls) {
			break
		}
		found, shift = append(found, vector), append(shift, 1-value)
	}
	return len(found)
}

// verdict describes the point in words.
func (p *Problem) verdict(x []float64, value float64, critical bool, e Exact, cert *Certificate) string {
	best := float64(e.Objective)
	switch bound := float64(cert.GapBound); {
	case !p.feasible(x):
		return "not feasible: an entry of H is negative"
	case cert.GapBound.Known() && bound <= provedGap*(value-bound): // f* is at least value − bound
		return "global (proved)"
	case e.Available && math.Abs(value-best) <= matchGap*best:
		return matchWords(e, math.Abs(value-best)/best)
	case e.Available && value < best:
		return fmt.Sprintf("%.3g below the listed value of the best known point (%s); not proved global", best-value, e.Regime)
	case !critical:
		return "not critical"
	}
	if words, direction := p.wayDown(x, cert); words != "" {
		cert.Direction = direction
		return "strict saddle: descend along " + words
	}
	if trap := p.Trap(x, value, e); trap != "" {
		return "local trap: " + trap
	}
	if e.Available {
		return fmt.Sprintf("critical, %.3g above the "+e.words()+", no direction of negative curvature found", value-best)
	}
	words := "critical, no direction of negative curvature found; nothing proved"
	if p.relu {
		words += " (curvature of the active piece only)"
	}
	return words
}

// matchWords describes a value that is matched up to a fraction.
func matchWords(e Exact, share float64) string {
	if e.Status == Proved {
		return "global (matches the exact value to " + powerOfTen(share) + ")"
	}
	return "best known (" + e.Regime + ", matched to " + powerOfTen(share) + "; not proved global)"
}

// wayDown describes a direction of negative curvature, "" if none is known.
func (p *Problem) wayDown(x []float64, cert *Certificate) (string, []float64) {
	s, mu := float64(cert.DualNorm), float64(cert.Threshold)
	if p.twoFactor() && s > mu*(1+1e-9)+p.gradientRounding(x) && p.Dim() <= hessianVariables {
		p.Linearize(x)
		rng := rand.New(rand.NewPCG(11, 13))
		if direction, _, curvature, ok := p.NullDirection(x, rng); ok && curvature < 0 {
			return fmt.Sprintf("dW = (λ_H/λ_W)^¼·u·aᵀ, dH = −(λ_W/λ_H)^¼·a·vᵀ (W·a = 0, (u,v) the top singular pair of ∇g), curvature %.6g", curvature), direction
		}
	}
	if cert.Direction != nil && (!p.relu || p.lowers(x, cert.Direction, p.Eval(x, make([]float64, len(x))))) {
		return fmt.Sprintf("the eigenvector of the smallest Hessian eigenvalue, curvature %.6g", float64(cert.MinHessian)), cert.Direction
	}
	return "", nil
}

// powerOfTen writes the smallest power of ten that is at least x, at least 1e-16.
func powerOfTen(x float64) string {
	return fmt.Sprintf("1e%d", int(math.Ceil(math.Log10(math.Max(x, 1e-16)))))
}
