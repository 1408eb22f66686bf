package gemm

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/parallel"
)

// int16s is a matrix of pairs with a guard value before it, after it and between its rows.
type int16s struct {
	kernel.Matrix[int32]
	buffer []int32
}

const int16Guard = int32(-0x5a5a5a5a)

func newInt16s(rng *rand.Rand, rows, cols, gap, bits int) int16s {
	m := int16s{Matrix: kernel.Matrix[int32]{Rows: rows, Cols: cols, Stride: cols + gap}}
	size := (rows-1)*m.Stride + cols
	m.buffer = make([]int32, size+2*gemmGuard)
	for i := range m.buffer {
		m.buffer[i] = int16Guard
	}
	m.Data = m.buffer[gemmGuard : gemmGuard+size : gemmGuard+size]
	draw := func() int16 { return int16(rng.IntN(1<<bits) - 1<<(bits-1)) }
	for i := range rows {
		for j := range cols {
			m.Data[i*m.Stride+j] = int32(draw())<<16 | int32(uint16(draw()))
		}
	}
	return m
}

func (m int16s) guards(t kerneltest.Failer) {
	t.Helper()
	for i, v := range m.buffer {
		if j := i - gemmGuard; (j < 0 || j >= len(m.Data) || j%m.Stride >= m.Cols) && v != int16Guard {
			t.Fatalf("element %d of the guards was overwritten with %v", i, v)
		}
	}
}

// Int16 is exact under every kernel: full words, any shape, sums modulo 2³².
func TestInt16(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
			m, n, k := dim("m", 40), dim("n", 100), dim("k", 1100)
			if k > 100 {
				m, n = 1+m/3, 1+n/3
			}
			f, gap, bits := Form(rapid.IntRange(0, 2).Draw(t, "form")), dim("gap", 9)-1, dim("bits", 16)
			accumulate := rapid.Bool().Draw(t, "accumulate")
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			a, b, c := newInt16s(rng, m, k, gap, bits), newInt16s(rng, k, n, gap, bits), newInt16s(rng, m, n, gap, 16)
			if f == TN {
				a = newInt16s(rng, k, m, gap, bits)
			}
			if f == NT {
				b = newInt16s(rng, n, k, gap, bits)
			}
			before := append([]int32(nil), c.Data...)
			Int16(nil, f, a.Matrix, b.Matrix, c.Matrix, accumulate)
			c.guards(t)
			for i := range m {
				for j := range n {
					want := int64(0)
					if accumulate {
						want = int64(before[i*c.Stride+j])
					}
					for p := range k {
						atA, atB := i*a.Stride+p, p*b.Stride+j
						if f == TN {
							atA = p*a.Stride + i
						}
						if f == NT {
							atB = j*b.Stride + p
						}
						x, y := a.Data[atA], b.Data[atB]
						want += int64(int16(x))*int64(int16(y)) + int64(x>>16)*int64(y>>16)
					}
					if got := c.Data[i*c.Stride+j]; got != int32(want) {
						t.Fatalf("%v %d×%d×%d: element %d,%d is %d, want %d", f, m, n, k, i, j, got, int32(want))
					}
				}
			}
		})
	})
}

// A team changes nothing, and large products use every way of dividing and packing.
func TestInt16Team(t *testing.T) {
	team := parallel.NewTeam(3)
	defer team.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	m, n, k := 500, 700, 600
	if !FastInt16() { // the generic kernels take seconds
		m, n = longtest.Of(150, m), longtest.Of(170, n)
	}
	for _, f := range []Form{NN, NT, TN} {
		a, b := newInt16s(rng, m, k, max(m, k)-k, 16), newInt16s(rng, n, k, max(n, k)-k, 16)
		if f == TN {
			a = newInt16s(rng, k, m, 0, 16)
		}
		if f != NT {
			b = newInt16s(rng, k, n, 0, 16)
		}
		alone, shared := make([]int32, m*n), make([]int32, m*n)
		Int16(nil, f, a.Matrix, b.Matrix, kernel.Dense(m, n, alone), false)
		Int16(team, f, a.Matrix, b.Matrix, kernel.Dense(m, n, shared), false)
		for i := range alone {
			if alone[i] != shared[i] {
				t.Fatalf("%v: element %d is %d alone and %d in a team", f, i, alone[i], shared[i])
			}
		}
	}
}

func BenchmarkInt16(b *testing.B) {
	team := parallel.NewTeam(0)
	defer team.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	const m, n, k = 2048, 1024, 1024 // pairs
	x, y := newInt16s(rng, m, k, 16, 10), newInt16s(rng, n, k, 16, 10)
	c := make([]int32, m*n)
	b.ResetTimer()
	for b.Loop() {
		Int16(team, NT, x.Matrix, y.Matrix, kernel.Dense(m, n, c), false)
	}
	b.ReportMetric(4*m*n*k*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
}

const slack = 5 // guards on either side

func randomRow(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for j := range x {
		x[j] = float32(rng.NormFloat64())
		if rng.IntN(8) == 0 {
			x[j] = float32(rng.IntN(9)-4) / 2 // ties
		}
	}
	return x
}

// guardedCells returns n elements between guards.
func guardedCells[E any](n int, guard E) (x, all []E) {
	all = make([]E, n+2*slack)
	for i := range all {
		all[i] = guard
	}
	return all[slack : slack+n : slack+n], all
}

// equalCells fails unless both hold the same, guards included.
func equalCells[E comparable](t *testing.T, what string, n int, got, want []E) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s n=%d: element %d is %v, want %v", what, n, i-slack, got[i], want[i])
		}
	}
}

// Every kernel writes what the generic loops define, and nothing else, for every length.
func TestRoundInt16MatchesGeneric(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for n := 0; n <= 70; n++ {
			a := randomRow(rng, n)
			const scale = float32(37)
			got, gotAll := guardedCells((n+1)/2, int16Guard)
			want, wantAll := guardedCells((n+1)/2, int16Guard)
			RoundInt16(got, a, scale)
			roundInt16Generic(want, a, scale)
			equalCells(t, "RoundInt16", n, gotAll, wantAll)
		}
	})
}

// The numbers are the nearest ones, over the whole range.
func TestRoundInt16Nearest(t *testing.T) {
	x := []float32{0, .49, -.49, .5, 1.5, -1.5, 2.5, MostInt16, -MostInt16, 123.4, -123.6}
	want := []int32{0, 0, 0, 0, 2, -2, 2, MostInt16, -MostInt16, 123, -124, 0}
	dst := make([]int32, 6)
	roundInt16Generic(dst, x, 1)
	for j, w := range want {
		if got := int32(int16(dst[j/2] >> (16 * (j % 2)))); got != w {
			t.Errorf("number %d is %d, want %d", j, got, w)
		}
	}
}
