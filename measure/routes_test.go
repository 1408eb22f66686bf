package measure

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestWhatWorkIsEstimated: operations counted by hand for small sets, so that limits mean what they say.
func TestWhatWorkIsEstimated(t *testing.T) {
	for name, c := range map[string]struct{ got, want float64 }{
		"pairs":                        {pairsWork(10, 30), 12 * 100 * 50},
		"decisions":                    {choiceWork(7, 3, 6), 2 * 7 * 3 * 10},
		"factor, narrow":               {factorWork(10, 4), 4*10*4*4 + 16*64},
		"factor, wide":                 {factorWork(5, 9), 4*5*9*4 + 16*64},
		"singular, narrow":             {singularWork(10, 4), 50 * 16 * 10},
		"singular, wide":               {singularWork(5, 9), 50 * 16 * 9},
		"eigenvalues":                  {eigenWork(3), 25 * 27},
		"ranks":                        {ranksWork([]int{2, 7}, 5), (4*2*5*2 + 3*25*8) + (4*7*5*5 + 3*25*125)},
		"margins":                      {marginWork(3, 5), 16 * 3 * 27},
		"margins, just enough width":   {marginWork(6, 5), 16 * 6 * 216},
		"margins, more than width":     {marginWork(10, 4), 16 * 10 * 6.25 * (6.25/3 + 40)},
		"justified by nothing":         {justified(1e11, 100), 1e11},
		"justified by numbers":         {justified(1, 640), 1280},
		"the numbers of a state":       {func() float64 { e := &Engine[float64]{}; e.train.k, e.train.d = 3, 5; return e.stateNumbers() }(), 120},
		"rows of a probe":              {float64(manyRows(1 << 10)), 1 << 8},
		"rows of a probe, wide":        {float64(manyRows(1 << 17)), fewRows},
		"rows of a block":              {float64(blockRows(1 << 30)), 64},
		"rows of a block, one feature": {float64(blockRows(1)), 1024},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-9*c.want) {
			t.Errorf("%s: %g, want %g", name, c.got, c.want)
		}
	}
}

// TestDistancesOfPairs come from products where these keep their digits, and from the vectors where not, or where classes are few.
func TestDistancesOfPairs(t *testing.T) {
	const d = 2
	for _, k := range []int{fewClasses, fewClasses + 1} {
		p := &pairs{k: k, d: d, means: []float64{3, 4, 3, 4.5}, centred: []float64{1, 0, 0, 2}, square: []float64{1, 1}, unit: []float64{1, .5}}
		few := k <= fewClasses
		for _, c := range []struct{ g, want float64 }{{.25, 1.5}, {1 - .9*cancelled, .25}, {1 - 1.1*cancelled, 2.2 * cancelled}} {
			want := c.want
			if few {
				want = .25
			}
			if got := p.distance2(0, 1, c.g); !(math.Abs(got-want) <= 1e-15) {
				t.Errorf("%d classes, product %g: %g, want %g", k, c.g, got, want)
			}
		}
		for _, c := range []struct{ cos, want float64 }{{.5, 1}, {-1, 4}, {1, 2}, {1 - .4*cancelled, 2}, {1 - .6*cancelled, 1.2 * cancelled}} {
			want := c.want
			if few {
				want = 2
			}
			if got := p.apart2(0, 1, c.cos); !(math.Abs(got-want) <= 1e-15) {
				t.Errorf("%d classes, cosine %g: %g, want %g", k, c.cos, got, want)
			}
		}
	}
	if got := rieszSpread(nil, 4); got != (spread{}) {
		t.Errorf("of no pairs: %+v", got)
	}
	got := rieszSpread([]float64{math.Log(2), math.Log(4)}, 4) // kernels 1/4 and 1/16 times 4
	if !(math.Abs(got.mean-.625) <= 1e-15 && math.Abs(got.m2-2*.375*.375) <= 1e-15 && math.Abs(got.top+2*math.Log(2)) <= 1e-15) || got.n != 2 {
		t.Errorf("%+v", got)
	}
	var none spread
	if none.merge(got); none != got {
		t.Errorf("%+v", none)
	}
	if none.merge(spread{}); none != got {
		t.Errorf("with nothing: %+v", none)
	}
}

