package measure

import (
	"math"
	"testing"
)

// formulaFeatures are features, labels, W and b given by a formula, with values of every measure computed
// apart from this program.
func formulaFeatures(k, n, d int) Input[float64] {
	var in Input[float64]
	in.Classes = k
	var h []float64
	var labels []int32
	for c := range k {
		for i := range n {
			for j := range d {
				h = append(h, math.Sin(.37*float64(c+1)*float64(j+1)+.5*float64(c))+.25*math.Cos(1.1*float64(i+1)*float64(j+2)+.7*float64(c)))
			}
			labels = append(labels, int32(c))
		}
		for j := range d {
			in.W = append(in.W, math.Sin(.37*float64(c+1)*float64(j+1)+.5*float64(c))+.1*math.Cos(.9*float64(c+2)*float64(j+1)))
		}
		in.B = append(in.B, .1*math.Sin(float64(1+c)))
	}
	in.Train = Memory(h, d, labels)
	return in
}

func TestFormulaFeatures(t *testing.T) {
	for _, c := range []struct {
		k, n, d int
		want    map[string]float64
	}{
		{4, 5, 6, map[string]float64{
			KeyNC1Pinv: 0.0194315640, KeyRankBetween: 3, KeyTraceWithin: 0.1499769651,
			KeyNC2W: 0.2759463579, KeyNC2MeansETF: 0.3136197409, KeyNC2MeansCentred: 0.1616342775, KeyNC2MeansOF: 0.3343694710,
			KeyNC3Gram: 0.1675452338, KeyNC3Direct: 0.1302873017, KeyNC4Bias: 0.9721981065, KeyNumericalRank: 1.7676398824,
			KeyMarginMean: 1.1678469607, KeyMarginMin: 1.0309110149, KeyMarginMax: 1.3044321745,
			KeyAccuracy: 1, KeyNC4NCCMismatch: 0,
		}},
		{5, 6, 3, map[string]float64{
			KeyNC1Pinv: 0.9145652585, KeyRankBetween: 3, KeyTraceWithin: 0.0944376970,
			KeyNC2W: 0.7864582086, KeyNC2MeansETF: 0.7927830496, KeyNC2MeansCentred: 0.7604567655, KeyNC2MeansOF: 0.8026065530,
			KeyNC3Gram: 0.7719877333, KeyNC3Direct: 0.0952092209, KeyNC4Bias: 0.5928538203, KeyNumericalRank: 1.5639659032,
			KeyMarginMean: 0.4702055258, KeyMarginMin: 0.1003307242, KeyMarginMax: 0.7824473311,
			KeyAccuracy: 0.9, KeyNC4NCCMismatch: 0.1, KeyNC2RankD: 0.6362391648, KeyNC3RankD: 0.6145766662,
		}},
	} {
		r := mustMeasure(t, formulaFeatures(c.k, c.n, c.d), Options{})
		for key, want := range c.want {
			// The table has ten decimals: 5e-11 of rounding, and 1e-9 is asked.
			if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-want) <= 1e-10) {
				t.Errorf("K=%d n=%d d=%d %s: got %.12g (missing: %q), want %.10f", c.k, c.n, c.d, key, got, r.Missing[key], want)
			}
		}
	}
}

func mustMeasure[T float32 | float64](t testing.TB, in Input[T], opt Options) *Report {
	t.Helper()
	r, err := Measure(in, opt)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range r.Measures.of {
		if v-v != 0 {
			t.Fatalf("%s is %g", key, v)
		}
		if reason, both := r.Missing[key]; both {
			t.Fatalf("%s is both %g and missing (%s)", key, v, reason)
		}
	}
	return r
}
