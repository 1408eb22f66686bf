package measure

import (
	"fmt"
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

const (
	eps64 = vec.Eps64
	// wellConditioned bounds the condition number of a Gram matrix that is solved by Cholesky: NC1 then keeps a
	// relative error near eps64·wellConditioned; beyond it singular values are computed. Above jacobiLimit those
	// come from the Gram matrix too and are no more exact, so they are computed only if the cut-off needs them.
	wellConditioned  = 1e6
	solvableByFactor = 1e11
	// jacobiLimit is the size up to which singular values come from one-sided Jacobi rotations, which keep
	// small ones accurate; above it from the eigenvalues of the Gram matrix.
	jacobiLimit = 64
	// projectionLimit is the number of classes up to which z comes from p = Cᵀ r, K² products per sample
	// that are cheap beside K·d; beyond it the operator is applied to r by a matrix product.
	projectionLimit = 32
)

// between holds what NC1 needs from Σ_B = (1/K) C Cᵀ, C (d×K) the centred means: an operator with NC1
// = (1/N) Σ_i ‖z_i‖², z the image of the residual r = h − μ_k. A sum of squares is never negative.
//
// C has the null vector ν (the class counts if h_G is the mean of samples, ones if it is the mean of
// means). With Q (K×(K−1)) an orthonormal basis of its complement and M̃ = Qᵀ Cᵀ, Σ_B⁺ = K C G⁺² Cᵀ gives
// z = (M̃ M̃ᵀ)⁻¹ M̃ r. For d < K−1 the Cholesky factor of C Cᵀ = L Lᵀ gives z = L⁻¹ r. Where that is
// rank-deficient, z_j = u_jᵀ r / s_j over the kept singular values s_j of C.
type between struct {
	rank      int       // kept directions
	full      int       // min(d, K−1)
	chosen    bool      // the cut-off was chosen
	condition float64   // of the solved Gram matrix; 0: singular values were computed instead
	reason    string    // why there is no operator; "" if there is one
	allowed   float64   // operations that making it may take unless asked for; 0: any number
	left      string    // why it was not made although it is defined (it takes more operations); "" if made
	fromP     bool      // the operator applies to p = Cᵀ r (K), not to r (d)
	op        []float64 // (rank × K) if fromP, else (rank × d)
	values    []float64 // eigenvalues of C Cᵀ, descending, if they were computed
	reflect   []float64 // (K) Householder vector that takes ν to the first axis
	gram      []float64
	factor    []float64
	work      []float64
}

// build makes the operator from the centred means c (K×d) with the null vector given by counts (nil:
// ones). spectrum always computes the eigenvalues.
func (b *between) build(team *parallel.Team, c []float64, k, d int, count []int, cut cutoff, spectrum bool) {
	b.rank, b.full, b.reason, b.left, b.fromP, b.values = 0, min(d, k-1), "", "", k-1 <= d, b.values[:0]
	b.chosen, b.condition = cut.relative > 0, 0
	if k < 2 {
		b.reason = "one class: there is no between-class scatter"
		return
	}
	if !(dot(c, c) > cut.total) {
		b.reason = "the class means coincide: Σ_B = 0"
		return
	}
	if b.tooMuch(factorWork(k, d), "to factor Σ_B of %d classes of width %d takes %.2g operations", k, d) {
		return
	}
	if b.fromP {
		b.smallGram(team, c, k, d, count)
	} else {
		b.gram = grow(b.gram, d*d)
		squareInto(team, b.gram, c, k, d)
	}
	work := singularWork(k, d)
	if spectrum && b.affords(work) || !b.cholesky(team, c, k, d, cut) {
		if !b.tooMuch(work, "the class means are nearly dependent, and singular values of %d classes of width %d take %.2g operations", k, d) {
			b.singular(team, c, k, d, cut)
		}
	}
}

// factorWork estimates the operations of the Cholesky form for k classes of width d: its products, the factor, and its condition.
func factorWork(k, d int) float64 {
	q := float64(min(d, k-1))
	return 4*float64(k)*float64(d)*q + 16*q*q*q
}

// singularWork estimates the operations of singular values and their directions, weighted by time: they run at a lower rate than
// products.
func singularWork(k, d int) float64 {
	q := float64(min(d, k-1))
	return 50 * q * q * float64(max(k, d))
}

func (b *between) affords(work float64) bool { return b.allowed == 0 || work <= b.allowed }

// tooMuch sets left, in words for k, d and work, if making the operator takes too much work; false if it does not.
func (b *between) tooMuch(work float64, words string, k, d int) bool {
	if b.affords(work) {
		return false
	}
	b.left = fmt.Sprintf(words, k, d, work)
	return true
}

// release frees memory that only build needs.
func (b *between) release() { b.gram, b.factor, b.work = nil, nil, nil }

// smallGram computes G̃ = M̃ M̃ᵀ = (F C ᵀC F)[1:,1:] with the reflection F that takes ν to the first axis.
func (b *between) smallGram(team *parallel.Team, c []float64, k, d int, count []int) {
	b.reflect = householder(grow(b.reflect, k), count)
	b.work = grow(b.work, k*k)
	gemm.Multiply(team, gemm.NT, kernel.Dense(k, d, c), kernel.Dense(k, d, c), kernel.Dense(k, k, b.work), gemm.Epilogue[float64]{})
	reflectRows(b.work, b.reflect, k, k)
	for i := range k {
		reflectVector(b.work[i*k:][:k], b.reflect)
	}
	q := k - 1
	b.gram = grow(b.gram, q*q)
	for i := range q {
		copy(b.gram[i*q:][:q], b.work[(i+1)*k+1:])
	}
}

// cholesky builds the operator from the factor of the Gram matrix; false if that is not safely of full
// rank and well conditioned.
func (b *between) cholesky(team *parallel.Team, c []float64, k, d int, cut cutoff) bool {
	q := b.full
	b.factor = append(b.factor[:0], b.gram[:q*q]...)
	if !invertFactor(b.factor, q) {
		return false
	}
	b.work = grow(b.work, q*q)
	gemm.Multiply(team, gemm.TN, kernel.Dense(q, q, b.factor), kernel.Dense(q, q, b.factor), kernel.Dense(q, q, b.work), gemm.Epilogue[float64]{}) // G̃⁻¹
	largest, inverse := spectralBound(team, b.gram[:q*q], q), spectralBound(team, b.work[:q*q], q)                                                 // ≥ g_max, ≥ 1/g_min
	limit := wellConditioned
	if q > jacobiLimit {
		limit = solvableByFactor
	}
	if !(largest*inverse < limit && largest*inverse*cut.relative < 1 && inverse*cut.largest < 1) {
		return false
	}
	b.rank, b.condition = q, largest*inverse
	if !b.fromP {
		b.op = append(b.op[:0], b.factor...)
		return true
	}
	// op = G̃⁻¹ Qᵀ, Qᵀ the rows of F after the first.
	b.op = grow(b.op, q*k)
	for i := range q {
		row := b.op[i*k:][:k]
		row[0] = 0
		copy(row[1:], b.work[i*q:][:q])
		reflectVector(row, b.reflect)
	}
	if k > projectionLimit {
		b.fromP = false
		b.factor = append(b.factor[:0], b.op...)
		b.op = grow(b.op, q*d)
		gemm.Multiply(team, gemm.NN, kernel.Dense(q, k, b.factor), kernel.Dense(k, d, c), kernel.Dense(q, d, b.op), gemm.Epilogue[float64]{})
	}
	return true
}

// spectralBound returns a number between ‖A‖₂ and n^(1/16) ‖A‖₂ for the symmetric a (n×n): ‖A⁸‖^(1/8) in the Frobenius
// norm, which alone would be up to √n too large; ‖A‖ where n is small.
func spectralBound(team *parallel.Team, a []float64, n int) float64 {
	size := norm(a)
	if n <= jacobiLimit || !(size > 0) || math.IsInf(size, 0) {
		return size
	}
	x, square := make([]float64, n*n), make([]float64, n*n)
	axpy(x, 1/size, a)
	bound, power := size, 1.0
	for range 3 {
		gemm.Multiply(team, gemm.NN, kernel.Dense(n, n, x), kernel.Dense(n, n, x), kernel.Dense(n, n, square), gemm.Epilogue[float64]{})
		power *= 2
		f := norm(square)
		bound *= math.Pow(f, 1/power)
		clear(x)
		axpy(x, 1/f, square)
	}
	return bound * (1 + 1e-9) // rounding of three products
}

// singular builds the operator from singular values, leaving out those under the cut-off.
func (b *between) singular(team *parallel.Team, c []float64, k, d int, cut cutoff) {
	var directions []float64 // rows u_jᵀ (full × d) with the singular values s_j
	var s []float64
	least := 0.0 // of s²: below it the algorithm cannot distinguish from zero
	switch {
	case b.full > jacobiLimit:
		directions, s = b.thinDirections(c, k, d)
		least = 16 * 16 * eps64 * eps64 * dot(s[:min(1, len(s))], s[:min(1, len(s))])
	case b.fromP:
		directions, s = rowDirections(b.reduced(c, k, d), b.full, d)
	default:
		directions, s = columnDirections(c, k, d)
	}
	b.fromP = false
	lengths(team, directions, s, c, k, d)
	b.op = grow(b.op, b.full*d)
	b.rank = 0
	for j, sj := range s {
		g := sj * sj
		b.values = append(b.values, g)
		direction := directions[j*d:][:d]
		if g > cut.relative*s[0]*s[0] && g > least && g > cut.along(direction) {
			row := b.op[b.rank*d:][:d]
			for i, u := range direction {
				row[i] = u / sj
			}
			b.rank++
		}
	}
	b.op = b.op[:b.rank*d]
	if b.rank == 0 {
		b.reason = "no eigenvalue of Σ_B could be distinguished from zero"
	}
}

// lengths makes the directions (m×d) unit vectors u_j and s_j = ‖Cᵀu_j‖, c (K×d): each rotation, which should keep
// lengths, adds a rounding of the same sign.
func lengths(team *parallel.Team, directions, s, c []float64, k, d int) {
	for j := range s {
		u := directions[j*d:][:d]
		if size := norm(u); size > 0 {
			scale(u, 1/size)
		}
	}
	image := make([]float64, len(s)*k)
	gemm.Multiply(team, gemm.NT, kernel.Dense(len(s), d, directions), kernel.Dense(k, d, c), kernel.Dense(len(s), k, image), gemm.Epilogue[float64]{})
	for j := range s {
		s[j] = norm(image[j*k:][:k])
	}
}

// reduced returns M̃ (K−1 × d): the rows of F Cᵀ after the first, in fresh memory.
func (b *between) reduced(c []float64, k, d int) []float64 {
	m := append([]float64(nil), c[:k*d]...)
	reflectRows(m, b.reflect, k, d)
	return m[d:]
}

// householder returns v with F = I − 2vvᵀ/‖v‖² taking counts (nil: ones) to the first axis, in v.
// v is scaled to ‖v‖² = 2, so that F = I − vvᵀ.
func householder(v []float64, count []int) []float64 {
	for i := range v {
		v[i] = 1
		if count != nil {
			v[i] = float64(count[i])
		}
	}
	scale(v, 1/norm(v))
	v[0]++ // ν has no negative entry: no cancellation
	scale(v, math.Sqrt2/norm(v))
	return v
}

// reflectVector replaces x by F x.
func reflectVector(x, v []float64) {
	t := dot(x, v)
	for i := range x {
		x[i] -= t * v[i]
	}
}

// reflectRows replaces the matrix x (K×n) by F x.
func reflectRows(x, v []float64, k, n int) {
	t := make([]float64, n)
	for i := range k {
		axpy(t, v[i], x[i*n:][:n])
	}
	for i := range k {
		axpy(x[i*n:][:n], -v[i], t)
	}
}

// axpy adds a·x to y.
func axpy(y []float64, a float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += a * x[i]
	}
}
