package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure/internal/wide"
	"collapse.example/collapse/parallel"
)

// fullMargins are the margins of every measured row from every cosine, in float64.
func fullMargins[T kernel.Float](e *Engine[T], in Input[T]) []float64 {
	s, h := &e.train, &e.head
	out, q := make([]float64, s.rows), make([]float64, s.d)
	for i, c := range s.class {
		if c < 0 {
			out[i] = math.NaN()
			continue
		}
		row := in.Train.Features.(*Rows[T]).H[i*s.d:][:s.d]
		for p, x := range row {
			q[p] = float64(x) - s.mean(int(c))[p] + s.centred[int(c)*s.d+p]
		}
		own, other := 0.0, math.Inf(-1)
		for j := range s.k {
			cos := dot(h.centred[j*s.d:][:s.d], q) / (h.centredNorm[j] * norm(q))
			if j == int(c) {
				own = cos
			} else {
				other = max(other, cos)
			}
		}
		out[i] = own - other
	}
	return out
}

// checkMargins compares the wide pass with the full computation.
func checkMargins[T, P kernel.Float](t rapid.TB, in Input[T]) {
	t.Helper()
	e, _ := measureWide[T, P](t, in, Options{Measures: []string{"all"}})
	if hasZero(e.head.centredNorm) {
		t.Skip("no margins")
	}
	for i, want := range fullMargins(e, in) {
		got := e.second.margins[i]
		if !(math.Abs(got-want) <= 2*wide.CertainScore || want != want && got != got) {
			t.Fatalf("row %d: margin %.17g, the full computation has %.17g", i, got, want)
		}
	}
}

// Whatever classes are left out as candidates, margins are those of the full computation.
func TestMarginsAreExact(t *testing.T) {
	fewer(t, 40)
	rapid.Check(t, func(t *rapid.T) {
		in := drawDecided(t)
		checkMargins[float32, float32](t, in)
		checkMargins[float32, float64](t, in)
	})
}

// simplex makes features of an ETF of k classes in d ≥ k coordinates, where at the class means all wrong classes tie,
// with residuals of the given size, and the ETF as classifier.
func simplex(n, d, k int, size float64) Input[float32] {
	rng := rand.New(rand.NewPCG(9, uint64(d)))
	in := Input[float32]{Classes: k, W: make([]float64, k*d), B: make([]float64, k)}
	for c := range k {
		for j := range k {
			in.W[c*d+j] = float64(-1 / float32(k))
		}
		in.W[c*d+c] = float64(float32(in.W[c*d+c]) + 1)
	}
	h, labels := make([]float32, n*d), make([]int32, n)
	for i := range n {
		c := i % k
		labels[i] = int32(c)
		for j := range d {
			h[i*d+j] = float32(in.W[c*d+j]) + float32(size*rng.NormFloat64())
		}
	}
	in.Train = Memory(h, d, labels)
	return in
}

// In an ETF nothing but the residuals decides; down to residuals of float32's own rounding, and to none.
func TestMarginsOfSimplex(t *testing.T) {
	for _, size := range []float64{1, .1, 1e-3, 1e-6, 1e-8, 0} {
		checkMargins[float32, float32](t, simplex(600, 300, 60, size))
	}
}

// Margins do not depend on the scale of the classifier, even where float32 products with it would overflow or vanish.
func TestMarginsOfScale(t *testing.T) {
	for _, scale := range []float64{1e-34, 1e-20, 1e20, 1e34} {
		in := gaussian[float32](300, 300, 60, .3, 5)
		for i := range in.W {
			in.W[i] *= scale
		}
		checkMargins[float32, float32](t, in)
	}
}

// The margins have the same bits for every team, and on every kernel to the stated bound.
func TestMarginsOfTeam(t *testing.T) {
	n := longtest.Of(1000, 3000)
	in := gaussian[float32](n, 400, 100, .7, 2)
	team := parallel.NewTeam(3)
	defer team.Close()
	alone := mustMeasure(t, in, Options{KeepMargins: true})
	shared := mustMeasure(t, in, Options{KeepMargins: true, Team: team})
	if len(alone.Margins) != n {
		t.Fatalf("%d margins", len(alone.Margins))
	}
	for i, x := range alone.Margins {
		if shared.Margins[i] != x {
			t.Fatalf("margin %d: %.17g in a team, %.17g alone", i, shared.Margins[i], x)
		}
	}
	used := isa.Name()
	defer func() {
		if err := isa.Use(used); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range isa.Available() {
		if err := isa.Use(name); err != nil {
			t.Fatal(err)
		}
		for i, x := range mustMeasure(t, in, Options{KeepMargins: true}).Margins {
			if !(math.Abs(x-alone.Margins[i]) <= 2*wide.CertainScore) {
				t.Fatalf("margin %d: %.17g with %s, %.17g with %s", i, x, name, alone.Margins[i], used)
			}
		}
	}
}
