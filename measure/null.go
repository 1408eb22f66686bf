package measure

import (
	"math/rand/v2"
	"slices"

	"collapse.example/collapse/internal/kernel/rows"
)

// Null is the value of a measure for meaningless labels: the smallest, median and largest over several shuffles of all
// labels.
type Null struct {
	Low    float64 `json:"low"`
	Median float64 `json:"median"`
	High   float64 `json:"high"`
}

// A measure is small or large compared with its value for shuffled labels: with few samples, many coordinates or many classes,
// class means are far apart, or nearly a simplex, by chance. Shuffled class means use all samples; measures of single samples
// use a probe.

// DefaultNull is the number of shuffles that `collapse measure` makes.
const DefaultNull = 9

const (
	nullWork = 4e9 // floating-point operations of all shuffles; beyond it fewer are made
	fewNulls = 3
	nullSeed = 0xca11
)

// nulls returns how many of the requested shuffles are made for n samples of width d in k classes.
func nulls(asked, n, k, d int) int {
	work := 4*float64(n)*float64(d) + pairsWork(k, d)
	return min(asked, max(fewNulls, int(nullWork/work)))
}

// collectNull gathers the values of shuffles.
type collectNull map[string][]float64

func (c collectNull) add(values map[string]float64) {
	for key, v := range values {
		c[key] = append(c[key], v)
	}
}

// ranges returns the null of every measure defined in all m shuffles.
func (c collectNull) ranges(m int) map[string]Null {
	out := make(map[string]Null, len(c))
	for key, x := range c {
		if len(x) < m {
			continue
		}
		slices.Sort(x)
		out[key] = Null{Low: x[0], Median: (x[(m-1)/2] + x[m/2]) / 2, High: x[m-1]}
	}
	return out
}

// nullKeys are the measures that have a null: labels and features give them without a classifier.
var nullKeys = keysOf(func(d *Definition) bool { return d.Chance > NotShuffled })

// shuffles fills Report.Null from features.
func (e *Engine[T]) shuffles(r *Report) error {
	e.second.clock.enter(PhaseNull)
	s := &e.train
	if s.k < 2 || s.n < 2 {
		return nil
	}
	p, err := newProbe(s, manyRows(s.d))
	if err != nil {
		return err
	}
	r.Directions = e.directions(p)
	e.releaseMeans()
	p.means = nil
	squares, err := e.squares(s)
	if err != nil {
		return err
	}
	if p, err = withFarthest(s, p, squares); err != nil {
		return err
	}
	apart := relative(p.h, s.centre)
	random := rand.New(rand.NewPCG(nullSeed, uint64(s.n)))
	values, m := collectNull{}, nulls(e.opt.Null, s.n, s.k, s.d)
	last, sums := slices.Clone(s.class), []float64(nil)
	for left := m; left > 0; {
		classes := shuffles(random, last, min(left, together(s.k, s.d)))
		if sums, err = e.first.sums(e.opt.Team, s, sums, classes...); err != nil {
			return err
		}
		for i, class := range classes {
			found, err := e.shuffled(r, class, sums[i*s.k*s.d:][:s.k*s.d], p, apart, squares)
			if err != nil {
				return err
			}
			values.add(found)
		}
		left -= len(classes)
	}
	r.Null = values.ranges(m)
	return nil
}

// shuffles returns n shuffles of the classes of the measured rows; class is left as the last of them.
func shuffles(random *rand.Rand, class []int32, n int) (all [][]int32) {
	for range n {
		shuffle(random, class)
		all = append(all, slices.Clone(class))
	}
	return all
}

// shuffle permutes the classes of the measured rows.
func shuffle(random *rand.Rand, class []int32) {
	measured := make([]int, 0, len(class))
	for i, c := range class {
		if c >= 0 {
			measured = append(measured, i)
		}
	}
	random.Shuffle(len(measured), func(i, j int) {
		i, j = measured[i], measured[j]
		class[i], class[j] = class[j], class[i]
	})
}

// shuffled returns the measures of shuffled labels, from their class sums; apart are the probe's rows minus h_G. Scatter
// within classes is what remains of the squares of their samples about h_G.
func (e *Engine[T]) shuffled(r *Report, class []int32, sums []float64, p *probe, apart, squares []float64) (map[string]float64, error) {
	again := e.train
	s := &again
	s.class, s.means = class, sums
	s.divideSums(nil)
	classes := make([]int32, len(p.row))
	for i, row := range p.row {
		classes[i] = class[row]
	}
	m := &Moments{K: s.k, D: s.d, Count: s.count, Mean: s.means, Float32: s.isFloat32, Spread: slices.Clone(p.variance)}
	scale(m.Spread, float64(s.n))
	m.Scatter = scatterAbout(s, squares, e.train.centre)
	q := *p
	q.class, q.means = classes, s.means
	within := &shuffledScatter{&q, q.weights(e.opt.Imbalance), apart, relative(s.means[:s.k*s.d], e.train.centre)}
	m.within = within
	opt := e.opt.plain(r.Measures.of)
	opt.Measures = slices.DeleteFunc(opt.Measures, func(key string) bool { return !slices.Contains(nullKeys, key) })
	fresh, err := NewEngine[float64](opt)
	if err != nil {
		return nil, err
	}
	found, err := fresh.moments(m, nil, nil)
	if err != nil {
		return nil, err
	}
	if _, ok := r.Measures.of[KeyNCCAccuracy]; ok {
		found.Measures.of[KeyNCCAccuracy] = within.nearest(e.opt.Team)
	}
	return found.Measures.of, nil
}

// relative returns the rows of x minus a point.
func relative(x, point []float64) []float64 {
	d := len(point)
	out := make([]float64, len(x))
	for at := 0; at < len(x); at += d {
		rows.SubRow(out[at:at+d], x[at:at+d], point)
	}
	return out
}
