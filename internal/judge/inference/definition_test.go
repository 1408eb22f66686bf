package inference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// studentTail is the probability of Student's t above x, by Simpson's rule on the density: the oracle of what gonum computes.
func studentTail(x, df float64) float64 {
	gamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	scale := math.Exp(gamma((df+1)/2)-gamma(df/2)) / math.Sqrt(df*math.Pi)
	// With t = √df·tan(u) the density is proportional to cos(u)^(df−1).
	from, to := math.Atan(x/math.Sqrt(df)), math.Pi/2
	const steps = 2000
	sum, h := 0.0, (to-from)/steps
	for i := range steps + 1 {
		weight := 2.0
		switch {
		case i == 0 || i == steps:
			weight = 1
		case i%2 == 1:
			weight = 4
		}
		sum += weight * math.Pow(math.Max(math.Cos(from+h*float64(i)), 0), df-1)
	}
	return sum * h / 3 * scale * math.Sqrt(df)
}

// beyond is the probability of an estimate this far above (side 1) or below (−1) an end that is the truth. A constant on an end says nothing.
func beyond(e Estimate, end, side float64) float64 {
	d := side * (e.Value - end)
	switch {
	case math.IsInf(end, 0) || e.Error == 0:
		switch {
		case d > 0:
			return 0
		case d < 0:
			return 1
		}
		return .5
	case d < 0:
		return 1 - studentTail(-d/e.Error, e.DF)
	}
	return studentTail(d/e.Error, e.DF)
}

// verdict is what the definitions say of one cell: whether it lies inside, outside, and how likely it is that far outside by chance.
func verdict(e Estimate, r Region) (yes, no bool, against float64) {
	if e.N < Enough || math.IsNaN(e.Error) {
		return false, false, 1
	}
	above, below := beyond(e, r.Hi, 1), beyond(e, r.Lo, -1)     // outside the ends
	within := math.Max(beyond(e, r.Lo, 1), beyond(e, r.Hi, -1)) // between them: above one and below the other
	inside, out, against := within < tail, math.Min(above, below) < tail, math.Min(above, below)
	if r.Outside {
		return out, inside, within
	}
	return inside, out, against
}

