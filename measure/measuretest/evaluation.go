package measuretest

import (
	"math"
	"math/rand/v2"

	"collapse.example/collapse/measure/internal/dd"
)

// Evaluation is the evaluation of a set. Anything that several definitions share is computed once.
type Evaluation struct {
	set              *Set
	train, test, ood *split
	w                [][]dd.DD // nil: no classifier
	b                []dd.DD
	k, d             int

	ranks  Ranks
	pairs  *pairs
	rates  *rates
	memory *memory
	cloud  *cloud
}

// Ranks are the numbers of directions over which NC1 and dilation are taken; 0: all non-zero ones.
type Ranks struct{ Train, Test int }

// New returns the evaluation of a set.
func New(s *Set) *Evaluation { return newEvaluation(s, nil) }

// NewJittered returns the evaluation of a set whose class means, samples and classifier are off by about one rounding u: an
// algorithm in float64 that rounds means cannot be blamed for errors from u = 2⁻⁵³.
func NewJittered(s *Set, u float64, seed uint64) *Evaluation {
	return newEvaluation(s, &jitter{rand.New(rand.NewPCG(seed, 5)), u})
}

// NewRounded is NewJittered with the roundoff of the features' type: what the given numbers cannot resolve.
func NewRounded(s *Set, seed uint64) *Evaluation {
	return NewJittered(s, (&Evaluation{set: s}).roundoff(), seed)
}

// jitter moves numbers by up to ±u of their size.
type jitter struct {
	*rand.Rand
	u float64
}

func (j *jitter) sign() float64 { return 2*j.Float64() - 1 }

func newEvaluation(s *Set, jitter *jitter) *Evaluation {
	e := &Evaluation{set: s, k: s.Train.K, d: s.D, train: newSplit(s.Train, s.D, s.PerClass, jitter)}
	if s.Test != nil {
		e.test = newSplit(*s.Test, s.D, s.PerClass, jitter)
	}
	if s.OOD != nil {
		e.ood = newSplit(Split{H: s.OOD, Labels: make([]int32, len(s.OOD)/s.D), K: 1}, s.D, s.PerClass, jitter)
	}
	if s.W == nil {
		return e
	}
	e.b = make([]dd.DD, e.k)
	for c := range e.k {
		row := dd.Vector(s.W[c*e.d:][:e.d])
		if jitter != nil {
			for j, x := range row {
				row[j] = x.Add(dd.Of(x.Hi * jitter.sign() * jitter.u))
			}
		}
		e.w = append(e.w, row)
		if s.B != nil {
			e.b[c] = dd.Of(s.B[c])
		}
	}
	return e
}

// Values evaluates every definition.
func (e *Evaluation) Values(ranks Ranks) map[string]Value {
	e.ranks = ranks
	out := make(map[string]Value, len(definitions))
	for key, define := range definitions {
		out[key] = define(e)
		if v := out[key]; v.Undefined == "" && (math.IsNaN(v.V.Hi) || math.IsInf(v.V.Hi, 0)) {
			out[key] = undefined("not a number")
		}
	}
	return out
}

// Spectrum returns the singular values of the centred means of the train split, and of the test split (nil without one), largest
// first, including zeros.
func (e *Evaluation) Spectrum() (train, test []dd.DD) {
	e.train.spectrum(e.set.PerClass)
	if e.test != nil {
		e.test.spectrum(e.set.PerClass)
		test = e.test.singular
	}
	return e.train.singular, test
}

// WellConditioned reports whether no coordinate is heavy, the features are near the origin, class means are far from dependent and
// classes far from points: then nothing excuses a loss of digits.
func (e *Evaluation) WellConditioned() bool {
	t := &e.set.Traits
	s, _ := e.Spectrum()
	return t.Heavy <= 10 && t.Offset <= 10 && t.Spread >= 1e-4 && !e.set.Float32 && len(s) > 0 &&
		s[len(s)-1].Hi > .1*s[0].Hi
}

// unit returns x/‖x‖, and false if ‖x‖ ≤ zero.
func unit(x []dd.DD, zero float64) ([]dd.DD, bool) {
	length := dd.Norm(x)
	if !(length.Hi > zero) {
		return nil, false
	}
	u, inverse := make([]dd.DD, len(x)), dd.Of(1).Div(length)
	for j, v := range x {
		u[j] = v.Mul(inverse)
	}
	return u, true
}

