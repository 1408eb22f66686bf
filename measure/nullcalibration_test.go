package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// noiseSet is noise without classes: normal or, if heavy, with the tails of Student's t with two degrees of freedom.
func noiseSet(r *rand.Rand, heavy bool) (in Input[float64], k, d int) {
	k = 3 + r.IntN(8)
	n := k * (15 + r.IntN(20))
	d = 2 + r.IntN(min(8, n/samplesPerCoordinate-1))
	return noise(r, heavy, n, k, d), k, d
}

// noise is a set of the given size.
func noise(r *rand.Rand, heavy bool, n, k, d int) Input[float64] {
	h, labels := make([]float64, n*d), make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % k)
		size := 1.0
		if heavy {
			a, b := r.NormFloat64(), r.NormFloat64()
			size = 1 / math.Sqrt((a*a+b*b)/2)
		}
		for j := range d {
			h[i*d+j] = size * r.NormFloat64()
		}
	}
	r.Shuffle(n, func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	return Input[float64]{Train: Memory(h, d, labels)}
}

var calibratedKeys = []string{KeyNC1Pinv, KeyNC1TraceRatio, KeyCDNV, KeyNC2MeansCentred, KeyNC2CosDeviation, KeyNC2NormCV, KeyMeanNormRatio}

// TestNullsAreCalibrated measures noise, whose labels are one more shuffle: its value is the lowest of ten in a tenth of the sets, whether
// the null comes from the samples or from a state, however heavy the tails are.
func TestNullsAreCalibrated(t *testing.T) {
	for _, heavy := range []bool{false, true} {
		r := rand.New(rand.NewPCG(44, 1))
		calibrated(t, longtest.Of(150, 1000), func() (Input[float64], int, int) { return noiseSet(r, heavy) })
	}
}

// TestNullsOfManySamplesAreCalibrated: the file's null then takes most samples from a probe, and the state's from normal numbers.
func TestNullsOfManySamplesAreCalibrated(t *testing.T) {
	longtest.Only(t)
	r := rand.New(rand.NewPCG(45, 1))
	calibrated(t, longtest.Of(60, 300), func() (Input[float64], int, int) { return noise(r, true, 20000, 10, 40), 10, 40 })
}

// calibrated measures sets of noise both ways.
func calibrated(t *testing.T, sets int, set func() (in Input[float64], k, d int)) {
	t.Helper()
	within := max(.03, 3*math.Sqrt(.1*.9/float64(sets)))
	lowest := map[string]int{}
	for range sets {
		in, k, d := set()
		opt := Options{Null: DefaultNull, Measures: calibratedKeys}
		m := NewMoments(k, d, true)
		if err := AddSource(m, nil, in.Train); err != nil {
			t.Fatal(err)
		}
		state, err := m.Report(nil, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		for route, report := range map[string]*Report{"file": mustMeasure(t, in, opt), "state": state} {
			for _, key := range calibratedKeys {
				null, ok := report.Null[key]
				v, measured := report.Value(key)
				if !ok || !measured {
					t.Fatalf("%s: %s has no null (%v)", route, key, measured)
				}
				if v < null.Low {
					lowest[route+", "+key]++
				}
			}
		}
	}
	for _, route := range []string{"file", "state"} {
		for _, key := range calibratedKeys {
			if share := float64(lowest[route+", "+key]) / float64(sets); math.Abs(share-.1) > within {
				t.Errorf("%s, %s: below the lowest of nine in %.1f %% of the sets, wanted 10 ± %.0f", route, key, 100*share, 100*within)
			}
		}
	}
}
