package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure/internal/wide"
)

// rivalKeys are the measures in which rows of W compete whose classes are not there.
var rivalKeys = []string{KeyAccuracy, KeyNC4NCCMismatch, KeyTestAccuracy, KeyTestNCCMismatch}

// dense is in with only the given classes, numbered anew, and their rows of W: what a user would do by hand. Samples of other
// classes are taken out of the arrays.
func dense[T kernel.Float](in Input[T], classes []int) Input[T] {
	_, d := in.Train.Features.Size()
	out := Input[T]{Classes: len(classes)}
	split := func(s Split[T]) Split[T] {
		var h []T
		var labels []int32
		for i, label := range s.Labels {
			if c := slices.Index(classes, int(label)); c >= 0 {
				h, labels = append(h, s.Features.(*Rows[T]).H[i*d:][:d]...), append(labels, int32(c))
			}
		}
		return Memory(h, d, labels)
	}
	out.Train = split(in.Train)
	if in.Test.Features != nil {
		out.Test = split(in.Test)
	}
	for _, c := range classes {
		out.W, out.B = append(out.W, in.W[c*d:][:d]...), append(out.B, in.B[c])
	}
	out.OOD = in.OOD
	return out
}

// rates are accuracy and mismatch by definition: argmax over all rows of W, nearest mean over the given classes.
func rates[T kernel.Float](in Input[T], s Split[T], classes []int, means []float64) (accuracy, mismatch float64) {
	n, d := s.Features.Size()
	measured := 0.0
	for i := range n {
		if !slices.Contains(classes, int(s.Labels[i])) {
			continue
		}
		h := widen(s.Features.(*Rows[T]).H[i*d:][:d])
		best, near, most, least := -1, -1, math.Inf(-1), math.Inf(1)
		for j := range len(in.W) / d {
			if x := dot(in.W[j*d:][:d], h) + in.B[j]; x > most {
				best, most = j, x
			}
		}
		for k, c := range classes {
			if x := distance2(h, means[k*d:][:d]); x < least {
				near, least = c, x
			}
		}
		measured++
		if best == int(s.Labels[i]) {
			accuracy++
		}
		if best != near {
			mismatch++
		}
	}
	return accuracy / measured, mismatch / measured
}

// without removes the samples of a share of the classes from in, at least one, and returns the classes that stay.
func without[T kernel.Float](rng *rand.Rand, in Input[T], classes int) (Input[T], []int) {
	var stay []int
	for c := range classes {
		if rng.IntN(3) > 0 {
			stay = append(stay, c)
		}
	}
	for c := 0; len(stay) < 2; c++ {
		if !slices.Contains(stay, c) {
			stay = slices.Sorted(slices.Values(append(stay, c)))
		}
	}
	if len(stay) == classes {
		stay = slices.Delete(stay, 1, 2)
	}
	part := dense(in, stay)
	back := func(s Split[T]) Split[T] {
		for i, c := range s.Labels {
			s.Labels[i] = int32(stay[c])
		}
		return s
	}
	in.Train, in.Test = back(part.Train), back(part.Test)
	return in, stay
}

func equalMeasures(t *testing.T, what string, got, want *Report, not ...string) {
	t.Helper()
	for key, v := range want.Measures.of {
		if g, ok := got.Measures.of[key]; !slices.Contains(not, key) && (!ok || g != v) {
			t.Errorf("%s: %s is %.17g (missing %q), want %.17g", what, key, g, got.Missing[key], v)
		}
	}
	for key, reason := range got.Missing {
		if want.Missing[key] == "" {
			t.Errorf("%s: %s is missing: %s", what, key, reason)
		}
	}
	for key, v := range want.PerClass {
		if g := got.PerClass[key]; len(g) != len(v) {
			t.Errorf("%s: %s has %d entries, want %d", what, key, len(g), len(v))
		}
	}
}