// closed are the cells that contradict, by closed testing: one is named if in every set of cells with it the least probability is at
// most the level divided by the set's size. Holm's procedure is a short cut to that.
func closed(p []float64) (rejected []int) {
	for i := range p {
		all := true
		for set := 1; set < 1<<len(p); set++ {
			if set>>i&1 == 0 {
				continue
			}
			least, size := math.Inf(1), 0.0
			for j := range p {
				if set>>j&1 == 1 {
					least, size = math.Min(least, p[j]), size+1
				}
			}
			all = all && least <= tail/size
		}
		if all {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

// world is a claim about a few cells.
type world struct {
	values [][]float64
	cells  []Estimate
	region Region
}

var regions = []Region{Below(0), Above(0), Within(-1, 1), Beyond(-1, 1)}

// draw makes cells of 4 to 7 replicates around a few places, some without spread, some with missing values or nothing else.
func draw(r *rand.Rand) world {
	w := world{region: regions[r.IntN(len(regions))]}
	for range 1 + r.IntN(4) {
		n, at, spread := 4+r.IntN(4), []float64{-5, -2, -1, 0, 1, 2, 5}[r.IntN(7)], []float64{0, .3, 1}[r.IntN(3)]
		values := make([]float64, n)
		for i := range values {
			values[i] = at + spread*r.NormFloat64()
		}
		switch r.IntN(8) {
		case 0:
			values[0] = math.NaN()
		case 1:
			for i := range values {
				values[i] = math.NaN()
			}
		}
		w.values, w.cells = append(w.values, values), append(w.cells, Mean(values))
	}
	return w
}

// TestAnswersAreTheirDefinitions compares all rules with the definitions, in many small worlds of every kind of region.
func TestAnswersAreTheirDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	seen := map[string]int{}
	for range 4000 {
		w := draw(r)
		pooled := Pooled(w.values)
		if len(w.cells) == 1 {
			pooled = w.cells[0]
		}
		all, some, p := true, 0, make([]float64, len(w.cells))
		for i, e := range w.cells {
			var yes, no bool
			yes, no, p[i] = verdict(e, w.region)
			all = all && yes
			if yes {
				some++
			}
			if want := answerOf(yes, no); Single(e, w.region) != want {
				t.Fatalf("%+v in %+v: %v, by definition %v", e, w.region, Single(e, w.region), want)
			}
		}
		contradicting := closed(p)
		yes, no, _ := verdict(pooled, w.region)
		average := answerOf(yes, no)
		if len(w.cells) > 1 && average == Yes && len(contradicting) > 0 {
			average = Partly
			if len(contradicting) == len(w.cells) {
				average = No
			}
		}
		over := average
		if average == Yes && !all {
			over = CannotTell
		}
		every := CannotTell
		switch {
		case all:
			every = Yes
		case len(contradicting) > 0 && some > 0:
			every = Partly
		case len(contradicting) > 0:
			every = No
		}
		got := func(name string, answer Answer, cells []int, want Answer) {
			named := contradicting
			if name == "every" && want == Yes || name != "every" && len(w.cells) == 1 {
				named = nil
			}
			if answer != want || !slices.Equal(cells, named) {
				t.Fatalf("%s of %+v in %+v: %v %v, by definition %v %v", name, w.cells, w.region, answer, cells, want, named)
			}
			seen[fmt.Sprint(name, " ", want, " ", w.region.Outside)]++
		}
		a, c := OnAverage(w.cells, pooled, w.region)
		got("on average", a, c, average)
		a, c = Over(w.cells, pooled, w.region)
		got("over", a, c, over)
		a, c = Every(w.cells, slices.Repeat([]Region{w.region}, len(w.cells)))
		got("every", a, c, every)
	}
	for _, rule := range []string{"on average", "over", "every"} {
		for _, answer := range []Answer{CannotTell, Yes, Partly, No} {
			for _, outside := range []bool{false, true} {
				if name := fmt.Sprint(rule, " ", answer, " ", outside); seen[name] == 0 {
					t.Errorf("no world has %s", name)
				}
			}
		}
	}
}

func answerOf(yes, no bool) Answer {
	switch {
	case yes:
		return Yes
	case no:
		return No
	}
	return CannotTell
}

// TestDifferencesInEveryCell: two cells far outside a band on its upper side differ, and neither contradicts that they do.
func TestDifferencesInEveryCell(t *testing.T) {
	about := func(v float64) []float64 { return []float64{v - .1, v, v + .1, v, v - .05} }
	for _, of := range []struct {
		at, other float64
		over      Answer
		cells     []int
	}{{5, 7, Yes, nil}, {-5, -7, Yes, nil}, {5, 0, Partly, []int{1}}, {-5, 7, No, nil}} {
		values := [][]float64{about(of.at), about(of.other)}
		cells := []Estimate{Mean(values[0]), Mean(values[1])}
		pooled := Pooled(values)
		if of.over == No { // the mean lies in the band: effects of both signs cancel
			if got, c := Every(cells, []Region{Beyond(-2, 2), Beyond(-2, 2)}); got != Yes || c != nil {
				t.Errorf("every: %v %v", got, c)
			}
		}
		if got, c := Over(cells, pooled, Beyond(-2, 2)); got != of.over || !slices.Equal(c, of.cells) {
			t.Errorf("cells at %g and %g, wanted outside ±2: %v %v, want %v %v", of.at, of.other, got, c, of.over, of.cells)
		}
	}
	if got, c := Every(nil, nil); got != CannotTell || c != nil {
		t.Errorf("no cells: %v %v", got, c)
	}
	nothing := Quotient([]float64{1, 2, 3, 4, 5}, make([]float64, 5)) // by zero: five replicates without an interval
	if got, c := Every([]Estimate{Mean(about(0)), nothing}, slices.Repeat([]Region{Below(1)}, 2)); got != CannotTell || c != nil {
		t.Errorf("a cell without an interval contradicts: %v %v", got, c)
	}
}

// TestEstimatesOfFewReplicates: one replicate has a value and no interval, none has nothing; two have an interval.
func TestEstimatesOfFewReplicates(t *testing.T) {
	nan := math.NaN()
	for name, of := range map[string]struct {
		e        Estimate
		value    float64
		n        int
		interval bool
		degrees  float64
	}{
		"mean of none":              {Mean(nil), nan, 0, false, 0},
		"mean of missing":           {Mean([]float64{nan, nan}), nan, 0, false, 0},
		"mean of one":               {Mean([]float64{3, nan}), 3, 1, false, 0},
		"mean of two":               {Mean([]float64{3, 5}), 4, 2, true, 1},
		"printed once":              {Printed(3, 0, 1), 3, 1, false, 0},
		"printed twice":             {Printed(3, 1, 2), 3, 2, true, 1},
		"difference from one":       {Welch([]float64{1, 2, 3}, []float64{1}), 1, 1, false, 0},
		"difference from none":      {Welch([]float64{1, 2, 3}, nil), nan, 0, false, 0},
		"difference of none from":   {Welch(nil, []float64{1, 2, 3}), nan, 0, false, 0},
		"quotient of one pair":      {Quotient([]float64{1, 2}, []float64{2, nan}), nan, 1, false, 0},
		"quotient of two pairs":     {Quotient([]float64{8, 8.1, 9}, []float64{2, 2.01, nan}), 8.05 / 2.005, 2, true, 1},
		"quotient of one apart":     {QuotientApart([]float64{1, 2, 3}, []float64{2}), nan, 1, false, 0},
		"pooled over an empty cell": {Pooled([][]float64{{1, 2, 3}, {nan, nan, nan}}), nan, 0, false, 0},
		"pooled of one replicate":   {Pooled([][]float64{{1, nan}, {3}}), 2, 1, false, 0},
		"pooled of two":             {Pooled([][]float64{{1, 2}, {3, 4}}), 2.5, 2, true, 1},
		"pooled, one never there":   {Pooled([][]float64{{1, 2, nan}, {3, 4, nan}}), 2.5, 2, true, 1},
		"constants, one exact":      {Apart(Mean([]float64{1, 1, 1}), Estimate{Value: 3, DF: math.Inf(1), N: math.MaxInt}), -2, 3, true, math.Inf(1)},
		"a difference of constants": {Welch([]float64{1, 1, 1}, []float64{3, 3}), -2, 2, true, 2},
	} {
		same := math.Abs(of.e.Value-of.value) < 1e-12 || math.IsNaN(of.e.Value) && math.IsNaN(of.value)
		if !same || of.e.N != of.n || of.e.DF != of.degrees || math.IsNaN(of.e.Lo) == of.interval || math.IsNaN(of.e.Hi) == of.interval || math.IsNaN(of.e.Error) == of.interval {
			t.Errorf("%s: %+v", name, of.e)
		}
	}
	if e := QuotientApart([]float64{8, 8.1}, []float64{2, 2.01}); math.IsNaN(e.Lo) || e.N != 2 {
		t.Errorf("the quotient of two samples of two: %+v", e)
	}
}

// TestPrintedNumbersAreSamples: a mean and a deviation tell as much as the sample that they are of.
func TestPrintedNumbersAreSamples(t *testing.T) {
	mean, deviation := stat.MeanStdDev(first, nil)
	p, m := Printed(mean, deviation, len(first)), Mean(first)
	near(t, "lower end", p.Lo, m.Lo, 1e-12)
	near(t, "upper end", p.Hi, m.Hi, 1e-12)
	if p.N != 10 || p.DF != 9 {
		t.Errorf("%+v", p)
	}
}

// TestQuotientsByConstants: divided by a constant of either sign, an estimate is divided and its interval with it.
func TestQuotientsByConstants(t *testing.T) {
	m := Mean(first)
	for _, by := range []float64{4, -4} {
		constant := slices.Repeat([]float64{by}, len(first))
		for name, q := range map[string]Estimate{"paired": Quotient(first, constant), "apart": QuotientApart(first, constant)} {
			near(t, name+" value", q.Value, m.Value/by, 1e-12)
			near(t, name+" error", q.Error, m.Error/4, 1e-12)
			near(t, name+" lower end", q.Lo, math.Min(m.Lo/by, m.Hi/by), 1e-9)
			near(t, name+" upper end", q.Hi, math.Max(m.Lo/by, m.Hi/by), 1e-9)
			near(t, name+" degrees", q.DF, 9, 1e-9)
		}
	}
}

// TestErrorsOfQuotients: the error is that of a − θb over the mean of b, and of proportional samples nothing but rounding, of either sign.
func TestErrorsOfQuotients(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 300 {
		n := 3 + r.IntN(8)
		a, b, rest := normal(r, n, 5, 1), normal(r, n, -3, .5), make([]float64, n)
		for i := range a { // they go together
			a[i] += b[i]
		}
		q, factor := Quotient(a, b), 10*r.NormFloat64()
		for i := range rest {
			rest[i] = a[i] - q.Value*b[i]
			a[i] = factor * b[i]
		}
		near(t, "error", q.Error, Mean(rest).Error/math.Abs(stat.Mean(b, nil)), 1e-9)
		p := Quotient(a, b)
		tolerance := 1e-5 * math.Abs(factor)
		near(t, "proportional: value", p.Value, factor, tolerance)
		near(t, "proportional: error", p.Error, 0, tolerance)
		near(t, "proportional: lower end", p.Lo, factor, tolerance)
		near(t, "proportional: upper end", p.Hi, factor, tolerance)
		for i := range rest {
			rest[i] += 5
		}
		apart, x, y := QuotientApart(a, rest), Mean(a), Mean(rest)
		near(t, "apart: error", apart.Error, math.Hypot(x.Error, x.Value/y.Value*y.Error)/math.Abs(y.Value), 1e-9*apart.Error)
	}
}

// TestNoErrorNoProbability: without an error or degrees of freedom nothing is known of an end.
func TestNoErrorNoProbability(t *testing.T) {
	for _, e := range []Estimate{{Value: 1, Error: math.NaN(), DF: 4}, {Value: 1, Error: 1}, {Value: math.NaN(), Error: math.NaN()}} {
		if p := e.below(0); !math.IsNaN(p) {
			t.Errorf("%+v lies below 0 with probability %g", e, p)
		}
		for _, r := range regions {
			if p := r.against(e); p < 1 {
				t.Errorf("%+v is against %+v with %g", e, r, p)
			}
		}
	}
}

// TestBendsNeedThreePlaces: three points have a bend, two have none, and missing ones do not count.
func TestBendsNeedThreePlaces(t *testing.T) {
	bend, rise := Bend([]float64{0, .5, 1}, []float64{0, .25, 1})
	near(t, "bend of a square", bend, -.25, 1e-12)
	near(t, "rise of a square", rise, 1, 1e-12)
	for _, y := range [][]float64{{0, 1}, {0, math.NaN(), 1}} {
		x := []float64{0, .5, 1}
		if len(y) == 2 {
			x = []float64{0, 1}
		}
		if bend, rise := Bend(x, y); !math.IsNaN(bend) || !math.IsNaN(rise) {
			t.Errorf("two points of %d: bend %g, rise %g", len(y), bend, rise)
		}
	}
	if bend, _ := Bend([]float64{2, 2, 2}, []float64{0, 1, 2}); !math.IsNaN(bend) {
		t.Errorf("one place has a bend: %g", bend)
	}
}
