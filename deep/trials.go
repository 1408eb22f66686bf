package deep

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// trial is a random start: of how many dimensions its features have in all layers but the last, how wide the last is,
// and how large its weights are.
type trial struct {
	dims, last int
	size       float64
}

// sizes of random weights, against those that keep the size of features from layer to layer.
var startSizes = []float64{1, 0.6, 1.6}

// trials are n random starts. Models of K classes can have points of low rank that starts of the whole width seldom find; narrow first
// layers find these. Wide layers have fewer poor local minima, and penalties leave them few neurons.
func (c Config) trials(n int) []trial {
	var shapes []trial
	narrowest := c.Widths[0]
	for _, d := range c.Widths[1:] {
		narrowest = min(narrowest, d)
	}
	wide := min(3*c.K, max(widest, c.K+1))
	for _, last := range []int{c.Widths[0], max(c.Widths[0], wide)} {
		shapes = append(shapes, trial{narrowest, last, 0}, trial{max(narrowest, wide), last, 0})
		for r := 2; r < min(c.K, narrowest, 2+(c.K+1)/2); r++ {
			shapes = append(shapes, trial{r, last, 0})
		}
	}
	out := make([]trial, n)
	for i := range out {
		out[i] = shapes[i%len(shapes)]
		out[i].size = startSizes[(i/len(shapes))%len(startSizes)]
	}
	return out
}

// widest is the width to which layers of models with many classes are widened at most.
const widest = 48

func (t trial) name() string {
	return fmt.Sprintf("a random start, %d dimensions in the first layers, %d in the last, weights of size %g", t.dims, t.last, t.size)
}

// easyShare is the share of the threshold of q at which a trial begins: low enough that few end at zero, high enough that descents are fast.
const easyShare = 0.25

// farApart is the ratio of two q between which another is put on the way.
const farApart = 1.5

// try descends with the trial's widths at an easy q, and from there at the q and the widths asked for.
func (e *explorer) try(t trial, rng *rand.Rand) (end, error) {
	widths := []int{t.last}
	for range e.Layers() - 1 {
		widths = append(widths, t.dims)
	}
	q := easyShare * threshold(float64(e.Layers()+1))
	easy := e.evenAt(q, widths)
	x, _, err := easy.descendUntil(e.ctx, easy.reluStart(t, rng), e.roughly())
	if err != nil {
		return end{}, err
	}
	p := e.refit(easy.point(x), easy, 1e-2, rng)
	if ratio := q / e.q(); ratio < 1/farApart || ratio > farApart {
		middle := e.evenAt(math.Sqrt(q*e.q()), e.Widths)
		if x, _, err = middle.descendUntil(e.ctx, flat(p), e.roughly()); err != nil {
			return end{}, err
		}
		p = e.point(x)
	}
	x, f, err := e.descendUntil(e.ctx, flat(p), e.roughly())
	return end{x, f, t.name()}, err
}

// reluStart has factors that keep the mean square of features through ReLUs, times a size. Of fewer dimensions than classes, features
// start positive and pass all layers but the last unchanged, or ReLUs would lose most of them.
func (c Config) reluStart(t trial, rng *rand.Rand) []float64 {
	p := c.point(make([]float64, c.size()))
	for i, factor := range p {
		rows, columns := c.shape(i)
		spread := t.size * math.Sqrt(1.5/float64(max(rows, columns)))
		factor.Apply(func(r, k int, _ float64) float64 {
			v := spread * rng.NormFloat64()
			switch {
			case t.dims >= c.K || i < 2:
				return v
			case i == c.Layers():
				return math.Abs(v)
			case r == k:
				return t.size + v/4
			}
			return v / 4
		}, factor)
	}
	return flat(p)
}
