package ufm

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
	"collapse.example/collapse/measure"
)

// cyclicScale returns β such that features β·A and a classifier W2/β have in this problem the objective that A and W2 have if n = 1
// and every λ is q/K: λ_2/β² = q/K and √(nλ_1λ_H1)·β = q/K, both at once by the definition of q.
func (c Config) cyclicScale() float64 { return math.Sqrt(float64(c.K) * c.L2 / c.q()) }

// exactCyclic fills in the best known point with circulant blocks, whose objective is f.
func (c Config) exactCyclic(e Exact, blocks []block, f float64) Exact {
	q, beta := c.q(), c.cyclicScale()
	e.Objective, e.Regime = Number(f), blockWords(blocks)
	e.Source = "the best point known: circulant blocks of W1·H1 (ours), against TB Theorem 4.2"
	e.shape = shape{kind: threeCyclic, blocks: blocks}
	nuclear := 0.0
	for _, b := range blocks {
		squares := []float64{1}
		if b.shape >= 0 {
			squares = spectra()[b.shape].squares
			nuclear += b.p * spectra()[b.shape].nuclear
		} else {
			nuclear += b.p
		}
		for _, v := range squares {
			s := b.p * math.Sqrt(v)
			w := s / (s*s + q)
			e.Gram = append(e.Gram, beta*beta*s*s)
			e.WWT = append(e.WWT, w*w/(beta*beta))
			if s > 1e-9 {
				e.Rank++
			}
		}
	}
	slices.SortFunc(e.Gram, descending)
	slices.SortFunc(e.WWT, descending)
	total := 0.0
	for _, v := range e.WWT {
		total += v
	}
	e.WNorm2 = Number(total)
	e.HNorm2 = Number(q / float64(c.K) * nuclear / c.LH1) // λ_1‖W1‖² = λ_H1‖H1‖² = √(nλ_1λ_H1)·β‖M‖_*
	e.Measures = measure.NewValues(map[string]float64{})
	return e
}

func descending(a, b float64) int { return cmp.Compare(b, a) }

// preactivations returns M̄ = W1·H̄1 (K×K) of the blocks, in units in which n = 1 and λ = q/K.
func preactivations(blocks []block, K int) *mat.Dense {
	m, from := mat.NewDense(K, K, nil), 0
	for _, b := range blocks {
		row := []float64{1}
		if b.shape >= 0 {
			row = cyclicShapes[b.shape].row
		}
		for i := range b.size {
			for j := range b.size {
				m.Set(from+i, from+j, b.p*row[(j-i+b.size)%b.size])
			}
		}
		from += b.size
	}
	return m
}

// placePreactivations places W1·H̄1 = β·M, M in units in which n = 1 and λ = q/K, on K hidden units drawn at random, with balanced
// factors and a random rotation of the space between them, and W2 = Aᵀ(A·Aᵀ + q·I)⁻¹/β for A = relu(M).
func (c Config) placePreactivations(p Point, m *mat.Dense, rng *rand.Rand) {
	K, q, beta := c.K, c.q(), c.cyclicScale()
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThin) {
		panic("ufm: the singular value iteration did not converge")
	}
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	balance := math.Sqrt(math.Sqrt(float64(c.N) * c.LH1 / c.L1)) // W1 takes it, H1 its inverse
	for j, s := range svd.Values(nil) {
		for i := range K {
			left.Set(i, j, left.At(i, j)*math.Sqrt(beta*s)*balance)
			right.Set(i, j, right.At(i, j)*math.Sqrt(beta*s)/balance)
		}
	}
	turn := etf.RandomOrthonormal(c.D, K, rng)
	var w1, h mat.Dense
	w1.Mul(&left, turn.T())
	h.Mul(turn, right.T())
	classifier := ridge(m, q)
	for i, unit := range rng.Perm(c.D)[:K] {
		copy(p.W1[unit*c.D:][:c.D], w1.RawRowView(i))
		for k := range K {
			p.W[k*c.D+unit] = classifier.At(k, i) / beta
		}
	}
	for j := range c.D {
		for k := range K {
			c.setMean(p, j, k, h.At(j, k))
		}
	}
}

// ridge returns Aᵀ(A·Aᵀ + q·I)⁻¹ for A = relu(M).
func ridge(m *mat.Dense, q float64) *mat.Dense {
	K, _ := m.Dims()
	a := mat.NewDense(K, K, nil)
	a.Apply(func(_, _ int, v float64) float64 { return math.Max(v, 0) }, m)
	gram := mat.NewSymDense(K, nil)
	gram.SymOuterK(1, a)
	for i := range K {
		gram.SetSym(i, i, gram.At(i, i)+q)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		panic("ufm: A·Aᵀ + q·I is not positive definite")
	}
	var solved mat.Dense
	if err := chol.SolveTo(&solved, a); err != nil {
		panic("ufm: " + err.Error())
	}
	return mat.DenseCopyOf(solved.T())
}
