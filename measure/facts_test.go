package measure

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestNearTies against all pairs, one by one.
func TestNearTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.Custom(func(t *rapid.T) float64 {
			x := float64(rapid.IntRange(-3, 3).Draw(t, "x"))
			return x * (1 + float64(rapid.IntRange(-40, 40).Draw(t, "roundings"))*2*roundoff64)
		})
		known, unknown := rapid.SliceOfN(score, 1, 8).Draw(t, "known"), rapid.SliceOfN(score, 1, 8).Draw(t, "unknown")
		slices.Sort(known)
		slices.Sort(unknown)
		most, want := 0.0, 0
		for _, x := range slices.Concat(known, unknown) {
			most = max(most, math.Abs(x))
		}
		for _, a := range known {
			for _, b := range unknown {
				if a != b && b >= a-64*roundoff64*most && b <= a+64*roundoff64*most {
					want++
				}
			}
		}
		if got := nearTies(known, unknown) * float64(len(known)*len(unknown)); math.Abs(got-float64(want)) > 1e-9 {
			t.Fatalf("%v, %v: %g, wanted %d", known, unknown, got, want)
		}
	})
}

// TestRanksOf: k equal values have rank k by each definition, and none have no rank.
func TestRanksOf(t *testing.T) {
	for k := range 4 {
		singular := append(slices.Repeat([]float64{2.5}, k), 0, 0)
		numerical, stable, effective := ranksOf(singular)
		for name, got := range map[string]float64{"numerical": numerical, "stable": stable, "effective": effective} {
			if k == 0 && !math.IsNaN(got) || k > 0 && !(math.Abs(got-float64(k)) < 1e-12) {
				t.Errorf("%d equal values: %s rank %g", k, name, got)
			}
		}
	}
	if numerical, stable, _ := ranksOf([]float64{3, 4}); math.Abs(numerical-49./25) > 1e-12 || math.Abs(stable-25./16) > 1e-12 {
		t.Errorf("%g and %g", numerical, stable)
	}
}

// TestClassWeights sum to 1, by samples and by classes.
func TestClassWeights(t *testing.T) {
	for how, want := range map[Imbalance][]float64{PerSample: {.1, .2, .3, .4}, PerClass: {.25, .25, .25, .25}} {
		e := &Engine[float64]{opt: Options{Imbalance: how}}
		e.train.k, e.train.n, e.train.count = 4, 10, []int{1, 2, 3, 4}
		for c, w := range want {
			if got := e.classWeight(c); math.Abs(got-w) > 1e-15 {
				t.Errorf("%v, class %d: %g, wanted %g", how, c, got, w)
			}
		}
	}
}

// TestSumRounding: u for sums that float64 holds, and u(1 + √n/3) otherwise.
func TestSumRounding(t *testing.T) {
	for n, want := range map[int]float64{0: 1, 9: 2, 900: 11} {
		if got := sumRounding(n, false) / roundoff64; math.Abs(got-want) > 1e-12 {
			t.Errorf("%d numbers: %g roundings, wanted %g", n, got, want)
		}
	}
	if got := sumRounding(900, true); got != roundoff64 {
		t.Errorf("float32: %g", got)
	}
}

// TestHistogramOfBins has an edge more than bins, from the first with a value to the last.
func TestHistogramOfBins(t *testing.T) {
	for _, filled := range [][]int{nil, {0}, {histogramBins - 1}, {3, 5}, {0, histogramBins - 1}} {
		var b bins
		for _, i := range filled {
			b.count[i] = i + 1
		}
		h := b.histogram()
		if len(filled) == 0 {
			if len(h.Edges) != 0 || len(h.Counts) != 0 {
				t.Errorf("of nothing: %+v", h)
			}
			continue
		}
		first, last := filled[0], filled[len(filled)-1]
		if len(h.Counts) != last-first+1 || len(h.Edges) != len(h.Counts)+1 || h.Counts[0] != first+1 || h.Counts[len(h.Counts)-1] != last+1 || h.Edges[0] != edge(first) || h.Edges[len(h.Edges)-1] != edge(last+1) {
			t.Errorf("%v: %+v", filled, h)
		}
	}
}

