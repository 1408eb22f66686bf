package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// manyClasses is moments of k classes of width d, some of them of one sample, and a classifier.
func manyClasses(k, d int) (*Moments, []float64, []float64) {
	random := rand.New(rand.NewPCG(7, uint64(k)))
	m := NewMoments(k, d, true)
	var rows []float64
	var labels []int32
	for c := range k {
		size := .5 + random.Float64()
		for range 1 + c%3 {
			for range d {
				rows = append(rows, size*random.NormFloat64())
			}
			labels = append(labels, int32(c))
		}
	}
	if err := AddRows(m, nil, rows, labels); err != nil {
		panic(err)
	}
	w, b := make([]float64, k*d), make([]float64, k)
	for i := range w {
		w[i] = random.NormFloat64()
	}
	return m, w, b
}

// What a sample of the pairs gives is what all of them give, within the standard errors that it states, and no error is far larger
// than it must be. Everything that is not a measure of pairs stays as it is, bit by bit.
func TestSampledPairs(t *testing.T) {
	m, w, b := manyClasses(300, 6)
	all, err := m.Report(w, b, Options{Uncertainty: true, Null: 3})
	if err != nil {
		t.Fatal(err)
	}
	some, err := m.Report(w, b, Options{Uncertainty: true, Null: 3, samplePairs: true})
	if err != nil {
		t.Fatal(err)
	}
	if s := some.Sampled; s == nil || s.Pairs != sampledPairs || s.Of != 300*299/2 || len(s.StandardError) != len(averageKeys) || all.Sampled != nil {
		t.Fatalf("sampled: %+v, and of all %+v", some.Sampled, all.Sampled)
	}
	furthest := 0.0
	for key, want := range all.Measures.of {
		got, ok := some.Measures.of[key]
		size, sampled := some.Sampled.StandardError[key]
		switch {
		case slices.Contains(extremeKeys, key):
			if ok || !strings.Contains(some.Missing[key], "--measures "+key) {
				t.Errorf("%s is %g of a sample (missing: %q)", key, got, some.Missing[key])
			}
		case !sampled:
			if got != want {
				t.Errorf("%s is %g beside sampled pairs, %g beside all", key, got, want)
			}
		default:
			furthest = max(furthest, math.Abs(got-want)/size)
			if !(math.Abs(got-want) <= 5*size && size > 0 && size < want/20) {
				t.Errorf("%s is %g ± %g of a sample, %g of all pairs", key, got, size, want)
			}
			if some.Uncertainty[key] < 3*size || !strings.Contains(some.Reason[key], "a sample of 65536 of the 4.5e+04 pairs") {
				t.Errorf("%s: uncertainty %g of standard error %g, because %q", key, some.Uncertainty[key], size, some.Reason[key])
			}
			if slices.Contains(nullKeys, key) && !(some.Null[key].Low > 0) {
				t.Errorf("%s has no null", key)
			}
		}
	}
	if furthest < .05 {
		t.Errorf("all measures are within %g standard errors: these are too large", furthest)
	}
	again, err := m.Report(w, b, Options{samplePairs: true})
	if err != nil || again.Measures.of[KeyCDNV] != some.Measures.of[KeyCDNV] {
		t.Errorf("the same sample gives %g and then %g: %v", some.Measures.of[KeyCDNV], again.Measures.of[KeyCDNV], err)
	}
}

// The standard errors are those of the draws: another seed for each number of classes moves the values as far as they say.
func TestSampledPairsErr(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const draws, n = 400, 500
	for name, f := range map[string]struct {
		value func(spread) float64
		size  func([]float64) float64
	}{
		"mean":      {func(s spread) float64 { return s.mean }, errorOfMean},
		"variance":  {func(s spread) float64 { return s.m2 / s.n }, errorOfVariance},
		"deviation": {func(s spread) float64 { return math.Sqrt(s.m2 / s.n) }, errorOfDeviation},
	} {
		values, sizes := make([]float64, draws), 0.0
		for i := range values {
			x := make([]float64, n)
			for j := range x {
				x[j] = random.ExpFloat64()
			}
			values[i] = f.value(spreadOf(x))
			sizes += f.size(x) / draws
		}
		if s := spreadOf(values); math.Abs(math.Sqrt(s.m2/s.n)/sizes-1) > .15 {
			t.Errorf("%s: values of draws have deviation %g, and the standard error says %g", name, math.Sqrt(s.m2/s.n), sizes)
		}
	}
	if errorOfDeviation([]float64{2, 2, 2}) != 0 {
		t.Error("equal values have an error")
	}
}

// Many classes of moments are sampled unasked, and looked at one and all if a measure of pairs is named.
func TestPairsAreSampledUnasked(t *testing.T) {
	for _, c := range []struct {
		k, d    int
		ask     []string
		sampled bool
	}{
		{5000, 256, nil, false}, {21_841, 2048, nil, false}, {128_000, 2048, nil, true}, {25_000, 1, nil, true},
		{128_000, 2048, []string{KeyNC1Pinv}, true}, {128_000, 2048, []string{KeyCDNVMax}, false},
		{128_000, 2048, []string{"default", KeyCDNV}, false}, {128_000, 2048, []string{"all"}, false},
	} {
		e, err := NewEngine[float64](Options{Measures: c.ask})
		if err != nil {
			t.Fatal(err)
		}
		e.train.k, e.train.d = c.k, c.d
		b := newBuilder(&e.want, PerSample)
		e.leaveUnaskedReport(b)
		if (b.report.Sampled != nil) != c.sampled || e.pairs.sampled != c.sampled || e.geometry.rows.sampled != c.sampled {
			t.Errorf("%d classes of width %d, asked for %q: sampled %+v", c.k, c.d, c.ask, b.report.Sampled)
		}
	}
}

// Two sampled classes with one mean leave cdnv undefined, as two of all do.
func TestSampledPairsThatCoincide(t *testing.T) {
	m, _, _ := manyClasses(40, 3)
	copy(m.Mean[3:6], m.Mean[:3])
	r, err := m.Report(nil, nil, Options{samplePairs: true})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Missing[KeyCDNV], "classes 0 and 1 have the same mean") || !strings.Contains(r.Missing[KeyGNC2Log], "same direction") {
		t.Errorf("cdnv: %q, gnc2_log: %q", r.Missing[KeyCDNV], r.Missing[KeyGNC2Log])
	}
}