// TestScoresOfLogits: the softmax at the centre, and scores of inputs near it and far from it, by their definitions.
func TestScoresOfLogits(t *testing.T) {
	h := &head{w: []float64{1, 0, 0, 2, -1, 0}, b: []float64{.5, 0, .25}, k: 3, d: 2}
	o := &oodScorer{k: 3, d: 2}
	o.logits(h, []float64{1, 1})
	sum := 0.0
	for j, want := range []float64{-.5, 0, -2.75} { // logits 1.5, 2 and −.75
		sum += o.prior[j]
		if !(math.Abs(o.base[j]-want) <= 1e-15) || !(math.Abs(o.prior[j]/o.prior[1]-math.Exp(want)) <= 1e-14) {
			t.Errorf("logit %d: %g, softmax %g", j, o.base[j], o.prior[j])
		}
	}
	if !(math.Abs(sum-1) <= 1e-15) {
		t.Errorf("the softmax adds up to %g", sum)
	}
	for _, c := range []struct{ base, y []float64 }{{o.base, []float64{.1, -.2, .3}}, {o.base, []float64{3, -2, 1}}, {[]float64{-.1, 0, -.2}, []float64{.1, .05, 0}}, {[]float64{-.1, 0, -.2}, []float64{5, 0, -5}}} {
		prior, total := make([]float64, 3), 0.0
		for j, x := range c.base {
			prior[j] = math.Exp(x)
			total += prior[j]
		}
		scale(prior, 1/total)
		_, largest, energy := logitScores(c.y, c.base, prior)
		most, after := math.Inf(-1), 0.0
		for j, y := range c.y {
			most = max(most, y+c.base[j])
			after += math.Exp(y + c.base[j])
		}
		if want := math.Log(after / total); !(math.Abs(energy-want) <= 1e-12) || !(math.Abs(largest-most) <= 1e-12) {
			t.Errorf("%v at %v: largest %g, energy %g; want %g, %g", c.y, c.base, largest, energy, most, want)
		}
	}
}

// TestAlignmentOfNearlyDependentRows: bases of spaces that products lose are found row by row.
func TestAlignmentOfNearlyDependentRows(t *testing.T) {
	in := Input[float64]{Classes: 3, W: []float64{1, 1e-9, 0, 0, 1, -1e-9, 0, 0, -2, 0, 0, 0}} // they span the first two axes
	var h []float64
	for _, mean := range [][]float64{{1, 0, 1, 0}, {1, 0, -1, 0}, {-2, 0, 0, 0}} { // the first and the third
		for _, s := range []float64{-.1, .1} {
			h = append(h, mean[0], mean[1], mean[2], s)
		}
	}
	in.Train = Memory(h, 4, []int32{0, 0, 1, 1, 2, 2})
	r := mustMeasure(t, in, Options{Measures: []string{"all"}})
	if got, ok := r.Value(KeyWMeanAlignment); !ok || !(math.Abs(got-.5) <= 1e-6) {
		t.Errorf("%g, %q; want the mean of 1 and 0", got, r.Missing[KeyWMeanAlignment])
	}
	in.W = []float64{1, 0, 0, 0, 1, 0, 0, 0, -2, 0, 0, 0}
	if r := mustMeasure(t, in, Options{Measures: []string{"all"}}); r.Missing[KeyWMeanAlignment] != "the rows of W span less than K−1 directions around their mean" {
		t.Errorf("dependent rows: %g, %q", r.Measures.of[KeyWMeanAlignment], r.Missing[KeyWMeanAlignment])
	}
	in.W = []float64{1, 1, 0, 0, 1, -1, 0, 0, -2, 0, 0, 0}
	line := []float64{1, 0, 0, .1, 1, 0, 0, -.1, 2, 0, 0, .1, 2, 0, 0, -.1, 5, 0, 0, .1, 5, 0, 0, -.1}
	in.Train = Memory(line, 4, []int32{0, 0, 1, 1, 2, 2})
	if r := mustMeasure(t, in, Options{Measures: []string{"all"}}); r.Missing[KeyWMeanAlignment] != "the class means span less than K−1 directions around their centre" {
		t.Errorf("dependent means: %g, %q", r.Measures.of[KeyWMeanAlignment], r.Missing[KeyWMeanAlignment])
	}
}

// TestRangesOfTestFeatures: squares that overflow in the test split are its error, with the class.
func TestRangesOfTestFeatures(t *testing.T) {
	in := gaussian[float64](60, 3, 3, .3, 5)
	h := make([]float64, 18)
	h[9], h[12] = 1e200, -1e200 // both of class 1
	in.Test = Memory(h, 3, []int32{0, 0, 1, 1, 1, 2})
	var big *RangeError
	if r, err := Measure(in, Options{}); r != nil || !errors.As(err, &big) || *big != (RangeError{"test", 1}) {
		t.Errorf("%v", err)
	}
}

