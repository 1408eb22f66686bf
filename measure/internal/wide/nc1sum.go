package wide

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// nc1Sum sums NC1's Σ ω ‖z‖², z = A r, over blocks of residuals, by the cheaper of two products: z itself (rank·d per row), or the
// scatter S = Σ ω r rᵀ, of which one triangle suffices (d²/2 per row), and finally tr(A S Aᵀ). The choice depends only on shapes.
//
// # What float32 products may cost
//
// u = 2⁻²⁴. Rounding errors of products and sums are taken as independent and of mean zero, as in Higham & Mary 2019
// (A new approach to probabilistic rounding error analysis); errors of the rounding of r and A to
// float32 as independent between coordinates only, because samples may share values. λ = 6 standard
// deviations; W = Σ ω ‖z‖², ρ = ‖r‖.
//
// Form z: an element of z is a sum of d products with partial sums ≤ ‖a_j‖ρ, so its error has variance ≤ u²d‖a_j‖²ρ², and
// E‖δz‖² ≤ qρ² with q = u²d‖A‖². Then Σ ω(2 z·δz + ‖δz‖²) is at most 2λ√(q Σ ω²‖z‖²ρ²) + q Σ ωρ².
// Rounded inputs change z by E‖δz‖² ≤ 2u² Σ_p m_p r_p², m_p = Σ_j a_jp², in all D ≤ 2u² max_p m_p Σ ωρ², and by Cauchy
// and Schwarz the sum by 2√(D W) + D.
//
// Form S: within a block, products of scatterResidual rows are summed, and these sums added up, n roundings in
// a row with partial sums ≤ √(S_pp S_qq); so tr(A δS Aᵀ) with M = AᵀA has variance ≤ 2u²n Σ_pq M_pq² S_pp S_qq, both
// triangles having one error. Rounded residuals, twice where they are weighted: D ≤ 4u² Σ_p M_pp S_pp.
//
// The measure is kept if the sum of these, divided by W, is below 10⁻⁵; otherwise the pass is repeated in float64. This happens for
// data with most of their variance outside the between-class directions, and for small samples, whose errors do not average out.
type nc1Sum[P kernel.Float] struct {
	d, rank int
	op      []float64 // A (rank × d)
	unit    float64   // P(op·unit) is multiplied: a power of two

	a       []P // (rank × d), form z
	product []P // (block × rank)

	scatter *Scatter[P] // form S
	rows    int         // largest block

	sums  nc1Terms
	bound float64 // errorBound, once certified has been called
}

// nc1Terms are sums over samples.
type nc1Terms struct {
	white  float64 // Σ ω ‖z‖²
	square float64 // Σ ω ρ²
	cross  float64 // Σ ω² ‖z‖² ρ²
	weight float64 // Σ ω
}

func (s *nc1Terms) add(o *nc1Terms) {
	s.white += o.white
	s.square += o.square
	s.cross += o.cross
	s.weight += o.weight
}

const (
	certain       = 6    // λ
	Float32Bound  = 1e-5 // bound on the relative error of NC1 that float32 products may add
	roundoff32    = 0x1p-24
	mostMagnitude = 0x1p20 // of class means in float32 products, and its inverse the least
	leastVariance = 0x1p-80
)

// prepare takes the operator A (rank×d) for blocks of at most block rows.
func (w *nc1Sum[P]) prepare(op []float64, rank, d, block int) {
	*w = nc1Sum[P]{d: d, rank: rank, op: op, unit: math.Exp2(-math.Round(math.Log2(vec.Norm(op) / math.Sqrt(float64(rank)))))}
	if scatterPays(rank, d) {
		w.scatter = NewScatter[P](d, make([]float64, d*d))
		return
	}
	w.a = memory.Alloc[P](rank * d)
	for i, x := range op[:rank*d] {
		w.a[i] = P(x * w.unit)
	}
	w.product = memory.Alloc[P](block * rank)
}

// scatterPays chooses the form: d²/2 products per row against rank·d, where form S comes a little closer to peak speed.
func scatterPays(rank, d int) bool { return 10*d < 21*rank }

// squared reports whether form S is in use.
func (w *nc1Sum[P]) squared() bool { return w.scatter != nil }

// block adds n residuals, stride apart.
func (w *nc1Sum[P]) block(team *parallel.Team, residual []P, stride, n int) {
	w.rows = max(w.rows, n)
	if w.squared() {
		w.scatter.Add(team, residual, stride, n)
		return
	}
	gemm.Multiply(team, gemm.NT, kernel.Strided(n, w.d, stride, residual), kernel.Dense(w.rank, w.d, w.a), kernel.Dense(n, w.rank, w.product), gemm.Epilogue[P]{})
}

