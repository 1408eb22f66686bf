package measure

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/parallel"
)

// TestClosenessOfADecision: own is row 0 here, which may lose to several others; only the best of them counts.
func TestClosenessOfADecision(t *testing.T) {
	rows, x := []float64{1, 0, 3, 0, 2, 0}, []float64{1, 0}
	for own, want := range map[int]float64{0: 2 / 2.0, 1: 1 / 1.0, 2: 1 / 1.0, -1: 1 / 1.0, 3: 1 / 1.0} {
		if got := closeness([]float64{1, 3, 2}, rows, x, 1, own); got != want {
			t.Errorf("own %d: %g, wanted %g", own, got, want)
		}
	}
	if got := closeness([]float64{1}, rows[:2], x, 1, 0); !math.IsInf(got, 1) {
		t.Errorf("alone: %g", got)
	}
}

// TestRanksOfNothing: of singular values that are all zero no rank is known.
func TestRanksOfNothing(t *testing.T) {
	for _, list := range [][]float64{{0, 0}, {}} {
		if a, b, c := ranksOf(list); !math.IsNaN(a) || !math.IsNaN(b) || !math.IsNaN(c) {
			t.Errorf("%v: %g, %g, %g", list, a, b, c)
		}
	}
}

// narrow is a source of rows without a coordinate.
type narrow struct{}

func (narrow) Size() (n, d int)                                    { return 4, 0 }
func (narrow) Read(buf []float64, from, to int) ([]float64, error) { return buf[:0], nil }

// TestErrorsOfAMeasurementArrive: of options, of a width, and of a classifier beside moments.
func TestErrorsOfAMeasurementArrive(t *testing.T) {
	in := gaussian[float64](40, 3, 4, .5, 1)
	if r, err := Measure(in, Options{Measures: []string{"no such measure"}}); r != nil || err == nil {
		t.Errorf("an unknown measure: %v, %v", r, err)
	}
	var shape *ShapeError
	if _, err := Measure(Input[float64]{Train: Split[float64]{Features: narrow{}, Labels: []int32{0, 0, 1, 1}}}, Options{}); !errors.As(err, &shape) || shape.Want != 1 || shape.Found != 0 {
		t.Errorf("features without a width: %v", err)
	}
	m := momentsOf(t, in, true, 0, 40)
	if r, err := m.Report(make([]float64, 7), nil, Options{}); r != nil || !errors.As(err, &shape) {
		t.Errorf("a classifier of another width: %v, %v", r, err)
	}
	if r, err := m.Report(make([]float64, 12), make([]float64, 5), Options{}); r != nil || !errors.As(err, &shape) {
		t.Errorf("a bias of another length: %v, %v", r, err)
	}
}

// TestBoundsOfNothing: of a matrix of zeros, and of one that holds an infinity, the bound is the norm.
func TestBoundsOfNothing(t *testing.T) {
	team := parallel.NewTeam(1)
	n := jacobiLimit + 1
	a := make([]float64, n*n)
	for _, want := range []float64{0, math.Inf(1)} {
		a[n+1] = want
		if got := spectralBound(team, a, n); got != want {
			t.Errorf("%g, wanted %g", got, want)
		}
	}
}

// TestMarginsNextToTheGlobalMean: sums about the class mean would cancel, so these margins are taken from the sample itself, whether it lies
// towards its class mean or away from it.
func TestMarginsNextToTheGlobalMean(t *testing.T) {
	for _, side := range []float64{1, -1} {
		near := []float64{3e-9 * side, -1e-9 * side, 2e-9 * side}
		h := []float64{3, 1, .7, 2.8, .9, 1.1, near[0], near[1], near[2]}
		for _, x := range h[:9] {
			h = append(h, -x)
		}
		w := []float64{.3, -.2, .5, -.1, .4, .2}
		dot, lengthH, lengthW := 0.0, 0.0, 0.0
		for j, x := range near {
			v := w[j] - w[3+j]
			dot, lengthH, lengthW = dot+x*v, lengthH+x*x, lengthW+v*v
		}
		want := 2 * dot / math.Sqrt(lengthH*lengthW)
		r := mustMeasure(t, Input[float64]{Train: Memory(h, 3, []int32{0, 0, 0, 1, 1, 1}), W: w}, Options{KeepMargins: true})
		for i := range 2 { // margins are in ascending order
			if side > 0 {
				i += 4
			}
			if got := r.Margins[i]; !(math.Abs(got-want) <= 1e-7*math.Abs(want)) {
				t.Errorf("margin %d is %.12g, wanted %.12g", i, got, want)
			}
		}
	}
}

