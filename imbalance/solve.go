package imbalance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/internal/descent"
)

// Optimum is the least value of a problem.
type Optimum struct {
	Objective float64 `json:"objective"`
	Gap       float64 `json:"gap"`     // proved: no point lies lower than Objective − Gap
	Rank      int     `json:"rank"`    // of W, H and the logits
	Reached   bool    `json:"reached"` // false: cross entropy whose width D is below Rank; the numbers are those of wider features, a lower bound
	Geometry
}

// enough is the gap, relative to the objective, at which a solution needs no second try.
const enough = 1e-11

// tries of a descent that ends at a saddle.
const tries = 4

// Solve gives the optimum. Squared error has a closed form. For cross entropy it descends in the factors of the reduced problem, by
// L-BFGS and then by Newton's method, and bounds what is missing. It returns ctx's error if cancelled.
func (c Config) Solve(ctx context.Context) (Optimum, error) {
	if err := c.Validate(); err != nil {
		return Optimum{}, err
	}
	if c.Loss == MSE {
		return c.squares(), nil
	}
	return c.solve(ctx)
}

func (c Config) solve(ctx context.Context) (Optimum, error) {
	b := c.blocks()
	best := Optimum{Gap: math.Inf(1)}
	x := b.start(c.Loss == MSE)
	rng := rand.New(rand.NewPCG(1, uint64(len(b.groups))))
	for range tries {
		end, err := b.descend(ctx, x)
		if err != nil {
			return best, err
		}
		end = b.newton(ctx, end)
		f := b.eval(end, nil)
		if gap := b.gap(f); gap < best.Gap {
			m, C := b.m, b.matrix(b.c)
			rank := rankOf(b.groups, m, C)
			if rank == 0 { // what is left of numbers that tend to zero has no norm and no angle
				m = make([]float64, len(m))
				C.Zero()
			}
			best = Optimum{Objective: f, Gap: gap, Rank: rank, Geometry: c.geometry(b.groups, m, C)}
			best.Reached = c.D >= best.Rank
		}
		if best.Gap <= enough*best.Objective {
			break
		}
		for i, v := range end {
			x[i] = v + 0.1*rng.NormFloat64()
		}
	}
	return best, ctx.Err()
}

func (b *blocks) matrix(c []float64) *mat.Dense {
	J := len(b.groups)
	return mat.NewDense(J, J, append([]float64(nil), c...))
}

// start is M = diag(√n_k), or its projection onto columns that sum to 0, which the optimum of cross entropy has.
func (b *blocks) start(whole bool) []float64 {
	J := len(b.groups)
	x := make([]float64, b.size())
	A, B, u := b.view(x)
	var svd mat.SVD
	svd.Factorize(simplexLabels(b.groups, whole), mat.SVDFull)
	var U, V mat.Dense
	svd.UTo(&U)
	svd.VTo(&V)
	for r, s := range svd.Values(nil) {
		for i := range J {
			A[i*J+r], B[r*J+i] = U.At(i, r)*math.Sqrt(s), V.At(i, r)*math.Sqrt(s)
		}
	}
	for j, g := range b.groups {
		u[j] = math.Pow(float64(g.Count), 0.25)
	}
	return x
}

// simplexLabels is the part between groups of (I − 11ᵀ/K)·diag(√n_k), or of diag(√n_k).
func simplexLabels(groups []Group, whole bool) *mat.Dense {
	J, K := len(groups), 0.0
	for _, g := range groups {
		K += float64(g.Classes)
	}
	out := mat.NewDense(J, J, nil)
	out.Apply(func(i, j int, _ float64) float64 {
		v := 0.0
		if i == j {
			v = 1
		}
		if !whole {
			v -= math.Sqrt(float64(groups[i].Classes)*float64(groups[j].Classes)) / K
		}
		return v * math.Sqrt(float64(groups[j].Count))
	}, out)
	return out
}

// minimise descends in f/μ, which stays of the size of the nuclear norm where penalties vanish.
func minimise(ctx context.Context, eval descent.Function, mu float64, x []float64, iterations int) ([]float64, float64, error) {
	x, f, err := descent.Limited(ctx, func(x, grad []float64) float64 {
		f := eval(x, grad) / mu
		for i := range grad {
			grad[i] /= mu
		}
		return f
	}, x, descent.Until{Iterations: iterations, Gradient: 1e-10, Change: 1e-15, Still: 50})
	if err != nil {
		return nil, 0, fmt.Errorf("imbalance: %w", err)
	}
	return x, f * mu, nil
}

func (b *blocks) descend(ctx context.Context, x []float64) ([]float64, error) {
	end, _, err := minimise(ctx, b.eval, b.mu, x, 300)
	return end, err
}

// newton takes Newton steps, by conjugate gradients, while they make the gradient shorter.
func (b *blocks) newton(ctx context.Context, x []float64) []float64 {
	grad, next, nextGrad := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	b.eval(x, grad)
	size := norm(grad)
	for range 30 {
		step := b.conjugateGradients(x, grad, min(0.1, math.Sqrt(size/b.mu))*size)
		shorter := false
		for scale := 1.0; scale > 1e-3 && !shorter && ctx.Err() == nil; scale /= 2 {
			for i := range x {
				next[i] = x[i] + scale*step[i]
			}
			b.eval(next, nextGrad)
			shorter = norm(nextGrad) < size
		}
		if !shorter {
			break
		}
		x, next = next, x
		grad, nextGrad = nextGrad, grad
		size = norm(grad)
	}
	b.eval(x, grad)
	return x
}

// conjugateGradients solves Hessian·step = −grad up to a residual, or until a direction has no positive curvature.
func (b *blocks) conjugateGradients(x, grad []float64, residual float64) []float64 {
	step, r, p, hp := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	b.eval(x, nil)
	for i, v := range grad {
		r[i], p[i] = -v, -v
	}
	rr := dot(r, r)
	for range 1000 {
		if math.Sqrt(rr) <= residual {
			break
		}
		b.hessian(x, p, hp)
		curvature := dot(p, hp)
		if curvature <= 0 {
			break
		}
		a := rr / curvature
		for i := range step {
			step[i] += a * p[i]
			r[i] -= a * hp[i]
		}
		before := rr
		rr = dot(r, r)
		for i := range p {
			p[i] = r[i] + rr/before*p[i]
		}
	}
	return step
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

// negligible is the share of the largest singular value below which one does not count for a rank.
const negligible = 1e-6

func rankOf(groups []Group, m []float64, C mat.Matrix) (rank int) {
	var svd mat.SVD
	if !svd.Factorize(C, mat.SVDNone) {
		return 0
	}
	values := svd.Values(nil)
	floor := negligible * math.Sqrt(float64(groups[0].Count))
	for _, s := range values {
		if s > floor {
			rank++
		}
	}
	for j, g := range groups {
		if m[j] > floor {
			rank += g.Classes - 1
		}
	}
	return rank
}
