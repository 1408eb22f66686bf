package imbalance

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// squares is the optimum of the squared error: M = Z̄·diag(√n_k) is nearest to diag(√n_k), which the nuclear norm shrinks to
// diag(√n_k − N·μ), or 0 where that is negative. A width below the number of classes that are left keeps those with most samples.
func (c Config) squares() Optimum {
	groups, N, mu := c.Groups(), c.Samples(), c.Mu()
	J, room := len(groups), c.D
	m, C, out := make([]float64, J), mat.NewDense(J, J, nil), Optimum{Reached: true}
	for j, g := range groups {
		root := math.Sqrt(float64(g.Count))
		kept := 0
		if root > N*mu && room > 0 {
			kept = min(room, g.Classes)
			m[j] = root - N*mu
			C.Set(j, j, m[j])
		}
		room -= kept
		out.Rank += kept
		out.Objective += float64(kept)*(N*mu*mu/2+mu*m[j]) + float64(g.Classes-kept)*float64(g.Count)/(2*N)
	}
	out.Geometry = c.geometry(groups, m, C)
	room = out.Rank
	for j := range out.Groups {
		s := &out.Groups[j]
		s.Kept = min(room, s.Kept)
		room -= s.Kept
	}
	return out
}

// Apart is the price μ = √(λ_W·λ_H) from which on two or more classes of n samples have one classifier and one mean, whatever the
// other classes are: (1−α)·√n/N. Below it they are apart.
func (c Config) Apart(n int) float64 {
	return (1 - c.Smoothing) * math.Sqrt(float64(n)) / c.Samples()
}

// Critical is the number of samples (not whole) that each of the classes of group j needs to be apart, the other classes being as
// they are: it solves (1−α)·√n = μ·(N_rest + K_j·n). It is +Inf if no number does.
func (c Config) Critical(j int) float64 {
	groups := c.Groups()
	g := groups[j]
	K, mu, reach := float64(g.Classes), c.Mu(), 1-c.Smoothing
	rest := c.Samples() - K*float64(g.Count)
	inside := reach*reach - 4*mu*mu*K*rest
	if inside < 0 {
		return math.Inf(1)
	}
	root := 2 * mu * rest / (reach + math.Sqrt(inside)) // the smaller one, without cancellation
	return root * root
}

// Limit is the geometry to which cross entropy tends as λ → 0 (SELI, Thrampoulidis et al. 2022): logits in the direction of the simplex-encoded labels.
type Limit struct {
	Geometry
	// Proved says that the program has checked for these counts what they prove, that these logits have the largest margins: the
	// polar factor U·Vᵀ of M has only negative entries beside the diagonal of its columns.
	Proved bool `json:"proved"`
}

// SELI is the limit, scaled to margins of 1 with λ_W = λ_H.
func (c Config) SELI() Limit {
	groups := c.Groups()
	m := make([]float64, len(groups))
	for j, g := range groups {
		m[j] = math.Sqrt(float64(g.Count))
	}
	C := simplexLabels(groups, false)
	unit := c
	unit.LW, unit.LH = 1, 1
	return Limit{Geometry: unit.geometry(groups, m, C), Proved: largestMargins(groups, C)}
}

// largestMargins examines U·Vᵀ of M, which in the parts of blocks is 1 within groups and the polar factor of C between them.
func largestMargins(groups []Group, C *mat.Dense) bool {
	var svd mat.SVD
	if !svd.Factorize(C, mat.SVDFull) {
		return false
	}
	var U, V, polar mat.Dense
	svd.UTo(&U)
	svd.VTo(&V)
	values := svd.Values(nil)
	kept := 0
	for kept < len(values) && values[kept] > negligible*values[0] {
		kept++
	}
	if kept == 0 { // one group: the simplex ETF
		return true
	}
	polar.Mul(U.Slice(0, len(groups), 0, kept), V.Slice(0, len(groups), 0, kept).T())
	for j, g := range groups {
		for i := range groups {
			v := polar.At(i, j)
			if i == j {
				v -= 1
			}
			if (i != j || g.Classes > 1) && v >= 0 {
				return false
			}
		}
	}
	return true
}

// Distance compares the classifiers' and the means' products with those of another geometry of the same classes: ‖G/‖G‖ − G′/‖G′‖‖,
// between 0 and 2.
func (c Config) Distance(a, b Geometry) (classifiers, means float64) {
	return distance(a, b, func(g Geometry) ([][]*float64, func(Shape) float64) {
			return g.CosW, func(s Shape) float64 { return s.Classifier }
		}), distance(a, b, func(g Geometry) ([][]*float64, func(Shape) float64) {
			return g.CosMeans, func(s Shape) float64 { return s.Mean }
		})
}

func distance(a, b Geometry, side func(Geometry) ([][]*float64, func(Shape) float64)) float64 {
	cosA, normA := side(a)
	cosB, normB := side(b)
	var aa, ab, bb float64
	for i, g := range a.Groups {
		for j, h := range a.Groups {
			pairs := float64(g.Classes) * float64(h.Classes)
			if i == j {
				pairs -= float64(g.Classes)
				own := float64(g.Classes)
				x, y := math.Pow(normA(a.Groups[i]), 2), math.Pow(normB(b.Groups[i]), 2)
				aa, ab, bb = aa+own*x*x, ab+own*x*y, bb+own*y*y
			}
			if cosA[i][j] != nil && cosB[i][j] != nil {
				x, y := *cosA[i][j]*normA(a.Groups[i])*normA(a.Groups[j]), *cosB[i][j]*normB(b.Groups[i])*normB(b.Groups[j])
				aa, ab, bb = aa+pairs*x*x, ab+pairs*x*y, bb+pairs*y*y
			}
		}
	}
	if aa == 0 || bb == 0 {
		return math.NaN()
	}
	return math.Sqrt(max(0, 2-2*ab/math.Sqrt(aa*bb)))
}
