package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/parallel"
)

// The shapes below cover every way in which work is divided: strips, blocks of channels, slices, filters transformed once and panel
// by panel, one wave and several, narrow last groups of lanes.
var convPropertyCases = []struct {
	shape    Shape
	batch    int
	winograd bool
}{
	{Shape{3, 20, 32, 32, 7, 7, 2, 3}, 40, false},
	{Shape{70, 33, 16, 16, 3, 3, 1, 1}, 20, false},
	{Shape{40, 64, 9, 7, 3, 3, 2, 1}, 64, false},
	{Shape{40, 64, 9, 7, 1, 1, 2, 0}, 17, false},
	{Shape{128, 200, 1, 1, 3, 3, 1, 1}, 33, false},
	{Shape{8, 20, 9, 6, 3, 3, 2, 1}, 40, false},
	{Shape{9, 18, 9, 6, 3, 3, 1, 1}, 40, true},
	{Shape{20, 33, 17, 18, 3, 3, 1, 1}, 40, true},
	{Shape{64, 64, 16, 16, 3, 3, 1, 1}, 64, true},
	{Shape{200, 260, 4, 4, 3, 3, 1, 1}, 40, true},
	{Shape{400, 410, 2, 3, 3, 3, 1, 1}, 20, true},
}

// mostGeneric is the largest number of multiply-adds for the generic kernels, which may run in an emulator.
func mostGeneric() int64 {
	if testing.Short() {
		return 1e7
	}
	return longtest.Of[int64](1e7, 1e8)
}

func eachConvCase(t *testing.T, test func(t *testing.T, s Shape, batch int, winograd bool)) {
	for _, c := range convPropertyCases {
		t.Run(fmt.Sprintf("%v-%d-%v", c.shape, c.batch, c.winograd), func(t *testing.T) {
			if work := c.shape.MACs(c.batch); table.float32 == genericFunctions.float32 && work > mostGeneric() {
				t.Skip("too much work for the generic kernels")
			}
			test(t, c.shape, c.batch, c.winograd)
		})
	}
}

func (c *convCase[T]) run(tm *parallel.Team, winograd bool) {
	conv := newConv[T](c.shape, c.batch, winograd)
	conv.Forward(tm, c.batch, c.x, c.w, c.y, Epilogue[T]{})
	conv.InputGrad(tm, c.batch, c.dy, c.w, c.dx, false)
	conv.WeightGrad(tm, c.batch, c.x, c.dy, c.dw)
}

// TestConvAdjoint: the three operations are the derivatives of one trilinear form, ⟨dy, conv(x, w)⟩ = ⟨x, dx⟩ = ⟨w, dw⟩.
func TestConvAdjoint(t *testing.T) {
	longtest.Only(t)
	kerneltest.Each(t, func(t *testing.T) {
		eachConvCase(t, func(t *testing.T, s Shape, batch int, winograd bool) {
			t.Run("float64", func(t *testing.T) { checkAdjoint[float64](t, s, batch, winograd, 1e-12) })
			t.Run("float32", func(t *testing.T) { checkAdjoint[float32](t, s, batch, winograd, 1e-4) })
		})
	})
}

func checkAdjoint[T kernel.Float](t *testing.T, s Shape, batch int, winograd bool, tolerance float64) {
	c := newConvCase[T](rand.New(rand.NewPCG(7, 1)), s, batch)
	c.run(nil, winograd)
	dot := func(x, y []T, lanes int) (sum, size float64) {
		for i := range x {
			if i%lanes < batch {
				sum += float64(x[i]) * float64(y[i])
				size += float64(y[i]) * float64(y[i])
			}
		}
		return sum, math.Sqrt(size)
	}
	forward, size := dot(c.dy, c.y, c.lanes)
	input, _ := dot(c.x, c.dx, c.lanes)
	weight, _ := dot(c.w, c.dw, batch)
	if !(math.Abs(forward-input) <= tolerance*size && math.Abs(forward-weight) <= tolerance*size) {
		t.Errorf("⟨dy, y⟩ = %.15g, ⟨x, dx⟩ = %.15g, ⟨w, dw⟩ = %.15g, want them equal to within %g", forward, input, weight, tolerance*size)
	}
}

