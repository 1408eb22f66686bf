package deep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Blocks of m classes, with zeros between them, add up: with the same penalties m of K classes cost m/K times what a model of m
// classes costs at the same q. So points for few classes, which are found at once, give points for many.

// Sizes of blocks that are searched, and the random starts for each.
const (
	mostInBlock = 6
	blockStarts = 16
)

// piece is the lowest point found for m classes.
type piece struct {
	m     int
	cost  float64 // m times its objective
	point Point
}

// blocks descends from the cheapest composition of pieces.
func (e *explorer) blocks() error {
	for _, d := range e.Widths {
		if d < e.K {
			return nil // pieces take as many rows as classes
		}
	}
	if e.effort.Starts == 0 || e.K < 4 {
		return nil
	}
	var pieces []piece
	for m := 1; m <= min(mostInBlock, e.K-1); m++ {
		one, err := e.piece(m)
		if err != nil {
			return err
		}
		pieces = append(pieces, one)
	}
	chosen := cheapest(pieces, e.K)
	if len(chosen) == e.K {
		return nil // orthogonal features: neural collapse
	}
	found, err := e.settle(e.compose(chosen), "blocks of "+sizesOf(chosen)+" classes side by side")
	if err == nil {
		e.keep(found)
	}
	return err
}

func (e *explorer) piece(m int) (piece, error) {
	widths := slices.Repeat([]int{m}, e.Layers())
	c := Config{K: m, N: 1, Widths: widths, ReLU: true, Lambdas: slices.Repeat([]float64{e.q() / float64(m)}, e.Layers()+1)}
	if m == 1 {
		return c.single(), nil
	}
	known, err := c.Known()
	if err != nil {
		return piece{}, err
	}
	inner := &explorer{Config: c, ctx: e.ctx, collapse: known.Collapse, deadline: e.deadline, best: end{f: math.Inf(1)}, knownFrom: c.Place(known),
		effort: Effort{Starts: min(blockStarts, e.effort.Starts), Seed: e.effort.Seed}}
	if e.each != nil {
		inner.each = func(s Step) { // its values are those of a smaller model
			e.each(Step{fmt.Sprintf("blocks of %d classes, %s", m, s.Stage), s.Ended, s.Of, e.best.f})
		}
	}
	found, err := inner.settle(inner.knownFrom, "")
	if err != nil {
		return piece{}, err
	}
	inner.keep(found)
	trials := c.trials(inner.effort.Starts)
	done, err := inner.all("random starts", len(trials), func(i int, rng *rand.Rand) (end, error) { return inner.try(trials[i], rng) })
	if err != nil {
		return piece{}, err
	}
	if err := inner.polish(done, 2); err != nil {
		return piece{}, err
	}
	e.out.Stopped = e.out.Stopped || inner.out.Stopped
	return piece{m, float64(m) * inner.best.f, c.point(inner.best.x)}, nil
}

// single is one class: a chain of equal numbers, or zero.
func (c Config) single() piece {
	M, q := float64(c.Layers()+1), c.q()
	out := piece{1, 0.5, c.point(make([]float64, c.size()))}
	if q < threshold(M) {
		t := shrunk(M, q)
		out.cost = (1-t)*(1-t)/2 + M/2*q*math.Pow(t, 2/M)
		for _, factor := range out.point {
			factor.Set(0, 0, math.Pow(t, 1/M))
		}
	}
	return out
}

// cheapest is the composition of K classes that costs least.
func cheapest(pieces []piece, K int) []piece {
	cost, last := make([]float64, K+1), make([]int, K+1)
	for k := 1; k <= K; k++ {
		cost[k] = math.Inf(1)
		for i, p := range pieces {
			if p.m <= k && cost[k-p.m]+p.cost < cost[k]-1e-9 {
				cost[k], last[k] = cost[k-p.m]+p.cost, i
			}
		}
	}
	var out []piece
	for k := K; k > 0; k -= pieces[last[k]].m {
		out = append(out, pieces[last[k]])
	}
	return out
}

func (e *explorer) compose(chosen []piece) Point {
	out, at := e.point(make([]float64, e.size())), 0
	for _, p := range chosen {
		for i, factor := range p.point {
			put(out[i], at, at, factor)
		}
		at += p.m
	}
	return out
}

func sizesOf(chosen []piece) string {
	var out []string
	for _, p := range chosen {
		out = append(out, fmt.Sprint(p.m))
	}
	return strings.Join(out, " + ")
}
