package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/parallel"
)

// matrix is a view with NaN before it, after it and between its rows.
type matrix[T kernel.Float] struct {
	kernel.Matrix[T] // as Multiply takes it, its slice as short as allowed
	buffer           []T
}

// gemmGuard is odd, so that rows start at every offset of a vector.
const gemmGuard = 37

func newMatrix[T kernel.Float](rng *rand.Rand, rows, cols, gap int) matrix[T] {
	ld := cols + gap
	size := 0
	if rows > 0 && cols > 0 {
		size = (rows-1)*ld + cols
	}
	m := matrix[T]{Matrix: kernel.Matrix[T]{Rows: rows, Cols: cols, Stride: max(ld, 1)}, buffer: make([]T, size+2*gemmGuard)}
	for i := range m.buffer {
		m.buffer[i] = T(math.NaN())
	}
	m.Data = m.buffer[gemmGuard : gemmGuard+size : gemmGuard+size]
	for i := range rows {
		for j := range cols {
			m.Data[i*m.Stride+j] = T(rng.Float64()*2 - 1)
		}
	}
	return m
}

func (m matrix[T]) at(i, j int) float64 { return float64(m.Data[i*m.Stride+j]) }

func (m matrix[T]) clone() matrix[T] {
	c := m
	c.buffer = append([]T(nil), m.buffer...)
	c.Data = c.buffer[gemmGuard : gemmGuard+len(m.Data) : gemmGuard+len(m.Data)]
	return c
}

// guards fails unless everything outside the matrix is still NaN.
func (m matrix[T]) guards(t kerneltest.Failer) {
	t.Helper()
	for i, v := range m.buffer {
		j := i - gemmGuard
		if j >= 0 && j < len(m.Data) && j%m.Stride < m.Cols {
			continue
		}
		if v == v {
			t.Fatalf("element %d of the guards was overwritten with %v", i, v)
		}
	}
}

// operands returns op(A) and op(B) stored as the form asks.
func operands[T kernel.Float](rng *rand.Rand, f Form, m, n, k, gap int) (a, b matrix[T]) {
	a, b = newMatrix[T](rng, m, k, gap), newMatrix[T](rng, k, n, gap)
	if f == TN {
		a = newMatrix[T](rng, k, m, gap)
	}
	if f == NT {
		b = newMatrix[T](rng, n, k, gap)
	}
	return a, b
}

// operandVectors returns the rows of op(A) and the columns of op(B) in float64.
func operandVectors[T kernel.Float](f Form, a, b matrix[T]) (rows, cols [][]float64) {
	if f == TN {
		rows = a.columnVectors()
	} else {
		rows = a.rowVectors()
	}
	if f == NT {
		return rows, b.rowVectors()
	}
	return rows, b.columnVectors()
}

func (m matrix[T]) rowVectors() [][]float64 {
	vs := make([][]float64, m.Rows)
	for i := range vs {
		for j := range m.Cols {
			vs[i] = append(vs[i], m.at(i, j))
		}
	}
	return vs
}

func (m matrix[T]) columnVectors() [][]float64 {
	vs := make([][]float64, m.Cols)
	for j := range vs {
		for i := range m.Rows {
			vs[j] = append(vs[j], m.at(i, j))
		}
	}
	return vs
}

// dot returns x·y and the sum of the absolute products, with twice the precision of float64 (Ogita, Rump and Oishi 2005, Dot2):
// exact for the bounds below.
func dot(x, y []float64) (sum, absSum float64) {
	var low float64
	for p, v := range x {
		product := v * y[p]
		next := sum + product
		back := next - sum
		low += math.FMA(v, y[p], -product) + (sum - (next - back)) + (product - back)
		sum = next
		absSum += math.Abs(product)
	}
	return sum + low, absSum
}

// gamma is γ_n = n·u/(1−n·u) of the element type.
func gamma[T kernel.Float](n int) float64 {
	u := math.Ldexp(1, -53)
	if kernel.IsFloat32[T]() {
		u = math.Ldexp(1, -24)
	}
	return float64(n) * u / (1 - float64(n)*u)
}

