package ufm

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/spectrum"
)

// Limits of the exact count: the size of the Schur complement and of its coupling.
const (
	inertiaOuter    = 3000
	inertiaCoupling = 60_000_000
	inertiaRounding = 1e-14  // rounding of the complement, relative to the terms that it is the difference of
	inertiaPenalty  = 1e-150 // below it the square of a penalty underflows to 0, and signs can no longer be told apart
)

var errInertiaSize = errors.New("the Schur complement is too large")

// NegativeEigenvalues counts the negative eigenvalues of the Hessian at the point of Linearize, exactly
// up to eigenvalues within rounding of 0.
//
// Given W (W2, W1) and b, samples do not interact: the H-block of the Hessian is block diagonal with one d×d block per sample,
// Wᵀ·∇²g_i·W + λ_H·I (masked with relu), which is positive definite for λ_H > 0 and convex g. So the inertia follows from that of
// the Schur complement on (W, b) alone (Haynsworth 1968), a matrix of size Kd + K or Kd + d², whatever N is.
func (p *Problem) NegativeEigenvalues() (int, error) {
	outer := p.outerVariables()
	if !(p.pH > 0) {
		return 0, errors.New("the count needs λ_H > 0")
	}
	if p.pH < inertiaPenalty {
		return 0, errors.New("with penalties below 1e-150 signs of eigenvalues are rounding")
	}
	if len(outer) > inertiaOuter || len(outer)*p.D*p.K*p.N > inertiaCoupling {
		return 0, errInertiaSize
	}
	schur, before, err := p.schurComplement(outer)
	if err != nil {
		return 0, err
	}
	if p.CrossEntropy() { // p(1−p), which loses digits of 1−p for p near 1
		before = math.Max(before, sumSquares(p.features(p.at))/float64(p.K*p.N))
	}
	return countNegative(schur, len(outer), before)
}

// countNegative counts the negative eigenvalues of the m×m schur, a difference of matrices with entries up to before: at an optimum
// with tiny penalties it is small compared with them.
func countNegative(schur []float64, m int, before float64) (int, error) {
	values := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			values.SetSym(i, j, (schur[i*m+j]+schur[j*m+i])/2)
		}
	}
	size := normalise(values)
	if math.IsNaN(size) || math.IsInf(size, 0) || math.IsNaN(mat.Sum(values)) {
		return 0, errors.New("the Schur complement overflows: the penalties are too small or the point is too large for float64")
	}
	rounding := inertiaRounding * before / size
	if rounding > .01 {
		return 0, errors.New("the penalties are so small that rounding decides the signs of eigenvalues")
	}
	all, ok := spectrum.Of(values.RawSymmetric().Data, m)
	if !ok {
		return 0, errors.New("the eigenvalue iteration did not converge")
	}
	cut := math.Max(1e-9*math.Max(math.Abs(all[0]), math.Abs(all[m-1])), rounding)
	count := 0
	for count < m && all[count] < -cut {
		count++
	}
	return count, nil
}

// outerVariables lists the indices of all variables except H.
func (p *Problem) outerVariables() []int {
	from := p.K * p.D
	if p.ThreeFactor() {
		from += p.D * p.D
	}
	to := from + p.D*p.K*p.N
	var out []int
	for i := range p.Variables() {
		if i < from || i >= to {
			out = append(out, i)
		}
	}
	return out
}

// schurComplement returns A − Σ_i B_i D_i⁻¹ B_iᵀ (row-major), from one Hessian product per outer
// variable and one per row of H: a direction e_j on all samples at once gives column j of every D_i. size is the
// largest entry of A.
func (p *Problem) schurComplement(outer []int) (schur []float64, size float64, err error) {
	d, N, m := p.D, p.K*p.N, len(outer)
	unit, column := p.NewPoint(), p.NewPoint()
	blocks := make([]float64, N*d*d)
	for j := range d {
		row := unit.H[j*N:][:N]
		for i := range row {
			row[i] = 1
		}
		p.HessVec(unit.X, column.X)
		clear(row)
		for i := range N {
			for r := range d {
				blocks[(i*d+r)*d+j] = column.H[r*N+i]
			}
		}
	}
	schur = make([]float64, m*m)
	coupling := make([]float64, m*d*N)
	for a, index := range outer {
		unit.X[index] = 1
		p.HessVec(unit.X, column.X)
		unit.X[index] = 0
		for b, other := range outer {
			schur[a*m+b] = column.X[other]
		}
		for i := range N { // sample-major, so that each solve reads contiguous memory
			for r := range d {
				coupling[(i*m+a)*d+r] = column.H[r*N+i]
			}
		}
	}
	size = maxAbs(schur)
	for i := range N {
		if err := eliminate(schur, blocks[i*d*d:][:d*d], coupling[i*m*d:][:m*d], m, d); err != nil {
			return nil, 0, err
		}
	}
	return schur, size, nil
}

// eliminate subtracts B·D⁻¹·Bᵀ from the m×m schur: with D = LLᵀ and X = B·L⁻ᵀ it is X·Xᵀ.
func eliminate(schur, block, coupling []float64, m, d int) error {
	for j := range d { // Cholesky in the lower triangle
		for i := j; i < d; i++ {
			sum := block[i*d+j]
			for k := range j {
				sum -= block[i*d+k] * block[j*d+k]
			}
			if i > j {
				block[i*d+j] = sum / block[j*d+j]
				continue
			}
			if !(sum > 0) {
				return errors.New("a sample's block of the Hessian is not positive definite")
			}
			block[j*d+j] = math.Sqrt(sum)
		}
	}
	for a := range m {
		x := coupling[a*d:][:d]
		for r := range d {
			sum := x[r]
			for k := range r {
				sum -= block[r*d+k] * x[k]
			}
			x[r] = sum / block[r*d+r]
		}
	}
	for a := range m {
		x := coupling[a*d:][:d]
		for b := range m {
			schur[a*m+b] -= dot(x, coupling[b*d:][:d])
		}
	}
	return nil
}
