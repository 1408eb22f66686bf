package ufm

// One column per class is enough. For a loss convex in the output of a sample and a model linear in its feature, replacing the
// columns of a class by their mean never raises the objective (Jensen; ‖H‖² decreases, too). For any model, replacing them by the
// best column of the class never raises it, because the objective is a sum over samples. So the search runs on K columns with
// penalty n·λ_H, and its optimum, repeated n times, is an optimum of the whole problem.

// reduced is the problem with one column per class that has the same value.
func (c Config) reduced() Config {
	n := float64(c.N)
	c.N = 1
	if c.Model != LSNonneg { // MD's λ_H/n already belongs to the mean feature
		c.LH, c.LH1 = c.LH*n, c.LH1*n
	}
	return c
}

// reduce returns the variables of the reduced problem, with entry mean(j,k) as H̄.
func (p *Problem) reduce(at Point, mean func(j, k int) float64) Point {
	out := p.reduced().NewPoint()
	copy(out.W, at.W)
	copy(out.W1, at.W1)
	copy(out.B, at.B)
	for j := range p.D {
		for k := range p.K {
			out.H[j*p.K+k] = mean(j, k)
		}
	}
	return out
}

// expand writes the reduced variables small into x, every column of a class the same.
func (p *Problem) expand(small Point, x []float64) {
	at := p.View(x)
	copy(at.W, small.W)
	copy(at.W1, small.W1)
	copy(at.B, small.B)
	for j := range p.D {
		for k := range p.K {
			p.setMean(at, j, k, small.H[j*p.K+k])
		}
	}
}

// collapseStep returns the reduced start for x: class means, or with a ReLU each class's best column.
func (p *Problem) collapseStep(x []float64) Point {
	at, n, N := p.View(x), p.N, p.K*p.N
	if p.relu {
		best := p.bestColumns(at)
		return p.reduce(at, func(j, k int) float64 { return at.H[j*N+best[k]] })
	}
	return p.reduce(at, func(j, k int) float64 {
		sum := 0.0
		for _, v := range at.H[j*N+k*n:][:n] {
			sum += v
		}
		return sum / float64(n)
	})
}

// bestColumns returns for every class the column with the smallest share of the objective,
// ℓ_i/N + (λ_H/2)‖h_i‖².
func (p *Problem) bestColumns(at Point) []int {
	N := p.K * p.N
	p.outputs(at)
	p.head.gradient(p.z, p.g)
	best := make([]int, p.K)
	for k := range best {
		lowest := 0.0
		for i := k * p.N; i < (k+1)*p.N; i++ {
			norm := 0.0
			for j := range p.D {
				norm += at.H[j*N+i] * at.H[j*N+i]
			}
			if cost := p.head.sample(p.z, i)/float64(N) + p.pH/2*norm; i == k*p.N || cost < lowest {
				best[k], lowest = i, cost
			}
		}
	}
	return best
}