// checkGemm computes one product and compares every element with the reference.
func checkGemm[T kernel.Float](t kerneltest.Failer, tm *parallel.Team, f Form, m, n, k, gap int, bias, accumulate bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(m*1000+n), uint64(k*10+gap)))
	a, b := operands[T](rng, f, m, n, k, gap)
	c := newMatrix[T](rng, m, n, gap)
	before := c.clone()
	ep := Epilogue[T]{Accumulate: accumulate}
	if bias {
		ep.Bias = newMatrix[T](rng, 1, n, 0).Data
	}
	Multiply(tm, f, a.Matrix, b.Matrix, c.Matrix, ep)
	rows, cols := operandVectors(f, a, b)
	for i := range m {
		for j := range n {
			want, absSum := 0.0, 0.0
			if k > 0 {
				want, absSum = dot(rows[i], cols[j])
			}
			if bias {
				want, absSum = want+float64(ep.Bias[j]), absSum+math.Abs(float64(ep.Bias[j]))
			}
			if accumulate {
				want, absSum = want+before.at(i, j), absSum+math.Abs(before.at(i, j))
			}
			bound := gamma[T](k+3) * absSum // one more: the reference itself is rounded to float64
			if diff := math.Abs(c.at(i, j) - want); !(diff <= bound) {
				t.Fatalf("%s %v %d×%d×%d gap %d bias %v accumulate %v: c[%d,%d] = %g, want %g ± %g",
					isa.Name(), f, m, n, k, gap, bias, accumulate, i, j, c.at(i, j), want, bound)
			}
		}
	}
	a.guards(t)
	b.guards(t)
	c.guards(t)
}

// Every size from nothing to beyond three tiles, one dimension at a time, in every form. Gaps of 0
// and 3 make leading dimensions larger than widths and start rows at every offset.
func TestGemmEdges(t *testing.T) {
	kerneltest.EachType(t, testGemmEdges[float32], testGemmEdges[float64])
}

func testGemmEdges[T kernel.Float](t *testing.T) {
	mr, nr := table.float32.mr, table.float32.nr
	if !kernel.IsFloat32[T]() {
		mr, nr = table.float64.mr, table.float64.nr
	}
	for _, f := range []Form{NN, NT, TN} {
		check := func(m, n, k int) {
			i := m + n + k
			checkGemm[T](t, nil, f, m, n, k, i%2*3, i%3 == 0, i%5 < 2)
		}
		for m := range 3*mr + 2 {
			check(m, nr+1, 9)
			check(m, 1, 17)
		}
		for n := range 3*nr + 2 {
			check(mr+1, n, 9)
			check(5, n, 16)
		}
		for k := range 3*8 + 2 {
			check(mr+3, nr+5, k)
		}
	}
}

// Every combination of epilogues, in shapes that take each way through the blocking: operands packed
// and in place, several blocks of k, several spans, several parts.
func TestGemmPaths(t *testing.T) {
	kerneltest.EachType(t, testGemmPaths[float32], testGemmPaths[float64])
}

func testGemmPaths[T kernel.Float](t *testing.T) {
	tm := parallel.NewTeam(3)
	defer tm.Close()
	shapes := []struct{ m, n, k, gap int }{
		{13, 37, 2 * kBlock, 0},      // two full blocks of k, rows of A in one cache set
		{130, 17, kBlock + 1, 500},   // B packed, A in place but for TN
		{3, 5, kSpan + 3, 1},         // two spans of k
		{7, 1100, 9, 4},              // wide and narrow stripes
		{14, 40, 1024, 0},            // A packed: rows 4 KiB apart
		{1, 1, 1, 0}, {2, 30, 7, 90}, // next to nothing
	}
	for _, s := range shapes {
		for _, f := range []Form{NN, NT, TN} {
			for choice := range 4 {
				checkGemm[T](t, tm, f, s.m, s.n, s.k, s.gap, choice&1 != 0, choice&2 != 0)
			}
		}
	}
}

// The packed rows of A are bounded; a larger product is computed in several spans of rows.
func TestGemmRowSpans(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		m, n, k := 260, table.float64.nr, kSpan
		pl := planFor(&table.float64, &product[float64]{form: NT, m: m, n: n, k: k, a: kernel.Dense[float64](m, k, nil), b: kernel.Dense[float64](n, k, nil), c: kernel.Dense[float64](m, n, nil)})
		if pl.directA || pl.rowSpan >= m {
			t.Fatalf("plan %+v does not cut %d rows: choose another shape", pl, m)
		}
		checkGemm[float64](t, nil, NT, m, n, k, 0, true, true)
	})
}