// TestWhatASecondPassIsAsked for one class and for several, with and without a classifier.
func TestWhatASecondPassIsAsked(t *testing.T) {
	e, err := NewEngine[float64](Options{Imbalance: PerClass})
	if err != nil {
		t.Fatal(err)
	}
	h := &head{centredNorm: []float64{1, 2}}
	for k, want := range map[int]asked{1: {im: PerClass, white: true, logits: true}, 2: {im: PerClass, white: true, nearest: true, logits: true, margins: true}} {
		e.train.k = k
		if got := e.asks(h, ""); got != want {
			t.Errorf("%d classes: %+v, want %+v", k, got, want)
		}
	}
	e.train.k = 2
	if got, want := e.asks(nil, "no operator"), (asked{im: PerClass, nearest: true}); got != want {
		t.Errorf("without a classifier: %+v", got)
	}
	e.train.alone = true
	if got := e.asks(&head{centredNorm: []float64{1, 0}}, ""); got != (asked{im: PerClass, nearest: true, logits: true}) {
		t.Errorf("a row at the mean of all, single samples: %+v", got)
	}
}

// TestMemoryIsUsedAgain: what was given back is taken next, as long as it is large enough; times of stages add up.
func TestMemoryIsUsedAgain(t *testing.T) {
	var b buffers[float64]
	first := b.take(5)
	b.give(first)
	if again := b.take(3); len(again) != 3 || &again[0] != &first[0] {
		t.Error("a buffer is made although one is free")
	}
	if other := b.take(5); len(other) != 5 || &other[0] == &first[0] {
		t.Error("a buffer is given twice")
	}
	if bufferSize[float64](&Rows[float64]{}, 7) != 0 || bufferSize[float64](&chunked[float64]{}, 7) != 7 {
		t.Error("rows in memory need no buffer, others do")
	}
	var c clock
	c.start()
	c.enter("a")
	c.phases[0].Seconds = 5
	c.since = c.since.Add(-1e9)
	c.enter("b")
	c.since = c.since.Add(-2e9)
	c.enter("a")
	c.move("a", "c", 2)
	var names []string
	for i, least := range []float64{4, 2, 2} {
		names = append(names, c.phases[i].Name)
		if s := c.phases[i].Seconds; !(s >= least && s < least+.9) {
			t.Errorf("stage %d took %g s, want a little more than %g", i, s, least)
		}
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) || c.current != 0 {
		t.Errorf("%q, now in %d", names, c.current)
	}
	if c.stop(c.since); !c.since.IsZero() {
		t.Error("a clock that was stopped runs on")
	}
}

// TestWhichSetsAreMeasuredAgain: up to so many numbers in all splits together, without rows that are masked or not finite.
func TestWhichSetsAreMeasuredAgain(t *testing.T) {
	const d = 64
	e, err := NewEngine[float64](Options{Uncertainty: true})
	if err != nil {
		t.Fatal(err)
	}
	n := wholeElements/d - 2
	e.train.d, e.train.k, e.train.rows = d, 3, n
	in := Input[float64]{Train: Memory(make([]float64, n*d), d, make([]int32, n)), OOD: &Rows[float64]{H: make([]float64, 2*d), D: d}, Only: make([]bool, n)}
	for i := range in.Only {
		in.Only[i] = i != 5
	}
	in.Train.Features.(*Rows[float64]).H[7*d+3] = math.NaN()
	w, err := hold(e, &in)
	if err != nil || w == nil || len(w.train) != n*d || len(w.ood) != 2*d || w.test != nil || w.in.Only[5] || w.in.Only[7] || !w.in.Only[6] || !w.in.Only[0] {
		t.Fatalf("%v, %v", w != nil, err)
	}
	in.OOD = &Rows[float64]{H: make([]float64, 3*d), D: d}
	if w, err := hold(e, &in); w != nil || err != nil {
		t.Errorf("a row more: %v, %v", w != nil, err)
	}
	in.OOD = &failing{chunked: chunked[float64]{Rows: Rows[float64]{H: make([]float64, d), D: d}}}
	if _, err := hold(e, &in); !errors.Is(err, errBroken) {
		t.Errorf("a source that breaks: %v", err)
	}
}
