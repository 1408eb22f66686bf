package deep

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Point holds W_L, …, W_1 and H with a column per class.
type Point []*mat.Dense

// point lays out a point over x, W_L first.
func (c Config) point(x []float64) Point {
	p := make(Point, len(c.Lambdas))
	for i := range p {
		rows, columns := c.shape(i)
		p[i] = mat.NewDense(rows, columns, x[:rows*columns:rows*columns])
		x = x[rows*columns:]
	}
	return p
}

func (c Config) size() (n int) {
	for i := range c.Lambdas {
		rows, columns := c.shape(i)
		n += rows * columns
	}
	return n
}

// Instance is one of the optima, with random directions in every layer.
func (c Config) Instance(e Exact, rng *rand.Rand) Point {
	p := c.point(make([]float64, c.size()))
	if e.Rank == 0 {
		return p
	}
	// Factor i is a_i·Q_i·Q_{i+1}ᵀ; Q_0 and the last Q are the same r axes of R^K, so that the product is a multiple of their projection.
	ends := axes(c.K, e.Rank, rng)
	left := ends
	for i := range p {
		right := ends
		if i < c.Layers() {
			right = axes(c.Widths[i], e.Rank, rng)
		}
		p[i].Mul(left, right.T())
		p[i].Scale(math.Sqrt(e.Norms[i]/float64(e.Rank)/c.columns(i)), p[i])
		left = right
	}
	return p
}

// columns is how many samples a column of factor i stands for.
func (c Config) columns(i int) float64 {
	if i == c.Layers() {
		return float64(c.N)
	}
	return 1
}

// axes are r random orthonormal columns of R^d.
func axes(d, r int, rng *rand.Rand) *mat.Dense {
	a := mat.NewDense(d, r, nil)
	a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, d, 0, r))
}

// Eval is the objective at a point, and its gradient if grad is not nil.
func (c Config) Eval(p Point, grad Point) float64 {
	L, K := c.Layers(), float64(c.K)
	below := make([]*mat.Dense, L+1) // products of factor i and all after it
	below[L] = p[L]
	for i := L - 1; i >= 0; i-- {
		below[i] = new(mat.Dense)
		below[i].Mul(p[i], below[i+1])
		if c.ReLU && i > 0 {
			below[i].Apply(func(_, _ int, v float64) float64 { return c.relu(v) }, below[i])
		}
	}
	f, g := c.loss(below[0])
	f /= K
	g.Scale(1/K, g)
	for i, l := range c.penalties() {
		norm := mat.Norm(p[i], 2)
		f += l / 2 * norm * norm
	}
	if grad != nil {
		c.gradient(p, grad, below, g)
	}
	return f
}

// loss is the sum over the classes' logits, the columns of Z, and its derivative by these.
func (c Config) loss(Z *mat.Dense) (sum float64, g *mat.Dense) {
	g = mat.DenseCopyOf(Z)
	if !c.CE {
		for k := range c.K {
			g.Set(k, k, g.At(k, k)-1)
		}
		return math.Pow(mat.Norm(g, 2), 2) / 2, g
	}
	for k := range c.K {
		z := mat.Col(nil, k, Z)
		all := floats.LogSumExp(z)
		sum += all - z[k]
		for i, v := range z {
			g.Set(i, k, math.Exp(v-all))
		}
		g.Set(k, k, g.At(k, k)-1)
	}
	return sum, g
}

// gradient fills grad; up is the gradient of the error by the product of factor i and all after it.
func (c Config) gradient(p, grad Point, below []*mat.Dense, up *mat.Dense) {
	for i, l := range c.penalties() {
		if i < c.Layers() {
			grad[i].Mul(up, below[i+1].T())
			next := new(mat.Dense)
			next.Mul(p[i].T(), up)
			if after := below[i+1]; c.ReLU && i+1 < c.Layers() {
				next.Apply(func(r, k int, v float64) float64 {
					return v * c.slope(after.At(r, k))
				}, next)
			}
			up = next
		} else {
			grad[i].Copy(up)
		}
		var shrink mat.Dense
		shrink.Scale(l, p[i])
		grad[i].Add(grad[i], &shrink)
	}
}

func (c Config) relu(v float64) float64 {
	if c.soft == 0 {
		return max(0, v)
	}
	root := math.Hypot(v, c.soft)
	if v < 0 {
		return c.soft * c.soft / (2 * (root - v)) // the same without a difference of near numbers
	}
	return (v + root) / 2
}

// slope of the ReLU where its value is a: a·(a − z) = soft²/4 gives z.
func (c Config) slope(a float64) float64 {
	switch {
	case a <= 0:
		return 0
	case c.soft == 0:
		return 1
	}
	return a * a / (a*a + c.soft*c.soft/4)
}

// Certificate is what is proved of a point.
type Certificate struct {
	Objective float64 `json:"objective"`
	Gap       float64 `json:"gap"`      // f − f*: proved, as f* is the least value
	Gradient  float64 `json:"gradient"` // its norm
	Balance   float64 `json:"balance"`  // the largest ‖λ_i·F_iᵀF_i − λ_{i+1}·F_{i+1}F_{i+1}ᵀ‖, in units of the larger; 0 at critical points
	Ranks     []int   `json:"ranks"`    // of W_L, …, W_1, H
}

// negligible is the share of the largest singular value below which one does not count for a rank.
const negligible = 1e-6

// Certify examines a point.
func (c Config) Certify(p Point, e Exact) Certificate {
	grad := c.point(make([]float64, c.size()))
	f := c.Eval(p, grad)
	out := Certificate{Objective: f, Gap: f - e.Objective}
	for i, g := range grad {
		out.Gradient = math.Hypot(out.Gradient, mat.Norm(g, 2))
		out.Ranks = append(out.Ranks, rank(p[i]))
	}
	l := c.penalties()
	for i := range p[:c.Layers()] {
		var a, b mat.Dense
		a.Mul(p[i].T(), p[i])
		a.Scale(l[i], &a)
		b.Mul(p[i+1], p[i+1].T())
		b.Scale(l[i+1], &b)
		size := max(mat.Norm(&a, 2), mat.Norm(&b, 2))
		a.Sub(&a, &b)
		if size > 0 {
			out.Balance = max(out.Balance, mat.Norm(&a, 2)/size)
		}
	}
	return out
}

func rank(a *mat.Dense) (r int) {
	var svd mat.SVD
	if mat.Norm(a, 2) == 0 || !svd.Factorize(a, mat.SVDNone) {
		return 0
	}
	values := svd.Values(nil)
	for _, s := range values {
		if s > negligible*values[0] {
			r++
		}
	}
	return r
}
