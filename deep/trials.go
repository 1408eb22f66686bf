package deep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// trial is a random start: its profile, and how large its weights are.
type trial struct {
	profile
	size float64
}

// profile is the widths of a start's layers, from the last to that of the features.
type profile struct {
	widths []int
	rows   int // of the grid in which the features place the classes; 0: they are random
}

// sizes of random weights, against those that keep the size of features from layer to layer.
var startSizes = []float64{1, 0.6, 1.6}

// trials are n random starts. Models of K classes can have points of low rank that starts of the whole width seldom find; narrow first
// layers find these, or features that place the classes in a grid. The last layers may unfold the classes step by step. Wide layers have fewer poor local minima, and penalties leave them few neurons.
func (c Config) trials(n int) []trial {
	shapes := c.profiles()
	out := make([]trial, n)
	for i := range out {
		out[i] = trial{shapes[i%len(shapes)], startSizes[(i+i/len(shapes))%len(startSizes)]}
	}
	return out
}

// profiles are the widths of random starts.
func (c Config) profiles() (out []profile) {
	narrowest, given := slices.Min(c.Widths), c.Widths[0]
	wide := min(3*c.K, max(widest, c.K+1))
	add := func(last ...int) { // the last layers; those before are as wide as the last of these
		if len(last) <= c.Layers() {
			for len(last) < c.Layers() {
				last = append(last, last[len(last)-1])
			}
			out = append(out, profile{widths: last})
		}
	}
	// Classes in rows and columns: features say which row and which column, so rows + columns − 1 dimensions tell them all apart.
	for rows := 2; rows*rows <= c.K; rows++ {
		if d := rows + (c.K+rows-1)/rows; d < c.K && d <= narrowest {
			add(max(given, wide), d)
			out[len(out)-1].rows = rows
		}
	}
	add(given, narrowest)
	add(max(given, wide), max(narrowest, wide))
	most := min(c.K, narrowest, 2+(c.K+1)/2)
	for r := 2; r < most; r++ {
		add(max(given, wide), r)
	}
	for r := 2; r < most; r++ {
		add(max(given, wide), wide, r)
	}
	for r := 2; r < most; r++ {
		add(given, r)
	}
	for r := 2; r < most; r++ {
		add(max(given, wide), r+1, r)
	}
	for r := 2; r < most; r++ {
		add(max(given, wide), wide, r+1, r)
	}
	return out
}

// widest is the width to which layers of models with many classes are widened at most.
const widest = 48

func (t trial) name() string {
	words := []string{fmt.Sprintf("%d in the last", t.widths[0])}
	first := t.widths[len(t.widths)-1]
	for _, d := range t.widths[1:] {
		if d != first {
			words = append(words, fmt.Sprintf("%d before it", d))
		}
	}
	if t.rows > 0 {
		words = append(words, fmt.Sprintf("classes in %d rows", t.rows))
	}
	return fmt.Sprintf("a random start, %d dimensions in the first layers, %s, weights of size %g", first, strings.Join(words, ", "), t.size)
}

// easyShare is the share of the threshold of q at which a trial begins: low enough that few end at zero, high enough that descents are fast.
const easyShare = 0.25

// farApart is the ratio of two q between which another is put on the way.
const farApart = 1.5

// try descends with the trial's widths at an easy q, and from there at the q and the widths asked for, with ReLUs that are rounded less and less:
// with kinks it would end anywhere on these, and its value would not tell where it leads.
func (e *explorer) try(t trial, rng *rand.Rand) (end, error) {
	q := easyShare * threshold(float64(e.Layers()+1))
	easy := e.evenAt(q, t.widths)
	easy.soft = roughly[0]
	x, _, err := easy.descendUntil(e.ctx, easy.reluStart(t, rng), e.untilRough())
	if err != nil {
		return end{}, err
	}
	p := e.refit(easy.point(x), easy, 1e-2, rng)
	if ratio := q / e.q(); ratio < 1/farApart || ratio > farApart {
		middle := e.evenAt(math.Sqrt(q*e.q()), e.Widths)
		middle.soft = roughly[0]
		if x, _, err = middle.descendUntil(e.ctx, flat(p), e.untilRough()); err != nil {
			return end{}, err
		}
		p = e.point(x)
	}
	x, f, err := e.descendRoughly(flat(p))
	return end{x, f, t.name()}, err
}

// roughly is how far ReLUs are rounded, in turn, until it is clear whether a descent goes low.
var roughly = []float64{0.03, 3e-3, 0}

func (e *explorer) descendRoughly(x []float64) (_ []float64, f float64, err error) {
	for _, soft := range roughly {
		c := e.Config
		c.soft = soft
		if x, f, err = c.descendUntil(e.ctx, x, e.untilRough()); err != nil {
			return nil, 0, err
		}
	}
	return x, f, nil
}

// reluStart has factors that keep the mean square of features through ReLUs, times a size. Of fewer dimensions than classes, features
// start positive and pass all layers unchanged but the last and those that widen, or ReLUs would lose most of them.
func (c Config) reluStart(t trial, rng *rand.Rand) []float64 {
	p, narrow := c.point(make([]float64, c.size())), c.Widths[c.Layers()-1] < c.K
	for i, factor := range p {
		rows, columns := c.shape(i)
		spread := t.size * math.Sqrt(1.5/float64(max(rows, columns)))
		factor.Apply(func(r, k int, _ float64) float64 {
			v := spread * rng.NormFloat64()
			switch {
			case !narrow || i < 2 || i < c.Layers() && rows != columns:
				return v
			case i == c.Layers() && t.rows > 0: // column k is a class
				if r < t.rows && k%t.rows == r || r >= t.rows && k/t.rows == r-t.rows {
					return t.size + v/4
				}
				return math.Abs(v) / 4
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
