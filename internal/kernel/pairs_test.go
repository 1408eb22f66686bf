package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"collapse/parallel"
)

// words is a matrix of pairs with a guard value before it, behind it and between its rows.
type words struct {
	rows, cols, ld int
	buffer, x      []int32
}

const wordGuard = int32(-0x5a5a5a5a)

func newWords(rng *rand.Rand, rows, cols, gap, bits int) words {
	m := words{rows: rows, cols: cols, ld: cols + gap}
	size := (rows-1)*m.ld + cols
	m.buffer = make([]int32, size+2*gemmGuard)
	for i := range m.buffer {
		m.buffer[i] = wordGuard
	}
	m.x = m.buffer[gemmGuard : gemmGuard+size : gemmGuard+size]
	draw := func() int16 { return int16(rng.IntN(1<<bits) - 1<<(bits-1)) }
	for i := range rows {
		for j := range cols {
			m.x[i*m.ld+j] = int32(draw())<<16 | int32(uint16(draw()))
		}
	}
	return m
}

func (m words) guards(t failer) {
	t.Helper()
	for i, v := range m.buffer {
		if j := i - gemmGuard; (j < 0 || j >= len(m.x) || j%m.ld >= m.cols) && v != wordGuard {
			t.Fatalf("element %d of the guards was overwritten with %v", i, v)
		}
	}
}

// GemmPairs is exact under every kernel: full words, any shape, sums modulo 2³².
func TestGemmPairs(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
			m, n, k := dim("m", 40), dim("n", 100), dim("k", 1100)
			if k > 100 {
				m, n = 1+m/3, 1+n/3
			}
			f, gap, bits := Form(rapid.IntRange(0, 2).Draw(t, "form")), dim("gap", 9)-1, dim("bits", 16)
			accumulate := rapid.Bool().Draw(t, "accumulate")
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			a, b, c := newWords(rng, m, k, gap, bits), newWords(rng, k, n, gap, bits), newWords(rng, m, n, gap, 16)
			if f == TN {
				a = newWords(rng, k, m, gap, bits)
			}
			if f == NT {
				b = newWords(rng, n, k, gap, bits)
			}
			before := append([]int32(nil), c.x...)
			GemmPairs(nil, f, m, n, k, a.x, a.ld, b.x, b.ld, c.x, c.ld, accumulate)
			c.guards(t)
			for i := range m {
				for j := range n {
					want := int64(0)
					if accumulate {
						want = int64(before[i*c.ld+j])
					}
					for p := range k {
						atA, atB := i*a.ld+p, p*b.ld+j
						if f == TN {
							atA = p*a.ld + i
						}
						if f == NT {
							atB = j*b.ld + p
						}
						x, y := a.x[atA], b.x[atB]
						want += int64(int16(x))*int64(int16(y)) + int64(x>>16)*int64(y>>16)
					}
					if got := c.x[i*c.ld+j]; got != int32(want) {
						t.Fatalf("%v %d×%d×%d: element %d,%d is %d, want %d", f, m, n, k, i, j, got, int32(want))
					}
				}
			}
		})
	})
}

// A team changes nothing, and large products take every way of cutting and packing.
func TestGemmPairsTeam(t *testing.T) {
	team := parallel.NewTeam(3)
	defer team.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	const m, n, k = 500, 700, 600
	for _, f := range []Form{NN, NT, TN} {
		a, b := newWords(rng, m, max(m, k), 0, 16), newWords(rng, n, max(n, k), 0, 16)
		if f == TN {
			a = newWords(rng, k, m, 0, 16)
		}
		if f != NT {
			b = newWords(rng, k, n, 0, 16)
		}
		alone, shared := make([]int32, m*n), make([]int32, m*n)
		GemmPairs(nil, f, m, n, k, a.x, a.ld, b.x, b.ld, alone, n, false)
		GemmPairs(team, f, m, n, k, a.x, a.ld, b.x, b.ld, shared, n, false)
		for i := range alone {
			if alone[i] != shared[i] {
				t.Fatalf("%v: element %d is %d alone and %d in a team", f, i, alone[i], shared[i])
			}
		}
	}
}

func BenchmarkGemmPairs(b *testing.B) {
	team := parallel.NewTeam(0)
	defer team.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	const m, n, k = 2048, 1024, 1024 // pairs
	x, y := newWords(rng, m, k, 16, 10), newWords(rng, n, k, 16, 10)
	c := make([]int32, m*n)
	b.ResetTimer()
	for b.Loop() {
		GemmPairs(team, NT, m, n, k, x.x, x.ld, y.x, y.ld, c, n, false)
	}
	b.ReportMetric(4*m*n*k*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
}
