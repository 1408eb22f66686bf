package deep

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/descent"
)

// With a ReLU after W_1, …, W_{L−1}, m classes can share few dimensions in all layers but the last: the last ReLU tells them apart. A
// block is such a group of classes. Its features are
//
//	X = x_1·11ᵀ/√(p·m) + x_s·T,   T of p×m with T·Tᵀ = I − 11ᵀ/p and T·1 = 0
//
// of rank p, non-negative (so that no ReLU before the last changes them) if x_1 ≥ need·x_s; the last pre-activations are
// M = y·11ᵀ/m + m_s·UᵀT, U being T or T turned, and W_L is the ridge fit to relu(M). A block's cost adds to those of others, since with zeros between
// blocks penalties and errors are sums.
type block struct {
	name, many string
	t, u       *mat.Dense // p×m; nil: a column of the orthogonal frame
	gram       *mat.Dense // UᵀT
	need       float64    // √(p·m)·max(−T)
}

// classes and rows that a block takes.
func (b block) classes() int {
	if b.t == nil {
		return 1
	}
	_, m := b.t.Dims()
	return m
}

func (b block) rows() int {
	if b.t == nil {
		return 1
	}
	p, _ := b.t.Dims()
	return p
}

func newBlock(name, many string, t, u *mat.Dense) block {
	p, m := t.Dims()
	b := block{name: name, many: many, t: t, u: u, gram: new(mat.Dense)}
	b.gram.Mul(u.T(), t)
	for _, v := range t.RawMatrix().Data {
		b.need = max(b.need, -v*math.Sqrt(float64(p*m)))
	}
	return b
}

// polygon has m classes on a circle: rank 3 with their common direction. Turned, the last pre-activations are turned by half a step.
func polygon(m int, turned bool) block {
	name, ok := map[int]string{4: "square", 5: "pentagon", 6: "hexagon"}[m]
	many := name + "s"
	if !ok {
		name, many = fmt.Sprintf("polygon of %d", m), fmt.Sprintf("polygons of %d", m)
	}
	circle := func(start float64) *mat.Dense {
		t := mat.NewDense(3, m, nil)
		t.Apply(func(i, j int, _ float64) float64 {
			return math.Sqrt(2/3.0) * math.Sqrt(2/float64(m)) * math.Cos(2*math.Pi*(float64(j)/float64(m)-float64(i)/3)+start)
		}, t)
		return t
	}
	by := 0.0
	if turned {
		by, name, many = math.Pi/float64(m), "turned "+name, "turned "+many
	}
	best := block{need: math.Inf(1)}
	for turn := range 24 { // of the circle against the three rows; one of them needs least
		start := math.Pi * float64(turn) / float64(12*m)
		if b := newBlock(name, many, circle(start), circle(start+by)); b.need < best.need {
			best = b
		}
	}
	return best
}

// edges has a class for each pair of r points (the triangular graph, which Súkeník et al. 2024 are said to use; not read):
// rank r.
func edges(r int) block {
	t := mat.NewDense(r, r*(r-1)/2, nil)
	column := 0
	for i := range r {
		for j := range i {
			for k := range r {
				v := -2 / float64(r)
				if k == i || k == j {
					v++
				}
				t.Set(k, column, v/math.Sqrt(float64(r-2)))
			}
			column++
		}
	}
	return newBlock(fmt.Sprintf("edges of %d points", r), fmt.Sprintf("times the edges of %d points", r), t, t)
}

// Sizes of the blocks that are tried.
const (
	mostSides  = 12
	mostPoints = 8
)

func blockShapes() []block {
	var out []block
	for m := 4; m <= mostSides; m++ {
		out = append(out, polygon(m, false), polygon(m, true))
	}
	for r := 4; r <= mostPoints; r++ {
		out = append(out, edges(r))
	}
	return out
}

// plan is how a block's features grow from layer to layer: x_1 and x_s of H, X_1, …, X_{L−2}, and at the end y and m_s.
type plan struct {
	common, apart []float64
	cost          float64
}

// chain is the cost of a block as a function of the logarithms of its sizes: the variables are log x_s of H, X_1, …, X_{L−2} and
// log m_s; log x_1 of H; √ of what log x_1 exceeds its least value by, in X_1, …, X_{L−2}; y.
type chain struct {
	block
	L, K    int
	last    float64   // λ of W_L
	lambdas []float64 // of H (times n), W_1, …, W_{L−1}
}

func (c Config) chain(b block) chain {
	pen, L := c.penalties(), c.Layers()
	out := chain{block: b, L: L, K: c.K, last: pen[0]}
	for l := range L {
		out.lambdas = append(out.lambdas, pen[L-l])
	}
	return out
}