// TestPrincipalDirectionsNeedAGap: the second and third eigenvalue of Σ_T are the same here, the first and second are not.
func TestPrincipalDirectionsNeedAGap(t *testing.T) {
	h := []float64{3, 0, 0, -3, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1}
	in := Input[float64]{Train: Memory(h, 3, []int32{0, 1, 2, 0, 1, 2}), OOD: &Rows[float64]{H: []float64{1, 2, 3}, D: 3}}
	r := mustMeasure(t, in, Options{Measures: []string{KeyOODNECO}})
	if got, ok := r.Measures.of[KeyOODNECO]; ok || !strings.Contains(r.Missing[KeyOODNECO], "eigenvalues 2 and 3 of Σ_T are the same") {
		t.Errorf("%g (%q)", got, r.Missing[KeyOODNECO])
	}
}

// TestFarthestRowsNeedBoth: of a part without its farthest rows those of the whole are not known.
func TestFarthestRowsNeedBoth(t *testing.T) {
	in := gaussian[float64](400, 3, 4, .5, 1)
	for _, without := range []int{0, 1} {
		parts := []*Moments{momentsOf(t, in, true, 0, 300), momentsOf(t, in, true, 300, 400)}
		parts[without].Far = nil
		if err := parts[0].Merge(parts[1]); err != nil || parts[0].Far != nil || parts[0].knowsFar() {
			t.Errorf("without part %d: %v, %d numbers are known", without, err, len(parts[0].Far))
		}
	}
}

// TestMomentsWithoutNamesStayWithout: their classes are 0 to K−1 after a merge, too.
func TestMomentsWithoutNamesStayWithout(t *testing.T) {
	in := gaussian[float64](40, 3, 4, .5, 1)
	m := momentsOf(t, in, true, 0, 20)
	if err := m.Merge(momentsOf(t, in, true, 20, 40)); err != nil || m.Values != nil {
		t.Errorf("%v, %v", m.Values, err)
	}
}

// TestTheFarthestRowsJoinAProbe: each stands for itself, unless its label is left out.
func TestTheFarthestRowsJoinAProbe(t *testing.T) {
	in := gaussian[float64](2000, 3, 4, .5, 1)
	rows := in.Train.Features.(*Rows[float64])
	s := &samples[float64]{src: rows, d: 3, k: 4, class: append([]int32{}, in.Train.Labels...)}
	squares := make([]float64, 2000)
	for i := range squares {
		squares[i] = float64(i)
	}
	s.class[1999] = -1
	p := &probe{k: 4, d: 3, n: 2000, row: []int32{5, 1990}, class: []int32{s.class[5], s.class[1990]}, h: append(append([]float64{}, rows.H[15:18]...), rows.H[5970:5973]...)}
	got, err := withFarthest(s, p, squares)
	if err != nil || got.alone != farRows-1 || len(got.row) != farRows || len(got.h) != 3*farRows || len(got.class) != farRows {
		t.Fatalf("%d alone, rows %v, %v", got.alone, got.row, err)
	}
	for i, row := range got.row {
		if want := int32(1999 - i); i > 0 && row != want || got.class[i] != s.class[row] || got.h[3*i] != rows.H[3*row] {
			t.Errorf("row %d is %d of class %d: %g", i, row, got.class[i], got.h[3*i])
		}
	}
}

// TestCoordinatesAreScaledToUnitDeviation, but for those that never move.
func TestCoordinatesAreScaledToUnitDeviation(t *testing.T) {
	s := &samples[float64]{d: 2}
	if got := (&cloud[float64]{s: s, total: []float64{4, 1, 1, 0}}).inverseDeviations(); got[0] != .5 || got[1] != 1 {
		t.Errorf("%g", got)
	}
	if got := (&cloud[float64]{s: s, total: []float64{4}, short: []float64{1, 2}}).inverseDeviations(); got[0] != 1 || got[1] != 1 {
		t.Errorf("short: %g", got)
	}
}

