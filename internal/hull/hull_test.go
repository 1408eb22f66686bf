package hull

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// distance of the origin to the hull of the rows of x with the given weights.
func distance(x *mat.Dense, weights []float64) float64 {
	var point mat.Dense
	point.Mul(mat.NewDense(1, len(weights), weights), x)
	return mat.Norm(&point, 2)
}

func products(x *mat.Dense) func(i, j int) float64 {
	var p mat.Dense
	p.Mul(x, x.T())
	return p.At
}

// overFaces is the least distance to a point of the affine hull of some rows that lies in their convex hull.
func overFaces(x *mat.Dense) float64 {
	n, _ := x.Dims()
	best := math.Inf(1)
	for subset := 1; subset < 1<<n; subset++ {
		var face []int
		for j := range n {
			if subset>>j&1 == 1 {
				face = append(face, j)
			}
		}
		found := points{products(x), n}.affine(face)
		if found == nil || slices.Min(found) < -1e-9 {
			continue
		}
		weights := make([]float64, n)
		for i, j := range face {
			weights[j] = found[i]
		}
		best = min(best, distance(x, weights))
	}
	return best
}

// TestNearestAgainstAllFaces also draws points in one hyperplane, as codes have them, and hulls around the origin.
func TestNearestAgainstAllFaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 7).Draw(rt, "n"), rapid.IntRange(1, 5).Draw(rt, "d")
		rng := rand.New(rand.NewPCG(5, rapid.Uint64().Draw(rt, "seed")))
		x := mat.NewDense(n, d, nil)
		x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
		if rapid.Bool().Draw(rt, "alike") {
			x.Apply(func(_, _ int, v float64) float64 { return math.Round(v) }, x)
		}
		weights := Nearest(products(x), n, d)
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		if slices.Min(weights) < 0 || !(math.Abs(sum-1) < 1e-12) {
			rt.Fatalf("weights %v", weights)
		}
		if got, want := distance(x, weights), overFaces(x); !(math.Abs(got-want) < 1e-8) {
			rt.Fatalf("%v: distance %v, over all faces %v", mat.Formatted(x), got, want)
		}
	})
}

// TestNearestIsBelowAllPoints: of larger hulls every point lies beyond the plane through the nearest one, and those with weight lie in it.
func TestNearestIsBelowAllPoints(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(5, 80).Draw(rt, "n"), rapid.IntRange(2, 30).Draw(rt, "d")
		away := rapid.Float64Range(0, 3).Draw(rt, "away")
		rng := rand.New(rand.NewPCG(7, rapid.Uint64().Draw(rt, "seed")))
		x := mat.NewDense(n, d, nil)
		x.Apply(func(_, j int, _ float64) float64 {
			if j == 0 {
				return away + rng.NormFloat64()
			}
			return rng.NormFloat64()
		}, x)
		weights := Nearest(products(x), n, d)
		var point, along mat.Dense
		point.Mul(mat.NewDense(1, n, weights), x)
		along.Mul(x, point.T())
		square := math.Pow(mat.Norm(&point, 2), 2)
		for i, w := range weights {
			if v := along.At(i, 0) - square; !(v > -1e-9) || w > 0 && !(v < 1e-9) {
				rt.Fatalf("point %d of weight %g lies %g beyond the plane", i, w, v)
			}
		}
	})
}

// TestRegularSimplexes: all weights are 1/n, found at once whatever the size.
func TestRegularSimplexes(t *testing.T) {
	const n = 300
	x := mat.NewDense(n, n, nil)
	for i := range n {
		x.Set(i, i, 1)
	}
	for _, w := range Nearest(products(x), n, n) {
		if !(math.Abs(w-1.0/n) < 1e-15) {
			t.Fatalf("weight %v, wanted 1/%d", w, n)
		}
	}
}