// Measuring with classes that are not there is measuring the others alone, bit for bit; where rows of W compete, all of them do.
func TestAbsentClasses(t *testing.T) {
	absent[float64](t, 60, func(rng *rand.Rand) (n, d, k int) {
		k = 3 + rng.IntN(10)
		return k * (2 + rng.IntN(9)), 1 + rng.IntN(24), k
	})
	absent[float32](t, 30, func(rng *rand.Rand) (n, d, k int) {
		k = 3 + rng.IntN(10)
		return k * (2 + rng.IntN(9)), 1 + rng.IntN(24), k
	})
}

// The same where the second pass is the wide one.
func TestAbsentClassesWide(t *testing.T) {
	longtest.Only(t)
	classes, d := longtest.Of(130, 600), longtest.Of(440, 300)
	shape := func(*rand.Rand) (int, int, int) { return longtest.Of(2, 5) * classes, d, classes }
	if !wide.Due(longtest.Of(75, 200), d) {
		t.Fatal("the shape is not wide")
	}
	absent[float64](t, 1, shape)
	absent[float32](t, 1, shape)
}

func absent[T float32 | float64](t *testing.T, sets int, shape func(*rand.Rand) (n, d, k int)) {
	for seed := range sets {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		n, d, k := shape(rng)
		spread := []float64{.01, .5, 1, 3}[rng.IntN(4)]
		full := gaussian[T](n, d, k, spread, uint64(seed))
		full.Test = gaussian[T](n, d, k, spread, uint64(seed)).Train
		full.OOD = gaussian[T](5, d, k, 1, 99).Train.Features
		in, stay := without(rng, full, k)
		opt := Options{Imbalance: Imbalance(rng.IntN(2)), KeepMeans: true, KeepMargins: true, Measures: []string{"all"}}
		if k > 100 {
			opt.Without = []string{KeyGNC2WMargin} // half a minute for 600 classes
		}
		what := fmt.Sprintf("seed %d, n %d, d %d, %d of %d classes, per %s", seed, n, d, len(stay), k, opt.Imbalance)
		got, want := mustMeasure(t, in, opt), mustMeasure(t, dense(in, stay), opt)
		equalMeasures(t, what, got, want, rivalKeys...)
		if got.K != len(stay) || !slices.Equal(got.Classes, stay) || !slices.Equal(got.ClassCounts, want.ClassCounts) || !slices.Equal(got.Margins, want.Margins) {
			t.Fatalf("%s: K %d, classes %v", what, got.K, got.Classes)
		}
		if opt.Imbalance == PerSample {
			accuracy, mismatch := rates(in, in.Train, stay, got.ClassMeans)
			tested, apart := rates(in, in.Test, stay, got.ClassMeans)
			for key, v := range map[string]float64{KeyAccuracy: accuracy, KeyNC4NCCMismatch: mismatch, KeyTestAccuracy: tested, KeyTestNCCMismatch: apart} {
				if g, ok := got.Measures.of[key]; !ok || !(math.Abs(g-v) <= 1e-12) {
					t.Errorf("%s: %s is %g (missing %q), want %g", what, key, g, got.Missing[key], v)
				}
			}
		}
		left := got.LeftOut
		if len(left) != 2 || left[0].Split != "train" || left[0].Count != k-len(stay) || left[0].Reason != LeftEmpty || left[0].Samples != 0 || slices.Contains(left[0].Classes, stay[0]) {
			t.Errorf("%s: left out %+v", what, left)
		}
	}
}

