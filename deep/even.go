package deep

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// even is the problem with one sample per class and equal penalties of the same product. A ReLU commutes with positive factors, so
// weights can be moved between layers: both problems have the same values, and the even one is the better conditioned.
func (c Config) even() Config {
	return c.evenAt(c.q(), c.Widths)
}

// evenAt is an even problem at another q or with other widths.
func (c Config) evenAt(q float64, widths []int) Config {
	out := Config{K: c.K, N: 1, Widths: widths, ReLU: c.ReLU, CE: c.CE}
	for range len(widths) + 1 {
		out.Lambdas = append(out.Lambdas, q/float64(c.K))
	}
	return out
}

// uneven moves weights between the layers of an even problem's point, so that each carries the same penalty in this problem.
func (c Config) uneven(p Point) Point {
	each := c.q() / float64(c.K)
	for i, l := range c.penalties() {
		p[i].Scale(math.Sqrt(each/l), p[i])
	}
	return p
}

// refit puts a point into a problem of other widths: too many neurons of a layer are thinned to the strongest, missing ones get small
// random weights (with none at all a descent could never use them).
func (c Config) refit(p Point, from Config, small float64, rng *rand.Rand) Point {
	out := c.point(make([]float64, c.size()))
	left := firsts(c.K)
	for i, factor := range p {
		right := firsts(c.K)
		if i < c.Layers() {
			right = strongest(p[i], p[i+1], c.Widths[i])
		}
		typical := small * mat.Norm(factor, 2) / math.Sqrt(float64(from.shapeSize(i)))
		out[i].Apply(func(r, k int, _ float64) float64 {
			if r < len(left) && k < len(right) {
				return factor.At(left[r], right[k])
			}
			return typical * rng.NormFloat64()
		}, out[i])
		left = right
	}
	return out
}

func (c Config) shapeSize(i int) int {
	rows, columns := c.shape(i)
	return rows * columns
}

func firsts(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// strongest are the at most so many neurons between two factors whose weights in and out have the largest norms.
func strongest(after, before *mat.Dense, most int) []int {
	n, _ := before.Dims()
	strength := make([]float64, n)
	for j := range n {
		strength[j] = mat.Norm(after.ColView(j), 2) * mat.Norm(before.RowView(j), 2)
	}
	out := firsts(n)
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(strength[b], strength[a]) })
	return out[:min(n, most)]
}
