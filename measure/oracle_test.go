package measure_test

import (
	"collapse.example/collapse/internal/reporttest"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/measure/internal/dd"
	"collapse.example/collapse/measure/measuretest"
)

// compared is one random set, measured and evaluated.
type compared struct {
	index  int
	set    *measuretest.Set
	report *measure.Report
	exact  map[string]measuretest.Value
	well   bool               // WellConditioned
	loose  map[string]float64 // how far one rounding of means, samples and W moves the exact value; if asked for
	err    error
}

// sets returns how many sets COLLAPSE_SETS asks for.
func sets(t testing.TB, usual int) int { return asked(t, "COLLAPSE_SETS", usual, 1) }

// setsFrom returns the index of the first set, which COLLAPSE_SETS_FROM asks for.
func setsFrom(t testing.TB) int { return asked(t, "COLLAPSE_SETS_FROM", 0, 0) }

// asked returns the number in an environment variable, which is at least least.
func asked(t testing.TB, variable string, usual, least int) int {
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		t.Fatalf("%s=%q: want a whole number of at least %d", variable, text, least)
	}
	return n
}

// compareAll compares n sets from an index on, on all processors; each is handed to visit in order of index.
func compareAll(draw func(int) *measuretest.Set, from, n int, jitter bool, visit func(*compared)) {
	results := make([]chan *compared, n)
	for i := range results {
		results[i] = make(chan *compared, 1)
	}
	var next sync.Mutex
	at := 0
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for {
				next.Lock()
				i := at
				at++
				next.Unlock()
				if i >= n {
					return
				}
				results[i] <- compare(from+i, draw(from+i), jitter)
			}
		}()
	}
	for _, r := range results {
		visit(<-r)
	}
}

// compare measures a set and evaluates its definitions.
func compare(index int, s *measuretest.Set, jitter bool) *compared {
	c := &compared{index: index, set: s}
	if c.set.Float32 {
		c.report, c.err = measureSet[float32](c.set)
	} else {
		c.report, c.err = measureSet[float64](c.set)
	}
	if c.err != nil {
		return c
	}
	e := measuretest.New(c.set)
	ranks := measuretest.Ranks{Train: int(reporttest.Of(c.report.Measures, measure.KeyRankBetween)), Test: testRank(e, c.report)}
	c.exact, c.well = e.Values(ranks), e.WellConditioned()
	if jitter {
		c.loose = map[string]float64{}
		for seed := range uint64(2) {
			for key, v := range measuretest.NewJittered(c.set, 0x1p-53, seed).Values(ranks) {
				if v.Undefined != "" {
					c.loose[key] = math.Inf(1)
					continue
				}
				c.loose[key] = max(c.loose[key], c.exact[key].V.Sub(v.V).Abs().Hi)
			}
		}
	}
	return c
}

// testRank finds the rank that dilation was taken over, which no report tells: of the ranks that leave out only what rounding
// could have made, the one that comes nearest.
func testRank(e *measuretest.Evaluation, r *measure.Report) int {
	got, measured := r.Measures.Get(measure.KeyDilation)
	_, singular := e.Spectrum()
	if !measured || len(singular) == 0 {
		return 0
	}
	best, least := 0, math.Inf(1)
	for rank := len(singular); rank > 0; rank-- {
		if !e.AdmitsTest(rank) {
			continue
		}
		if v := e.Dilation(rank); v.Undefined == "" && math.Abs(v.V.Hi-got) < least {
			best, least = rank, math.Abs(v.V.Hi-got)
		}
	}
	return best
}

// measureSet measures a set as features of type T.
func measureSet[T float32 | float64](s *measuretest.Set) (*measure.Report, error) {
	split := func(x measuretest.Split) measure.Split[T] {
		var h []T
		fill(&h, x.H)
		return measure.Memory(h, s.D, x.Labels)
	}
	in := measure.Input[T]{Classes: s.Train.K, Train: split(s.Train), True: s.True, Redrawn: s.Redrawn}
	if s.W != nil {
		fill(&in.W, s.W)
	}
	if s.B != nil {
		fill(&in.B, s.B)
	}
	if s.Test != nil {
		in.Test, in.TestClasses = split(*s.Test), s.Test.K
	}
	if s.OOD != nil {
		rows := &measure.Rows[T]{D: s.D}
		fill(&rows.H, s.OOD)
		in.OOD = rows
	}
	opt := measure.Options{Measures: []string{"all"}}
	askUncertainty(&opt)
	if s.PerClass {
		opt.Imbalance = measure.PerClass
	}
	return measure.Measure(in, opt)
}

// fill converts numbers that the element type holds exactly.
func fill[E kernel.Float](to *[]E, from []float64) {
	*to = make([]E, len(from))
	for i, x := range from {
		(*to)[i] = E(x)
		if float64((*to)[i]) != x {
			panic(fmt.Sprintf("%g is not one of its type's numbers", x))
		}
	}
}

// errorOf returns |value − exact|.
func errorOf(value float64, exact measuretest.Value) float64 {
	return dd.Of(value).Sub(exact.V).Abs().Hi
}

// halfUlp is half of the distance from |x| to the next number.
func halfUlp(x float64) float64 {
	x = math.Abs(x)
	return (math.Nextafter(x, math.Inf(1)) - x) / 2
}

// Every key of the registry has a definition in the oracle, or a reason why it has none.
func TestOracleCoversRegistry(t *testing.T) {
	known := measuretest.Keys()
	for _, d := range measure.Definitions() {
		reason, without := measuretest.Uncovered[d.Key]
		if slices.Contains(known, d.Key) == without {
			t.Errorf("%s: defined %v, left out because of %q: want one of the two", d.Key, !without, reason)
		}
	}
}
