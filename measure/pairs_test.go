package measure

import (
	"math"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/parallel"
)

// naivePairs are the sums over pairs as their definitions write them.
func naivePairs(r *Report) map[string]float64 {
	k, d := r.K, r.D
	unit := make([][]float64, k)
	for c := range unit {
		unit[c] = minus(r.ClassMeans[c*d:][:d], r.GlobalMean)
		scale(unit[c], 1/norm(unit[c]))
	}
	var distances, logs, kernels []float64
	cdnv, pairs := 0.0, float64(k*(k-1)/2)
	variance := r.PerClass["within_trace"]
	for i := range k {
		for j := range i {
			x := math.Sqrt(distance2(unit[i], unit[j]))
			distances, logs, kernels = append(distances, x), append(logs, math.Log(1/x)), append(kernels, math.Pow(x, -float64(d-2)))
			cdnv += (variance[i] + variance[j]) / (2 * distance2(r.ClassMeans[i*d:][:d], r.ClassMeans[j*d:][:d])) / pairs
		}
	}
	spread := func(x []float64) (mean, variance float64) {
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(len(x))
		}
		return mean, variance
	}
	_, distance := spread(distances)
	_, log := spread(logs)
	mean, riesz := spread(kernels)
	return map[string]float64{KeyGNC2Distance: distance, KeyGNC2Log: log, KeyGNC2Riesz: riesz / (mean * mean), KeyCDNV: cdnv}
}

func TestPairs(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{40, 3, 4}, {60, 9, 12}, {600, 20, 90}} {
		in := gaussian[float64](c.n, c.d, c.k, .2, 3)
		r := mustMeasure(t, in, Options{KeepMeans: true})
		for key, want := range naivePairs(r) {
			if got, ok := r.Measures.of[key]; !ok || !(math.Abs(got-want) <= 1e-10*want) {
				t.Errorf("%v %s: %.15g (%s), want %.15g", c, key, got, r.Missing[key], want)
			}
		}
	}
}

// The sweep gives the same bits on any team, and what its definitions say.
func TestPairsSweep(t *testing.T) {
	longtest.Only(t)
	const k, d = 700, 5
	in := gaussian[float64](2*k, d, k, .2, 3)
	r := mustMeasure(t, in, Options{KeepMeans: true})
	centred := make([]float64, 0, k*d)
	for c := range k {
		centred = append(centred, minus(r.ClassMeans[c*d:][:d], r.GlobalMean)...)
	}
	var whole, striped pairs
	whole.sweep(nil, r.ClassMeans, centred, r.GlobalMean, k, d)
	team := parallel.NewTeam(3)
	defer team.Close()
	striped.sweep(team, r.ClassMeans, centred, r.GlobalMean, k, d)
	if whole.pairSums != striped.pairSums {
		t.Errorf("%+v on one thread, %+v on three", whole.pairSums, striped.pairSums)
	}
	for c := range k {
		nearest, inverse := math.Inf(1), 0.0
		for j := range k {
			if j != c {
				x := distance2(centred[c*d:][:d], centred[j*d:][:d])
				nearest, inverse = min(nearest, x), inverse+1/x
			}
		}
		if !(math.Abs(whole.nearest[c]-nearest) <= 1e-10*nearest) || !(math.Abs(whole.inverse[c]-inverse) <= 1e-10*inverse) {
			t.Fatalf("class %d: nearest %g and %g, want %g and %g", c, whole.nearest[c], whole.inverse[c], nearest, inverse)
		}
		if whole.nearest[c] != striped.nearest[c] || whole.inverse[c] != striped.inverse[c] {
			t.Fatalf("class %d has other bits on three threads", c)
		}
	}
}

// The raw Riesz kernel leaves the range of numbers in wide features; its relative variance does not.
func TestRieszStaysInRange(t *testing.T) {
	in := gaussian[float64](60, 4000, 20, .1, 3)
	r := mustMeasure(t, in, Options{})
	if got, ok := r.Measures.of[KeyGNC2Riesz]; !ok || !(got > 0 && got < 190) {
		t.Fatalf("relative variance %g (%s), want it between 0 and the number of pairs", got, r.Missing[KeyGNC2Riesz])
	}
	if raw := math.Pow(math.Sqrt(2), -(4000 - 2)); raw != 0 {
		t.Fatalf("√2^−3998 is %g: the case shows nothing", raw)
	}
	if _, ok := mustMeasure(t, gaussian[float64](60, 2, 3, .1, 3), Options{}).Measures.of[KeyGNC2Riesz]; ok {
		t.Error("the kernel of exponent 0 has a variance")
	}
}

func TestSpreadMerges(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16, 3}
	whole := spreadOf(x)
	var merged spread
	for _, part := range [][]float64{{}, x[:1], x[1:4], x[4:]} {
		s := spreadOf(part)
		s.top = 3 // scaled by e^-3
		s.mean, s.m2 = s.mean*math.Exp(-3), s.m2*math.Exp(-6)
		s.scale(100)
		s.scale(3)
		merged.merge(s)
	}
	merged.scale(0)
	if !(math.Abs(merged.mean-whole.mean) <= 1e-12*whole.mean) || !(math.Abs(merged.m2-whole.m2) <= 1e-12*whole.m2) || merged.n != whole.n {
		t.Fatalf("%+v, want %+v", merged, whole)
	}
}