// failsOnce is a source of which one read fails, and no other.
type failsOnce struct {
	Source[float64]
	at, reads *int
}

var errRead = errors.New("the disk is gone for a moment")

func (f failsOnce) Read(buf []float64, from, to int) ([]float64, error) {
	*f.reads++
	if *f.reads == *f.at {
		return nil, errRead
	}
	return f.Source.Read(buf, from, to)
}

// widened is a split in float64.
func widened(split Split[float32]) Split[float64] {
	rows := split.Features.(*Rows[float32])
	h := make([]float64, len(rows.H))
	for i, x := range rows.H {
		h[i] = float64(x)
	}
	return Memory(h, rows.D, split.Labels)
}

// TestAReadThatFailsOnce fails the measurement, in the first pass as in the last.
func TestAReadThatFailsOnce(t *testing.T) {
	few := closeDecisionsSet(false)
	small := Input[float64]{Train: widened(few.Train), Test: widened(few.Test), W: few.W, B: few.B}
	large := gaussian[float64](1+wholeElements/4, 6, 4, .3, 1)
	large.Test = gaussian[float64](1+wholeElements/4, 6, 4, .3, 2).Train
	beside := gaussian[float64](60, 6, 4, .3, 4)
	beside.OOD = gaussian[float64](20, 6, 4, .3, 5).Train.Features
	for name, c := range map[string]struct {
		in  Input[float64]
		opt Options
	}{
		"OOD":         {beside, Options{}},
		"several":     {small, Options{Measures: []string{KeyNC1Pinv, KeyAccuracy, KeyNCCAccuracy, KeyTestAccuracy, KeyDilation}, Uncertainty: true, Null: 2}},
		"one measure": {small, Options{Measures: []string{KeyCDNV}}},
		"large":       {large, Options{Measures: []string{KeyNC1Pinv, KeyAccuracy, KeyNCCAccuracy, KeyTestAccuracy, KeyDilation, KeyMarginMean}, Uncertainty: true, Null: 2}},
	} {
		at, reads := 0, 0
		in := c.in
		in.Train.Features = failsOnce{in.Train.Features, &at, &reads}
		if in.Test.Features != nil {
			in.Test.Features = failsOnce{in.Test.Features, &at, &reads}
		}
		if in.OOD != nil {
			in.OOD = failsOnce{in.OOD, &at, &reads}
		}
		mustMeasure(t, in, c.opt)
		all := reads
		if all < 2 {
			t.Fatalf("%s: %d reads", name, all)
		}
		for at = 1; at <= all; at += max(1, all/40) {
			reads = 0
			if _, err := Measure(in, c.opt); !errors.Is(err, errRead) {
				t.Errorf("%s: read %d of %d fails: %v", name, at, all, err)
			}
		}
	}
}

// TestOptionsThatCannotBe: the error of the options is the error of the call.
func TestOptionsThatCannotBe(t *testing.T) {
	var unknown *UnknownMeasureError
	if r, err := Measure(gaussian[float64](20, 2, 3, .3, 1), Options{Measures: []string{"nc1_pin"}}); !errors.As(err, &unknown) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// TestAReadThatFailsOnceForManyClasses: where class sums are so many that parts are classes, the first passes are others.
func TestAReadThatFailsOnceForManyClasses(t *testing.T) {
	const rows, classes, d = 2200, 1100, 1000
	labels := make([]int32, rows)
	for i := range labels {
		labels[i] = int32(i % classes)
	}
	in := Input[float64]{Train: Memory(slices.Repeat([]float64{1, 2}, rows*d/2), d, labels)}
	at, reads := 0, 0
	in.Train.Features = failsOnce{in.Train.Features, &at, &reads}
	for at = 1; at <= 4; at++ {
		reads = 0
		if _, err := Measure(in, Options{Measures: []string{KeyTraceWithin}}); !errors.Is(err, errRead) {
			t.Errorf("read %d fails: %v after %d reads", at, err, reads)
		}
	}
}