// A vocabulary of 5,000 tokens, or in the share half as many, of which 64 never occur: every measure but those that need d < K−1 the other way is there, and is that of
// the other tokens alone.
func TestVocabulary(t *testing.T) {
	const d, gone = 4, 64
	k, step := longtest.Of(2560, 5000), longtest.Of(40, 78)
	in := gaussian[float32](2*k, d, k, .1, 1)
	keep := make([]bool, 2*k)
	for i, c := range in.Train.Labels {
		keep[i] = int(c)%step != 5 || int(c)/step >= gone
	}
	var stay []int
	for c := range k {
		if c%step != 5 || c/step >= gone {
			stay = append(stay, c)
		}
	}
	others := dense(in, stay)
	in.Only = keep
	opt := Options{Measures: []string{KeyNC1Pinv, KeyTraceWithin, KeyNC2W, KeyNC2MeansCentred, KeyNC3Gram, KeyNC3Direct, KeyNC4Bias, KeyAccuracy, KeyNCCAccuracy, KeyMarginMean, KeyCDNV, KeyRankBetween}}
	r := mustMeasure(t, in, opt)
	opt.Measures = []string{KeyNC1Pinv, KeyTraceWithin, KeyNC2W, KeyNC3Gram, KeyNC3Direct, KeyNC4Bias, KeyRankBetween}
	want := mustMeasure(t, others, opt).Measures
	for _, key := range opt.Measures { // rows are summed in blocks, which fall differently
		tolerance := 1e-13
		if key == KeyNC1Pinv { // of so many classes by float32 products
			tolerance = 2e-7
		}
		if v, ok := want.Get(key); !ok || !(math.Abs(r.Measures.of[key]-v) <= tolerance*v) {
			t.Errorf("%s is %.17g, want %.17g (%t)", key, r.Measures.of[key], v, ok)
		}
	}
	if len(r.Missing) > 0 {
		t.Errorf("missing: %v", r.Missing)
	}
	if r.K != k-gone || len(r.LeftOut) != 1 || r.LeftOut[0].Count != gone || len(r.LeftOut[0].Classes) != gone || r.LeftOut[0].Labels[1] != strconv.Itoa(step+5) {
		t.Errorf("K %d, left out %+v", r.K, r.LeftOut)
	}
}

// Rare classes and ignored labels are left out of everything: as if their samples had not been there.
func TestMinCountAndIgnoredLabels(t *testing.T) {
	in := gaussian[float64](120, 6, 6, .4, 3)
	in.Test = gaussian[float64](60, 6, 6, .4, 4).Train
	in.OOD = gaussian[float64](30, 6, 6, 2, 13).Train.Features
	labels := in.Train.Labels
	for i, c := range labels {
		if c == 2 && i >= 3*6 { // class 2 keeps three samples
			labels[i] = -100
		}
		if c == 4 {
			labels[i] = 255
		}
	}
	in.Test.Labels[0] = -100
	stay := []int{0, 1, 3, 5}
	got := mustMeasure(t, in, Options{MinCount: 4, IgnoreLabels: []int32{-100, 255, 4}})
	test := in
	test.Test = Memory(in.Test.Features.(*Rows[float64]).H[6:], 6, in.Test.Labels[1:])
	equalMeasures(t, "rare and ignored", got, mustMeasure(t, dense(test, stay), Options{}), rivalKeys...)
	var words []string
	for _, l := range got.LeftOut {
		words = append(words, fmt.Sprintf("%s: %s: %d %v, %d samples", l.Split, l.Reason, l.Count, l.Labels, l.Samples))
	}
	want := []string{"train: ignored label: 3 [-100 4 255], 37 samples", "train: fewer than 4 samples: 1 [2], 3 samples",
		"test: left out of the train split: 1 [2], 10 samples", "test: ignored label: 2 [-100 4], 11 samples"}
	slices.Sort(words)
	if slices.Sort(want); !slices.Equal(words, want) {
		t.Errorf("left out:\n%s\nwant\n%s", strings.Join(words, "\n"), strings.Join(want, "\n"))
	}
	if _, err := Measure(in, Options{MinCount: 1000, IgnoreLabels: []int32{-100, 255}}); err == nil || !strings.Contains(err.Error(), "samples are left out (fewer than 1000 samples)") || !strings.Contains(err.Error(), "37 samples are left out (ignored label), 83 samples") {
		t.Errorf("every class too rare: %v", err)
	}
	if _, err := Measure(in, Options{}); err == nil || !strings.Contains(err.Error(), "has label") {
		t.Errorf("a label outside the classes, not ignored: %v", err)
	}
}

