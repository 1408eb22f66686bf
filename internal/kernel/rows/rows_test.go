package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
)

// rowCase is a row, a mean and outputs between guards.
type rowCase struct {
	x        []float32
	mean     []float64
	sum      []float64 // of AddRow
	wide     []float64 // of SubRow
	narrow   []float32
	from, to int
}

func newRowCase(seed uint64, n, offset int) *rowCase {
	rng := rand.New(rand.NewPCG(seed, 5))
	size := offset + n + 16
	c := &rowCase{x: kerneltest.Guarded(size), mean: make([]float64, size), sum: make([]float64, size), wide: make([]float64, size), narrow: kerneltest.Guarded(size), from: offset, to: offset + n}
	for i := range size {
		c.mean[i], c.sum[i], c.wide[i] = math.NaN(), math.NaN(), math.NaN()
	}
	kerneltest.FillSpecial(rng, c.x[c.from:c.to])
	for i := c.from; i < c.to; i++ {
		c.mean[i], c.sum[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	return c
}

// run applies every loop and returns the sums of squares.
func (c *rowCase) run() [3]float64 {
	f, t := c.from, c.to
	AddRow(c.sum[f:t], c.x[f:t])
	return [3]float64{SubRow(c.wide[f:t], c.x[f:t], c.mean[f:t]), SubRow(c.narrow[f:t], c.x[f:t], c.mean[f:t]), SumSquares(c.x[f:t])}
}

func TestRowsMatchGeneric(t *testing.T) {
	for _, name := range isa.Available()[1:] {
		for n := range 3*kernel.Parts + 2 {
			for offset := range 3 {
				got, want := newRowCase(uint64(n), n, offset), newRowCase(uint64(n), n, offset)
				kerneltest.Use(t, name)
				gotSums := got.run()
				kerneltest.Use(t, "generic")
				wantSums := want.run()
				for i := range wantSums {
					if !kerneltest.SameFloat(gotSums[i], wantSums[i]) {
						t.Fatalf("%s n=%d offset=%d: sum %d is %g, want the bits of %g", name, n, offset, i, gotSums[i], wantSums[i])
					}
				}
				for i := range want.x {
					if !kerneltest.SameFloat(got.sum[i], want.sum[i]) || !kerneltest.SameFloat(got.wide[i], want.wide[i]) || !kerneltest.SameFloat(float64(got.narrow[i]), float64(want.narrow[i])) {
						t.Fatalf("%s n=%d offset=%d: element %d differs", name, n, offset, i)
					}
				}
			}
		}
	}
}

// The values themselves, against plain loops.
func TestRowsValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const n = 133
	x, mean, sum := make([]float32, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], mean[i], sum[i] = float32(rng.NormFloat64()), rng.NormFloat64(), rng.NormFloat64()
	}
	before := append([]float64(nil), sum...)
	AddRow(sum, x)
	wide, narrow := make([]float64, n), make([]float32, n)
	squares, again, own := SubRow(wide, x, mean), SubRow(narrow, x, mean), SumSquares(x)
	want, wantOwn := 0.0, 0.0
	for i, v := range x {
		r := float64(v) - mean[i]
		want += r * r
		wantOwn += float64(v) * float64(v)
		if sum[i] != before[i]+float64(v) || wide[i] != r || narrow[i] != float32(r) {
			t.Fatalf("element %d: %g, %g, %g", i, sum[i], wide[i], narrow[i])
		}
	}
	if squares != again || !(math.Abs(squares-want) <= 1e-13*want) || !(math.Abs(own-wantOwn) <= 1e-13*wantOwn) {
		t.Fatalf("sums of squares %g, %g and %g, want %g, %g", squares, again, own, want, wantOwn)
	}
	for _, bad := range []func(){
		func() { AddRow(sum[1:], x) },
		func() { SubRow(wide[1:], x, mean) },
		func() { SubRow(wide, x, mean[1:]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("slices of two lengths were taken")
				}
			}()
			bad()
		}()
	}
}

func BenchmarkAddRow(b *testing.B) {
	x, dst := make([]float32, 512), make([]float64, 512)
	b.SetBytes(4 * 512)
	for b.Loop() {
		AddRow(dst, x)
	}
}

func BenchmarkSubRow32(b *testing.B) {
	x, dst, mean := make([]float32, 512), make([]float32, 512), make([]float64, 512)
	b.SetBytes(4 * 512)
	for b.Loop() {
		SubRow(dst, x, mean)
	}
}

// Summing rows together must give the bits of adding them one by one, in every kernel.
func TestSumRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		for cols := range 3*64 + 2 {
			const count, gap = 5, 3
			ld := cols + gap
			x := kerneltest.Guarded(count*ld + 16)
			for i := range count {
				kerneltest.FillSpecial(rng, x[i*ld:][:cols])
			}
			rows := []int32{3, 0, 4, 4}[:rng.IntN(5)]
			got, want := make([]float64, cols+8), make([]float64, cols+8)
			for j := range got {
				got[j] = rng.NormFloat64()
				want[j] = got[j]
			}
			SumRows(got[:cols], kernel.Matrix[float32]{Rows: count, Cols: cols, Stride: ld, Data: x}, rows, x[:rng.IntN(2)])
			for _, r := range rows {
				addRowGeneric(want[:cols], x[int(r)*ld:][:cols])
			}
			for j := range want {
				if !kerneltest.SameFloat(got[j], want[j]) {
					t.Fatalf("%s, %d columns, rows %v: column %d is %g, want %g", name, cols, rows, j, got[j], want[j])
				}
			}
		}
	}
	for _, rows := range [][]int32{{-1}, {2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("rows %v of a matrix of two were taken", rows)
				}
			}()
			SumRows(make([]float64, 4), kernel.Dense(2, 4, make([]float32, 8)), rows, nil)
		}()
	}
}

// Sums stay on the stack, with every instruction set.
func TestRowsAllocateNothing(t *testing.T) {
	x, wide, narrow, mean := make([]float32, 133), make([]float64, 133), make([]float32, 133), make([]float64, 133)
	first := []int32{0}
	kerneltest.Each(t, func(t *testing.T) {
		for name, run := range map[string]func(){
			"AddRow":         func() { AddRow(wide, x) },
			"SubRow":         func() { SubRow(wide, x, mean) },
			"SubRow to 32":   func() { SubRow(narrow, x, mean) },
			"SumSquares":     func() { SumSquares(x) },
			"Dot":            func() { Dot(mean, x) },
			"SumsAbout":      func() { SumsAbout(mean, 1) },
			"SumRows":        func() { SumRows(wide, kernel.Dense(1, 133, x), first, nil) },
			"LargestSum":     func() { LargestSum(x, mean) },
			"LargestProduct": func() { LargestProduct(x, mean) },
			"LeastGap":       func() { LeastGap(x, mean, mean, 1, 2, 3) },
			"Exps":           func() { Exps(wide, mean) },
		} {
			if n := testing.AllocsPerRun(10, run); n != 0 {
				t.Errorf("%s: %g allocations", name, n)
			}
		}
	})
}