func TestGemmRandomShapes(t *testing.T) {
	tm := parallel.NewTeam(2)
	defer tm.Close()
	kerneltest.Each(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim := func(name string) int { return rapid.IntRange(0, 130).Draw(t, name) }
			f := Form(rapid.IntRange(0, 2).Draw(t, "form"))
			m, n, k, gap := dim("m"), dim("n"), dim("k"), dim("gap")
			bias, accumulate := rapid.Bool().Draw(t, "bias"), rapid.Bool().Draw(t, "accumulate")
			checkGemm[float32](t, tm, f, m, n, k, gap, bias, accumulate)
			checkGemm[float64](t, tm, f, m, n, k, gap, bias, accumulate)
		})
	})
}

// The bits of C depend neither on the team nor on the parts C is cut into: a block of columns computed
// alone equals the same block of the whole.
func TestGemmSameBits(t *testing.T) {
	kerneltest.EachType(t, testGemmSameBits[float32], testGemmSameBits[float64])
}

func testGemmSameBits[T kernel.Float](t *testing.T) {
	const m, n, k = 30, 500, 700
	for _, f := range []Form{NN, NT, TN} {
		rng := rand.New(rand.NewPCG(1, 2))
		a, b := operands[T](rng, f, m, n, k, 1)
		want := newMatrix[T](rng, m, n, 0)
		start := want.clone()
		ep := Epilogue[T]{Accumulate: true, Bias: newMatrix[T](rng, 1, n, 0).Data}
		Multiply(nil, f, a.Matrix, b.Matrix, want.Matrix, ep)
		for _, threads := range []int{1, 2, 3, 7} {
			tm := parallel.NewTeam(threads)
			for range 3 {
				got := start.clone()
				Multiply(tm, f, a.Matrix, b.Matrix, got.Matrix, ep)
				kerneltest.SameBits(t, fmt.Sprintf("%v, %d threads", f, threads), got.Data, want.Data)
			}
			tm.Close()
		}
		got := start.clone()
		for j := 0; j < n; j += 96 { // 96 columns are whole tiles of every kernel but generic's edges
			cols := min(96, n-j)
			from := kernel.Matrix[T]{Rows: k, Cols: cols, Stride: b.Stride, Data: b.Data[j:]}
			if f == NT {
				from = kernel.Matrix[T]{Rows: cols, Cols: k, Stride: b.Stride, Data: b.Data[j*b.Stride:]}
			}
			part := Epilogue[T]{Accumulate: true, Bias: ep.Bias[j : j+cols]}
			Multiply(nil, f, a.Matrix, from, kernel.Matrix[T]{Rows: m, Cols: cols, Stride: n, Data: got.Data[j:]}, part)
		}
		kerneltest.SameBits(t, fmt.Sprintf("%v, by column blocks", f), got.Data, want.Data)
	}
}

// One NaN or infinity reaches exactly its row or column, also through a factor of zero.
func TestGemmNonFinite(t *testing.T) {
	kerneltest.EachType(t, testGemmNonFinite[float32], testGemmNonFinite[float64])
}

func testGemmNonFinite[T kernel.Float](t *testing.T) {
	const m, n, k = 31, 53, 19
	for _, f := range []Form{NN, NT, TN} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			rng := rand.New(rand.NewPCG(3, 4))
			a, b := operands[T](rng, f, m, n, k, 2)
			c := newMatrix[T](rng, m, n, 2)
			const row, column, pa, pb = 29, 50, 7, 18
			set := func(mat matrix[T], i, j int, transposed bool, v T) {
				if transposed {
					i, j = j, i
				}
				mat.Data[i*mat.Stride+j] = v
			}
			for j := range n { // zeros against the bad element of A, and of B
				set(b, pa, j, f == NT, 0)
			}
			for i := range m {
				set(a, i, pb, f == TN, 0)
			}
			set(a, row, pa, f == TN, T(bad))
			set(b, pb, column, f == NT, T(bad))
			Multiply(nil, f, a.Matrix, b.Matrix, c.Matrix, Epilogue[T]{})
			for i := range m {
				for j := range n {
					if nan := math.IsNaN(c.at(i, j)); nan != (i == row || j == column) {
						t.Fatalf("%v with %g: c[%d,%d] = %g", f, bad, i, j, c.at(i, j))
					}
				}
			}
		}
	}
}

