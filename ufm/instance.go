package ufm

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
)

// Instance returns variables at the optimum e of c, placed by a random rotation of R^d (a random
// choice of supports where features must not be negative).
//
// It returns an error if e has no closed form or c is the noisy-features model.
func (c Config) Instance(e Exact, rng *rand.Rand) (Point, error) {
	if c.Model == Noisy {
		return Point{}, errNoisy
	}
	if !e.Available {
		return Point{}, errors.New("ufm: no instance: " + e.Reason)
	}
	p := c.NewPoint()
	switch e.shape.kind {
	case symmetric:
		c.placeFactors(p, symmetricRoots(c, e.shape, rng), e.shape.sd)
	case projection:
		c.placeRoot(p, etf.CenteredBasis(c.K, c.D, rng), e.shape, rng)
	case anyProj:
		c.placeRoot(p, etf.RandomOrthonormal(c.K, c.D, rng), e.shape, rng)
	case tightFrame:
		basis, err := etf.Tight(c.K, c.D, rng)
		if err != nil {
			return Point{}, err
		}
		c.placeRoot(p, basis, e.shape, rng)
	case nonnegative:
		c.placeNonnegative(p, e, rng)
	case plainReLU:
		frame := supports(c.K, c.D, rng)
		frame.Scale(math.Sqrt(e.shape.x), frame)
		c.placeFactors(p, frame.T(), e.shape.sd)
	case threeLinear, threeReLU:
		c.placeThree(p, e, rng)
	case threeCyclic:
		c.placePreactivations(p, preactivations(e.shape.blocks, c.K), rng)
	}
	for k := range p.B {
		p.B[k] = float64(e.Bias)
	}
	return p, nil
}

// symmetricRoots returns A (K×d) with A·Aᵀ = x·P + y·11ᵀ/K.
func symmetricRoots(c Config, s shape, rng *rand.Rand) mat.Matrix {
	if s.y == 0 { // rank K−1: the Helmert basis, so that d = K−1 suffices
		var a mat.Dense
		basis := etf.Helmert(c.K)
		basis.Scale(math.Sqrt(s.x), basis)
		a.Mul(basis.T(), etf.RandomOrthonormal(c.D, c.K-1, rng).T())
		return &a
	}
	root := mat.NewDense(c.K, c.K, nil) // √x·P + √y·11ᵀ/K
	rx, ry := math.Sqrt(s.x), math.Sqrt(s.y)
	for i := range c.K {
		for j := range c.K {
			root.Set(i, j, (ry-rx)/float64(c.K))
		}
		root.Set(i, i, rx+(ry-rx)/float64(c.K))
	}
	var a mat.Dense
	a.Mul(root, etf.RandomOrthonormal(c.D, c.K, rng).T())
	return &a
}

// placeRoot places Z̄ = x·UUᵀ for orthonormal columns U (K×d).
func (c Config) placeRoot(p Point, basis *mat.Dense, s shape, rng *rand.Rand) {
	var a mat.Dense
	a.Mul(basis, etf.RandomOrthonormal(c.D, c.D, rng).T())
	a.Scale(math.Sqrt(s.x), &a)
	c.placeFactors(p, &a, s.sd)
}

// placeFactors sets W = A/√sd and the class means H̄ = √sd·Aᵀ, so that W·H̄ = A·Aᵀ and H̄ = sd·Wᵀ.
func (c Config) placeFactors(p Point, a mat.Matrix, sd float64) {
	root := math.Sqrt(sd)
	for k := range c.K {
		for j := range c.D {
			v := a.At(k, j)
			p.W[k*c.D+j] = v / root
			c.setMean(p, j, k, v*root)
		}
	}
}

// setMean sets row j of all columns of class k.
func (c Config) setMean(p Point, j, k int, v float64) {
	column := p.H[j*c.K*c.N+k*c.N:][:c.N]
	for i := range column {
		column[i] = v
	}
}

// supports returns K non-negative unit vectors in R^d with disjoint supports (d×K): the rotations that
// the non-negative orthant allows.
func supports(K, d int, rng *rand.Rand) *mat.Dense {
	frame := mat.NewDense(d, K, nil)
	norm := make([]float64, K)
	order := rng.Perm(d)
	for i, j := range order {
		k := i
		if i >= K { // spare coordinates go to random classes, or to none
			if k = rng.IntN(K + 1); k == K {
				continue
			}
		}
		v := 0.2 + rng.Float64()
		frame.Set(j, k, v)
		norm[k] += v * v
	}
	for k := range K {
		for j := range d {
			frame.Set(j, k, frame.At(j, k)/math.Sqrt(norm[k]))
		}
	}
	return frame
}

// placeNonnegative places MD's NC configuration: h_k orthogonal and non-negative, w_k ∝ h_k − h_G.
func (c Config) placeNonnegative(p Point, e Exact, rng *rand.Rand) {
	frame := supports(c.K, c.D, rng)
	a := math.Sqrt(float64(e.ClassMeanNorm2))
	for j := range c.D {
		sum := 0.0
		for k := range c.K {
			sum += frame.At(j, k)
		}
		for k := range c.K {
			p.W[k*c.D+j] = a * (frame.At(j, k) - sum/float64(c.K)) / e.shape.sd
			c.setMean(p, j, k, a*frame.At(j, k))
		}
	}
}

// placeThree places W2 = s2·U·Bᵀ, W1 = s1·B·Rᵀ, H̄1 = sH·R·Uᵀ with orthonormal columns: B and R of
// length d, U of length K. With ReLU (d ≥ K) B has disjoint non-negative supports and U is the
// identity, so that W1·H̄1 = s1·sH·B is non-negative.
func (c Config) placeThree(p Point, e Exact, rng *rand.Rand) {
	r := e.Rank
	inner, outer := etf.RandomOrthonormal(c.D, r, rng), etf.RandomOrthonormal(c.D, r, rng)
	left, _ := etf.Orthogonal(c.K, c.K)
	if e.shape.kind == threeReLU {
		inner = supports(c.K, c.D, rng)
	} else if r < c.K {
		left = etf.RandomOrthonormal(c.K, r, rng)
	}
	var w2, w1, h mat.Dense
	w2.Mul(left, inner.T())
	w1.Mul(inner, outer.T())
	h.Mul(outer, left.T())
	for k := range c.K {
		for j := range c.D {
			p.W[k*c.D+j] = float64(e.Singular.W2) * w2.At(k, j)
			c.setMean(p, j, k, float64(e.Singular.H1)*h.At(j, k))
		}
	}
	for i := range c.D {
		for j := range c.D {
			p.W1[i*c.D+j] = float64(e.Singular.W1) * w1.At(i, j)
		}
	}
}
