package measurement

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure"
)

// what a headline says of collapse.
const (
	saysNo = iota - 1
	saysUnknown
	saysYes
)

// saidOf reads a headline.
func saidOf(words string) int {
	switch {
	case strings.HasPrefix(words, "Collapsed"), strings.HasPrefix(words, "On the way"), strings.Contains(words, "classes are collapsed"):
		return saysYes
	case strings.HasPrefix(words, "No "), strings.HasPrefix(words, "The class means coincide"):
		return saysNo
	}
	return saysUnknown
}

// madeSet is a set whose generator knows what may be said of it.
type madeSet struct {
	name   string
	set    featureSet
	truth  int    // saysYes: never "no"; saysNo: never "yes"; saysUnknown: either
	within string // what the headline of the default measures must say; "" if nothing is required
}

// blobs draws classes of n samples around the rows of means (k×d), with the spread of each.
func blobsAround(r *rand.Rand, means [][]float64, n func(c int) int, spread func(c int) float64) featureSet {
	s := featureSet{k: len(means), d: len(means[0])}
	for c, mean := range means {
		for range n(c) {
			for _, x := range mean {
				s.h = append(s.h, x+spread(c)*r.NormFloat64())
			}
			s.labels = append(s.labels, int32(c))
		}
	}
	return s
}

// farMeans draws k means of size 1 in each of d coordinates.
func farMeans(r *rand.Rand, k, d int) [][]float64 {
	means := make([][]float64, k)
	for c := range means {
		means[c] = make([]float64, d)
		for j := range means[c] {
			means[c][j] = r.NormFloat64()
		}
	}
	return means
}

func always[T any](x T) func(int) T { return func(int) T { return x } }

// madeSets are sets of every kind that a headline tells apart. One has as many classes as are asked for, of which 64 have no sample.
func madeSets(r *rand.Rand, classes int) []madeSet {
	var out []madeSet
	tight := logUniform(r, 1e-7, 1e-3)
	k := 4 + r.IntN(12)
	d := k + 8 + r.IntN(20)
	means := farMeans(r, k, d)
	out = append(out,
		madeSet{"collapsed", blobsAround(r, means, always(20), always(tight)), saysYes, "Collapsed"},
		madeSet{"noise", blobsAround(r, farMeansAt0(k, d), always(20), always(1.)), saysNo, "No collapse"},
		madeSet{"half", blobsAround(r, means, always(20), func(c int) float64 { return []float64{tight, 3}[c%2] }), saysNo, ""},
		madeSet{"two classes", blobsAround(r, farMeans(r, 2, d), always(30), always(tight)), saysYes, "Collapsed"},
		madeSet{"more classes than coordinates", blobsAround(r, farMeans(r, 30, 3), always(20), always(1e-4)), saysYes, "Collapsed"},
		madeSet{"many overlapping classes in few coordinates", blobsAround(r, farMeans(r, 200, 3), always(10), always(.25)), saysNo, ""},
	)
	absent := make([]bool, classes)
	for _, c := range r.Perm(classes - 1)[:64] {
		absent[c] = true
	}
	some := func(c int) int {
		if absent[c] {
			return 0
		}
		return 3
	}
	out = append(out, madeSet{"classes without samples", blobsAround(r, farMeans(r, classes, 16), some, always(tight)), saysYes, "Collapsed"})
	one := farMeans(r, k, d)
	one[k-1] = one[1]
	out = append(out, madeSet{"coinciding", blobsAround(r, one, always(40), always(tight)), saysYes, "coincide"})
	minority := farMeans(r, 10, d)
	for c := 5; c < 10; c++ {
		minority[c] = minority[5]
	}
	out = append(out, madeSet{"minority", blobsAround(r, minority, func(c int) int { return 100 - c/5*80 }, always(tight)), saysYes, "the 5 smallest classes are one point"})
	massive := blobsAround(r, farMeans(r, k, d), always(40), always(.3))
	for i := 0; i < len(massive.h); i += d {
		massive.h[i] = 1e6 * (.2*massive.h[i] + r.NormFloat64()) // along it all classes overlap, also where a few are drawn far apart
	}
	return append(out, madeSet{"massive coordinate", massive, saysNo, "coordinate 0 carries"})
}

func farMeansAt0(k, d int) [][]float64 { return slices.Repeat([][]float64{make([]float64, d)}, k) }

// routes measures a set in every way that there is: whole, from the means and scatters of parts, and with a second pass.
func routes(t *testing.T, s featureSet, opt measure.Options) map[string]*measure.Report {
	t.Helper()
	out := map[string]*measure.Report{}
	keep := func(name string, r *measure.Report, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = r
	}
	r, err := measure.Measure(measure.Input[float64]{Train: measure.Memory(s.h, s.d, s.labels)}, opt)
	keep("whole", r, err)
	for name, pooled := range map[string]bool{"state": true, "state without scatter": false} {
		m, parts := measure.NewMoments(s.k, s.d, pooled), 3
		for p := range parts {
			part, from, to := measure.NewMoments(s.k, s.d, pooled), p*len(s.labels)/parts, (p+1)*len(s.labels)/parts
			if err := measure.AddRows(part, nil, s.h[from*s.d:to*s.d], s.labels[from:to]); err != nil {
				t.Fatal(err)
			}
			if err := m.Merge(part); err != nil {
				t.Fatal(err)
			}
		}
		r, err := m.Report(nil, nil, opt)
		keep(name, r, err)
		second, err := measure.MeasureSecondPass(measure.Input[float64]{Train: measure.Memory(s.h, s.d, s.labels)}, m, opt)
		if err != nil {
			t.Fatal(err)
		}
		r, err = second.Report(m, nil, nil, opt)
		keep(name+" and a second pass", r, err)
	}
	return out
}

// TestRoutesDoNotContradictEachOther measures sets of every kind by every route, with different measures selected and at different scales: no
// headline is false, and none says yes where another says no.
func TestRoutesDoNotContradictEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 1))
	for i := range longtest.Of(1, 20) {
		classes := 100
		if i == 0 {
			classes = longtest.Of(classes, 5000)
		}
		for _, made := range madeSets(r, classes) {
			scale := []float64{1, 1e-80, 1e-3, 1e77, 1e80}[r.IntN(5)]
			s := made.set
			for i := range s.h {
				s.h[i] *= scale
			}
			said := map[int]string{}
			for _, selected := range [][]string{nil, {measure.KeyNC1Pinv}, {measure.KeyNC1Pinv, measure.KeyRankBetween}, {measure.KeyNC2MeansCentred}} {
				for _, null := range []int{0, 9} {
					for name, report := range routes(t, s, measure.Options{Uncertainty: true, Null: null, Measures: selected}) {
						words := HeadlineOf(report)
						says := saidOf(words)
						said[says] = name + ": " + words
						if says == -made.truth && says != saysUnknown {
							t.Errorf("%s × %g, measures %q, null %d, %s: %q", made.name, scale, selected, null, name, words)
						}
						if strings.Contains(words, "Inf") || strings.Contains(words, "NaN") {
							t.Errorf("%s × %g, measures %q, %s: %q", made.name, scale, selected, name, words)
						}
						if name == "whole" && selected == nil && null > 0 && !strings.Contains(words, made.within) {
							t.Errorf("%s × %g (K = %d, d = %d): %q lacks %q", made.name, scale, s.k, s.d, words, made.within)
						}
					}
				}
			}
			if said[saysYes] != "" && said[saysNo] != "" {
				t.Errorf("%s × %g: %s; but %s", made.name, scale, said[saysYes], said[saysNo])
			}
		}
	}
}