func TestGemmAllocatesNothing(t *testing.T) {
	kerneltest.EachType(t, testGemmAllocatesNothing[float32], testGemmAllocatesNothing[float64])
}

func testGemmAllocatesNothing[T kernel.Float](t *testing.T) {
	const m, n, k = 26, 100, 1024
	rng := rand.New(rand.NewPCG(5, 6))
	tm := parallel.NewTeam(2)
	defer tm.Close()
	for _, f := range []Form{NN, NT, TN} {
		a, b := operands[T](rng, f, m, n, k, 0)
		c := make([]T, m*n)
		ep := Epilogue[T]{Bias: make([]T, n)}
		for _, team := range []*parallel.Team{nil, tm} {
			step := func() { Multiply(team, f, a.Matrix, b.Matrix, kernel.Dense(m, n, c), ep) }
			for range 3 {
				step()
			}
			if allocs := testing.AllocsPerRun(10, step); allocs != 0 {
				t.Errorf("%v, team of %d: %g allocations a call", f, team.Threads(), allocs)
			}
		}
	}
}

func TestGemmPanics(t *testing.T) {
	x := make([]float32, 12) // a 3×4 matrix
	none := Epilogue[float32]{}
	a := func(rows, cols, stride int) kernel.Matrix[float32] {
		return kernel.Matrix[float32]{Rows: rows, Cols: cols, Stride: stride, Data: x}
	}
	short := kernel.Matrix[float32]{Rows: 3, Cols: 3, Stride: 4, Data: x[:10]}
	wide := kernel.Dense(1, 13, make([]float32, 13))
	tests := map[string]func(){
		"unknown form":     func() { Multiply(nil, Form(3), a(3, 4, 4), a(3, 4, 4), a(3, 3, 4), none) },
		"negative m":       func() { Multiply(nil, NT, a(-1, 4, 4), a(3, 4, 4), a(-1, 3, 4), none) },
		"short A":          func() { Multiply(nil, NT, a(4, 4, 4), a(3, 4, 4), a(4, 3, 3), none) },
		"narrow A":         func() { Multiply(nil, NT, a(3, 4, 3), a(3, 4, 4), a(3, 3, 4), none) },
		"short B":          func() { Multiply(nil, NT, a(3, 4, 4), a(4, 4, 4), a(3, 4, 4), none) },
		"narrow B":         func() { Multiply(nil, NN, a(3, 3, 4), a(3, 4, 3), a(3, 4, 4), none) },
		"short C":          func() { Multiply(nil, NT, a(3, 4, 4), a(3, 4, 4), short, none) },
		"narrow C":         func() { Multiply(nil, NT, a(3, 4, 4), a(3, 4, 4), a(3, 3, 2), none) },
		"one row too wide": func() { Multiply(nil, NN, a(1, 1, 1), wide, a(1, 13, 13), none) },
		"bias length":      func() { Multiply(nil, NT, a(3, 4, 4), a(3, 4, 4), a(3, 3, 4), Epilogue[float32]{Bias: x[:2]}) },
		"another k":        func() { Multiply(nil, NT, a(3, 4, 4), a(3, 3, 4), a(3, 3, 4), none) },
		"another m":        func() { Multiply(nil, NN, a(3, 4, 4), a(4, 1, 1), a(2, 1, 1), none) },
		"another n":        func() { Multiply(nil, TN, a(4, 3, 3), a(4, 2, 3), a(3, 3, 3), none) },
	}
	for name, call := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

// A named element type takes the same path.
func TestGemmNamedType(t *testing.T) {
	type weight float32
	c := make([]weight, 1)
	Multiply(nil, NT, kernel.Dense(1, 2, []weight{2, 3}), kernel.Dense(1, 2, []weight{5, 7}), kernel.Dense(1, 1, c), Epilogue[weight]{})
	if c[0] != 31 {
		t.Fatalf("got %v, want 31", c[0])
	}
}
