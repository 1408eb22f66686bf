package imbalance

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Geometry is the shape of a solution with W and H balanced: norms and angles, by groups of classes. Class means are not centred.
type Geometry struct {
	Groups   []Shape      `json:"groups"`
	CosW     [][]*float64 `json:"classifier_cosines"` // between classes of groups i and j; i = j: two classes of it; null where there are none, or zeros
	CosMeans [][]*float64 `json:"mean_cosines"`
}

// Shape is what the classes of a group look like.
type Shape struct {
	Group
	Kept       int     `json:"kept"` // classes with a mean other than 0; the norms and cosines are of these
	Same       bool    `json:"same"` // two or more classes, with one classifier and one mean
	Classifier float64 `json:"classifier_norm"`
	Mean       float64 `json:"mean_norm"`
	Logit      float64 `json:"logit"`  // of the true class
	Margin     float64 `json:"margin"` // to the next
}

// geometry is that of m and C (see blocks), W and H sharing the penalty as λ_W and λ_H ask.
func (c Config) geometry(groups []Group, m []float64, C *mat.Dense) Geometry {
	left, right := roots(C)
	scale := math.Sqrt(c.LH) / math.Sqrt(c.LW)
	w := gram{groups, m, left, func(int) float64 { return math.Sqrt(scale) }}
	h := gram{groups, m, right, func(j int) float64 { return 1 / math.Sqrt(scale*float64(groups[j].Count)) }}
	out := Geometry{CosW: w.cosines(), CosMeans: h.cosines()}
	b := blocks{groups: groups}
	z := make([]float64, len(groups)+1)
	floor := negligible * math.Sqrt(float64(groups[0].Count))
	for j, g := range groups {
		b.logits(j, C.RawMatrix().Data, m[j], z)
		s := Shape{Group: g, Same: g.Classes > 1 && m[j] <= floor, Classifier: w.norm(j), Mean: h.norm(j), Logit: z[len(groups)], Margin: math.Inf(1)}
		if s.Mean > 0 {
			s.Kept = g.Classes
		}
		for i, other := range groups {
			if i != j || other.Classes > 1 {
				s.Margin = min(s.Margin, s.Logit-z[i])
			}
		}
		out.Groups = append(out.Groups, s)
	}
	return out
}

// roots are (CCᵀ)^½ and (CᵀC)^½.
func roots(C *mat.Dense) (left, right *mat.Dense) {
	var svd mat.SVD
	if !svd.Factorize(C, mat.SVDFull) {
		panic("imbalance: no singular values") // of finite numbers there always are
	}
	var U, V mat.Dense
	svd.UTo(&U)
	svd.VTo(&V)
	root := func(Q *mat.Dense) *mat.Dense {
		var scaled mat.Dense
		scaled.Apply(func(_, r int, v float64) float64 { return v * svd.Values(nil)[r] }, Q)
		out := new(mat.Dense)
		out.Mul(&scaled, Q.T())
		return out
	}
	return root(&U), root(&V)
}

// gram holds the products of one side's vectors: of two classes of groups i and j it is S_ij/√(K_iK_j)·unit_i·unit_j, less m_j/K_j·unit_j²
// within a group, and more m_j·unit_j² for a class and itself.
type gram struct {
	groups []Group
	m      []float64
	root   *mat.Dense
	unit   func(j int) float64
}

func (g gram) between(i, j int) float64 {
	Ki, Kj := float64(g.groups[i].Classes), float64(g.groups[j].Classes)
	v := g.root.At(i, j) / math.Sqrt(Ki*Kj)
	if i == j {
		v -= g.m[j] / Kj
	}
	return v * g.unit(i) * g.unit(j)
}

func (g gram) norm(j int) float64 {
	return math.Sqrt(max(0, g.between(j, j)+g.m[j]*g.unit(j)*g.unit(j)))
}

// cosines leaves out what has no angle.
func (g gram) cosines() [][]*float64 {
	out, longest := make([][]*float64, len(g.groups)), 0.0
	for j := range out {
		longest = max(longest, g.norm(j))
	}
	for i := range out {
		out[i] = make([]*float64, len(out))
		for j := range out[i] {
			size := g.norm(i) * g.norm(j)
			if size > negligible*longest*longest && (i != j || g.groups[j].Classes > 1) {
				v := max(-1, min(1, g.between(i, j)/size))
				out[i][j] = &v
			}
		}
	}
	return out
}
