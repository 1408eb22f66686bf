package conv

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The matrices of F(4×4, 3×3), written out apart from the transforms that apply them.
func winogradMatrices() (bt, g, at [][]float64) {
	const p, q = winogradP, winogradQ
	const a, b = p * p, q * q
	bt = [][]float64{
		{a * b, 0, -(a + b), 0, 1, 0},
		{0, -p * b, -b, p, 1, 0},
		{0, p * b, -b, -p, 1, 0},
		{0, -q * a, -a, q, 1, 0},
		{0, q * a, -a, -q, 1, 0},
		{0, a * b, 0, -(a + b), 0, 1},
	}
	np, nq := 2*a*(a-b), 2*b*(b-a)
	g = [][]float64{
		{1 / (a * b), 0, 0},
		{1 / np, p / np, a / np}, {1 / np, -p / np, a / np},
		{1 / nq, q / nq, b / nq}, {1 / nq, -q / nq, b / nq},
		{0, 0, 1},
	}
	at = [][]float64{
		{1, 1, 1, 1, 1, 0},
		{0, p, -p, q, -q, 0},
		{0, a, a, b, b, 0},
		{0, p * a, -p * a, q * b, -q * b, 1},
	}
	return bt, g, at
}

// TestWinogradIdentity: Σ_t Aᵀ[i,t]·G[t,k]·Bᵀ[t,l] is 1 if l = i + k and 0 otherwise, which is all of the algorithm.
func TestWinogradIdentity(t *testing.T) {
	bt, g, at := winogradMatrices()
	for i := range 4 {
		for k := range 3 {
			for l := range 6 {
				sum, want := 0.0, 0.0
				for point := range 6 {
					sum += at[i][point] * g[point][k] * bt[point][l]
				}
				if l == i+k {
					want = 1
				}
				if !(math.Abs(sum-want) <= 1e-14) {
					t.Errorf("output %d, tap %d, input %d: %g, want %g", i, k, l, sum, want)
				}
			}
		}
	}
}

// winogradRoundings bounds the roundings an element passes besides the sum of products: in one dimension at most 4
// in Bᵀ and 3 in G, one each for the constants of G, and 4 in Aᵀ; twice each.
const winogradRoundings = 2 * (4 + 3 + 1 + 4)

// absolute applies |m| to the columns and the rows of the n×n grid x.
func absolute(m [][]float64, x []float64) []float64 {
	rows, n := len(m), len(m[0])
	half, out := make([]float64, rows*n), make([]float64, rows*rows)
	for i := range rows {
		for k := range n {
			for j := range n {
				half[i*n+j] += math.Abs(m[i][k]) * math.Abs(x[k*n+j])
			}
		}
	}
	for i := range rows {
		for j := range rows {
			for k := range n {
				out[i*rows+j] += half[i*n+k] * math.Abs(m[j][k])
			}
		}
	}
	return out
}

func transposed(m [][]float64) [][]float64 {
	out := make([][]float64, len(m[0]))
	for j := range out {
		for i := range m {
			out[j] = append(out[j], m[i][j])
		}
	}
	return out
}

// grid returns n×n points of channel c, sample b of an image from (y, x) on, zeros outside.
func (c *convCase[T]) grid(image []T, channel, y, x, b, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			if y+i >= 0 && y+i < c.shape.H && x+j >= 0 && x+j < c.shape.W {
				out[i*n+j] = float64(image[((channel*c.shape.H+y+i)*c.shape.W+x+j)*c.lanes+b])
			}
		}
	}
	return out
}

// winogradSizes evaluates the algorithm with absolute values throughout. Times γ_n, n the roundings of an
// element, that bounds its error.
func (c *convCase[T]) winogradSizes() (y, dx, dw []float64) {
	s := c.shape
	bt, g, at := winogradMatrices()
	a, gt := transposed(at), transposed(g)
	filters := make([][]float64, s.Out*s.In)
	back := make([][]float64, s.Out*s.In)
	for i := range filters {
		var f, turned [9]float64
		for k := range 9 {
			f[k], turned[8-k] = float64(c.w[i*9+k]), float64(c.w[i*9+k])
		}
		filters[i], back[i] = absolute(g, f[:]), absolute(g, turned[:])
	}
	y, dx, dw = make([]float64, len(c.y)), make([]float64, len(c.dx)), make([]float64, len(c.dw))
	sums := make([][36]float64, s.Out*s.In)
	for ty := 0; ty < s.H; ty += 4 {
		for tx := 0; tx < s.W; tx += 4 {
			for b := range c.batch {
				images, grads, dys := make([][]float64, s.In), make([][]float64, s.Out), make([][]float64, s.Out)
				for i := range images {
					images[i] = absolute(bt, c.grid(c.x, i, ty-1, tx-1, b, 6))
				}
				for o := range grads {
					grads[o] = absolute(bt, c.grid(c.dy, o, ty-1, tx-1, b, 6))
					dys[o] = absolute(a, c.grid(c.dy, o, ty, tx, b, 4))
				}
				c.addTile(y, at, ty, tx, b, s.Out, s.In, images, func(o, i int) []float64 { return filters[o*s.In+i] })
				c.addTile(dx, at, ty, tx, b, s.In, s.Out, grads, func(i, o int) []float64 { return back[o*s.In+i] })
				for f := range sums {
					for p := range 36 {
						sums[f][p] += dys[f/s.In][p] * images[f%s.In][p]
					}
				}
			}
		}
	}
	for f := range sums {
		copy(dw[f*9:], absolute(gt, sums[f][:]))
	}
	return y, dx, dw
}

