package imbalance

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// blocks is the convex problem for M = Z̄·diag(√n_k), by symmetry reduced to J groups of K_j classes. M has two parts: within group j it
// is m_j on the K_j − 1 directions that sum to 0, and between the groups' mean directions 1/√K_j it is the J×J matrix C. So
//
//	‖M‖_* = ‖C‖_* + Σ_j (K_j − 1)·|m_j|
//
// and the logits of a class of group j are ((K_j−1)m_j + C_jj)/(K_j√n_j) for itself, (C_jj − m_j)/(K_j√n_j) for others of its group and
// C_ij/(√(K_iK_j)·√n_j) for those of group i. Descents use C = A·B and m_j = u_j², whose squared norms over 2 are the nuclear norm.
type blocks struct {
	groups  []Group
	columns []column
	n, mu   float64 // samples, price

	c, g       []float64   // J×J: C, and the gradient of the loss by it
	m, gm      []float64   // J: m, and the gradient of the loss by it, over K_j − 1
	z, slope   [][]float64 // a column of J+1 numbers for each group
	dz, dslope []float64
	dc, dg     []float64
}

func (c Config) blocks() *blocks {
	groups := c.Groups()
	J := len(groups)
	b := &blocks{groups: groups, columns: c.columns(groups), n: c.Samples(), mu: c.Mu(), m: make([]float64, J), gm: make([]float64, J)}
	for _, square := range []*[]float64{&b.c, &b.g, &b.dc, &b.dg} {
		*square = make([]float64, J*J)
	}
	for range J {
		b.z, b.slope = append(b.z, make([]float64, J+1)), append(b.slope, make([]float64, J+1))
	}
	b.dz, b.dslope = make([]float64, J+1), make([]float64, J+1)
	return b
}

// view splits a vector of variables.
func (b *blocks) view(x []float64) (A, B, u []float64) {
	J := len(b.groups)
	return x[:J*J], x[J*J : 2*J*J], x[2*J*J:]
}

func (b *blocks) size() int { return len(b.groups) * (2*len(b.groups) + 1) }

// multiply is c = a·b of J×J matrices, or a sum with c.
func (b *blocks) multiply(f gemm.Form, x, y, out []float64, add bool) {
	J := len(b.groups)
	opX, opY := gemm.Operands(f, J, J, J, x, y)
	gemm.Multiply(nil, f, opX, opY, kernel.Dense(J, J, out), gemm.Epilogue[float64]{Accumulate: add})
}

// logits of the classes of group j, from C and m.
func (b *blocks) logits(j int, C []float64, m float64, z []float64) {
	J := len(b.groups)
	K, root := float64(b.groups[j].Classes), math.Sqrt(float64(b.groups[j].Count))
	for i, g := range b.groups {
		z[i] = C[i*J+j] / math.Sqrt(float64(g.Classes)*K) / root
	}
	z[J] = ((K-1)*m + C[j*J+j]) / K / root
	z[j] = (C[j*J+j] - m) / K / root
}

// gradients by C and m (over K_j − 1) of group j, from the slopes of its logits.
func (b *blocks) gradients(j int, slope, G []float64) (m float64) {
	J := len(b.groups)
	K, unit := float64(b.groups[j].Classes), math.Sqrt(float64(b.groups[j].Count))/b.n
	for i, g := range b.groups {
		G[i*J+j] = unit * math.Sqrt(float64(g.Classes)*K) * slope[i]
	}
	G[j*J+j] = unit * (slope[J] + (K-1)*slope[j])
	return unit * (slope[J] - slope[j])
}

// loss is that of C and m in b.c and b.m; it fills slopes and gradients.
func (b *blocks) loss() (sum float64) {
	for j, g := range b.groups {
		b.logits(j, b.c, b.m[j], b.z[j])
		sum += float64(g.Classes) * float64(g.Count) / b.n * b.columns[j].value(b.z[j], b.slope[j])
		b.gm[j] = b.gradients(j, b.slope[j], b.g)
	}
	return sum
}

// eval is the objective at x, and its gradient if grad is not nil.
func (b *blocks) eval(x, grad []float64) float64 {
	A, B, u := b.view(x)
	b.multiply(gemm.NN, A, B, b.c, false)
	penalty := 0.0
	for i := range A {
		penalty += (A[i]*A[i] + B[i]*B[i]) / 2
	}
	for j, g := range b.groups {
		b.m[j] = u[j] * u[j]
		penalty += float64(g.Classes-1) * b.m[j]
	}
	f := b.loss() + b.mu*penalty
	if grad == nil {
		return f
	}
	for i, v := range x {
		grad[i] = b.mu * v
	}
	gA, gB, gu := b.view(grad)
	b.multiply(gemm.NT, b.g, B, gA, true)
	b.multiply(gemm.TN, A, b.g, gB, true)
	for j, g := range b.groups {
		gu[j] = 2 * float64(g.Classes-1) * (b.mu + b.gm[j]) * u[j]
	}
	return f
}

// hessian writes the product of the Hessian at x with v to out; eval was called at x.
func (b *blocks) hessian(x, v, out []float64) {
	A, B, u := b.view(x)
	dA, dB, du := b.view(v)
	b.multiply(gemm.NN, dA, B, b.dc, false)
	b.multiply(gemm.NN, A, dB, b.dc, true)
	for i := range out {
		out[i] = b.mu * v[i]
	}
	oA, oB, ou := b.view(out)
	for j, g := range b.groups {
		b.logits(j, b.dc, 2*u[j]*du[j], b.dz)
		b.columns[j].bend(b.slope[j], b.dz, b.dslope)
		dgm := b.gradients(j, b.dslope, b.dg)
		ou[j] = 2 * float64(g.Classes-1) * ((b.mu+b.gm[j])*du[j] + dgm*u[j])
	}
	b.multiply(gemm.NT, b.dg, B, oA, true)
	b.multiply(gemm.NT, b.g, dB, oA, true)
	b.multiply(gemm.TN, A, b.dg, oB, true)
	b.multiply(gemm.TN, dA, b.g, oB, true)
}

// gap bounds f − f* at C and m of the last eval, for the convex objective f with the nuclear norm of M: Fenchel's dual at θ·G, G
// the gradient of the loss by M and θ = min(1, μ/‖G‖₂).
func (b *blocks) gap(f float64) float64 {
	J := len(b.groups)
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(J, J, b.g), mat.SVDNone) {
		return math.Inf(1)
	}
	steepest := svd.Values(nil)[0]
	for j, g := range b.groups {
		if g.Classes > 1 {
			steepest = max(steepest, math.Abs(b.gm[j]))
		}
	}
	theta := 1.0
	if steepest > b.mu {
		theta = b.mu / steepest
	}
	for j, g := range b.groups {
		f += float64(g.Classes) * float64(g.Count) / b.n * b.columns[j].conjugate(theta, b.slope[j])
	}
	return max(f, 0)
}
