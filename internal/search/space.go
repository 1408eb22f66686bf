package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Scale is how a parameter is drawn.
type Scale int

const (
	Uniform    Scale = iota
	LogUniform       // the logarithm is uniform
	Choice           // one of some values without order
)

// Param is one setting that is searched.
type Param struct {
	Name      string
	Scale     Scale
	Low, High float64 // of Uniform and LogUniform
	Whole     bool    // of Uniform: whole numbers alone, both ends included
	Choices   int     // of Choice: how many
	Needs     []Need  // all must hold for the parameter to have an effect
}

// Need is a condition on another parameter of the space, a Choice: that it has one of some values.
type Need struct {
	Param  int
	Values []int
}

// Active reports whether parameter i of a point has an effect: whether what it needs has one, and one of the values.
func (s Space) Active(p Point, i int) bool {
	for _, n := range s[i].Needs {
		if !slices.Contains(n.Values, int(p[n.Param])) || !s.Active(p, n.Param) {
			return false
		}
	}
	return true
}

// settle gives parameters without effect a value that is always the same, so that points which are alike are near each other.
func (s Space) settle(p Point) Point {
	for i, q := range s {
		if len(q.Needs) > 0 && !s.Active(p, i) {
			p[i] = q.at(0.5)
		}
	}
	return p
}

// Circles are the names of parameters that depend on themselves.
func (s Space) Circles() (names []string) {
	for i, p := range s {
		if s.circle(i) {
			names = append(names, p.Name)
		}
	}
	return names
}

// circle reports whether the needs of parameter i lead back to it.
func (s Space) circle(i int) bool {
	seen := map[int]bool{}
	for next := []int{i}; len(next) > 0; next = next[1:] {
		for _, n := range s[next[0]].Needs {
			if n.Param == i {
				return true
			}
			if !seen[n.Param] {
				seen[n.Param] = true
				next = append(next, n.Param)
			}
		}
	}
	return false
}

// Space is the settings that are searched.
type Space []Param

// Point is a value for each parameter; of a Choice, the number of the value from 0.
type Point []float64

func (s Space) problems() (bad []string) {
	if len(s) == 0 {
		return []string{"the space has no parameter"}
	}
	for _, p := range s {
		if slices.ContainsFunc(p.Needs, func(n Need) bool { return n.Param < 0 || n.Param >= len(s) || s[n.Param].Scale != Choice }) {
			return []string{p.Name + " depends on a parameter that is no choice"}
		}
	}
	for _, name := range s.Circles() {
		bad = append(bad, name+" depends on itself")
	}
	for _, p := range s {
		switch {
		case p.Scale == Choice && p.Choices < 1:
			bad = append(bad, fmt.Sprintf("%s has no values to choose from", p.Name))
		case p.Scale != Choice && !(p.Low < p.High && !math.IsInf(p.High-p.Low, 0)):
			bad = append(bad, fmt.Sprintf("%s lies in [%g, %g]; wanted a smaller number first", p.Name, p.Low, p.High))
		case p.Whole && (p.Scale != Uniform || p.Low != math.Trunc(p.Low) || p.High != math.Trunc(p.High) || p.High-p.Low > 1<<53):
			bad = append(bad, fmt.Sprintf("%s has whole numbers from %g to %g; wanted two whole numbers, on no logarithmic scale", p.Name, p.Low, p.High))
		case p.Scale == LogUniform && p.Low <= 0:
			bad = append(bad, fmt.Sprintf("%s is log-uniform from %g; wanted above 0", p.Name, p.Low))
		}
	}
	return bad
}

// Contains reports whether p lies in the space.
func (s Space) Contains(p Point) bool {
	if len(p) != len(s) {
		return false
	}
	for i, q := range s {
		if q.Scale == Choice {
			if p[i] != math.Trunc(p[i]) || p[i] < 0 || p[i] >= float64(q.Choices) {
				return false
			}
		} else if !(q.Low <= p[i] && p[i] <= q.High) || q.Whole && p[i] != math.Trunc(p[i]) {
			return false
		}
	}
	return true
}

