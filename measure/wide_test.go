package measure

import (
	"flag"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure/internal/wide"
)

// measureWide measures the train split of in with the wide pass, products in P, whatever its shape.
func measureWide[T, P kernel.Float](t rapid.TB, in Input[T], opt Options) (*Engine[T], bool) {
	t.Helper()
	e, err := NewEngine[T](opt)
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.open(&in, newBuilder(&e.want, opt.Imbalance))
	if err != nil {
		t.Fatal(err)
	}
	s := &e.train
	reason := e.operator(s)
	e.classPairs()
	ask := e.asks(h, reason)
	e.second.weight = s.whiteWeights(nil, ask.im)
	var op []float64
	if ask.white {
		op = s.between.onResiduals(nil, s.centred, s.k, s.d)
	}
	found, err := runWide[T, P](e, s, h, ask, nil, op)
	if err != nil {
		t.Fatal(err)
	}
	return e, found.Certified
}

// decisions are the full computation: every distance and every logit of every sample in float64.
func decisions[T kernel.Float](e *Engine[T], in Input[T]) (correct, nearest, mismatch []int) {
	s, rows := &e.train, in.Train.Features.(*Rows[T])
	correct, nearest, mismatch = make([]int, s.k), make([]int, s.k), make([]int, s.k)
	h := make([]float64, s.d)
	for i, c := range s.class {
		if c < 0 {
			continue
		}
		for j, x := range rows.H[i*s.d:][:s.d] {
			h[j] = float64(x)
		}
		near, best := -1, -1
		least, most := math.Inf(1), math.Inf(-1)
		for j := range s.k {
			if x := distance2(h, s.mean(j)); x < least {
				near, least = j, x
			}
			if x := dot(e.head.w[j*s.d:][:s.d], h) + e.head.b[j]; x > most {
				best, most = j, x
			}
		}
		if near == int(c) {
			nearest[c]++
		}
		if best == int(c) {
			correct[c]++
		}
		if near != best {
			mismatch[c]++
		}
	}
	return correct, nearest, mismatch
}

// drawDecided draws features that radii decide, that they do not, and that tie exactly.
func drawDecided(t *rapid.T) Input[float32] {
	k, d := rapid.IntRange(2, 9).Draw(t, "k"), rapid.IntRange(1, 40).Draw(t, "d")
	n := 2*k + rapid.IntRange(0, 200).Draw(t, "n")
	kind := rapid.SampledFrom([]string{"random", "nearly collapsed", "collapsed", "ties", "far from the origin"}).Draw(t, "kind")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	spread, offset := 1.0, 0.0
	switch kind {
	case "nearly collapsed":
		spread = .2
	case "collapsed":
		spread = 1e-6
	case "far from the origin":
		spread, offset = .01, 1e3
	}
	draw := func(size float64) float64 {
		if kind == "ties" { // multiples of ½ around classes of as many samples on each side
			return float64(rng.IntN(5)-2) / 2
		}
		return size * rng.NormFloat64()
	}
	means := make([]float64, k*d)
	in := Input[float32]{Classes: k, W: make([]float64, k*d), B: make([]float64, k)}
	for i := range means {
		means[i] = offset + draw(1)
		in.W[i] = float64(float32(means[i] + draw(.1)))
	}
	for c := range k {
		in.B[c] = float64(float32(draw(.1)))
	}
	var h []float32
	var labels []int32
	for i := 0; i < n; i += 2 {
		c := i / 2 % k
		r := make([]float64, d)
		for j := range r {
			r[j] = draw(spread)
		}
		for _, sign := range []float64{1, -1} {
			for j := range r {
				h = append(h, float32(means[c*d+j]+sign*r[j]))
			}
			labels = append(labels, int32(c))
		}
	}
	in.Train = Memory(h, d, labels)
	return in
}

func equalInts(t rapid.TB, what string, got, want []int) {
	t.Helper()
	for c := range want {
		if got[c] != want[c] {
			t.Fatalf("%s of class %d: %d samples, the full computation has %d", what, c, got[c], want[c])
		}
	}
}

// fewer lets rapid draw so many cases in the share of a long test, unless they are counted on the command line.
func fewer(t *testing.T, checks int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if longtest.Whole() || testing.Short() || f.Value.String() != f.DefValue {
		return
	}
	f.Value.Set(strconv.Itoa(checks))
	t.Cleanup(func() { f.Value.Set(f.DefValue) })
}

