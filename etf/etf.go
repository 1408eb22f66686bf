// Package etf builds the frames that collapsed features and classifiers form: simplex equiangular
// tight frames, orthogonal frames, tight frames of lower rank; and measures how far a Gram matrix
// is from each.
//
// A frame of K vectors in R^d is a d×K matrix, one vector per column. Everything is float64. Read etf.go first; distance.go has the
// comparisons.
package etf

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// ErrNoFrame is returned if no such frame exists or none was found.
var ErrNoFrame = errors.New("etf: no such frame")

// Centering returns P = I − 11ᵀ/K (K×K), the projection onto the complement of the ones vector.
// It panics if K < 1.
func Centering(K int) *mat.Dense {
	if K < 1 {
		panic("etf: Centering needs K ≥ 1")
	}
	p := mat.NewDense(K, K, nil)
	for i := range K {
		for j := range K {
			p.Set(i, j, -1/float64(K))
		}
		p.Set(i, i, 1-1/float64(K))
	}
	return p
}

// Helmert returns the (K−1)×K Helmert matrix: its rows are an orthonormal basis of the complement of
// the ones vector, so HᵀH = P. Row r is (1,…,1,−(r+1),0,…,0)/√((r+1)(r+2)) with r+1 ones.
// It panics if K < 2.
func Helmert(K int) *mat.Dense {
	if K < 2 {
		panic("etf: Helmert needs K ≥ 2")
	}
	h := mat.NewDense(K-1, K, nil)
	for r := range K - 1 {
		ones := float64(r + 1)
		scale := 1 / math.Sqrt(ones*(ones+1))
		for j := 0; j <= r; j++ {
			h.Set(r, j, scale)
		}
		h.Set(r, r+1, -ones*scale)
	}
	return h
}

// Simplex returns a simplex ETF of K unit vectors in R^d (d×K): inner products −1/(K−1). For d ≥ K it
// is √(K/(K−1))·(I − 11ᵀ/K) padded with zero rows, for d = K−1 the scaled Helmert basis (identity
// padding needs d ≥ K; theory of Papyan, Han & Donoho 2020).
//
// It returns an error if d < K−1, where none exists. It panics if K < 2.
func Simplex(K, d int) (*mat.Dense, error) {
	if K < 2 {
		panic("etf: Simplex needs K ≥ 2")
	}
	if d < K-1 {
		return nil, fmt.Errorf("%w: a simplex ETF of K = %d vectors needs d ≥ %d, got d = %d", ErrNoFrame, K, K-1, d)
	}
	base := mat.Matrix(Helmert(K))
	if d >= K {
		base = Centering(K)
	}
	out := pad(base, d)
	out.Scale(math.Sqrt(float64(K)/float64(K-1)), out)
	return out, nil
}

// Orthogonal returns K orthonormal vectors in R^d (d×K): the identity padded with zero rows.
// It returns an error if d < K.
func Orthogonal(K, d int) (*mat.Dense, error) {
	if d < K {
		return nil, fmt.Errorf("%w: K = %d orthogonal vectors need d ≥ %d, got d = %d", ErrNoFrame, K, K, d)
	}
	eye := mat.NewDense(d, K, nil)
	for k := range K {
		eye.Set(k, k, 1)
	}
	return eye, nil
}

// pad appends zero rows to a until it has d rows.
func pad(a mat.Matrix, d int) *mat.Dense {
	rows, cols := a.Dims()
	out := mat.NewDense(d, cols, nil)
	out.Slice(0, rows, 0, cols).(*mat.Dense).Copy(a)
	return out
}

// RandomOrthonormal returns a d×r matrix with orthonormal columns, uniform (Haar) among them: the Q
// factor of a Gaussian matrix with the signs of R's diagonal moved into Q (Mezzadri 2007).
// It panics unless 1 ≤ r ≤ d.
func RandomOrthonormal(d, r int, rng *rand.Rand) *mat.Dense {
	if r < 1 || r > d {
		panic("etf: RandomOrthonormal needs 1 ≤ r ≤ d")
	}
	q := blas64.General{Rows: d, Cols: r, Stride: r, Data: make([]float64, d*r)}
	for i := range q.Data {
		q.Data[i] = rng.NormFloat64()
	}
	tau, size := make([]float64, r), make([]float64, 1)
	lapack64.Geqrf(q, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Geqrf(q, tau, work, len(work))
	sign := make([]float64, r)
	for j := range r {
		sign[j] = math.Copysign(1, q.Data[j*r+j])
	}
	lapack64.Orgqr(q, tau, size, -1)
	work = make([]float64, int(size[0]))
	lapack64.Orgqr(q, tau, work, len(work))
	for i := range d {
		for j, s := range sign {
			q.Data[i*r+j] *= s
		}
	}
	return mat.NewDense(d, r, q.Data)
}

// Rotate returns Q·frame with a random orthonormal Q (p×d, p ≥ d): the same Gram matrix, in a random position in R^p.
func Rotate(frame *mat.Dense, p int, rng *rand.Rand) *mat.Dense {
	d, _ := frame.Dims()
	var out mat.Dense
	out.Mul(RandomOrthonormal(p, d, rng), frame)
	return &out
}
