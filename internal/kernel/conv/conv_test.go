package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/parallel"
)

// convCase holds the operands of a convolution in image layout.
type convCase[T kernel.Float] struct {
	shape        Shape
	batch, lanes int
	x, y, dy, dx []T
	w, dw, bias  []T
	residual     []T
}

// newConvCase draws operands. Padded lanes hold large finite numbers in activations, zeros in dy.
func newConvCase[T kernel.Float](rng *rand.Rand, s Shape, batch int) *convCase[T] {
	lanes := Lanes(batch)
	draw := func(n int, padding float64) []T {
		v := make([]T, n)
		for i := range v {
			v[i] = T(rng.NormFloat64())
			if padding >= 0 && i%lanes >= batch {
				v[i] = T(padding)
			}
		}
		return v
	}
	in, out := s.In*s.H*s.W*lanes, s.Out*s.OutH()*s.OutW()*lanes
	weights := s.Out * s.In * s.KH * s.KW
	return &convCase[T]{
		shape: s, batch: batch, lanes: lanes,
		x: draw(in, 1e6), y: draw(out, 7), dy: draw(out, 0), dx: draw(in, 0), residual: draw(out, 1e6),
		w: draw(weights, -1), dw: draw(weights, -1), bias: draw(s.Out, -1),
	}
}

// each visits every product w·x·dy of the convolution for real samples: seven loops.
func (c *convCase[T]) each(visit func(w, x, y int)) {
	s := c.shape
	oh, ow := s.OutH(), s.OutW()
	for o := range s.Out {
		for ci := range s.In {
			for i := range s.KH {
				for j := range s.KW {
					for p := range oh {
						for q := range ow {
							iy, ix := p*s.Stride+i-s.Pad, q*s.Stride+j-s.Pad
							if iy < 0 || iy >= s.H || ix < 0 || ix >= s.W {
								continue
							}
							for b := range c.batch {
								visit(((o*s.In+ci)*s.KH+i)*s.KW+j, ((ci*s.H+iy)*s.W+ix)*c.lanes+b, ((o*oh+p)*ow+q)*c.lanes+b)
							}
						}
					}
				}
			}
		}
	}
}

// sums are an oracle's results with the sums of the absolute values of their terms.
type sums struct{ want, size []float64 }

func newSums(n int) sums { return sums{make([]float64, n), make([]float64, n)} }

func (s sums) add(i int, term float64) {
	s.want[i] += term
	s.size[i] += math.Abs(term)
}

// oracle returns the results of the three operations, and the sizes that bound the errors of the algorithm.
func (c *convCase[T]) oracle(winograd bool) (y, dx, dw sums) {
	y, dx, dw = newSums(len(c.y)), newSums(len(c.dx)), newSums(len(c.dw))
	c.each(func(iw, ix, iy int) {
		y.add(iy, float64(c.w[iw])*float64(c.x[ix]))
		dx.add(ix, float64(c.w[iw])*float64(c.dy[iy]))
		dw.add(iw, float64(c.dy[iy])*float64(c.x[ix]))
	})
	if winograd {
		y.size, dx.size, dw.size = c.winogradSizes()
	}
	return y, dx, dw
}

// finish applies the epilogue and the accumulation to an oracle's results.
func (c *convCase[T]) finish(y, dx sums, ep Epilogue[T], accumulate bool) {
	for i := range y.want {
		if ep.Bias != nil {
			y.add(i, float64(ep.Bias[i/(len(y.want)/c.shape.Out)]))
		}
		if ep.Residual != nil {
			y.add(i, float64(ep.Residual[i]))
		}
		if ep.ReLU {
			y.want[i] = max(y.want[i], 0)
		}
	}
	for i, v := range c.dx {
		if accumulate {
			dx.add(i, float64(v))
		}
	}
}