// Whatever the radii decide and the search leaves out, the answers are those of the full computation.
func TestDecisionsAreExact(t *testing.T) {
	fewer(t, 40)
	rapid.Check(t, func(t *rapid.T) {
		in := drawDecided(t)
		opt := Options{Measures: []string{"all"}}
		single, _ := measureWide[float32, float32](t, in, opt)
		double, _ := measureWide[float32, float64](t, in, opt)
		correct, nearest, mismatch := decisions(single, in)
		for _, e := range []*Engine[float32]{single, double} {
			equalInts(t, "accuracy", e.train.sampleCounts.correct, correct)
			equalInts(t, "nearest mean", e.train.sampleCounts.nearest, nearest)
			equalInts(t, "mismatch", e.train.sampleCounts.mismatch, mismatch)
		}
	})
}

// spreads are data whose float32 products err in different ways.
var spreads = map[string]func(rng *rand.Rand, j int) float64{
	"even":           func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() },
	"one coordinate": func(rng *rand.Rand, j int) float64 { return rng.NormFloat64() * math.Pow(.5, float64(j)) },
	"two values":     func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(2)) - .5 },
	"mostly one":     func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(50) / 49) },
}

// shaped makes features of random class means and residuals of the given kind.
func shaped(n, d, k int, size float64, kind string) Input[float32] {
	rng := rand.New(rand.NewPCG(7, uint64(d)))
	in := gaussian[float32](n, d, k, 0, 8)
	h, spread := in.Train.Features.(*Rows[float32]).H, spreads[kind]
	for i := range h {
		h[i] += float32(size * spread(rng, i%d))
	}
	return in
}

// The bound on what float32 products cost must hold, and be below 1e-5 for ordinary data.
func TestSingleProductsWithinBound(t *testing.T) {
	for kind := range spreads {
		for _, c := range []struct{ n, d, k int }{{longtest.Of(5000, 12000), 96, 30}, {longtest.Of(5000, 12000), 40, 60}, {longtest.Of(wide.BlockRows(120)+5000, 90000), 120, 100}} { // products with the operator, the scatter of one block and of several
			if c.n > 12000 && (testing.Short() || !longtest.Whole() && kind != "even") {
				continue
			}
			for _, im := range []Imbalance{PerSample, PerClass} {
				if testing.Short() && (im == PerClass || kind != "even") || c.n > 12000 && im == PerClass && kind != "even" {
					continue
				}
				in := shaped(c.n, c.d, c.k, .01, kind)
				opt := Options{Imbalance: im, Measures: []string{KeyNC1Pinv}}
				double, _ := measureWide[float32, float64](t, in, opt)
				single, certified := measureWide[float32, float32](t, in, opt)
				bound := nc1SumBound(t, in, opt)
				got, want := single.train.sampleCounts.white, double.train.sampleCounts.white
				if err := math.Abs(got-want) / want; !(err <= bound) || err == 0 {
					t.Errorf("%s d=%d: float32 products err by %.2g, the bound is %.2g", kind, c.d, err, bound)
				}
				if certified != (bound < wide.Float32Bound) || kind == "even" && !certified {
					t.Errorf("%s d=%d: bound %.2g, certified %v", kind, c.d, bound, certified)
				}
			}
		}
	}
}