// Rows that are dropped may be all that a class has.
func TestDroppedClass(t *testing.T) {
	in := gaussian[float64](80, 5, 4, .3, 5)
	h := in.Train.Features.(*Rows[float64]).H
	for i, c := range in.Train.Labels {
		if c == 1 {
			h[i*5] = math.NaN()
		}
	}
	got := mustMeasure(t, in, Options{DropNonFinite: true})
	equalMeasures(t, "dropped", got, mustMeasure(t, dense(in, []int{0, 2, 3}), Options{}), rivalKeys...)
	if got.Dropped != 20 || got.K != 3 {
		t.Errorf("dropped %d, K %d", got.Dropped, got.K)
	}
}

// Test classes need not be those of the train split: dilation is NC1 of the test samples, memorization wants the test means of true classes, and a
// class without train samples can be classified.
func TestOtherTestClasses(t *testing.T) {
	in := gaussian[float64](100, 6, 5, .4, 6)
	test := gaussian[float64](100, 6, 5, .4, 6)
	in.Test = dense(test, []int{1, 3, 4}).Train
	for i, c := range in.Test.Labels {
		in.Test.Labels[i] = []int32{1, 3, 4}[c]
	}
	in.True = slices.Clone(in.Train.Labels)
	in.Only = make([]bool, 100)
	flipped := 0.0
	tests := mustMeasure(t, dense(test, []int{1, 3, 4}), Options{KeepMeans: true})
	for i, c := range in.Train.Labels {
		in.Only[i] = c != 1 // class 1 has no train sample
		if c == 0 {
			in.True[i] = 3
			flipped += math.Sqrt(distance2(in.Train.Features.(*Rows[float64]).H[i*6:][:6], tests.ClassMeans[6:][:6]))
		}
	}
	r := mustMeasure(t, in, Options{KeepMeans: true})
	accuracy, _ := rates(in, in.Test, []int{1, 3, 4}, tests.ClassMeans)
	for key, want := range map[string]float64{KeyDilation: math.Sqrt(tests.Measures.of[KeyNC1Pinv]), KeyTestNC1Ratio: tests.Measures.of[KeyNC1TraceRatio],
		KeyMemFlipped: flipped, KeyTestAccuracy: accuracy} {
		if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%s: %.17g (missing %q), want %.17g", key, got, r.Missing[key], want)
		}
	}
	near, apart := 0.0, 0.0 // nearest training centre against label and against argmax of all rows
	for i, label := range in.Test.Labels {
		h := in.Test.Features.(*Rows[float64]).H[i*6:][:6]
		best, at, most, least := -1, -1, math.Inf(-1), math.Inf(1)
		for j := range 5 {
			if x := dot(in.W[j*6:][:6], h) + in.B[j]; x > most {
				best, most = j, x
			}
		}
		for k, c := range r.Classes {
			if x := distance2(h, r.ClassMeans[k*6:][:6]); x < least {
				at, least = c, x
			}
		}
		if at == int(label) {
			near++
		}
		if at != best {
			apart++
		}
	}
	n := float64(len(in.Test.Labels))
	if a, m := r.Measures.of[KeyTestNCCAccuracy], r.Measures.of[KeyTestNCCMismatch]; a != near/n || m != apart/n || near == 0 || apart == 0 {
		t.Errorf("beside training centres: accuracy %g, want %g; mismatch %g, want %g", a, near/n, m, apart/n)
	}
	// Train classes 0, 2, 3, 4; the test split has 1, 3, 4.
	for _, v := range []Vector{r.PerClass["test_within_trace"], r.PerClass["test_accuracy"]} {
		if len(v) != 4 || !math.IsNaN(v[0]) || !math.IsNaN(v[1]) || math.IsNaN(v[2]) || math.IsNaN(v[3]) {
			t.Errorf("a test vector over the train classes: %v", v)
		}
	}
	if m := r.TestClassMeans; len(m) != 24 || !math.IsNaN(m[0]) || m[12] != tests.ClassMeans[6] {
		t.Errorf("test class means: %v", m)
	}
	in.True[5] = 2 // label 0, true class 2: no h*
	if r = mustMeasure(t, in, Options{}); !strings.Contains(r.Missing[KeyMemFlipped], "1 corrupted samples have a true class without test samples") {
		t.Errorf("memorization without h*: %g, %q", r.Measures.of[KeyMemFlipped], r.Missing[KeyMemFlipped])
	}
	flipped -= math.Sqrt(distance2(in.Train.Features.(*Rows[float64]).H[5*6:][:6], tests.ClassMeans[6:][:6]))
	r = mustMeasure(t, in, Options{IgnoreLabels: []int32{2}})
	if got, ok := r.Measures.of[KeyMemFlipped]; !ok || !(math.Abs(got-flipped) <= 1e-12*flipped) {
		t.Errorf("a true class that is ignored counts: %.17g (missing %q), want %.17g", got, r.Missing[KeyMemFlipped], flipped)
	}
}