// TestMeansOfSeveralSamplesAreMoved: a sum of two is rounded, a single sample is not.
func TestMeansOfSeveralSamplesAreMoved(t *testing.T) {
	const d = 64
	s := &samples[float64]{d: d, k: 3, count: []int{0, 1, 2}, means: slices.Repeat([]float64{2}, 3*d)}
	s.divideSums(rand.New(rand.NewPCG(1, 2)))
	for c, want := range []float64{2, 2, 1} {
		moved := slices.ContainsFunc(s.mean(c), func(x float64) bool { return x != want })
		if moved != (c == 2) || !(math.Abs(s.mean(c)[0]-want) <= 1e-15) {
			t.Errorf("%d samples: %g", c, s.mean(c)[:4])
		}
	}
}

// TestAChosenCutOffIsNamed where it leaves out a direction, and none is where rounding alone decides.
func TestAChosenCutOffIsNamed(t *testing.T) {
	in := Input[float64]{Train: Memory([]float64{4, 0, 5, 0, -4, .01, -5, .01, 0, -.02, 0, -.03}, 2, []int32{0, 0, 1, 1, 2, 2})}
	for cut, want := range map[float64]string{1e-3: "1 of 2 directions between class means lie below the chosen rcond", 0: ""} {
		r := mustMeasure(t, in, Options{Measures: []string{KeyNC1Pinv, KeyRankBetween}, RankCutoff: cut, Uncertainty: true})
		if got := r.Reason[KeyNC1Pinv]; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("rcond %g: %q, wanted %q", cut, got, want)
		}
	}
}

// TestOneClassIsApartFromNone: there is no other.
func TestOneClassIsApartFromNone(t *testing.T) {
	r := mustMeasure(t, Input[float64]{Train: Memory([]float64{1, 2, 3, 5}, 2, []int32{0, 0})}, Options{})
	if r.Facts.Apart != nil || len(r.Facts.Lengths) != 1 {
		t.Errorf("%+v", r.Facts)
	}
}

// TestTheRowsOfAGramMatrix: in tiles of any height each row is visited once, with its own numbers.
func TestTheRowsOfAGramMatrix(t *testing.T) {
	const k, d = 6, 2
	a := make([]float64, k*d)
	for i := range a {
		a[i] = float64(i + 1)
	}
	for _, rows := range []int{1, 2, 3, 4, 6} {
		g := new(gram).of(nil, a, a, k, d)
		g.rows = rows
		for range 2 { // the second time from what is held, if anything is
			next := 0
			g.sum(func(i int, row []float64) float64 {
				if i != next {
					t.Fatalf("tiles of %d: row %d, wanted %d", rows, i, next)
				}
				next++
				for j, x := range row {
					if want := dot(a[i*d:][:d], a[j*d:][:d]); x != want {
						t.Errorf("tiles of %d: G[%d,%d] = %g, wanted %g", rows, i, j, x, want)
					}
				}
				return 0
			})
			if next != k {
				t.Errorf("tiles of %d: %d rows", rows, next)
			}
		}
	}
}

// TestTheNullOfAFewShuffles: smallest, middle and largest, of an even and of an odd number.
func TestTheNullOfAFewShuffles(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Null
	}{{[]float64{5, 1, 3, 2}, Null{Low: 1, Median: 2.5, High: 5}}, {[]float64{7, 1, 3, 9, 2}, Null{Low: 1, Median: 3, High: 9}}, {[]float64{4}, Null{4, 4, 4}}} {
		m := len(c.values)
		if got := (collectNull{"a": c.values, "b": c.values[:m-1]}).ranges(m); len(got) != 1 || got["a"] != c.want {
			t.Errorf("%v: %v, wanted %v alone", c.values, got, c.want)
		}
	}
}