// at is the value at a place in [0, 1] of the parameter's scale.
func (p Param) at(u float64) float64 {
	switch p.Scale {
	case Choice:
		return math.Min(math.Floor(u*float64(p.Choices)), float64(p.Choices-1))
	case LogUniform:
		if u > 0 && u < 1 {
			return math.Min(math.Max(p.Low*math.Exp(u*math.Log(p.High/p.Low)), p.Low), p.High)
		}
	}
	if u >= 1 {
		return p.High
	}
	if p.Whole {
		return math.Min(math.Floor(p.Low+u*(p.High-p.Low+1)), p.High)
	}
	return math.Min(p.Low+u*(p.High-p.Low), p.High)
}

// place is the inverse of at for parameters with an order.
func (p Param) place(x float64) float64 {
	if p.Scale == LogUniform {
		return (math.Log(x) - math.Log(p.Low)) / (math.Log(p.High) - math.Log(p.Low))
	}
	return (x - p.Low) / (p.High - p.Low)
}

// countable reports whether no parameter has a range of numbers.
func (s Space) countable() bool {
	return !slices.ContainsFunc(s, func(q Param) bool { return q.Scale != Choice && !q.Whole })
}

// Size is how many different points there are; most if there are as many, or too many to be counted, or a parameter has a range of numbers.
func (s Space) Size(most int) int {
	if !s.countable() || len(s.problems()) > 0 || most > mostTrials {
		return most
	}
	if !slices.ContainsFunc(s, func(q Param) bool { return len(q.Needs) > 0 }) {
		product := 1.0
		for _, q := range s {
			product *= q.at(1) - q.at(0) + 1
		}
		return int(min(product, float64(most)))
	}
	seen, p := map[string]bool{}, make(Point, len(s))
	for i, q := range s {
		p[i] = q.at(0)
	}
	for range 100 * (most + 1000) { // many may be the same, where parameters have no effect
		if seen[fmt.Sprint(s.settle(slices.Clone(p)))] = true; len(seen) >= most {
			return most
		}
		if !s.step(p) {
			return len(seen)
		}
	}
	return most
}

// step goes to the next point of a countable space, the first parameter fastest; false after the last.
func (s Space) step(p Point) bool {
	for i, q := range s {
		if p[i]+1 <= q.at(1) {
			p[i]++
			return true
		}
		p[i] = q.at(0)
	}
	return false
}

// draw is a point at random.
func (s Space) draw(r *rand.Rand) Point {
	p := make(Point, len(s))
	for i, q := range s {
		p[i] = q.at(r.Float64())
	}
	return s.settle(p)
}

// near is a point beside p: parameters with an order move by about width of their range, a choice
// changes now and then.
func (s Space) near(p Point, width float64, r *rand.Rand) Point {
	out := make(Point, len(s))
	for i, q := range s {
		if q.Scale == Choice {
			if out[i] = p[i]; r.Float64() < 0.2 {
				out[i] = q.at(r.Float64())
			}
			continue
		}
		u := q.place(p[i]) + width*r.NormFloat64()
		out[i] = q.at(math.Min(math.Max(u, 0), 1))
	}
	return s.settle(out)
}

// places are the places of a point's values in their ranges, those of choices the values themselves.
func (s Space) places(p Point) []float64 {
	at := make([]float64, len(s))
	for i, q := range s {
		if at[i] = p[i]; q.Scale != Choice {
			at[i] = q.place(p[i])
		}
	}
	return at
}

// distance2 is the squared distance of two places of parameter i or, of a choice, whether they differ.
func (s Space) distance2(i int, a, b float64) float64 {
	if s[i].Scale == Choice {
		if a == b {
			return 0
		}
		return 1
	}
	return (a - b) * (a - b)
}
