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
	return Input[float64]{Train: Memory(h, d, labels)}, k, d
}

// TestNullsAreCalibrated measures noise, whose labels are one more shuffle: its value is the lowest of ten in a tenth of the sets, whether
// the null comes from the samples, however heavy their tails are, or from a state, which knows means and scatter only.
func TestNullsAreCalibrated(t *testing.T) {
	sets := longtest.Of(150, 1000)
	within := max(.03, 3*math.Sqrt(.1*.9/float64(sets)))
	keys := []string{KeyNC1Pinv, KeyNC1TraceRatio, KeyCDNV, KeyNC2MeansCentred, KeyNC2CosDeviation, KeyNC2NormCV, KeyMeanNormRatio}
	for _, heavy := range []bool{false, true} {
		lowest := map[string]int{}
		r := rand.New(rand.NewPCG(44, 1))
		for range sets {
			in, k, d := noiseSet(r, heavy)
			opt := Options{Null: DefaultNull, Measures: keys}
			m := NewMoments(k, d, true)
			if err := AddSource(m, nil, in.Train); err != nil {
				t.Fatal(err)
			}
			state, err := m.Report(nil, nil, opt)
			if err != nil {
				t.Fatal(err)
			}
			reports := map[string]*Report{"file": mustMeasure(t, in, opt), "state": state}
			if heavy {
				delete(reports, "state")
			}
			for route, report := range reports {
				for _, key := range keys {
					null, ok := report.Null[key]
					if v, measured := report.Value(key); !ok || !measured {
						t.Fatalf("%s: %s has no null (%v)", route, key, measured)
					} else if v < null.Low {
						lowest[route+", "+key]++
					}
				}
			}
		}
		for name, n := range lowest {
			if share := float64(n) / float64(sets); math.Abs(share-.1) > within {
				t.Errorf("heavy tails %v, %s: below the lowest of nine in %.1f %% of the sets, wanted 10 ± %.0f", heavy, name, 100*share, 100*within)
			}
		}
		if len(lowest) < len(keys) {
			t.Errorf("heavy tails %v: only %v are ever below the lowest", heavy, lowest)
		}
	}
}
