package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// blobs returns k classes of the given sizes around random means far·unit apart, with noise of size 1.
func blobs(counts []int, d int, far float64, seed uint64) Input[float64] {
	r := rand.New(rand.NewPCG(seed, 9))
	var h []float64
	var labels []int32
	for c, n := range counts {
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = 5 + far*r.NormFloat64()
		}
		for range n {
			for j := range d {
				h = append(h, mean[j]+r.NormFloat64())
			}
			labels = append(labels, int32(c))
		}
	}
	return Input[float64]{Train: Memory(h, d, labels)}
}

// What is drawn from moments, where there is no sample to shuffle, is what shuffling all labels gives.
func TestNullOfMomentsIsThatOfShuffles(t *testing.T) {
	for _, c := range []struct {
		counts []int
		d      int
		far    float64
	}{{[]int{200, 200, 200, 200}, 6, 1}, {[]int{400, 100, 50, 30, 20}, 12, 3}, {slices.Repeat([]int{20}, 30), 10, .5}, {slices.Repeat([]int{30}, 4), 200, 2}} {
		in := blobs(c.counts, c.d, c.far, 4)
		opt := Options{Null: 200, Measures: []string{"all"}}
		whole := mustMeasure(t, in, opt)
		m := NewMoments(len(c.counts), c.d, true)
		if err := AddSource(m, nil, in.Train); err != nil {
			t.Fatal(err)
		}
		drawn, err := m.Report(nil, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		if c.d == 200 { // fewer than ten samples for each coordinate
			if len(drawn.Null) > 0 {
				t.Errorf("%d of %d samples have a null", len(drawn.Null), drawn.N)
			}
			continue
		}
		if len(drawn.Null) < 14 {
			t.Fatalf("%d measures have a null", len(drawn.Null))
		}
		for key, got := range drawn.Null {
			want := whole.Null[key]
			spread := (want.High - want.Low) / 6 // about one standard deviation of 200 draws
			if !(math.Abs(got.Median-want.Median) <= .5*spread+1e-9+.02*math.Abs(want.Median)) {
				t.Errorf("K = %d, d = %d, %s: median %g of [%g, %g], of shuffles %g of [%g, %g]", len(c.counts), c.d, key, got.Median, got.Low, got.High, want.Median, want.Low, want.High)
			}
		}
	}
}

// The measures of features without classes lie within their null, those of classes far outside it.
func TestNullTellsClassesFromNoise(t *testing.T) {
	for name, c := range map[string]struct {
		far   float64
		noise bool
	}{"noise": {0, true}, "classes": {20, false}} {
		r := mustMeasure(t, blobs(slices.Repeat([]int{20}, 10), 512, c.far, 7), Options{Null: 19})
		null, ok := r.Null[KeyNC1Pinv]
		if v := r.Measures.of[KeyNC1Pinv]; !ok || c.noise != (v >= .8*null.Low) {
			t.Errorf("%s: NC1 %g, shuffled %+v", name, v, null)
		}
		if acc := r.Null[KeyNCCAccuracy]; c.noise && !(acc.Low > .99) { // 20 samples in 512 coordinates are nearest to their own mean by chance
			t.Errorf("%s: nearest-centre accuracy of shuffled labels %+v", name, acc)
		}
	}
}

// By definition: shuffle, measure, compare with the null of the same seed's spread.
func TestNullByHand(t *testing.T) {
	in := blobs([]int{40, 25, 60}, 5, 1, 3)
	r := mustMeasure(t, in, Options{Null: 99})
	random := rand.New(rand.NewPCG(8, 8))
	values := map[string][]float64{}
	for range 99 {
		labels := slices.Clone(in.Train.Labels)
		random.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		again := in
		again.Train.Labels = labels
		for key, v := range mustMeasure(t, again, Options{}).Measures.of {
			values[key] = append(values[key], v)
		}
	}
	if len(r.Null) < 15 {
		t.Fatalf("%d measures have a null", len(r.Null))
	}
	for key, null := range r.Null {
		x := values[key]
		slices.Sort(x)
		spread := (x[len(x)-1] - x[0]) / 5
		if median := x[len(x)/2]; !(math.Abs(null.Median-median) <= .6*spread+.02*math.Abs(median)) {
			t.Errorf("%s: median %g, by hand %g (from %g to %g)", key, null.Median, median, x[0], x[len(x)-1])
		}
	}
}

// Class sums of several labellings that are made together have the bits of each made alone, whatever is summed beside them.
func TestSumsTogether(t *testing.T) {
	const n, d, k = 700, 40, 7
	in := gaussian[float32](n, d, k, .1, 3)
	random := rand.New(rand.NewPCG(7, 7))
	labels := slices.Clone(in.Train.Labels)
	labels[5], labels[n-1] = -1, -1
	classes := shuffles(random, labels, 3)
	s := &samples[float32]{src: in.Train.Features, rows: n, d: d, k: k}
	var f firstPass[float32]
	got, err := f.sums(nil, s, nil, classes...)
	if err != nil {
		t.Fatal(err)
	}
	for i, class := range classes {
		want, err := f.sums(nil, s, nil, class)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[i*k*d:][:k*d], want) {
			t.Errorf("labelling %d: sums differ from those made alone", i)
		}
		if i > 0 && slices.Equal(class, classes[i-1]) {
			t.Errorf("labelling %d is the one before", i)
		}
	}
}