// TestConvLarge compares the layers that are too large for the seven loops in float32 with the direct sums in float64.
func TestConvLarge(t *testing.T) {
	longtest.Only(t)
	kerneltest.Each(t, func(t *testing.T) {
		eachConvCase(t, func(t *testing.T, s Shape, batch int, winograd bool) {
			c := newConvCase[float32](rand.New(rand.NewPCG(8, 1)), s, batch)
			exact := &convCase[float64]{shape: s, batch: batch, lanes: c.lanes, x: widened(c.x), w: widened(c.w), dy: widened(c.dy),
				y: make([]float64, len(c.y)), dx: make([]float64, len(c.dx)), dw: make([]float64, len(c.dw))}
			c.run(nil, winograd)
			exact.run(nil, false)
			nearSums(t, "y", c.y, exact.y, s.In*s.KH*s.KW, batch, c.lanes)
			nearSums(t, "dx", c.dx, exact.dx, s.Out*s.KH*s.KW, batch, c.lanes)
			nearSums(t, "dw", c.dw, exact.dw, s.OutH()*s.OutW()*batch, 1, 1)
		})
	})
}

// nearSums compares sums of n products of standard normal numbers: their errors are random walks of n steps on sums
// of size √n, with a factor 20 for the largest of many and for Winograd's transforms.
func nearSums(t *testing.T, what string, got []float32, want []float64, n, batch, lanes int) {
	t.Helper()
	tolerance := 20 * float64(n+50) * unitRoundoff[float32]()
	for i, v := range got {
		if i%lanes < batch && !(math.Abs(float64(v)-want[i]) <= tolerance) {
			t.Fatalf("%s[%d] = %g, want %g ± %g", what, i, v, want[i], tolerance)
		}
	}
}

// TestConvSameBitsForAnyTeam: neither the number of threads nor what a scratch held before may change a bit.
func TestConvSameBitsForAnyTeam(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		eachConvCase(t, func(t *testing.T, s Shape, batch int, winograd bool) {
			first := newConvCase[float32](rand.New(rand.NewPCG(9, 1)), s, batch)
			unused := *first
			unused.y, unused.dx, unused.dw = slices.Clone(first.y), slices.Clone(first.dx), slices.Clone(first.dw)
			tm := parallel.NewTeam(1)
			first.run(tm, winograd)
			tm.Close()
			for threads := longtest.Of(3, 2); threads <= 3; threads++ {
				c := unused
				c.y, c.dx, c.dw = slices.Clone(c.y), slices.Clone(c.dx), slices.Clone(c.dw)
				tm := parallel.NewTeam(threads)
				c.run(tm, winograd)
				tm.Close()
				for _, pair := range [][2][]float32{{c.y, first.y}, {c.dx, first.dx}, {c.dw, first.dw}} {
					for i, v := range pair[0] {
						if math.Float32bits(v) != math.Float32bits(pair[1][i]) {
							t.Fatalf("%d threads: element %d is %g, with one thread %g", threads, i, v, pair[1][i])
						}
					}
				}
			}
		})
	})
}

// TestConvAllocatesNothing once warm, whatever the algorithm.
func TestConvAllocatesNothing(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		for _, winograd := range []bool{false, true} {
			s := Shape{In: 20, Out: 24, H: 6, W: 5, KH: 3, KW: 3, Stride: 1, Pad: 1}
			c := newConvCase[float32](rand.New(rand.NewPCG(1, 1)), s, 20)
			conv := newConv[float32](s, 20, winograd)
			if n := testing.AllocsPerRun(5, func() {
				conv.Forward(nil, 20, c.x, c.w, c.y, Epilogue[float32]{Bias: c.bias, Residual: c.residual, ReLU: true})
				conv.InputGrad(nil, 20, c.dy, c.w, c.dx, true)
				conv.WeightGrad(nil, 20, c.x, c.dy, c.dw)
			}); n != 0 {
				t.Errorf("winograd %v: %g allocations a step, want none", winograd, n)
			}
		}
	})
}

// TestConvScratchBytes: the estimate is what one thread's call leaves in the pools.
func TestConvScratchBytes(t *testing.T) {
	defer func() { convPools32 = convPools[float32]{} }()
	for _, winograd := range []bool{false, true} {
		convPools32 = convPools[float32]{}
		s := Shape{In: 40, Out: 50, H: 9, W: 8, KH: 3, KW: 3, Stride: 1, Pad: 1}
		c := newConvCase[float32](rand.New(rand.NewPCG(1, 1)), s, 20)
		c.run(nil, winograd)
		m, p := convPools32.shared.Get(), convPools32.scratches.Get()
		held := 0
		for _, v := range [][]float32{m.weights, m.partial, m.columns, m.gradient, p.packed, p.turned, p.filters, p.temp} {
			held += 4 * cap(v)
		}
		if want := newConv[float32](s, 20, winograd).ScratchBytes(); int64(held) != want {
			t.Errorf("winograd %v: the pools hold %d bytes, ScratchBytes is %d", winograd, held, want)
		}
	}
}
