package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// convCase holds the operands of a convolution in image layout and, for the oracle, as float64.
type convCase[T Float] struct {
	shape           ConvShape
	batch, lanes    int
	x, w, y, dy, dx []T
	dw, bias, add   []T
}

// newConvCase draws operands. Padded lanes hold large finite numbers in activations, zeros in dy.
func newConvCase[T Float](rng *rand.Rand, s ConvShape, batch int) *convCase[T] {
	lanes := Lanes(batch)
	image := func(channels, pixels int, padding float64) []T {
		v := make([]T, channels*pixels*lanes)
		for i := range v {
			v[i] = T(rng.NormFloat64())
			if i%lanes >= batch {
				v[i] = T(padding)
			}
		}
		return v
	}
	in, out := s.H*s.W, s.OutH()*s.OutW()
	c := &convCase[T]{
		shape: s, batch: batch, lanes: lanes,
		x: image(s.In, in, 1e6), y: image(s.Out, out, 7), dy: image(s.Out, out, 0), dx: image(s.In, in, 0),
		add: image(s.Out, out, 1e6), w: make([]T, s.Out*s.In*s.KH*s.KW), bias: make([]T, s.Out),
	}
	c.dw = make([]T, len(c.w))
	for _, v := range [][]T{c.w, c.bias, c.dw} {
		for i := range v {
			v[i] = T(rng.NormFloat64())
		}
	}
	return c
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

// compare fails unless got is within factor·u·size of the wanted values; lanes that are padding are skipped,
// or must be zero if lanes is negative.
func compare[T Float](t failer, what string, got []T, s sums, factor float64, batch, lanes int) {
	t.Helper()
	u := float64(unitRoundoff[T]())
	for i, v := range got {
		if lanes != 0 && i%lanes >= batch {
			continue
		}
		if bound := factor * u * s.size[i]; !(math.Abs(float64(v)-s.want[i]) <= bound) {
			t.Fatalf("%s[%d] = %g, want %g ± %g", what, i, v, s.want[i], bound)
		}
	}
}

func unitRoundoff[T Float]() T {
	if isFloat32[T]() {
		return T(math.Ldexp(1, -24))
	}
	return T(math.Ldexp(1, -53))
}

// check compares the three operations with the oracle. growth bounds the error in units of roundoff of the
// sum of absolute values.
func (c *convCase[T]) check(t failer, tm *Team, ep ConvEpilogue[T], accumulate, winograd bool) {
	t.Helper()
	s := c.shape
	y, dx, dw := newSums(len(c.y)), newSums(len(c.dx)), newSums(len(c.dw))
	c.each(func(iw, ix, iy int) {
		y.add(iy, float64(c.w[iw])*float64(c.x[ix]))
		dx.add(ix, float64(c.w[iw])*float64(c.dy[iy]))
		dw.add(iw, float64(c.dy[iy])*float64(c.x[ix]))
	})
	for i := range y.want {
		if ep.Bias != nil {
			y.add(i, float64(ep.Bias[i/(len(y.want)/s.Out)]))
		}
		if ep.Residual != nil {
			y.add(i, float64(ep.Residual[i]))
		}
		if ep.ReLU {
			y.want[i] = max(y.want[i], 0)
		}
	}
	if accumulate {
		for i, v := range c.dx {
			dx.add(i, float64(v))
		}
	}
	conv := newConv[T](s, c.batch+3, winograd)
	taps := float64(s.KH * s.KW)
	outPixels := float64(s.OutH() * s.OutW() * c.batch)
	slack := convErrorFactor(conv.Algorithm())
	conv.Forward(tm, c.batch, c.x, c.w, c.y, ep)
	compare(t, "y", c.y, y, slack*(taps*float64(s.In)+3), c.batch, c.lanes)
	conv.InputGrad(tm, c.batch, c.dy, c.w, c.dx, accumulate)
	compare(t, "dx", c.dx, dx, slack*(taps*float64(s.Out)+3), c.batch, c.lanes)
	for i, v := range c.dx {
		if i%c.lanes >= c.batch && v != 0 {
			t.Fatalf("dx[%d] = %g in a padded lane, want 0", i, v)
		}
	}
	conv.WeightGrad(tm, c.batch, c.x, c.dy, c.dw)
	compare(t, "dw", c.dw, dw, slack*(outPixels+3), 0, 0)
}

// convErrorFactor widens the bound of a plain sum.
func convErrorFactor(algorithm string) float64 {
	if algorithm == "direct" {
		return 1
	}
	return 60
}

func drawShape(t *rapid.T) (ConvShape, int) {
	s := ConvShape{
		In: rapid.IntRange(1, 40).Draw(t, "in"), Out: rapid.IntRange(1, 40).Draw(t, "out"),
		KH: rapid.IntRange(1, 7).Draw(t, "kh"), KW: rapid.IntRange(1, 7).Draw(t, "kw"),
		Stride: rapid.IntRange(1, 3).Draw(t, "stride"), Pad: rapid.IntRange(0, 3).Draw(t, "pad"),
	}
	s.H = rapid.IntRange(max(1, s.KH-2*s.Pad), 9).Draw(t, "h")
	s.W = rapid.IntRange(max(1, s.KW-2*s.Pad), 9).Draw(t, "w")
	return s, rapid.IntRange(1, 50).Draw(t, "batch")
}

func TestConvRandomShapes(t *testing.T) {
	eachType(t, func(t *testing.T) { rapid.Check(t, convRandom[float32](drawShape)) }, func(t *testing.T) { rapid.Check(t, convRandom[float64](drawShape)) })
}

func convRandom[T Float](draw func(*rapid.T) (ConvShape, int)) func(*rapid.T) {
	return func(t *rapid.T) {
		s, batch := draw(t)
		c := newConvCase[T](rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), s, batch)
		var ep ConvEpilogue[T]
		if rapid.Bool().Draw(t, "bias") {
			ep.Bias = c.bias
		}
		if rapid.Bool().Draw(t, "residual") {
			ep.Residual = c.add
		}
		ep.ReLU = rapid.Bool().Draw(t, "relu")
		c.check(t, nil, ep, rapid.Bool().Draw(t, "accumulate"), winogradFits(s) && rapid.Bool().Draw(t, "winograd"))
	}
}

func drawWinogradShape(t *rapid.T) (ConvShape, int) {
	return ConvShape{
		In: rapid.IntRange(1, 40).Draw(t, "in"), Out: rapid.IntRange(1, 40).Draw(t, "out"),
		KH: 3, KW: 3, Stride: 1, Pad: 1,
		H: rapid.IntRange(1, 10).Draw(t, "h"), W: rapid.IntRange(1, 10).Draw(t, "w"),
	}, rapid.IntRange(1, 50).Draw(t, "batch")
}

func TestWinogradRandomShapes(t *testing.T) {
	eachType(t, func(t *testing.T) { rapid.Check(t, convRandom[float32](drawWinogradShape)) }, func(t *testing.T) { rapid.Check(t, convRandom[float64](drawWinogradShape)) })
}

func ExampleConvShape() {
	s := ConvShape{In: 3, Out: 64, H: 32, W: 32, KH: 7, KW: 7, Stride: 2, Pad: 3}
	fmt.Println(s.OutH(), s.OutW(), s.MACs(1), s.UsefulMACs(1))
	// Output: 16 16 2408448 2157312
}