// Reasons and errors name classes by their numbers, not by their places among those that are there.
func TestAbsentClassNames(t *testing.T) {
	in := Input[float64]{Classes: 5, Train: Memory([]float64{1, 0, 3, 0, 1, 0, 3, 0, -4, 0, -4, 0}, 2, []int32{1, 1, 3, 3, 4, 4})}
	if r := mustMeasure(t, in, Options{}); !strings.HasPrefix(r.Missing[KeyCDNV], "classes 1 and 3 have the same mean") && !strings.HasPrefix(r.Missing[KeyCDNV], "classes 3 and 1 have the same mean") {
		t.Errorf("two means in one place: %q", r.Missing[KeyCDNV])
	}
	in.Train = Memory(append(make([]float64, 2*scaleRows), 1e308, 0, 1e308, 0, 0, 2, 0, 6), 2, append(make([]int32, scaleRows), 4, 4, 0, 0))
	if _, err := Measure(in, Options{}); err == nil || !strings.Contains(err.Error(), "features of class 4") {
		t.Errorf("sums that overflow: %v", err)
	}
}

// States follow the same choice, made of all shards together; a shard may lack a class that others have.
func TestAbsentInStates(t *testing.T) {
	in := gaussian[float64](140, 5, 7, .5, 8)
	for i, c := range in.Train.Labels {
		if c == 6 && i > 13 { // class 6 has two samples
			in.Train.Labels[i] = 0
		}
		if c == 3 {
			in.Train.Labels[i] = 1
		}
	}
	spans := [][2]int{{0, 30}, {30, 41}, {41, 140}}
	m := NewMoments(7, 5, true)
	for _, span := range spans {
		if err := AddSource(m, nil, shard(in, span)); err != nil {
			t.Fatal(err)
		}
	}
	for _, opt := range []Options{{}, {MinCount: 3}, {IgnoreLabels: []int32{6}}} {
		want := mustMeasure(t, in, opt)
		one, err := m.Report(in.W, in.B, opt)
		if err != nil {
			t.Fatal(err)
		}
		_, gotNC1 := one.Measures.of[KeyNC1Pinv]
		if whole := opt.MinCount == 0 && opt.IgnoreLabels == nil; gotNC1 != whole || !whole && !strings.Contains(one.Missing[KeyNC1Pinv], "left-out classes") {
			t.Errorf("%+v: NC1 of one pass %t, %q", opt, gotNC1, one.Missing[KeyNC1Pinv])
		}
		sameMeasures(t, "one pass", one, want, 20)
		var second *SecondPass
		for _, span := range spans {
			s, err := MeasureSecondPass(Input[float64]{Train: shard(in, span), W: in.W, B: in.B}, m, opt)
			if err != nil {
				t.Fatal(err)
			}
			if s = reread(t, s).SecondPass; second == nil {
				second = s
			} else if err := second.Merge(s); err != nil {
				t.Fatal(err)
			}
		}
		two, err := second.Report(m, in.W, in.B, opt)
		if err != nil {
			t.Fatal(err)
		}
		sameMeasures(t, "two passes", two, want, 30)
		if !slices.Equal(two.Classes, want.Classes) || fmt.Sprint(two.LeftOut) != fmt.Sprint(want.LeftOut) {
			t.Errorf("classes %v, want %v; left out %v, want %v", two.Classes, want.Classes, two.LeftOut, want.LeftOut)
		}
		other := Options{MinCount: 3}
		if opt.MinCount > 0 || opt.IgnoreLabels != nil {
			other = Options{}
		}
		if _, err := second.Report(m, in.W, in.B, other); err == nil {
			t.Error("another choice of classes than the second pass's is taken")
		}
	}
}

