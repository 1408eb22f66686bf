package inference

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

func near(t rapid.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.10g, wanted %.10g", what, got, want)
	}
}

// Student's own data (Biometrika 1908, "The probable error of a mean"): additional hours of sleep gained under two drugs.
var (
	first  = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	second = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// What R prints for these data: t.test(first, second, paired = TRUE) and t.test(first, second).
func TestIntervalsOfStudent(t *testing.T) {
	p := Paired(first, second)
	near(t, "paired difference", p.Value, -1.58, 1e-12)
	near(t, "lower end", p.Lo, -2.4598858, 1e-6)
	near(t, "upper end", p.Hi, -0.7001142, 1e-6)
	w := Welch(first, second)
	near(t, "degrees of freedom", w.DF, 17.77647, 1e-5)
	near(t, "lower end", w.Lo, -3.3654832, 1e-6)
	near(t, "upper end", w.Hi, 0.2054832, 1e-6)
	near(t, "p", 2*w.below(0), 0.07939414, 1e-7)
}

// sample draws numbers with two decimals, which rounding leaves alone.
func sample(t *rapid.T, n int, name string) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(rapid.IntRange(-10000, 10000).Draw(t, name)) / 100
	}
	return out
}

// Without missing values the pooled estimate is Student's interval of the replicates' means over cells; a missing one changes nothing
// but its own cell's mean.
func TestPooled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, count := rapid.IntRange(2, 12).Draw(t, "replicates"), rapid.IntRange(1, 6).Draw(t, "cells")
		cells, means := make([][]float64, count), make([]float64, n)
		for c := range cells {
			cells[c] = sample(t, n, "cell")
			for r, v := range cells[c] {
				means[r] += v / float64(count)
			}
		}
		got, want := Pooled(cells), Mean(means)
		near(t, "value", got.Value, want.Value, 1e-9)
		near(t, "error", got.Error, want.Error, 1e-9)
		near(t, "lower end", got.Lo, want.Lo, 1e-8)
		if n < 3 {
			return
		}
		cells[0][n-1] = math.NaN()
		value := stat.Mean(cells[0][:n-1], nil)
		for _, c := range cells[1:] {
			value += stat.Mean(c, nil)
		}
		near(t, "value with one missing", Pooled(cells).Value, value/float64(count), 1e-9)
	})
}

// The ends of Fieller's interval are where the mean of a − θ·b is as far from zero as Student's interval reaches.
func TestQuotientEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(t, "replicates")
		a, b := sample(t, n, "a"), sample(t, n, "b")
		for i := range b {
			b[i] += 500 // far from zero
		}
		q := Quotient(a, b)
		for _, end := range []float64{q.Lo, q.Hi} {
			d := make([]float64, n)
			for i := range d {
				d[i] = a[i] - end*b[i]
			}
			e := Mean(d)
			near(t, "distance", math.Abs(e.Value), (e.Hi-e.Lo)/2, 1e-5)
		}
		if !(q.Lo <= q.Value+1e-12 && q.Value <= q.Hi+1e-12) {
			t.Fatalf("%+v", q)
		}
	})
	if q := Quotient([]float64{1, 2, 3, 1, 2}, []float64{-1, 1, -2, 2, .1}); !math.IsNaN(q.Lo) || Single(q, Above(-1e9)) != CannotTell {
		t.Errorf("a quotient by what may be zero has an interval: %+v", q)
	}
}

// Curves of which the bend is known.
func TestBend(t *testing.T) {
	x := []float64{0, .1, .25, .5, .75, .9, 1}
	apply := func(f func(float64) float64) (out []float64) {
		for _, v := range x {
			out = append(out, f(v))
		}
		return out
	}
	for name, c := range map[string]struct {
		y          []float64
		bend, rise float64
	}{
		"line":     {apply(func(v float64) float64 { return 2 - 3*v }), 0, -3},
		"square":   {apply(func(v float64) float64 { return 5 * v * v }), -1.25, 5},
		"parabola": {apply(func(v float64) float64 { return v - v*v/2 }), 0.125, .5},
	} {
		bend, rise := Bend(x, c.y)
		near(t, name+": bend", bend, c.bend, 1e-12)
		near(t, name+": rise", rise, c.rise, 1e-12)
		many := slices.Repeat([]float64{bend}, 5)
		line := Single(Quotient(many, slices.Repeat([]float64{rise}, 5)), Within(-.1, .1))
		if (line == Yes) != (name == "line") || line == CannotTell {
			t.Errorf("%s: line is answered %v", name, line)
		}
	}
	if b, _ := Bend([]float64{1, 1, 2, 2}, []float64{1, 2, 3, 4}); !math.IsNaN(b) {
		t.Errorf("two places have a bend: %g", b)
	}
}