// units is unit for each row, and false if a row has none.
func units(x [][]dd.DD, zero float64) ([][]dd.DD, bool) {
	out := make([][]dd.DD, len(x))
	for i, row := range x {
		u, ok := unit(row, zero)
		if !ok {
			return nil, false
		}
		out[i] = u
	}
	return out, true
}

// products returns the matrix x_i·y_j.
func products(x, y [][]dd.DD) [][]dd.DD {
	out := make([][]dd.DD, len(x))
	for i, a := range x {
		out[i] = make([]dd.DD, len(y))
		for j, b := range y {
			out[i][j] = dd.Dot(a, b)
		}
	}
	return out
}

// frobenius returns ‖x‖.
func frobenius(x [][]dd.DD) dd.DD {
	var sum dd.DD
	for _, row := range x {
		sum = sum.Add(dd.Dot(row, row))
	}
	return sum.Sqrt()
}

// moments returns mean and variance (divisor n).
func moments(x []dd.DD) (mean, variance dd.DD) {
	n := float64(len(x))
	for _, v := range x {
		mean = mean.Add(v.Over(n))
	}
	for _, v := range x {
		variance = variance.Add(v.Sub(mean).Square().Over(n))
	}
	return mean, variance
}

// entry (i, j) of a target matrix.
type target func(i, j int) dd.DD

// simplexETF is E = (I − 11ᵀ/K)/√(K−1).
func simplexETF(k int) target {
	root := dd.Of(float64(k - 1)).Sqrt()
	other := dd.Of(-1).Over(float64(k)).Div(root)
	diagonal := other.Add(dd.Of(1).Div(root))
	return func(i, j int) dd.DD {
		if i == j {
			return diagonal
		}
		return other
	}
}

// frame is I/√K.
func frame(k int) target {
	diagonal := dd.Of(1).Div(dd.Of(float64(k)).Sqrt())
	return func(i, j int) dd.DD {
		if i == j {
			return diagonal
		}
		return dd.DD{}
	}
}

// from returns ‖U(x) − T‖.
func from(x [][]dd.DD, t target) Value {
	f := frobenius(x)
	if !(f.Hi > 0) {
		return undefined("a matrix of zeros has no direction")
	}
	var sum dd.DD
	for i, row := range x {
		for j, v := range row {
			sum = sum.Add(v.Div(f).Sub(t(i, j)).Square())
		}
	}
	return value(sum.Sqrt())
}

// rankD is min over projections Q, Q1 = 0, rank Q = d of ‖U(x) − Q/√d‖. With B the symmetric part of U(x) in an
// orthonormal basis of the complement of 1, ‖U(x) − Q/√d‖² = 2 − (2/√d) tr(U(x)Q), and tr is largest for the d
// largest eigenvalues of B (Ky Fan).
func rankD(x [][]dd.DD, d int) Value {
	k := len(x)
	if d >= k-1 {
		return undefined("the full ETF exists")
	}
	f := frobenius(x)
	if !(f.Hi > 0) {
		return undefined("a matrix of zeros has no direction")
	}
	helmert := make([][]dd.DD, k-1) // rows (1, …, 1, −m, 0, …)/√(m(m+1))
	for m := 1; m < k; m++ {
		row, root := make([]dd.DD, k), dd.Of(float64(m)*float64(m+1)).Sqrt()
		for i := range m {
			row[i] = dd.Of(1).Div(root)
		}
		row[m] = dd.Of(float64(-m)).Div(root)
		helmert[m-1] = row
	}
	symmetric := make([][]dd.DD, k)
	for i := range symmetric {
		symmetric[i] = make([]dd.DD, k)
		for j := range symmetric[i] {
			symmetric[i][j] = x[i][j].Add(x[j][i]).Times(.5).Div(f)
		}
	}
	var sum dd.DD
	for _, v := range dd.Eigenvalues(products(products(helmert, symmetric), helmert))[:d] {
		sum = sum.Add(v)
	}
	return value(dd.Max(dd.DD{}, dd.Of(2).Sub(sum.Times(2).Div(dd.Of(float64(d)).Sqrt()))).Sqrt())
}

// Dilation returns √NC1 of the test split over the largest directions, rank of them.
func (e *Evaluation) Dilation(rank int) Value {
	if e.test == nil {
		return undefined(noTest)
	}
	v := e.nc1(e.test, rank)
	v.V = v.V.Sqrt()
	return v
}