func TestPadded(t *testing.T) {
	in := gaussian[float64](60, 3, 5, .3, 2)
	in.Only = make([]bool, 60)
	for i, c := range in.Train.Labels {
		in.Only[i] = c == 1 || c == 4
	}
	r := mustMeasure(t, in, Options{KeepMeans: true})
	p := r.Padded(5)
	if p.K != 5 || !slices.Equal(p.ClassCounts, []int{0, 12, 0, 0, 12}) || len(p.ClassMeans) != 15 || p.ClassMeans[12] != r.ClassMeans[3] || !math.IsNaN(p.ClassMeans[0]) {
		t.Errorf("padded: K %d, counts %v, means %v", p.K, p.ClassCounts, p.ClassMeans)
	}
	if v, w := p.PerClass["within_trace"], r.PerClass["within_trace"]; len(v) != 5 || v[4] != w[1] || !math.IsNaN(v[2]) {
		t.Errorf("padded vector %v of %v", v, w)
	}
	if r.K != 2 || len(r.PerClass["within_trace"]) != 2 {
		t.Error("the report itself was changed")
	}
}

// Uncertainties and nulls are those of the classes that are there, whatever numbers they have.
func TestAbsentUncertaintyAndNull(t *testing.T) {
	opt := Options{Uncertainty: true, Null: 5, MinCount: 3, IgnoreLabels: []int32{1}}
	full := gaussian[float64](90, 5, 9, .4, 11)
	full.Test = gaussian[float64](45, 5, 9, .4, 12).Train
	for i, c := range full.Train.Labels {
		if c == 4 && i > 20 { // class 4 keeps two samples
			full.Train.Labels[i] = 6
		}
		if c == 7 {
			full.Train.Labels[i] = 8
		}
	}
	stay := []int{0, 2, 3, 5, 6, 8}
	seven := full // test samples of class 7, which only the test split has
	for i, c := range seven.Test.Labels {
		if c == 7 {
			seven.Test.Labels[i] = 8
		}
	}
	got, want := mustMeasure(t, full, opt), mustMeasure(t, dense(full, stay), Options{Uncertainty: true, Null: 5})
	if len(got.Null) < 10 || fmt.Sprint(got.Null) != fmt.Sprint(want.Null) {
		t.Errorf("null %v, want %v", got.Null, want.Null)
	}
	compared := 0
	for key, u := range want.Uncertainty {
		if g, ok := got.Uncertainty[key]; !ok || g > 50*u || g < u/50 {
			t.Errorf("uncertainty of %s: %g (%t), want about %g", key, g, ok, u)
		}
		compared++
	}
	if compared < 25 {
		t.Errorf("%d uncertainties", compared)
	}
	states := func(in Input[float64], k int, opt Options) *Report {
		m := NewMoments(k, 5, true)
		if err := AddSource(m, nil, in.Train); err != nil {
			t.Fatal(err)
		}
		r, err := m.Report(in.W, in.B, opt)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	part := dense(full, []int{0, 2, 3, 5, 6, 8})
	place := part.Train
	for i, c := range place.Labels { // all nine rows, six classes
		place.Labels[i] = int32(stay[c])
	}
	full.Train = place
	got, want = states(full, 9, Options{Uncertainty: true, Null: 5}), states(dense(full, stay), 6, Options{Uncertainty: true, Null: 5})
	if len(got.Null) < 10 || fmt.Sprint(got.Null) != fmt.Sprint(want.Null) || fmt.Sprint(got.Uncertainty) != fmt.Sprint(want.Uncertainty) || len(got.Uncertainty) < 15 {
		t.Errorf("of moments: null %v, want %v; uncertainty %v, want %v", got.Null, want.Null, got.Uncertainty, want.Uncertainty)
	}
}