// TestDirectionsOfARowOfZeros: a vanishing singular value has some direction, of finite numbers.
func TestDirectionsOfARowOfZeros(t *testing.T) {
	directions, s := rowDirections([]float64{0, 0, 0, 3, 0, 4}, 2, 3)
	if !slices.Equal(s, []float64{5, 0}) || !finite(directions) || math.Abs(directions[0]-0.6) > 1e-15 || math.Abs(directions[2]-0.8) > 1e-15 {
		t.Errorf("%v, %v", directions, s)
	}
}

// TestValuesThatAreNone: what is no object of numbers is an error.
func TestValuesThatAreNone(t *testing.T) {
	for _, text := range []string{`"nc1"`, `[1]`, `{"nc1": "low"}`} {
		var v Values
		if err := v.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is read as %v", text, v)
		}
	}
	var v Values
	if err := v.UnmarshalJSON([]byte(`{"nc1": 2}`)); err != nil || v.of["nc1"] != 2 {
		t.Errorf("%v, %v", v, err)
	}
}

// TestHowManyPairsThereAre: the reason names the pairs of different classes.
func TestHowManyPairsThereAre(t *testing.T) {
	b := newBuilder(&wanted{}, 0)
	b.leavePairs(3, []string{KeyVCI})
	if reason := b.report.Missing[KeyVCI]; !strings.Contains(reason, "3 classes make 3 pairs") {
		t.Errorf("%q", reason)
	}
}

// TestACutOffThatLeavesNothing: if no eigenvalue of Σ_B is above it, its inverse is missing, with a reason.
func TestACutOffThatLeavesNothing(t *testing.T) {
	in := Input[float64]{Train: Memory([]float64{1, 0, 2, 0, 0, 1, 0, 2}, 2, []int32{0, 0, 1, 1})}
	for cut, want := range map[float64]string{0: "", 1: "no eigenvalue of Σ_B could be distinguished from zero"} {
		r, err := Measure(in, Options{RankCutoff: cut})
		if err != nil {
			t.Fatal(err)
		}
		if _, there := r.Measures.of[KeyNC1Pinv]; there != (want == "") || !strings.Contains(r.Missing[KeyNC1Pinv], want) {
			t.Errorf("cut-off %g: %v, %q", cut, there, r.Missing[KeyNC1Pinv])
		}
	}
}

// TestCloudWork: products grow with the square of the width where samples are many, a decomposition with its cube where they are few.
func TestCloudWork(t *testing.T) {
	if got := cloudWork(1_000_000, 10, 512) / cloudWork(1_000_000, 10, 256); math.Abs(got-4) > 0.05 {
		t.Errorf("twice the width of many samples: %g times the work", got)
	}
	if got := cloudWork(2_000_000, 10, 256) / cloudWork(1_000_000, 10, 256); math.Abs(got-2) > 0.05 {
		t.Errorf("twice the samples: %g times the work", got)
	}
}

