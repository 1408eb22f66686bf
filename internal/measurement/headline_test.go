package measurement

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/reporttest"
	"collapse.example/collapse/measure"
)

// featureSet is a random set of features.
type featureSet struct {
	k, d   int
	h      []float64
	labels []int32
}

// logUniform draws between two numbers, evenly on a logarithmic scale.
func logUniform(r *rand.Rand, from, to float64) float64 {
	return from * math.Pow(to/from, r.Float64())
}

// drawSet draws class means of size far and samples of size spread around them, both zero or more, with n_k from least on,
// then rescales a coordinate.
func drawSet(r *rand.Rand, least int, far, spread func(typical float64) float64, heavy float64) featureSet {
	s := featureSet{k: int(logUniform(r, 2, longtest.Of(30., 60))), d: int(logUniform(r, 2, longtest.Of(80., 200)))}
	typical := math.Sqrt(2 * float64(s.d)) // distance of means of size 1
	f, w := far(typical), spread(typical)
	per, places := logUniform(r, float64(least), 40), r.Perm(s.k)
	for c := range s.k {
		mean := make([]float64, s.d)
		for j := range mean {
			mean[j] = f * r.NormFloat64()
		}
		if heavy > 1 { // the heavy coordinate alone tells all classes apart
			mean[0] = f * float64(places[c])
		}
		for range max(least, int(per*(.5+r.Float64()))) {
			for j := range mean {
				x := mean[j] + w*r.NormFloat64()
				if j == 0 {
					x *= heavy
				}
				s.h = append(s.h, x)
			}
			s.labels = append(s.labels, int32(c))
		}
	}
	return s
}

func finding(t *testing.T, s featureSet) (string, *measure.Report) {
	t.Helper()
	r, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(s.h, s.d, s.labels)}, measure.Options{Uncertainty: true, Null: measure.DefaultNull})
	if err != nil {
		t.Fatal(err)
	}
	return HeadlineOf(r), r
}

// headlines is the number of sets of each kind.
var headlines = longtest.Of(40, 500)

// Noise is never called collapsed, nor near a simplex, however few samples or many classes there are.
func TestNoiseIsNotCalledCollapsed(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for i := range headlines {
		s := drawSet(r, 1, func(float64) float64 { return 0 }, func(float64) float64 { return 1 }, logUniform(r, 1, 1e4))
		words, m := finding(t, s)
		if low := strings.ToLower(words); strings.Contains(low, "collapsed") || strings.Contains(low, "near a simplex") && !strings.Contains(low, "not near a simplex") || words == "" {
			t.Errorf("set %d: K = %d, d = %d, %d samples: %q (NC1 %g, shuffled %+v)", i, s.k, s.d, len(s.labels), words, reporttest.Of(m.Measures, measure.KeyNC1Pinv), m.Null[measure.KeyNC1Pinv])
		}
	}
}

// Classes whose spread is 10⁻⁶ to 10⁻² of the distance of their means are always called collapsed: with noise in directions that no
// class mean uses, and with a coordinate far larger than the others.
func TestCollapsedClassesAreCalledCollapsed(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for i := range headlines {
		relative, heavy := logUniform(r, 1e-6, 1e-2), 1.0
		if i%3 == 1 {
			heavy = logUniform(r, 10, 1e6)
		}
		s := drawSet(r, 3, func(float64) float64 { return 1 }, func(typical float64) float64 { return relative * typical / math.Sqrt(typical*typical/2) }, heavy)
		if i%3 == 2 && s.d >= s.k-1 { // directions in which only noise varies
			s = withUnused(r, s, logUniform(r, .1, 10))
		}
		words, m := finding(t, s)
		if !strings.HasPrefix(words, "Collapsed") {
			t.Errorf("set %d: K = %d, d = %d, %d samples, spread %g, heavy %g: %q (NC1 %g, directions %v, shuffled %+v)", i, s.k, s.d, len(s.labels), relative, heavy, words,
				reporttest.Of(m.Measures, measure.KeyNC1Pinv), m.Directions, m.Null[measure.KeyNC1Pinv])
		}
	}
}

// withUnused adds as many coordinates, in which classes do not differ.
func withUnused(r *rand.Rand, s featureSet, size float64) featureSet {
	out := featureSet{k: s.k, d: 2 * s.d, labels: s.labels}
	counts := make([]float64, s.k)
	for _, c := range s.labels {
		counts[c]++
	}
	// Noise around its class's mean: the means themselves keep out of these coordinates.
	noise := make([]float64, len(s.labels)*s.d)
	sums := make([]float64, s.k*s.d)
	for i, c := range s.labels {
		for j := range s.d {
			x := size * r.NormFloat64()
			noise[i*s.d+j] = x
			sums[int(c)*s.d+j] += x / counts[c]
		}
	}
	for i, c := range s.labels {
		out.h = append(out.h, s.h[i*s.d:][:s.d]...)
		for j := range s.d {
			out.h = append(out.h, noise[i*s.d+j]-sums[int(c)*s.d+j])
		}
	}
	return out
}

// Where nobody has shuffled labels, noise of few samples in many coordinates is not called collapsed either.
func TestNoiseWithoutShuffledLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	const k, n, d = 10, 20, 5120
	s := featureSet{k: k, d: d, h: make([]float64, k*n*d)}
	for i := range s.h {
		s.h[i] = r.NormFloat64()
	}
	for i := range k * n {
		s.labels = append(s.labels, int32(i%k))
	}
	m, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(s.h, d, s.labels)}, measure.Options{Uncertainty: true})
	if err != nil {
		t.Fatal(err)
	}
	if words := HeadlineOf(m); !strings.Contains(words, "Without shuffled labels (--null ") {
		t.Errorf("%q (NC1 %g)", words, reporttest.Of(m.Measures, measure.KeyNC1Pinv))
	}
	for i, c := range s.labels { // classes that are far apart are told without
		s.h[i*d+int(c)] += 1000
	}
	if m, err = measure.Measure(measure.Input[float64]{Train: measure.Memory(s.h, d, s.labels)}, measure.Options{Uncertainty: true}); err != nil {
		t.Fatal(err)
	}
	if words := HeadlineOf(m); !strings.HasPrefix(words, "Collapsed") {
		t.Errorf("far apart: %q (NC1 %g)", words, reporttest.Of(m.Measures, measure.KeyNC1Pinv))
	}
}

// A list of measures without decisions leaves the headline of 2,000 tight classes as it is.
func TestManyClassesAreCalledCollapsedWhateverIsSelected(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := blobsAround(r, farMeans(r, 2000, 64), always(4), always(1e-3))
	report, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(s.h, s.d, s.labels)}, measure.Options{Measures: []string{measure.KeyNC1Pinv}})
	if err != nil {
		t.Fatal(err)
	}
	if words := HeadlineOf(report); !strings.HasPrefix(words, "Collapsed") {
		t.Error(words)
	}
}