func TestHolm(t *testing.T) {
	// Four hypotheses at 0.05: 0.005·4 and 0.01·3 are rejected, 0.03·2 is not, and so 0.04·1 is not either.
	if got := Holm([]float64{0.01, 0.04, 0.03, 0.005}, 0.05); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("rejected %v", got)
	}
	if got := Holm([]float64{0.05}, 0.05); !slices.Equal(got, []int{0}) { // at most the level
		t.Errorf("rejected %v", got)
	}
	if got := Holm([]float64{1, 1}, 0.05); got != nil {
		t.Errorf("rejected %v", got)
	}
}

// What does not vary is certain, on an end of the region it says nothing; few replicates say nothing.
func TestAnswersWithoutSpread(t *testing.T) {
	same := func(v float64, n int) Estimate { return Mean(slices.Repeat([]float64{v}, n)) }
	for _, c := range []struct {
		e    Estimate
		r    Region
		want Answer
	}{
		{same(-1, 5), Below(0), Yes}, {same(1, 5), Below(0), No}, {same(0, 5), Below(0), CannotTell}, {same(-1, 4), Below(0), CannotTell},
		{same(0, 5), Within(-1, 1), Yes}, {same(1, 5), Within(-1, 1), CannotTell}, {same(2, 5), Within(-1, 1), No}, {same(2, 5), Beyond(-1, 1), Yes},
		{same(0, 5), Beyond(-1, 1), No}, {Mean(nil), Below(0), CannotTell}, {Mean([]float64{math.NaN(), math.NaN()}), Below(0), CannotTell},
	} {
		if got := Single(c.e, c.r); got != c.want {
			t.Errorf("%+v in %+v: %v, wanted %v", c.e, c.r, got, c.want)
		}
	}
}

// Effects of half a deviation in all of 24 cells of three seeds each are too few; with eight they hold, and a cell that goes the
// other way far enough is named.
func TestManyCells(t *testing.T) {
	spread := []float64{-1.2, -.7, -.3, 0, .2, .4, .7, .9}
	shifted := func(by float64) []float64 {
		out := slices.Clone(spread)
		for i := range out {
			out[i] += by
		}
		return out
	}
	var values [][]float64
	var each []Estimate
	for range 24 {
		values = append(values, shifted(-1.5))
		each = append(each, Mean(values[0]))
	}
	if got, cells := Over(each, Pooled(values), Below(0)); got != Yes || cells != nil {
		t.Errorf("all cells below: %v, contradicting %v", got, cells)
	}
	values[5], each[5] = shifted(4), Mean(shifted(4))
	if got, cells := Over(each, Pooled(values), Below(0)); got != Partly || !slices.Equal(cells, []int{5}) {
		t.Errorf("one cell above: %v, contradicting %v", got, cells)
	}
	table := []Region{Within(-1, 1), Within(-1, 1)}
	if got, _ := Every([]Estimate{Mean(shifted(0)), Mean(shifted(.1))}, table); got != Yes {
		t.Errorf("table of equal numbers: %v", got)
	}
	if got, rows := Every([]Estimate{Mean(shifted(0)), Mean(shifted(4))}, table); got != Partly || !slices.Equal(rows, []int{1}) {
		t.Errorf("table with one row outside: %v %v", got, rows)
	}
	if got, _ := Every([]Estimate{Mean(shifted(4)), Mean(shifted(4))}, table); got != No {
		t.Errorf("table of other numbers: %v", got)
	}
}

// As many replicates as Needed says decide a claim, and a tenth fewer do not, where the spread stays what it was.
func TestNeeded(t *testing.T) {
	e := estimate(1, .7, 4, 5) // five replicates, undecided against zero
	n := Above(0).Needed(e)
	if Single(e, Above(0)) != CannotTell || n < 15 || n > 25 {
		t.Fatalf("%+v needs %d", e, n)
	}
	at := func(n int) Estimate { return estimate(1, .7*math.Sqrt(5/float64(n)), float64(n-1), n) }
	if Single(at(n), Above(0)) != Yes || Single(at(n/3), Above(0)) != CannotTell {
		t.Errorf("%d replicates: %+v", n, at(n))
	}
	far := estimate(2, 1.4, 4, 5) // twice as far with twice the spread: as many
	if got := Above(0).Needed(far); got != n {
		t.Errorf("%+v needs %d, not %d", far, got, n)
	}
	if got := Below(4).Needed(far); got != n { // on the other side, too
		t.Errorf("%+v below 4 needs %d, not %d", far, got, n)
	}
	for at, end := range map[float64]float64{1: -1, 3: 4} { // the nearer end of a band counts
		e, one := estimate(at, .7, 4, 5), Above(end)
		if got, want := Within(-1, 4).Needed(e), one.Needed(e); got != want || Beyond(-1, 4).Needed(e) != want || got < 5 {
			t.Errorf("%+v needs %d between −1 and 4, beside %g %d", e, got, end, want)
		}
	}
	if got := Above(0).Needed(estimate(1, .01, 4, 5)); got != Enough {
		t.Errorf("what is clear needs %d", got)
	}
	if got := Above(0).Needed(Mean(nil)); got != 0 {
		t.Errorf("nothing needs %d", got)
	}
	if got := Above(1).Needed(e); got != 0 {
		t.Errorf("a value on the end is decided by %d", got)
	}
}