// addTile transforms the sums over channels of a tile back.
func (c *convCase[T]) addTile(out []float64, at [][]float64, ty, tx, b, rows, cols int, images [][]float64, filter func(r, c int) []float64) {
	for r := range rows {
		var m [36]float64
		for i := range cols {
			f := filter(r, i)
			for p := range m {
				m[p] += f[p] * images[i][p]
			}
		}
		for p, v := range absolute(at, m[:]) {
			if y, x := ty+p/4, tx+p%4; y < c.shape.H && x < c.shape.W {
				out[((r*c.shape.H+y)*c.shape.W+x)*c.lanes+b] = v
			}
		}
	}
}

// TestWinogradAccuracy: on data as networks have them (rectified activations, Kaiming weights) the
// largest error is at most 5 times that of the direct sums, and with the usual points 0, ±1, ±2 it would not be.
func TestWinogradAccuracy(t *testing.T) {
	s := Shape{In: 64, Out: 64, H: 8, W: 8, KH: 3, KW: 3, Stride: 1, Pad: 1}
	const batch = 16
	rng := rand.New(rand.NewPCG(3, 1))
	c := newConvCase[float32](rng, s, batch)
	exact := newConvCase[float64](rng, s, batch)
	for i, v := range c.x {
		c.x[i] = max(v, 0)
		exact.x[i] = float64(c.x[i])
	}
	for i := range c.w {
		c.w[i] *= float32(math.Sqrt(2. / (9 * 64)))
		exact.w[i] = float64(c.w[i])
	}
	for i, v := range c.dy {
		exact.dy[i] = float64(v)
	}
	reference := newConv[float64](s, batch, false)
	reference.Forward(nil, batch, exact.x, exact.w, exact.y, Epilogue[float64]{})
	reference.InputGrad(nil, batch, exact.dy, exact.w, exact.dx, false)
	reference.WeightGrad(nil, batch, exact.x, exact.dy, exact.dw)
	var errors [2][3]float64
	for i, winograd := range []bool{false, true} {
		conv := newConv[float32](s, batch, winograd)
		conv.Forward(nil, batch, c.x, c.w, c.y, Epilogue[float32]{})
		conv.InputGrad(nil, batch, c.dy, c.w, c.dx, false)
		conv.WeightGrad(nil, batch, c.x, c.dy, c.dw)
		errors[i] = [3]float64{largestError(c.y, exact.y), largestError(c.dx, exact.dx), largestError(c.dw, exact.dw)}
	}
	for i, what := range []string{"y", "dx", "dw"} {
		ratio := errors[1][i] / errors[0][i]
		t.Logf("%s: largest error direct %.3g, winograd %.3g, ratio %.2f", what, errors[0][i], errors[1][i], ratio)
		if !(ratio <= 5) {
			t.Errorf("%s: Winograd's largest error is %.2f times the direct one, want at most 5", what, ratio)
		}
	}
}

func largestError(got []float32, want []float64) float64 {
	most := 0.0
	for i, v := range got {
		most = max(most, math.Abs(float64(v)-want[i]))
	}
	return most
}

// TestNewRows: every row of an image is new to one row of tiles, the first that sees it, and to its first chunk alone.
func TestNewRows(t *testing.T) {
	for h := 1; h <= 14; h++ {
		for halo := range 2 {
			g := newWinogradGrid(h, 9)
			g.cut(48, 32)
			read := 0
			for chunk := range g.chunks() {
				y, x, lane, _ := g.chunk(chunk)
				first, last := g.newRows(chunk, halo)
				if x > 0 || lane > 0 {
					if first != last {
						t.Errorf("h=%d halo=%d: chunk %d is not the first of its row and has rows %d to %d", h, halo, chunk, first, last)
					}
					continue
				}
				if first != read || last != min(y+winogradSide+halo, h) {
					t.Errorf("h=%d halo=%d: at row %d rows %d to %d are new; %d were read", h, halo, y, first, last, read)
				}
				read = last
			}
			if read != h {
				t.Errorf("h=%d halo=%d: %d rows were read", h, halo, read)
			}
		}
	}
}