// compare fails unless got is within γ_n·size of the wanted values; padded lanes are skipped.
func compare[T kernel.Float](t kerneltest.Failer, what string, got []T, s sums, n, batch, lanes int) {
	t.Helper()
	u := float64(n) * unitRoundoff[T]()
	gamma := u / (1 - u)
	for i, v := range got {
		if i%lanes >= batch {
			continue
		}
		if bound := gamma * s.size[i]; !(math.Abs(float64(v)-s.want[i]) <= bound) {
			t.Fatalf("%s[%d] = %g, want %g ± %g", what, i, v, s.want[i], bound)
		}
	}
}

func unitRoundoff[T kernel.Float]() float64 {
	if kernel.IsFloat32[T]() {
		return math.Ldexp(1, -24)
	}
	return math.Ldexp(1, -53)
}

// check compares the three operations with the oracle.
func (c *convCase[T]) check(t kerneltest.Failer, ep Epilogue[T], accumulate, winograd bool) {
	t.Helper()
	s := c.shape
	y, dx, dw := c.oracle(winograd)
	c.finish(y, dx, ep, accumulate)
	conv := newConv[T](s, c.batch+3, winograd)
	extra := 3 // the bias, the residual, and the product's own rounding
	if winograd {
		extra += winogradRoundings
	}
	conv.Forward(nil, c.batch, c.x, c.w, c.y, ep)
	compare(t, "y", c.y, y, s.KH*s.KW*s.In+extra, c.batch, c.lanes)
	conv.InputGrad(nil, c.batch, c.dy, c.w, c.dx, accumulate)
	compare(t, "dx", c.dx, dx, s.KH*s.KW*s.Out+extra, c.batch, c.lanes)
	for i, v := range c.dx {
		if i%c.lanes >= c.batch && v != 0 {
			t.Fatalf("dx[%d] = %g in a padded lane, want 0", i, v)
		}
	}
	conv.WeightGrad(nil, c.batch, c.x, c.dy, c.dw)
	compare(t, "dw", c.dw, dw, s.OutH()*s.OutW()*c.batch+extra, 1, 1)
}

func drawDirect(t *rapid.T) (s Shape, batch int) {
	s = Shape{
		In: rapid.IntRange(1, 40).Draw(t, "in"), Out: rapid.IntRange(1, 40).Draw(t, "out"),
		KH: rapid.IntRange(1, 7).Draw(t, "kh"), KW: rapid.IntRange(1, 7).Draw(t, "kw"),
		Stride: rapid.IntRange(1, 3).Draw(t, "stride"), Pad: rapid.IntRange(0, 3).Draw(t, "pad"),
	}
	s.H = rapid.IntRange(max(1, s.KH-2*s.Pad), 9).Draw(t, "h")
	s.W = rapid.IntRange(max(1, s.KW-2*s.Pad), 9).Draw(t, "w")
	return s, rapid.IntRange(1, 50).Draw(t, "batch")
}

func drawWinograd(t *rapid.T) (s Shape, batch int) {
	return Shape{
		In: rapid.IntRange(1, 40).Draw(t, "in"), Out: rapid.IntRange(1, 40).Draw(t, "out"),
		KH: 3, KW: 3, Stride: 1, Pad: 1,
		H: rapid.IntRange(1, 10).Draw(t, "h"), W: rapid.IntRange(1, 10).Draw(t, "w"),
	}, rapid.IntRange(1, 50).Draw(t, "batch")
}

func TestDirectRandomShapes(t *testing.T) {
	kerneltest.EachType(t, func(t *testing.T) { rapid.Check(t, checkRandom[float32](drawDirect, false)) },
		func(t *testing.T) { rapid.Check(t, checkRandom[float64](drawDirect, false)) })
}

func TestWinogradRandomShapes(t *testing.T) {
	kerneltest.EachType(t, func(t *testing.T) { rapid.Check(t, checkRandom[float32](drawWinograd, true)) },
		func(t *testing.T) { rapid.Check(t, checkRandom[float64](drawWinograd, true)) })
}

