package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/parallel"
)

// imageCase is a batch of images in image layout whose padding lanes hold large numbers in activations, zeros in dy.
type imageCase struct {
	batch, channels, pixels int
	x, residual, dy         []float64
	gamma, beta             []float64
}

func newImageCase(rng *rand.Rand, batch, channels, pixels int, mean float64) imageCase {
	c := imageCase{batch: batch, channels: channels, pixels: pixels}
	for i := range channels * pixels * Lanes(batch) {
		x, r, g := mean+rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		if i%Lanes(batch) >= batch {
			x, r, g = 1e9, -1e9, 0
		}
		c.x, c.residual, c.dy = append(c.x, float64(float32(x))), append(c.residual, float64(float32(r))), append(c.dy, float64(float32(g)))
	}
	for range channels {
		c.gamma = append(c.gamma, float64(float32(1+0.5*rng.NormFloat64())))
		c.beta = append(c.beta, float64(float32(rng.NormFloat64())))
	}
	return c
}

// rows returns the real values of t as a matrix (batch·pixels)×channels, for the oracle of BatchNorm.
func (c imageCase) rows(t []float64) []float64 {
	lanes, rows := Lanes(c.batch), c.batch*c.pixels
	out := make([]float64, rows*c.channels)
	for ch := range c.channels {
		for i := range rows {
			out[i*c.channels+ch] = t[(ch*c.pixels+i/c.batch)*lanes+i%c.batch]
		}
	}
	return out
}

// textbook returns y before residual and ReLU, and the gradients for a g that the ReLU has cut.
func (c imageCase) textbook(g []float64) (y, dx, dGamma, dBeta []float64) {
	flat := kerneltest.NormCase{Rows: c.batch * c.pixels, Cols: c.channels, X: c.rows(c.x), DY: c.rows(g), Gamma: c.gamma, Beta: c.beta}
	return flat.Textbook(1e-5)
}

// normResult is what a Norm2D computed.
type normResult[T kernel.Float] struct{ y, dx, dResidual, dGamma, dBeta, mean, variance []T }

func runNorm2D[T kernel.Float](c imageCase, tm *parallel.Team, add, relu bool) normResult[T] {
	n := NewNorm2D[T](c.channels, 1e-5)
	x, gamma, beta := kerneltest.To[T](c.x), kerneltest.To[T](c.gamma), kerneltest.To[T](c.beta)
	r := normResult[T]{y: make([]T, len(x)), dx: make([]T, len(x)), dResidual: kerneltest.To[T](c.dy), dGamma: make([]T, c.channels),
		dBeta: make([]T, c.channels), mean: make([]T, c.channels), variance: make([]T, c.channels)}
	var residual, mask []T
	if add {
		residual, mask = kerneltest.To[T](c.residual), r.y
	}
	n.Forward(tm, c.batch, c.pixels, x, residual, r.y, gamma, beta, relu)
	if c.batch*c.pixels > 1 {
		n.UpdateRunning(c.batch*c.pixels, 1, r.mean, r.variance)
	}
	n.Backward(tm, c.batch, c.pixels, r.dResidual, mask, x, r.dx, gamma, beta, r.dGamma, r.dBeta, relu)
	return r
}

// near fails unless every |got − want| ≤ tol·scale.
func near[T kernel.Float](t *testing.T, what string, got []T, want []float64, tol float64) {
	t.Helper()
	scale := 1.0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if diff := math.Abs(float64(got[i]) - w); !(diff <= tol*scale) {
			t.Fatalf("%s[%d] = %g, want %g ± %g", what, i, got[i], w, tol*scale)
		}
	}
}

func checkNorm2D[T kernel.Float](t *testing.T, c imageCase, add, relu bool, tol float64) {
	t.Helper()
	r := runNorm2D[T](c, nil, add, relu)
	bare, _, _, _ := c.textbook(c.dy)
	y, g := make([]float64, len(bare)), slices.Clone(c.dy)
	for i, v := range bare {
		if add {
			v += c.rows(c.residual)[i]
		}
		y[i] = v
		if relu {
			y[i] = max(v, 0)
		}
	}
	lanes := Lanes(c.batch)
	for ch := range c.channels {
		for i := range c.batch * c.pixels {
			if relu && r.y[(ch*c.pixels+i/c.batch)*lanes+i%c.batch] <= 0 {
				g[(ch*c.pixels+i/c.batch)*lanes+i%c.batch] = 0
			}
		}
	}
	_, dx, dGamma, dBeta := c.textbook(g)
	near(t, "y", c.rows(widened(r.y)), y, tol)
	near(t, "dx", c.rows(widened(r.dx)), dx, 4*tol)
	near(t, "dγ", r.dGamma, dGamma, 4*tol)
	near(t, "dβ", r.dBeta, dBeta, tol)
	if add && relu {
		near(t, "residual's gradient", r.dResidual, g, 0)
	}
	for i, v := range r.dx {
		if i%lanes >= c.batch && v != 0 {
			t.Fatalf("dx of padding lane %d is %g", i%lanes, v)
		}
	}
}