// TestMomentsOfExtremeSize: of features a power of two larger or smaller, far beyond what squares hold, measures without a unit have the same bits, and
// those with one are the power larger.
func TestMomentsOfExtremeSize(t *testing.T) {
	in := gaussian[float64](60, 4, 3, .3, 8)
	h := in.Train.Features.(*Rows[float64]).H
	report := func(exp int) *Report {
		m := momentsOf(t, Input[float64]{Classes: 3, Train: Memory(times2(h, exp), 4, in.Train.Labels)}, true, 0, 60)
		r, err := m.Report(times2(in.W, -exp), in.B, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := report(0)
	for _, exp := range []int{-440, 440} {
		got := report(exp)
		for i := range definitions {
			key, power := definitions[i].Key, definitions[i].power
			v, ok := want.Measures.of[key]
			if g, there := got.Measures.of[key]; there != ok || math.Ldexp(g, -power*exp) != v {
				t.Errorf("times 2^%d, %s: %g (%t), wanted %g·2^%d (%t)", exp, key, g, there, v, power*exp, ok)
			}
		}
	}
}

// TestAnEngineMeasuresWideSumsTwice: class sums so many that parts are classes begin at zero each time.
func TestAnEngineMeasuresWideSumsTwice(t *testing.T) {
	in := gaussian[float64](40, 1+partialLimit/20, 20, .3, 3)
	e, err := NewEngine[float64](Options{Measures: []string{KeyCDNV}})
	if err != nil {
		t.Fatal(err)
	}
	var values [2]float64
	for i := range values {
		r, err := e.Measure(in)
		if err != nil {
			t.Fatal(err)
		}
		values[i] = r.Measures.of[KeyCDNV]
	}
	if values[0] != values[1] || !(values[0] > 0) {
		t.Errorf("%v", values)
	}
}

// TestFarBeyondByPairs: the bound is that of the pair of means that allows most, by sums over pairs and classes.
func TestFarBeyondByPairs(t *testing.T) {
	const k, d = 5, 3
	random := rand.New(rand.NewPCG(4, 5))
	e, err := NewEngine[float64](Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &e.train
	s.k, s.d, s.centred = k, d, make([]float64, k*d)
	for i := range s.centred {
		s.centred[i] = random.NormFloat64()
	}
	least := math.Inf(1)
	for i := range k {
		for j := range i {
			apart, along := 0.0, 0.0 // ‖D‖² and DᵀΣ_B D
			difference := minus(s.centred[i*d:][:d], s.centred[j*d:][:d])
			apart = dot(difference, difference)
			for c := range k {
				x := dot(difference, s.centred[c*d:][:d])
				along += x * x / k
			}
			least = min(least, apart*apart/(4*along))
		}
	}
	const nc1 = 1e-3
	if got, want := e.farBeyond(nc1), k*nc1/least; !(math.Abs(got-want) <= 1e-12*want) || want >= 1 {
		t.Errorf("%g, wanted %g", got, want)
	}
}

// TestAStateThatIsCutShort says how many bytes it lacks.
func TestAStateThatIsCutShort(t *testing.T) {
	r := &stateReader{rest: make([]byte, 40)}
	if err := r.need([2]int{2, 3}); err == nil || !strings.Contains(err.Error(), "its header needs 48 bytes, but 40 are there") {
		t.Error(err)
	}
	if err := r.need([2]int{2, 2}, [2]int{1, 1}); err != nil {
		t.Error(err)
	}
}

// TestWhatAMeanAtTheOriginLacks: its angles to others, with that reason.
func TestWhatAMeanAtTheOriginLacks(t *testing.T) {
	r := mustMeasure(t, Input[float64]{Train: Memory([]float64{1, 0, -1, 0, 3, 1, 5, 1}, 2, []int32{0, 0, 1, 1})}, Options{})
	if reason := r.Missing[KeyConfMaxCos]; reason != "a class mean is zero" {
		t.Errorf("%q", reason)
	}
}

// TestSensitivityToMeans: size over distance of two means, and how the rounding of many samples averages out.
func TestSensitivityToMeans(t *testing.T) {
	x := &meanPerturber{m: &Moments{K: 2, D: 1, Mean: []float64{1, 3}, Count: []int{1, 1}}, variance: []float64{4}}
	if got := x.leastDependence(); got != 3 { // √((1 + 9 + 2·4)/(1 + 1))
		t.Errorf("%g, wanted 3", got)
	}
	_, one := x.roundings()
	x.m.Count = []int{10_000, 40_000}
	if _, many := x.roundings(); !(math.Abs(many/one-0.01) < 1e-12) {
		t.Errorf("10,000 samples: %g of the rounding of one", many/one)
	}
	x.m.Count = []int{0, 10_000}
	if _, none := x.roundings(); none != one {
		t.Errorf("beside an empty class: %g, wanted %g", none, one)
	}
}

// TestADistanceThatCostsTooMuch is left out with the time it would take.
func TestADistanceThatCostsTooMuch(t *testing.T) {
	in := withClassifier(12, 4, 1)
	for budget, left := range map[float64]bool{0: false, 1: true} {
		r := mustMeasure(t, in, Options{Budget: budget})
		if _, there := r.Measures.of[KeyNC3RankD]; there == left || left && !strings.Contains(r.Missing[KeyNC3RankD], "not requested: about ") {
			t.Errorf("budget %g: %t, %q", budget, there, r.Missing[KeyNC3RankD])
		}
	}
}