// checkRandom compares random shapes and epilogues with the oracle. Shapes that would take the oracle too long get a smaller batch.
func checkRandom[T kernel.Float](draw func(*rapid.T) (Shape, int), winograd bool) func(*rapid.T) {
	mostProducts := longtest.Of[int64](40_000, 300_000)
	if testing.Short() {
		mostProducts = 30_000
	}
	return func(t *rapid.T) {
		s, batch := draw(t)
		batch = int(min(int64(batch), 1+mostProducts/s.MACs(1)))
		c := newConvCase[T](rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), s, batch)
		var ep Epilogue[T]
		if rapid.Bool().Draw(t, "bias") {
			ep.Bias = c.bias
		}
		if rapid.Bool().Draw(t, "residual") {
			ep.Residual = c.residual
		}
		ep.ReLU = rapid.Bool().Draw(t, "relu")
		c.check(t, ep, rapid.Bool().Draw(t, "accumulate"), winograd)
	}
}

// TestReLUKeepsNaN: a NaN in a real sample must reach the output, as everywhere in this package.
func TestConvReLUKeepsNaN(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		for _, winograd := range []bool{false, true} {
			s := Shape{In: 8, Out: 9, H: 4, W: 4, KH: 3, KW: 3, Stride: 1, Pad: 1}
			c := newConvCase[float32](rand.New(rand.NewPCG(1, 1)), s, 3)
			c.x[5*c.lanes+1] = float32(math.NaN())
			newConv[float32](s, 3, winograd).Forward(nil, 3, c.x, c.w, c.y, Epilogue[float32]{ReLU: true})
			if v := c.y[5*c.lanes+1]; v == v {
				t.Errorf("winograd %v: the pixel of a NaN came out as %g", winograd, v)
			}
			if v := c.y[5*c.lanes]; v != v || v < 0 {
				t.Errorf("winograd %v: the same pixel of another sample is %g", winograd, v)
			}
		}
	})
}