// sizes are log x_s and log x_1 of H, X_1, …, X_{L−2}, log m_s after the former, and y.
func (c chain) sizes(x []float64) (apart, common []float64, y float64) {
	L := c.L
	apart, common = x[:L], []float64{x[L]}
	for l := 1; l <= L-2; l++ {
		common = append(common, apart[l]+math.Log(c.need)+x[L+l]*x[L+l])
	}
	return apart, common, x[2*L-1]
}

func (c chain) eval(x, grad []float64) float64 {
	L := c.L
	apart, common, y := c.sizes(x)
	f, byMs, byY := c.fit(math.Exp(apart[L-1]), y, grad != nil)
	D := float64(c.rows() - 1)
	gApart, gCommon := make([]float64, L), make([]float64, L-1)
	gApart[L-1] = byMs * math.Exp(apart[L-1])
	add := func(weight, exponent float64, up, down *float64) { // weight/2·e^{2·exponent}, exponent = up − down
		v := weight * math.Exp(2*exponent)
		f += v / 2
		*up += v
		if down != nil {
			*down -= v
		}
	}
	add(D*c.lambdas[0], apart[0], &gApart[0], nil)
	add(c.lambdas[0], common[0], &gCommon[0], nil)
	for l := 1; l < L; l++ {
		add(D*c.lambdas[l], apart[l]-apart[l-1], &gApart[l], &gApart[l-1])
		if l < L-1 {
			add(c.lambdas[l], common[l]-common[l-1], &gCommon[l], &gCommon[l-1])
		}
	}
	end := c.lambdas[L-1] * math.Exp(-2*common[L-2])
	f += end * y * y / 2
	if grad == nil {
		return f
	}
	gCommon[L-2] -= end * y * y
	copy(grad, gApart)
	grad[L], grad[2*L-1] = gCommon[0], byY+end*y
	for l := 1; l <= L-2; l++ {
		grad[l] += gCommon[l]
		grad[L+l] = 2 * gCommon[l] * x[L+l]
	}
	return f
}

// fit is the least of the error and the penalty of W_L, λ_L/2·tr (AᵀA + Kλ_L)⁻¹ with A = relu(M), and its derivatives by m_s and y.
func (c chain) fit(ms, y float64, slopes bool) (f, byMs, byY float64) {
	m := c.classes()
	A := c.activations(ms, y)
	S := mat.NewSymDense(m, nil)
	S.SymOuterK(1, A.T())
	for i := range m {
		S.SetSym(i, i, S.At(i, i)+float64(c.K)*c.last)
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(S) || chol.InverseTo(&inverse) != nil {
		return math.Inf(1), 0, 0
	}
	f = c.last / 2 * inverse.Trace()
	if !slopes {
		return f, 0, 0
	}
	var B mat.Dense
	B.Product(A, &inverse, &inverse)
	for i := range m {
		for j := range m {
			if A.At(i, j) > 0 {
				byMs -= c.last * B.At(i, j) * c.gram.At(i, j)
				byY -= c.last * B.At(i, j) / float64(m)
			}
		}
	}
	return f, byMs, byY
}

// activations are relu(M), one column per class.
func (b block) activations(ms, y float64) *mat.Dense {
	m := b.classes()
	A := mat.NewDense(m, m, nil)
	A.Apply(func(i, j int, _ float64) float64 { return max(0, y/float64(m)+ms*b.gram.At(i, j)) }, A)
	return A
}

// chainStarts are the parts of y in the own pre-activations, over that of m_s, from which a block's cost is descended.
var chainStarts = []float64{-0.8, -0.4, -1e-3, 0.3}

// start has own pre-activations of 1 and grows evenly from layer to layer.
func (c chain) start(share float64) []float64 {
	L, D := c.L, float64(c.rows()-1)
	x := make([]float64, 2*L)
	ms := float64(c.classes()) / D / (1 + share)
	y := share * D * ms
	for l := range L {
		x[l] = math.Log(ms) * float64(l+1) / float64(L)
	}
	x[L] = math.Log(math.Abs(y)) / float64(L)
	for l := range L - 2 {
		x[L+1+l] = 0.1
	}
	x[2*L-1] = y
	return x
}

// best descends in a block's sizes.
func (c chain) best() plan {
	L, out := c.L, plan{cost: math.Inf(1)}
	for _, share := range chainStarts {
		x := c.start(share)
		end, f, err := descent.Full(context.Background(), c.eval, x, descent.Until{Iterations: 400, Gradient: 1e-11, Change: 1e-15, Still: 20})
		if err != nil || !(f < out.cost) {
			continue
		}
		apart, common, y := c.sizes(end)
		out = plan{cost: f}
		for l := range L {
			out.apart = append(out.apart, math.Exp(apart[l]))
			if l < L-1 {
				out.common = append(out.common, math.Exp(common[l]))
			}
		}
		out.common = append(out.common, y)
	}
	return out
}
