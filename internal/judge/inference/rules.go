package inference

import (
	"cmp"
	"math"
	"slices"
)

// Answer is the answer of estimates to a claim.
type Answer int

// The answers. The zero value is "cannot tell".
const (
	CannotTell Answer = iota
	Yes
	Partly // yes overall, but some cells say no
	No
)

// Region is where a claim says a value lies: between Lo and Hi, or outside them if Outside. Either end may be infinite.
type Region struct {
	Lo, Hi  float64
	Outside bool
}

// Below and Above are the regions of claims about a direction; Within is that of equality, within the claim's band.
func Below(limit float64) Region   { return Region{Lo: math.Inf(-1), Hi: limit} }
func Above(limit float64) Region   { return Region{Lo: limit, Hi: math.Inf(1)} }
func Within(lo, hi float64) Region { return Region{Lo: lo, Hi: hi} }
func Beyond(lo, hi float64) Region { return Region{Lo: lo, Hi: hi, Outside: true} }

// Holds is yes if an interval lies inside the region, no if it lies completely outside. An end of the region belongs to neither
// side: a constant on it says nothing. Neither does an estimate without an interval, whose ends are NaN.
func (r Region) Holds(lo, hi float64) Answer {
	inside, outside := lo > r.Lo && hi < r.Hi, hi < r.Lo || lo > r.Hi
	if r.Outside {
		inside, outside = outside, inside
	}
	switch {
	case inside:
		return Yes
	case outside:
		return No
	}
	return CannotTell
}

// against is the probability of an estimate at least this far outside the region if the true value were at its end.
func (r Region) against(e Estimate) float64 {
	low, high := e.below(r.Lo), e.above(r.Hi)
	if math.IsNaN(low) { // and so is high
		return 1
	}
	if r.Outside { // between the two ends
		return math.Max(e.above(r.Lo), e.below(r.Hi))
	}
	return math.Min(low, high)
}

// Single answers a claim about one estimate.
func Single(e Estimate, r Region) Answer {
	if e.N < Enough {
		return CannotTell
	}
	return r.Holds(e.Lo, e.Hi)
}

// Over answers a claim about each of many cells that shows in their mean, too: yes if the pooled interval and that of every cell lie
// inside (a union of nulls is rejected only if each is, so this needs no correction). If the pooled interval does and cells contradict the
// claim even after Holm's correction, the answer is partly, or no if every cell does, because effects of both signs cancel in a mean.
// contradicting are those cells. A single cell is itself the pooled estimate.
func Over(cells []Estimate, pooled Estimate, r Region) (answer Answer, contradicting []int) {
	answer, contradicting = OnAverage(cells, pooled, r)
	if answer == Yes && slices.ContainsFunc(cells, func(e Estimate) bool { return Single(e, r) != Yes }) {
		answer = CannotTell
	}
	return answer, contradicting
}

// OnAverage answers a claim about the mean over cells: by the pooled interval alone, but partly or no where cells contradict it as in Over.
func OnAverage(cells []Estimate, pooled Estimate, r Region) (answer Answer, contradicting []int) {
	answer = Single(pooled, r)
	if len(cells) < 2 {
		return answer, nil
	}
	contradicting = contradictions(cells, slices.Repeat([]Region{r}, len(cells)))
	switch {
	case answer == Yes && len(contradicting) == len(cells):
		answer = No
	case answer == Yes && len(contradicting) > 0:
		answer = Partly
	}
	return answer, contradicting
}

// Every answers a claim about each of many cells, such as a table of printed numbers: yes if every interval lies inside, no or
// partly if a cell contradicts after Holm's correction. "Yes" needs no correction: a single interval that is not inside
// prevents it.
func Every(cells []Estimate, r []Region) (answer Answer, contradicting []int) {
	inside := 0
	for i, e := range cells {
		if Single(e, r[i]) == Yes {
			inside++
		}
	}
	contradicting = contradictions(cells, r)
	switch {
	case len(cells) > 0 && inside == len(cells):
		return Yes, nil
	case len(contradicting) > 0 && inside > 0:
		return Partly, contradicting
	case len(contradicting) > 0:
		return No, contradicting
	}
	return CannotTell, nil
}

// contradictions are the cells that lie outside their regions, by Holm's correction.
func contradictions(cells []Estimate, r []Region) []int {
	p := make([]float64, len(cells))
	for i, e := range cells {
		p[i] = 1
		if e.N >= Enough {
			p[i] = r[i].against(e)
		}
	}
	return Holm(p, tail)
}

// Holm lists the rejected hypotheses, ascending; the probability that a true one is among them is at most level.
//
// S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979) 65–70.
func Holm(p []float64, level float64) (rejected []int) {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	for rank, i := range order {
		if !(p[i]*float64(len(p)-rank) <= level) {
			break
		}
		rejected = append(rejected, i)
	}
	slices.Sort(rejected)
	return rejected
}

// Needed is about how many replicates of this spread would put the interval on one side of the region's ends if the value were
// exact; 0 if none would, because the value lies on an end or has no interval.
func (r Region) Needed(e Estimate) int {
	distance := math.Inf(1)
	for _, end := range []float64{r.Lo, r.Hi} {
		distance = math.Min(distance, math.Abs(e.Value-end))
	}
	half := math.Max(e.Hi-e.Value, e.Value-e.Lo)
	if needed := float64(e.N) * half * half / (distance * distance); needed > 0 && needed < 1e4 {
		return max(Enough, int(math.Ceil(needed)))
	}
	return 0
}