func widened[T kernel.Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// TestNorm2D compares with the textbook, for every kernel, every kind of fusion, whole and partial blocks of lanes; large
// means would show E[x²] − E[x]². Padding lanes hold 1e9.
func TestNorm2D(t *testing.T) {
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		rng := rand.New(rand.NewPCG(1, 2))
		for _, batch := range []int{2, 15, 16, 17, 40} {
			for _, pixels := range []int{1, 6} {
				for fuse := range 4 {
					c := newImageCase(rng, batch, 3, pixels, []float64{0, 100}[fuse%2])
					t.Run(fmt.Sprintf("%s/batch=%d/pixels=%d/fuse=%d", name, batch, pixels, fuse), func(t *testing.T) {
						checkNorm2D[float32](t, c, fuse&1 != 0, fuse&2 != 0, 2e-5)
						checkNorm2D[float64](t, c, fuse&1 != 0, fuse&2 != 0, 1e-12)
					})
				}
			}
		}
	}
}

// TestNorm2DKeepsDigits: the channel's first value may be its outlier, or the mean may dwarf the deviation.
func TestNorm2DKeepsDigits(t *testing.T) {
	c := newImageCase(rand.New(rand.NewPCG(3, 4)), 64, 1, 64, 3000)
	for i := range c.x {
		c.x[i] = float64(float32(3000 + 0.01*(c.x[i]-3000)))
	}
	checkNorm2D[float32](t, c, false, false, 2e-5)
	c.x[0] = 1e6
	r := runNorm2D[float32](c, nil, false, false)
	mean, second := 0.0, 0.0
	for _, v := range c.x {
		mean += v / float64(len(c.x))
	}
	for _, v := range c.x {
		second += (v - mean) * (v - mean) / float64(len(c.x)-1)
	}
	near(t, "running mean", r.mean, []float64{mean}, 1e-7)
	near(t, "running variance", r.variance, []float64{second}, 1e-7)
}

// TestNorm2DBits: every kernel and every team give the bits of the generic loops, special values included.
func TestNorm2DBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	two := parallel.NewTeam(2)
	defer two.Close()
	for _, batch := range []int{3, 16, 33, 128} {
		for fuse := range 4 {
			c := newImageCase(rng, batch, 40, 9, 1)
			c.dy[0] = math.Copysign(0, -1)
			if fuse > 1 {
				c.x[5*9*Lanes(batch)], c.residual[7*9*Lanes(batch)] = math.NaN(), math.Inf(1)
			}
			kerneltest.Use(t, "generic")
			want := runNorm2D[float32](c, nil, fuse&1 != 0, fuse&2 != 0)
			for _, name := range isa.Available() {
				kerneltest.Use(t, name)
				got := runNorm2D[float32](c, two, fuse&1 != 0, fuse&2 != 0)
				for i, pair := range [][2][]float32{{got.y, want.y}, {got.dx, want.dx}, {got.dResidual, want.dResidual},
					{got.dGamma, want.dGamma}, {got.dBeta, want.dBeta}, {got.mean, want.mean}, {got.variance, want.variance}} {
					if !sameValues(pair[0], pair[1]) {
						t.Errorf("%s, batch %d, fuse %d: result %d differs from generic", name, batch, fuse, i)
					}
				}
			}
		}
	}
}

// sameValues compares bits; NaNs of any payload are equal.
func sameValues(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
	})
}

func TestNorm2DAllocatesNothing(t *testing.T) {
	const channels, batch, pixels = 8, 40, 4
	n, tm := NewNorm2D[float32](channels, 1e-5), parallel.NewTeam(2)
	defer tm.Close()
	x, dy := make([]float32, channels*pixels*Lanes(batch)), make([]float32, channels*pixels*Lanes(batch))
	y, dx, v := slices.Clone(x), slices.Clone(x), make([]float32, channels)
	if got := testing.AllocsPerRun(5, func() {
		n.Forward(tm, batch, pixels, x, x, y, v, v, true)
		n.UpdateRunning(batch*pixels, 0.1, v, v)
		n.Backward(tm, batch, pixels, dy, y, x, dx, v, v, v, v, true)
		n.Backward(tm, batch, pixels, dy, nil, x, dy, v, v, v, v, true)
	}); got != 0 {
		t.Errorf("%g allocations", got)
	}
}
