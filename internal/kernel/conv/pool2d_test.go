package conv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/parallel"
)

// poolByDefinition is max pooling and its gradient from PyTorch's definition: padding is −∞, scanned in row order, a
// value replaces the largest so far if it is greater or NaN.
func poolByDefinition(s PoolShape, lanes int, x, dy []float32) (y, dx []float32) {
	dx = make([]float32, len(x))
	for c := range s.Channels {
		for oy := range s.OutH() {
			for ox := range s.OutW() {
				for b := range lanes {
					best, from := float32(math.Inf(-1)), -1
					for i := oy*s.Stride - s.Pad; i < oy*s.Stride-s.Pad+s.Size; i++ {
						for j := ox*s.Stride - s.Pad; j < ox*s.Stride-s.Pad+s.Size; j++ {
							if i < 0 || j < 0 || i >= s.H || j >= s.W {
								continue
							}
							at := ((c*s.H+i)*s.W+j)*lanes + b
							if x[at] > best || x[at] != x[at] || from < 0 {
								best, from = x[at], at
							}
						}
					}
					dx[from] += dy[len(y)]
					y = append(y, best)
				}
			}
		}
	}
	return y, dx
}

// TestMaxPool covers overlapping and padded windows, sizes that leave a rest, ties and NaN.
func TestMaxPool(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	two := parallel.NewTeam(2)
	defer two.Close()
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		for _, s := range []PoolShape{{3, 8, 8, 2, 2, 0}, {2, 7, 5, 2, 2, 0}, {5, 9, 8, 3, 2, 1}, {1, 1, 1, 3, 2, 1}, {2, 4, 6, 3, 1, 1}} {
			for _, batch := range []int{1, 16, 20, 48} {
				lanes := Lanes(batch)
				x, dy := make([]float32, s.Channels*s.H*s.W*lanes), make([]float32, s.Channels*s.OutH()*s.OutW()*lanes)
				for i := range x {
					x[i] = float32(rng.IntN(4)) // many ties
					if rng.IntN(50) == 0 {
						x[i] = float32(math.NaN())
					}
				}
				for i := range dy {
					if dy[i] = float32(rng.NormFloat64()); i%lanes >= batch {
						dy[i] = 0
					}
				}
				wantY, wantDX := poolByDefinition(s, lanes, x, dy)
				p, y, dx := NewMaxPool[float32](s), make([]float32, len(dy)), kerneltest.Guarded(len(x))
				p.Forward(two, batch, x, y)
				p.Backward(two, batch, x, dy, dx)
				if !sameValues(y, wantY) || !slices.Equal(dx, wantDX) {
					t.Errorf("%s, %+v, batch %d: not the pooling of the definition", name, s, batch)
				}
				q, y64, dx64 := NewMaxPool[float64](s), make([]float64, len(dy)), make([]float64, len(x))
				q.Forward(nil, batch, widened(x), y64)
				q.Backward(nil, batch, widened(x), widened(dy), dx64)
				if !sameValues(kerneltest.To[float32](y64), wantY) {
					t.Errorf("%+v, batch %d: float64 differs", s, batch)
				}
				near(t, "dx in float64", dx64, widened(wantDX), 1e-6)
			}
		}
	}
}

func TestMaxPoolAllocatesNothing(t *testing.T) {
	p := NewMaxPool[float32](PoolShape{4, 8, 8, 3, 2, 1})
	x, y := make([]float32, 4*64*16), make([]float32, 4*16*16)
	dx := slices.Clone(x)
	if got := testing.AllocsPerRun(5, func() {
		p.Forward(nil, 16, x, y)
		p.Backward(nil, 16, x, y, dx)
	}); got != 0 {
		t.Errorf("%g allocations", got)
	}
}
