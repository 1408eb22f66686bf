package measure

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// powerOfSizes returns a power of the symmetric P N P, without its direction 1, by an eigendecomposition of the whole matrix; its columns are
// the coordinates of one class each.
func powerOfSizes(counts []int, exponent float64) *mat.SymDense {
	k := len(counts)
	p := mat.NewDense(k, k, nil)
	p.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return 1 - 1/float64(k)
		}
		return -1 / float64(k)
	}, p)
	n := mat.NewDiagDense(k, nil)
	for i, c := range counts {
		n.SetDiag(i, float64(c))
	}
	var pn, pnp mat.Dense
	pn.Mul(p, n)
	pnp.Mul(&pn, p)
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(k, pnp.RawMatrix().Data), true) {
		panic("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	out := mat.NewSymDense(k, nil)
	for l, x := range e.Values(nil) {
		if x > 1e-9 {
			out.SymRankOne(out, math.Pow(x, exponent), v.ColView(l))
		}
	}
	return out
}

// TestGeometryOfTheClassSizes: rows whose products are (P N P)^½, and means whose products are its pseudo-inverse, have distance 0, whatever
// is added to all of them; the simplex has not.
func TestGeometryOfTheClassSizes(t *testing.T) {
	counts := []int{40, 17, 4, 4, 9}
	k := len(counts)
	w, means := powerOfSizes(counts, .25), powerOfSizes(counts, -.25) // of products, the square root
	in := Input[float64]{W: make([]float64, k*k)}
	var h []float64
	var y []int32
	for c, n := range counts {
		for j := range k {
			in.W[c*k+j] = 3*w.At(c, j) + .5
		}
		for range n {
			for j := range k {
				h = append(h, means.At(c, j)-2)
			}
			y = append(y, int32(c))
		}
	}
	in.Train = Memory(h, k, y)
	r := mustMeasure(t, in, Options{Measures: []string{"all"}})
	for _, key := range []string{KeyNC2WSELI, KeyNC2MeansSELI} {
		if got, ok := r.Measures.of[key]; !ok || !(got < 1e-12) {
			t.Errorf("%s: %g (%q), want 0", key, got, r.Missing[key])
		}
	}
	if got := r.Measures.of[KeyParticipation]; !(got > 1 && got < float64(k-1)-.01) {
		t.Errorf("%s: %g of %d directions", KeyParticipation, got, k-1)
	}
	for _, key := range []string{KeyNC2WCentred, KeyNC2MeansCentred} {
		if got := r.Measures.of[key]; !(got > .2) {
			t.Errorf("%s: %g; the simplex is another geometry", key, got)
		}
	}
}

// TestOneVsRestMargins of codes: the simplex, the pentagon, a cross, and a row among the others.
func TestOneVsRestMargins(t *testing.T) {
	for _, c := range []struct {
		name string
		w    []float64
		d    int
		want float64
	}{
		{"simplex of 3", []float64{2, -1, -1, -1, 2, -1, -1, -1, 2}, 3, 1.5},
		{"two", []float64{1, 0, -5, 0}, 2, 2},
		{"square of any lengths", []float64{1, 0, 0, 7, -3, 0, 0, -1}, 2, 1},
		{"pentagon", polygon(5), 2, 1 - math.Cos(2*math.Pi/5)},
		{"cross of 3 dimensions", []float64{1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1}, 3, 1},
		{"twice the same", []float64{1, 0, 1, 0, 0, 1}, 2, 0},
	} {
		k := len(c.w) / c.d
		var y []int32
		var h []float64
		for i := range 2 * k {
			y = append(y, int32(i%k))
			for j := range c.d {
				h = append(h, c.w[i%k*c.d+j]+float64(i/k))
			}
		}
		r := mustMeasure(t, Input[float64]{W: c.w, Train: Memory(h, c.d, y)}, Options{Measures: []string{KeyGNC2WMargin}})
		if got, ok := r.Measures.of[KeyGNC2WMargin]; !ok || !(math.Abs(got-c.want) < 1e-13) {
			t.Errorf("%s: %.17g (%q), want %g", c.name, got, r.Missing[KeyGNC2WMargin], c.want)
		}
		if v := r.PerClass["one_vs_rest_margin"]; len(v) != k {
			t.Errorf("%s: margins by class %v", c.name, v)
		}
	}
}

func polygon(k int) (rows []float64) {
	for i := range k {
		a := 2 * math.Pi * float64(i) / float64(k)
		rows = append(rows, math.Cos(a), math.Sin(a))
	}
	return rows
}

func TestMarginsOfManyClassesAreRefused(t *testing.T) {
	k := mostMargins + 1
	in := Input[float64]{W: make([]float64, k)}
	var h []float64
	var y []int32
	for i := range k {
		in.W[i] = float64(i + 1)
		h, y = append(h, float64(i), float64(i)+.5), append(y, int32(i), int32(i))
	}
	in.Train = Memory(h, 1, y)
	r := mustMeasure(t, in, Options{Measures: []string{KeyGNC2WMargin}})
	if !strings.Contains(r.Missing[KeyGNC2WMargin], "more than 1024") {
		t.Errorf("%d classes: %g, %q", k, r.Measures.of[KeyGNC2WMargin], r.Missing[KeyGNC2WMargin])
	}
}

// TestSizesOfManyClasses: with many classes of few sizes the geometry is that of small matrices; it is compared with the definition.
func TestSizesOfManyClasses(t *testing.T) {
	counts := make([]int, 60)
	for i := range counts {
		counts[i] = []int{7, 2, 2, 19}[i%4]
	}
	c := newClassSizes(counts)
	w, m, ok := new(geometry).seli(c)
	if !ok || len(c.sizes) != 3 {
		t.Fatalf("sizes %v, %v", c.sizes, ok)
	}
	for exponent, got := range map[float64]sizeProducts{.5: w, -.5: m} {
		want := powerOfSizes(counts, exponent)
		size := mat.Norm(want, 2)
		for i := range counts {
			for j := range counts {
				if !(math.Abs(got.at(i, j)-want.At(i, j)/size) < 1e-13) {
					t.Fatalf("exponent %g, entry %d, %d: %g, wanted %g", exponent, i, j, got.at(i, j), want.At(i, j)/size)
				}
			}
		}
	}
}
