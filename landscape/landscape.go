// Package landscape draws the loss of one feature around a fixed simplex-ETF classifier (Zhou et al.
// 2022, "ZH", Proposition C.1): W has K ≥ 3 unit rows, b = 0, and the feature lies in the plane of its
// own class's row w_k and another's, at length s and angle θ from w_k. plane.go does the same for a
// trained classifier.
package landscape

import (
	"errors"
	"fmt"
	"math"
)

// Params are the settings of the losses.
type Params struct {
	K     int     // classes, at least 3
	Alpha float64 // weight of the true class in the MSE; 1 is plain
	M     float64 // target of the true class; 1 is plain
}

// Validate returns everything that is wrong at once, or nil.
func (p Params) Validate() error {
	var errs []error
	if p.K < 3 {
		errs = append(errs, fmt.Errorf("landscape: k is %d, wanted at least 3 classes (the plane needs a third)", p.K))
	}
	if !(p.Alpha > 0) || math.IsInf(p.Alpha, 0) {
		errs = append(errs, fmt.Errorf("landscape: alpha is %g, wanted a finite weight above 0", p.Alpha))
	}
	if !(p.M > 0) || math.IsInf(p.M, 0) {
		errs = append(errs, fmt.Errorf("landscape: m is %g, wanted a finite target above 0", p.M))
	}
	return errors.Join(errs...)
}

// Value is a loss with its derivatives with respect to s and θ.
type Value struct{ Loss, DS, DTheta float64 }

// angles holds the logits at s = 1 and their derivatives with respect to θ: for the own class, the class that spans the plane, and
// each of the K−2 others.
type angles struct{ own, other, rest, dOwn, dOther, dRest float64 }

// angles is ZH (28)–(29) per unit length:
//
//	A = cos θ, U = (√(K²−2K) sin θ − cos θ)/(K−1), V = −(√(K/(K−2)) sin θ + cos θ)/(K−1)
func (p Params) angles(theta float64) angles {
	K := float64(p.K)
	sin, cos := math.Sincos(theta)
	u, v := math.Sqrt(K*K-2*K), math.Sqrt(K/(K-2))
	return angles{
		own: cos, other: (u*sin - cos) / (K - 1), rest: -(v*sin + cos) / (K - 1),
		dOwn: -sin, dOther: (u*cos + sin) / (K - 1), dRest: -(v*cos - sin) / (K - 1),
	}
}

// Logits returns the logits of the own class, of the class that spans the plane, and of each other class.
func (p Params) Logits(s, theta float64) (own, other, rest float64) {
	a := p.angles(theta)
	return s * a.own, s * a.other, s * a.rest
}

// MSE is the (rescaled) squared loss of ZH (31) with gradient (34):
//
//	L = α/2 (s cos θ − M)² + s²/2 (K/(K−1) − cos²θ)
//
// because the squares of all logits sum to s²K/(K−1). (ZH (30) subtracts a target of 1 from the other
// classes too.)
func (p Params) MSE(s, theta float64) Value {
	K := float64(p.K)
	return p.mse(s, theta, K/(K-1))
}

// MSELimit is MSE for K → ∞. At θ = π/2 its gradient is (s, αMs).
func (p Params) MSELimit(s, theta float64) Value { return p.mse(s, theta, 1) }

func (p Params) mse(s, theta, squares float64) Value {
	sin, cos := math.Sincos(theta)
	miss := s*cos - p.M
	return Value{
		Loss:   p.Alpha/2*miss*miss + s*s/2*(squares-cos*cos),
		DS:     p.Alpha*cos*miss + s*(squares-cos*cos),
		DTheta: -p.Alpha*s*sin*miss + s*s*sin*cos,
	}
}

// CE is the cross-entropy of ZH (32) with gradient (33).
func (p Params) CE(s, theta float64) Value {
	K := float64(p.K)
	a := p.angles(theta)
	top := math.Max(s*a.own, math.Max(s*a.other, s*a.rest))
	own, other, rest := math.Exp(s*a.own-top), math.Exp(s*a.other-top), math.Exp(s*a.rest-top)
	sum := own + other + (K-2)*rest
	own, other, rest = own/sum, other/sum, rest/sum
	return Value{
		Loss:   top + math.Log(sum) - s*a.own,
		DS:     own*a.own + other*a.other + (K-2)*rest*a.rest - a.own,
		DTheta: s * (own*a.dOwn + other*a.dOther + (K-2)*rest*a.dRest - a.dOwn),
	}
}

// CELimit is the gradient of CE for K → ∞: (−cos θ, s sin θ). The loss itself grows like log K, so Loss is NaN.
func CELimit(s, theta float64) Value {
	sin, cos := math.Sincos(theta)
	return Value{Loss: math.NaN(), DS: -cos, DTheta: s * sin}
}

// CEPrinted is ZH (35) as printed, for comparison: it drops the K−2 other classes and the factor s in the exponents, and is not a
// limit of CE.
func CEPrinted(s, theta float64) Value {
	sin, cos := math.Sincos(theta)
	es, ec := math.Exp(sin), math.Exp(cos)
	return Value{Loss: math.NaN(), DS: es * (sin - cos) / (es + ec), DTheta: s * es * (sin + cos) / (es + ec)}
}

// AngleShare returns the fraction of s in (1,5], θ in (0,1.5) where
// ∂L/∂θ
// >
// ∂L/∂s
// , that is, where a feature turns more than it grows, on n×n midpoints.
func AngleShare(loss func(s, theta float64) Value, n int) float64 {
	count := 0
	for i := range n {
		s := 1 + 4*(float64(i)+.5)/float64(n)
		for j := range n {
			v := loss(s, 1.5*(float64(j)+.5)/float64(n))
			if math.Abs(v.DTheta) > math.Abs(v.DS) {
				count++
			}
		}
	}
	return float64(count) / float64(n*n)
}

// Grid is a loss over s and θ: index r·len(S)+c is (S[c], Theta[r]).
type Grid struct {
	S, Theta []float64
	Values   []Value
}

// NewGrid evaluates loss at columns×rows midpoints of cells of [0,sMax]×[0,thetaMax].
// It panics unless both counts are at least 1.
func NewGrid(loss func(s, theta float64) Value, sMax float64, columns int, thetaMax float64, rows int) Grid {
	if columns < 1 || rows < 1 {
		panic("landscape: NewGrid needs at least one cell")
	}
	g := Grid{S: make([]float64, columns), Theta: make([]float64, rows)}
	for c := range g.S {
		g.S[c] = sMax * (float64(c) + .5) / float64(columns)
	}
	for r := range g.Theta {
		g.Theta[r] = thetaMax * (float64(r) + .5) / float64(rows)
		for _, s := range g.S {
			g.Values = append(g.Values, loss(s, g.Theta[r]))
		}
	}
	return g
}