// sample adds one row of the block to the sums.
func (w *nc1Sum[P]) sample(to *nc1Terms, weight, square float64, row int) {
	to.weight += weight
	to.square += weight * square
	if !w.squared() {
		z := rows.SumSquares(w.product[row*w.rank:][:w.rank]) / (w.unit * w.unit)
		to.white += weight * z
		to.cross += weight * weight * z * square
	}
}

// finishBlocks frees the memory for blocks.
func (w *nc1Sum[P]) finishBlocks() {
	w.a, w.product = nil, nil
	if w.scatter != nil {
		w.scatter.tile = nil
	}
}

// total returns Σ ω ‖z‖² of all blocks.
func (w *nc1Sum[P]) total(team *parallel.Team) float64 {
	if !w.squared() {
		return w.sums.white
	}
	Mirror(w.scatter.Sum, w.d)
	w.sums.white = TraceOf(team, w.op, w.rank, w.scatter.Sum, w.d)
	return w.sums.white
}

// TraceOf returns tr(A S Aᵀ), A (rank×d), S (d×d) positive semidefinite.
func TraceOf(team *parallel.Team, a []float64, rank int, s []float64, d int) float64 {
	image := make([]float64, rank*d)
	gemm.Multiply(team, gemm.NN, kernel.Dense(rank, d, a), kernel.Dense(d, d, s), kernel.Dense(rank, d, image), gemm.Epilogue[float64]{})
	total := 0.0
	for j := range rank {
		total += max(0, vec.Dot(a[j*d:][:d], image[j*d:][:d])) // negative values are rounding errors
	}
	return total
}

// certified reports whether the total is accurate enough, which it always is in float64 and if there is no spread.
func (w *nc1Sum[P]) certified(team *parallel.Team) bool {
	if !vec.IsFloat32[P]() || w.op == nil || w.sums.square == 0 {
		return true
	}
	w.bound = w.errorBound(team)
	return w.sums.square > leastVariance*w.sums.weight*float64(w.d) && w.bound < Float32Bound
}

// release frees everything but the bound.
func (w *nc1Sum[P]) release() { *w = nc1Sum[P]{bound: w.bound} }

// errorBound returns the bound on the relative error that float32 products add.
func (w *nc1Sum[P]) errorBound(team *parallel.Team) float64 {
	const u2 = roundoff32 * roundoff32
	total := w.sums.white
	var rounding, inputs float64
	if w.scatter == nil {
		q := u2 * float64(w.d) * vec.Dot(w.op, w.op)
		rounding = 2*certain*math.Sqrt(q*w.sums.cross) + q*w.sums.square
		inputs = 2 * u2 * w.largestColumn() * w.sums.square
	} else {
		variance, diagonal := w.scatterErrors(team)
		chain := scatterResidual + (w.rows+scatterResidual-1)/scatterResidual
		rounding = certain * math.Sqrt(2*u2*float64(chain)*variance)
		inputs = 4 * u2 * diagonal
	}
	return (rounding + 2*math.Sqrt(inputs*total) + inputs) / total
}

// largestColumn returns max_p Σ_j a_jp².
func (w *nc1Sum[P]) largestColumn() float64 { return slices.Max(columnSquares(w.op, w.rank, w.d)) }

// columnSquares returns Σ_j a_jp² of each column of A (rank×d): the diagonal of AᵀA.
func columnSquares(a []float64, rank, d int) []float64 {
	squares := make([]float64, d)
	for j := range rank {
		for p, x := range a[j*d:][:d] {
			squares[p] += x * x
		}
	}
	return squares
}

// scatterErrors returns Σ_pq M_pq² S_pp S_qq and Σ_p M_pp S_pp.
func (w *nc1Sum[P]) scatterErrors(team *parallel.Team) (variance, diagonal float64) {
	m, sum := make([]float64, w.d*w.d), w.scatter.Sum
	gemm.Multiply(team, gemm.TN, kernel.Dense(w.rank, w.d, w.op), kernel.Dense(w.rank, w.d, w.op), kernel.Dense(w.d, w.d, m), gemm.Epilogue[float64]{})
	for p := range w.d {
		own := sum[p*w.d+p]
		diagonal += m[p*w.d+p] * own
		for q, x := range m[p*w.d:][:w.d] {
			variance += x * x * own * sum[q*w.d+q]
		}
	}
	return variance, diagonal
}
