package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/kerneltest"
)

// The pieces of a plan cover every column once, in order, and start at whole panels.
func TestPlanCoversColumns(t *testing.T) {
	kerneltest.Each(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim := func(name string) int { return rapid.IntRange(1, 5000).Draw(t, name) }
			pr := &product[float32]{form: Form(dim("form") % 3), m: dim("m"), n: dim("n"), k: dim("k")}
			pr.a.Stride, pr.b.Stride, pr.c.Stride = max(pr.m, pr.k), max(pr.n, pr.k), pr.n
			pl := planFor(&table.float32, pr)
			next := 0
			for piece := range pl.pieces(pr.n) {
				j0, j1 := pl.columns(piece, pr.n)
				if j0 != next || j1 <= j0 || j0%table.float32.nr != 0 {
					t.Fatalf("%+v for %d columns: piece %d is %d…%d after %d", pl, pr.n, piece, j0, j1, next)
				}
				next = j1
			}
			if next != pr.n || pl.group <= 0 || pl.group%table.float32.mr != 0 {
				t.Fatalf("%+v covers %d of %d columns", pl, next, pr.n)
			}
		})
	})
}

func TestBlocksCoverK(t *testing.T) {
	for k := 1; k <= 3*kBlock+9; k++ {
		for p, blocks := 0, 0; p < k; blocks++ {
			next := nextBlock(p, k)
			if next <= p || next > k || next-p > kBlock || blocks >= kernel.CeilDiv(k, kBlock) {
				t.Fatalf("k=%d: block %d is %d…%d", k, blocks, p, next)
			}
			p = next
		}
	}
}

// Packing puts every element in its place, reads nothing outside the operand and writes nothing
// outside the panel.
func TestPack(t *testing.T) {
	kerneltest.EachType(t,
		func(t *testing.T) { testPack(t, &table.float32) },
		func(t *testing.T) { testPack(t, &table.float64) })
}

func testPack[T float32 | float64](t *testing.T, ops *ops[T]) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, panel := range []int{ops.mr, ops.nr} {
		for width := 1; width <= 2*panel+1; width++ {
			for _, k := range []int{1, 3, 4, 7, 8, 9, 31, transposeChunk, transposeChunk + 13, 2*transposeChunk + 8} {
				rows := newMatrix[T](rng, k, width, 3)
				dst, guarded := newPanel[T](kernel.RoundUp(width, panel) * k)
				packRows(ops, dst, panel, panel*k, rows.Data, rows.Stride, width, k)
				checkPanels(t, guarded, panel, width, k, rows.at)
				if width > panel {
					continue
				}
				columns := newMatrix[T](rng, width, k, 3)
				dst, guarded = newPanel[T](panel * k)
				packColumns(ops, dst, panel, columns.Data, columns.Stride, width, k)
				checkPanels(t, guarded, panel, width, k, func(p, j int) float64 { return columns.at(j, p) })
			}
		}
	}
}

// newPanel returns n elements and the NaN around them.
func newPanel[T kernel.Float](n int) (panel, guarded []T) {
	guarded = make([]T, n+2*gemmGuard)
	for i := range guarded {
		guarded[i] = T(math.NaN())
	}
	return guarded[gemmGuard:][:n:n], guarded
}

// checkPanels compares panels of k rows, one after the other, with their source; what is not source must
// still be NaN.
func checkPanels[T kernel.Float](t *testing.T, guarded []T, panel, width, k int, source func(p, j int) float64) {
	t.Helper()
	for i, v := range guarded {
		at := i - gemmGuard
		p, j := at%(panel*k)/panel, at/(panel*k)*panel+at%panel
		if at < 0 || j >= width {
			if v == v {
				t.Fatalf("panel %d, width %d, k %d: element %d was overwritten", panel, width, k, at)
			}
			continue
		}
		if want := source(p, j); !(float64(v) == want) {
			t.Fatalf("panel %d, width %d, k %d: element %d is %v, want %v", panel, width, k, at, v, want)
		}
	}
}
