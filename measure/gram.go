package measure

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/vec"
	"collapse.example/collapse/parallel"
)

// gram is the K×K matrix G_ij = a_i·b_j of two sets of K rows, visited row by row. Up to tileElements it
// is kept between sweeps; larger ones are recomputed in tiles, so that memory stays O(K·d).
type gram struct {
	team *parallel.Team
	a, b []float64 // (K×d)
	k, d int
	tile []float64
	rows int  // of a tile
	held bool // the tile holds all of G

	squares map[*float64][]float64 // XᵀX (d×d) of the matrices X in thin products so far
	sums    map[*float64][]float64 // (d) Xᵀ1 of the same
}

const tileElements = vec.TileElements

func (g *gram) of(team *parallel.Team, a, b []float64, k, d int) *gram {
	g.team, g.a, g.b, g.k, g.d, g.held = team, a, b, k, d, false
	if g.squares == nil {
		g.squares, g.sums = map[*float64][]float64{}, map[*float64][]float64{}
	}
	g.rows = max(1, min(k, tileElements/k))
	return g
}

// fill makes rows [from, to) of G.
func (g *gram) fill(from, to int) {
	if g.held {
		return
	}
	g.tile = grow(g.tile, g.rows*g.k)
	gemm.Multiply(g.team, gemm.NT, kernel.Dense(to-from, g.d, g.a[from*g.d:]), kernel.Dense(g.k, g.d, g.b), kernel.Dense(to-from, g.k, g.tile), gemm.Epilogue[float64]{})
	g.held = to-from == g.k
}

// sum adds up f(i, row i) over the rows.
func (g *gram) sum(f func(i int, row []float64) float64) float64 {
	total := 0.0
	for from := 0; from < g.k; from += g.rows {
		to := min(from+g.rows, g.k)
		g.team.Check()
		g.fill(from, to)
		for i := from; i < to; i++ {
			total += f(i, g.tile[(i-from)*g.k:][:g.k])
		}
	}
	return total
}

// thin reports whether G has rank below K−1. A simplex ETF and an orthogonal frame have higher rank, so ‖U(G)
// − E‖ is far from 0 then, expanding its square loses nothing, and d×d products suffice.
func (g *gram) thin() bool { return g.d < g.k-1 }

// frobenius returns ‖G‖; with rows in a and b, ‖A Bᵀ‖² = tr(AᵀA BᵀB) if d < K−1.
func (g *gram) frobenius() float64 {
	if !g.thin() {
		return math.Sqrt(g.sum(func(_ int, row []float64) float64 { return dot(row, row) }))
	}
	return math.Sqrt(max(0, dot(g.square(g.a), g.square(g.b))))
}

// square returns XᵀX.
func (g *gram) square(x []float64) []float64 {
	if out, known := g.squares[&x[0]]; known {
		return out
	}
	out := make([]float64, g.d*g.d)
	squareInto(g.team, out, x, g.k, g.d)
	g.squares[&x[0]] = out
	return out
}

// shifted records that x (K×d) is the rows of y, each with h added: if G is thin, XᵀX = YᵀY + shᵀ + hsᵀ + Khhᵀ, s = Yᵀ1.
func (g *gram) shifted(x, y, h []float64) {
	if !g.thin() {
		return
	}
	out, s := append([]float64(nil), g.square(y)...), g.rowSum(y)
	for i, a := range h {
		row := out[i*g.d:][:g.d]
		axpy(row, s[i]+float64(g.k)*a, h)
		axpy(row, a, s)
	}
	g.squares[&x[0]] = out
}

// squareInto writes XᵀX (d×d) of X (K×d): the diagonal and below by products, the rest by symmetry.
func squareInto(team *parallel.Team, out, x []float64, k, d int) {
	const stripe = 192
	for from := 0; from < d; from += stripe {
		to := min(from+stripe, d)
		gemm.Multiply(team, gemm.TN, kernel.Strided(k, to-from, d, x[from:]), kernel.Strided(k, to, d, x), kernel.Strided(to-from, to, d, out[from*d:]), gemm.Epilogue[float64]{})
	}
	for i := range d {
		for j := range i {
			out[j*d+i] = out[i*d+j]
		}
	}
}

// forget drops squares and sums: the matrices may change.
func (g *gram) forget() { g.squares, g.sums = nil, nil }

// trace returns tr G.
func (g *gram) trace() float64 { return dot(g.a[:g.k*g.d], g.b[:g.k*g.d]) }

// total returns 1ᵀG1.
func (g *gram) total() float64 {
	return dot(g.rowSum(g.a), g.rowSum(g.b))
}

// rowSum returns Xᵀ1.
func (g *gram) rowSum(x []float64) []float64 {
	if out, known := g.sums[&x[0]]; known {
		return out
	}
	out := make([]float64, g.d)
	for i := range g.k {
		rows.AddRow(out, x[i*g.d:][:g.d])
	}
	g.sums[&x[0]] = out
	return out
}

// deviation returns ‖G/f − T‖, T the matrix with one value on and one off the diagonal.
func (g *gram) deviation(f, diagonal, other float64) float64 {
	inverse := 1 / f
	return math.Sqrt(g.sum(func(i int, row []float64) float64 {
		s := 0.0
		for j, x := range row {
			x = x*inverse - other
			if j == i {
				x += other - diagonal
			}
			s += x * x
		}
		return s
	}))
}

// toETF returns ‖U(G) − E‖, E = (I − 11ᵀ/K)/√(K−1); f = ‖G‖.
func (g *gram) toETF(f float64) float64 {
	k := float64(g.k)
	if g.thin() {
		return math.Sqrt(max(0, 2-2*(g.trace()-g.total()/k)/(f*math.Sqrt(k-1))))
	}
	return g.deviation(f, (1-1/k)/math.Sqrt(k-1), -1/(k*math.Sqrt(k-1)))
}

// toFrame returns ‖U(G) − I/√K‖; f = ‖G‖.
func (g *gram) toFrame(f float64) float64 {
	if g.thin() {
		return math.Sqrt(max(0, 2-2*g.trace()/(f*math.Sqrt(float64(g.k)))))
	}
	return g.deviation(f, 1/math.Sqrt(float64(g.k)), 0)
}
