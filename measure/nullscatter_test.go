package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSquaresOnTheWay compares the squares of samples that the second pass finds with those of a pass of their own.
func TestSquaresOnTheWay(t *testing.T) {
	in := gaussian[float32](700, 24, 5, 3, 8)
	e, err := NewEngine[float32](Options{Null: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Measure(in); err != nil {
		t.Fatal(err)
	}
	found := e.second.squares
	if len(found) != 700 {
		t.Fatalf("%d squares of 700 samples", len(found))
	}
	e.second.squares = nil
	want, err := e.squares(&e.train)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(found[i]-want[i]) > 1e-12*want[i] || want[i] == 0 {
			t.Fatalf("sample %d: %g on the way, %g on its own", i, found[i], want[i])
		}
	}
}

// TestShuffledScatter compares traces of rows taken from a point with those of the residuals themselves.
func TestShuffledScatter(t *testing.T) {
	const rows, d, k, rank = 1200, 1000, 6, 4 // two blocks
	random := rand.New(rand.NewPCG(5, 5))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = random.NormFloat64()
		}
		return x
	}
	p := &probe{k: k, d: d, n: 2 * rows, h: draw(rows * d), means: draw(k * d), row: make([]int32, rows), class: make([]int32, rows), count: make([]int, k)}
	for i := range p.class {
		p.class[i] = random.Int32N(k)
		p.count[p.class[i]] += 2
	}
	a, point, weight := draw(rank*d), draw(d), p.weights(PerClass)
	got := (&shuffledScatter{p, weight, relative(p.h, point), relative(p.means, point)}).trace(nil, a, rank, d)
	want := (&probed{p, weight}).trace(nil, a, rank, d)
	if math.Abs(got-want) > 1e-12*want || want == 0 {
		t.Errorf("trace %g from a point, %g of residuals", got, want)
	}
}