// nc1SumBound runs NC1's products in float32 and returns the bound.
func nc1SumBound(t testing.TB, in Input[float32], opt Options) float64 {
	e, err := NewEngine[float32](opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.open(&in, newBuilder(&e.want, opt.Imbalance)); err != nil {
		t.Fatal(err)
	}
	s := &e.train
	e.operator(s)
	e.second.weight = s.whiteWeights(nil, opt.Imbalance)
	op := s.between.onResiduals(nil, s.centred, s.k, s.d)
	found, err := runWide[float32, float32](e, s, nil, asked{white: true, im: opt.Imbalance}, nil, op)
	if err != nil {
		t.Fatal(err)
	}
	return found.Bound
}

// Variance far outside the between-class directions is not left to float32.
func TestSingleProductsRefused(t *testing.T) {
	const n, d, k = 600, 1100, 30
	in := gaussian[float32](n, d, k, .01, 2)
	h := in.Train.Features.(*Rows[float32]).H
	for i := range h { // class means in the first coordinates; the spread of the others is large and of mean zero
		if row, j := i/d, i%d; j >= d/2 {
			h[i] = float32(1e4 * math.Sin(float64(row%k+j+1)))
			if row/k%2 == 1 {
				h[i] = -h[i]
			}
		}
	}
	if !wide.Due(k, d) {
		t.Fatal("the shape does not take the wide pass")
	}
	opt := Options{Measures: []string{KeyNC1Pinv}}
	if _, certified := measureWide[float32, float32](t, in, opt); certified {
		t.Fatal("float32 products were certified")
	}
	double, _ := measureWide[float32, float64](t, in, opt)
	if got, want := mustMeasure(t, in, opt).Measures.of[KeyNC1Pinv], double.train.sampleCounts.white/n; got != want || got == 0 {
		t.Fatalf("NC1 %.17g, in float64 %.17g", got, want)
	}
}

// The wide pass must give what the narrow one gives.
func TestWideMatchesNarrow(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{900, 33, 12}, {900, 12, 33}, {700, 130, 9}} {
		for _, im := range []Imbalance{PerSample, PerClass} {
			in := gaussian[float64](c.n, c.d, c.k, .6, 3)
			in.Only = make([]bool, c.n)
			for i := range in.Only {
				in.Only[i] = i%5 != 0 || i < 2*c.k
			}
			opt := Options{Imbalance: im, Measures: []string{"all"}, KeepMargins: true}
			narrow, err := NewEngine[float64](opt)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := narrow.Measure(in); err != nil {
				t.Fatal(err)
			}
			e, _ := measureWide[float64, float64](t, in, opt)
			a, b := &narrow.train.sampleCounts, &e.train.sampleCounts
			equalInts(t, "accuracy", b.correct, a.correct)
			equalInts(t, "nearest mean", b.nearest, a.nearest)
			equalInts(t, "mismatch", b.mismatch, a.mismatch)
			pairs := [][2]float64{{a.white, b.white}, {a.marginMin, b.marginMin}, {a.marginMax, b.marginMax}}
			for k := range c.k {
				pairs = append(pairs, [2]float64{a.scatter[k], b.scatter[k]}, [2]float64{a.margin[k], b.margin[k]})
			}
			for i := range c.n {
				if in.Only[i] {
					pairs = append(pairs, [2]float64{narrow.second.margins[i], e.second.margins[i]})
				}
			}
			for i, p := range pairs {
				if !(math.Abs(p[0]-p[1]) <= 1e-11*(1+math.Abs(p[0]))) {
					t.Fatalf("%v %v: number %d is %.17g, narrow %.17g", c, im, i, p[1], p[0])
				}
			}
		}
	}
}

// A float64 classifier may lie beyond float32; radii of float32 features still decide as those of float64.
func TestScaleOfClassifier(t *testing.T) {
	in := gaussian[float32](600, 350, 100, 1e-4, 5)
	if !wide.Due(100, 350) {
		t.Fatal("the shape does not take the wide pass")
	}
	w := in.W
	in.W = make([]float64, len(w))
	keys := []string{KeyAccuracy, KeyNC4NCCMismatch, KeyMarginMean}
	for j := range 70 {
		for c := range 100 {
			w[c*350+5*j] = 3 * math.Sin(float64(c*j+c))
		}
	}
	want := map[string]float64{}
	for _, exponent := range []int{0, -500, -140, 140, 400} {
		for i, x := range w {
			in.W[i] = math.Ldexp(x, exponent)
		}
		r := mustMeasure(t, in, Options{Measures: keys})
		for _, key := range keys {
			got, found := r.Measures.of[key]
			if exponent == 0 {
				want[key] = got
			}
			if !found || !(math.Abs(got-want[key]) <= 1e-12) || key == KeyAccuracy && !(got > .5) {
				t.Errorf("W·2^%d: %s is %.17g (missing: %q), want %.17g", exponent, key, got, r.Missing[key], want[key])
			}
			if alone := mustMeasure(t, in, Options{Measures: []string{key}}).Measures.of[key]; !(math.Abs(alone-want[key]) <= 1e-12) {
				t.Errorf("W·2^%d: %s alone is %.17g, want %.17g", exponent, key, alone, want[key])
			}
		}
	}
}

// TestScaleOfFloat32Features: means whose squares leave float32 are multiplied in float64.
func TestScaleOfFloat32Features(t *testing.T) {
	in := gaussian[float32](600, 350, 100, 1e-2, 5)
	h := in.Train.Features.(*Rows[float32]).H
	key, want := KeyNC1Pinv, 0.0
	for _, step := range []int{0, -90, 180} { // 2⁰, 2⁻⁹⁰ and 2⁹⁰
		for i := range h {
			h[i] = float32(math.Ldexp(float64(h[i]), step))
		}
		r := mustMeasure(t, in, Options{Measures: []string{key}})
		got, found := r.Measures.of[key]
		if step == 0 {
			want = got
		}
		if !found || !(want > 0) || !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("after a factor of 2^%d: %.17g (missing: %q), want %.17g", step, got, r.Missing[key], want)
		}
	}
}
