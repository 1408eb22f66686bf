package etf

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Distances of a Gram matrix to the frames, each after scaling both to Frobenius norm 1. They do not depend on the feature scale and
// lie in [0,2].

// DistanceSimplex returns ‖U(G) − P/√(K−1)‖_F with U(A) = A/‖A‖_F: how far a Gram matrix G (K×K) is
// from that of a simplex ETF (Zhu et al. 2021 (7); Tirer & Bruna 2022 (27)). NaN if G = 0.
func DistanceSimplex(gram mat.Matrix) float64 {
	K, _ := gram.Dims()
	return distance(gram, Centering(K))
}

// DistanceOrthogonal returns ‖U(G) − I/√K‖_F. NaN if G = 0.
func DistanceOrthogonal(gram mat.Matrix) float64 {
	K, _ := gram.Dims()
	eye := mat.NewDense(K, K, nil)
	for k := range K {
		eye.Set(k, k, 1)
	}
	return distance(gram, eye)
}

// DistanceRank returns min over projections Q with Q1 = 0 and rank d of ‖U(G) − Q/√d‖_F, which is
// √(2 − (2/√d)·Σ of the d largest eigenvalues of P·sym(U(G))·P): the distance to the best rank-d
// simplex ETF, and the one that can vanish where d < K−1. NaN if G = 0.
// It panics unless 1 ≤ d ≤ K−1.
func DistanceRank(gram mat.Matrix, d int) float64 {
	K, _ := gram.Dims()
	if d < 1 || d > K-1 {
		panic("etf: DistanceRank needs 1 ≤ d ≤ K−1")
	}
	u := topCentered(gram, d)
	return distance(gram, projectionOn(u))
}

// distance returns ‖U(a) − U(b)‖_F as a sum of squared differences, which keeps its relative accuracy near 0, where 2 − 2⟨U(a),U(b)⟩
// would lose half the digits.
func distance(a, b mat.Matrix) float64 {
	na, nb := mat.Norm(a, 2), mat.Norm(b, 2)
	if na == 0 || nb == 0 {
		return math.NaN()
	}
	rows, cols := a.Dims()
	sum := 0.0
	for i := range rows {
		for j := range cols {
			diff := a.At(i, j)/na - b.At(i, j)/nb
			sum += diff * diff
		}
	}
	return math.Sqrt(sum)
}

// Gram returns frameᵀ·frame (K×K).
func Gram(frame *mat.Dense) *mat.Dense {
	var g mat.Dense
	g.Mul(frame.T(), frame)
	return &g
}