func TestConvPanics(t *testing.T) {
	good := Shape{In: 2, Out: 3, H: 5, W: 5, KH: 3, KW: 3, Stride: 1, Pad: 1}
	small := good
	small.KH = 8
	c := newConvCase[float32](rand.New(rand.NewPCG(1, 1)), good, 4)
	conv := New[float32](good, 4)
	for name, call := range map[string]func(){
		"a filter larger than the image": func() { New[float32](small, 4) },
		"a shape of zeros":               func() { New[float32](Shape{}, 4) },
		"no batch":                       func() { New[float32](good, 0) },
		"a batch above the largest":      func() { conv.Forward(nil, 5, c.x, c.w, c.y, Epilogue[float32]{}) },
		"a short x":                      func() { conv.Forward(nil, 4, c.x[1:], c.w, c.y, Epilogue[float32]{}) },
		"a short y":                      func() { conv.Forward(nil, 4, c.x, c.w, c.y[1:], Epilogue[float32]{}) },
		"a short w":                      func() { conv.InputGrad(nil, 4, c.dy, c.w[1:], c.dx, false) },
		"a short bias":                   func() { conv.Forward(nil, 4, c.x, c.w, c.y, Epilogue[float32]{Bias: c.bias[1:]}) },
		"a short residual":               func() { conv.Forward(nil, 4, c.x, c.w, c.y, Epilogue[float32]{Residual: c.y[1:]}) },
		"short arranged weights":         func() { conv.ForwardArranged(nil, 4, c.x, c.w, c.y, Epilogue[float32]{}) },
		"no room for arranged weights":   func() { conv.Arrange(c.w, c.w) },
		"a short dw":                     func() { conv.WeightGrad(nil, 4, c.x, c.dy, c.dw[1:]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
	}
}

// TestArrangedWeights: weights that were arranged beforehand change no bit, and Winograd's algorithm takes none.
func TestArrangedWeights(t *testing.T) {
	t.Run("float32", testArrangedWeights[float32])
	t.Run("float64", testArrangedWeights[float64])
}

func testArrangedWeights[T kernel.Float](t *testing.T) {
	tm := parallel.NewTeam(3)
	defer tm.Close()
	kerneltest.Each(t, func(t *testing.T) {
		for _, s := range []Shape{
			{In: 3, Out: 18, H: 9, W: 7, KH: 7, KW: 7, Stride: 2, Pad: 3},
			{In: 17, Out: 33, H: 2, W: 2, KH: 3, KW: 3, Stride: 2, Pad: 1},
			{In: 33, Out: 16, H: 1, W: 1, KH: 3, KW: 3, Stride: 1, Pad: 1},
			{In: 8, Out: 5, H: 4, W: 3, KH: 1, KW: 1, Stride: 1},
		} {
			const batch = 20
			c := newConvCase[T](rand.New(rand.NewPCG(1, 1)), s, batch)
			conv, ep := newConv[T](s, batch, false), Epilogue[T]{Bias: c.bias, Residual: c.residual, ReLU: true}
			conv.Forward(tm, batch, c.x, c.w, c.y, ep)
			arranged, got := memory.Alloc[T](conv.ArrangedSize()), memory.Alloc[T](len(c.y))
			conv.Arrange(c.w, arranged)
			conv.ForwardArranged(tm, batch, c.x, arranged, got, ep)
			if !slices.Equal(got, c.y) || slices.Max(got) == 0 {
				t.Errorf("%+v: arranged weights give another image", s)
			}
			if n := newConv[T](Shape{In: 8, Out: 8, H: 8, W: 8, KH: 3, KW: 3, Stride: 1, Pad: 1}, batch, true).ArrangedSize(); n != 0 {
				t.Errorf("Winograd's algorithm takes %d arranged weights", n)
			}
		}
	})
}

func ExampleShape() {
	s := Shape{In: 3, Out: 64, H: 32, W: 32, KH: 7, KW: 7, Stride: 2, Pad: 3}
	fmt.Println(s.OutH(), s.OutW(), s.MACs(1), s.UsefulMACs(1))
	// Output: 16 16 2408448 2157312
}

// TestConvCold: whether the output goes past the caches, or starts on a cache line, changes no bit of it and nothing next to it.
func TestConvCold(t *testing.T) {
	t.Run("float32", testConvCold[float32])
	t.Run("float64", testConvCold[float64])
}

func testConvCold[T kernel.Float](t *testing.T) {
	tm := parallel.NewTeam(2)
	defer tm.Close()
	kerneltest.Each(t, func(t *testing.T) {
		for _, winograd := range []bool{false, true} {
			for _, batch := range []int{16, 33, 64} {
				s := Shape{In: 8, Out: 9, H: 6, W: 5, KH: 3, KW: 3, Stride: 1, Pad: 1}
				c := newConvCase[T](rand.New(rand.NewPCG(1, 1)), s, batch)
				conv := newConv[T](s, batch, winograd)
				ep := Epilogue[T]{Bias: c.bias, Residual: c.residual, ReLU: true}
				conv.Forward(tm, batch, c.x, c.w, c.y, ep)
				ep.Cold = true
				for _, offset := range []int{LaneBlock, 1} {
					const guard = 12345
					whole := memory.Alloc[T](len(c.y) + 2*LaneBlock)
					for i := range whole {
						whole[i] = guard
					}
					y := whole[offset:][:len(c.y)]
					conv.Forward(tm, batch, c.x, c.w, y, ep)
					if !slices.Equal(y, c.y) {
						t.Errorf("winograd %v, batch %d, offset %d: other values", winograd, batch, offset)
					}
					if whole[offset-1] != guard || whole[offset+len(y)] != guard {
						t.Errorf("winograd %v, batch %d, offset %d: written outside the output", winograd, batch, offset)
					}
				}
			}
		}
	})
}
