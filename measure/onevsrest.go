package measure

import (
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/hull"
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
)

// mostMargins is the number of classes up to which margins are found: for a simplex, K systems of K equations.
const mostMargins = 1024

// oneVsRest fills the one-vs-rest margins of the classifier (Jiang et al. 2023): the distance of each row's direction to the convex hull of
// the others'.
func (g *geometry) oneVsRest(b *builder, s shape) {
	const key = KeyGNC2WMargin
	h := s.head
	if s.unmet(needWeights|needSeveral|needNonzeroW) != "" || !b.any(key) {
		return
	}
	if zero := slices.IndexFunc(h.norms[:s.k], func(x float64) bool { return !(x > 0) }); zero >= 0 {
		b.miss(key, fmt.Sprintf("row %d of W is zero: it has no direction", zero))
		return
	}
	if s.k > mostMargins {
		b.miss(key, fmt.Sprintf("more than %d classes", mostMargins))
		return
	}
	if work := marginWork(s.k, s.d); !b.pays(work) {
		b.missExpensive(key, work)
		return
	}
	units := make([]float64, s.k*s.d)
	for k := range s.k {
		axpy(units[k*s.d:][:s.d], 1/h.norms[k], h.w[k*s.d:][:s.d])
	}
	products := make([]float64, s.k*s.k)
	gemm.Multiply(g.team, gemm.NT, kernel.Dense(s.k, s.d, units), kernel.Dense(s.k, s.d, units), kernel.Dense(s.k, s.k, products), gemm.Epilogue[float64]{})
	margins := marginTask{units: units, products: products, k: s.k, d: s.d, margins: make(Vector, s.k)}
	g.team.Do(s.k, &margins)
	b.report.PerClass["one_vs_rest_margin"] = margins.margins
	b.put(key, slices.Min(margins.margins))
}

// marginWork estimates the operations, and all of them again to see what rounding does. For a simplex each class solves one system of equations;
// where there are more classes than dimensions, one for each vector that joins, of which there are about d/2 in the end.
func marginWork(k, d int) float64 {
	classes, corral := float64(k), float64(min(k, d+1))
	work := classes * corral * corral * corral
	if k > d+1 {
		corral /= 2
		work = classes * corral * corral * (corral*corral/3 + 4*classes)
	}
	return mostPerturbations * work
}

// marginTask computes the margin of one class per item.
type marginTask struct {
	units    []float64 // (K×d)
	products []float64 // (K×K)
	k, d     int
	margins  []float64
}

// Run implements parallel.Task.
func (t *marginTask) Run(class int) {
	own, point := t.units[class*t.d:][:t.d], make([]float64, t.d)
	for i, w := range hull.Nearest(t.around(class), t.k-1, t.d) {
		if w > 0 {
			for c, x := range t.units[other(i, class)*t.d:][:t.d] {
				point[c] += w * (x - own[c])
			}
		}
	}
	t.margins[class] = math.Sqrt(dot(point, point))
}

// other is the class of the i-th vector without the given class's.
func other(i, class int) int {
	if i >= class {
		return i + 1
	}
	return i
}

// around returns the products of the other classes' vectors, counted from the given class's.
func (t *marginTask) around(class int) func(i, j int) float64 {
	own := t.products[class*t.k:][:t.k]
	return func(i, j int) float64 {
		p, q := other(i, class), other(j, class)
		return (t.products[p*t.k+q] - own[p]) - (own[q] - own[class])
	}
}
