package judge

import (
	"math"
	"testing"
)

func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{1, 8, 27, 64}, 1},
		{[]float64{1, 2, 3, 4}, []float64{9, 4, 1, 0}, -1},
		// ranks 1 2.5 2.5 4 and 1 3 2 4: Pearson's r of these is 4.5/√(4.5·5)
		{[]float64{1, 2, 2, 3}, []float64{0, 2, 1, 5}, 4.5 / math.Sqrt(4.5*5)},
		// 1 − 6·Σd²/(n(n²−1)) with d = 0 1 1 1 1
		{[]float64{1, 2, 3, 4, 5}, []float64{1, 3, 2, 5, 4}, 1 - 6*4.0/120},
	} {
		if got := spearman(c.x, c.y); !near(got, c.want, 1e-12) {
			t.Errorf("spearman(%v, %v) = %g, wanted %g", c.x, c.y, got, c.want)
		}
	}
	if !math.IsNaN(spearman([]float64{1, 1, 1}, []float64{1, 2, 3})) || !math.IsNaN(spearman([]float64{1, 2}, []float64{1, 2})) {
		t.Error("a constant side or two pairs have no rank correlation")
	}
}

func TestFit(t *testing.T) {
	l := fit([]float64{0, 1, 2, 3}, []float64{1, 3, 5, 7})
	if !near(l.Slope, 2, 1e-12) || !near(l.Intercept, 1, 1e-12) || !near(l.R2, 1, 1e-12) {
		t.Errorf("a line gave %+v", l)
	}
	l = fit([]float64{-1, 0, 1}, []float64{0, 3, 0}) // no trend at all
	if !near(l.Slope, 0, 1e-12) || !near(l.R2, 0, 1e-12) || !near(l.Intercept, 1, 1e-12) {
		t.Errorf("a hat gave %+v", l)
	}
	if l = fit([]float64{2, 2}, []float64{0, 1}); !math.IsNaN(l.Slope) {
		t.Errorf("a vertical line gave slope %g", l.Slope)
	}
}

func TestDeviation(t *testing.T) {
	if got := Deviation([]float64{1e8 + 1, 1e8 + 2, 1e8 + 3}); !near(got, 1, 1e-7) {
		t.Errorf("deviation around a large mean is %g, wanted 1", got)
	}
	if !math.IsNaN(Deviation([]float64{4})) || !math.IsNaN(Mean(nil)) {
		t.Error("one value has no deviation, none has no mean")
	}
}

func TestBootstrap(t *testing.T) {
	values := map[uint64]float64{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8}
	seeds := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	stat := func(draw []uint64) float64 {
		v := make([]float64, len(draw))
		for i, s := range draw {
			v[i] = values[s]
		}
		return Mean(v)
	}
	r := bootstrap(seeds, stat)
	// The mean of 8 draws has standard deviation √(5.25/8) = 0.81: the limits lie near 4.5 ± 1.59.
	if !near(r.Value, 4.5, 1e-12) || !near(r.Lo, 2.91, 0.15) || !near(r.Hi, 6.09, 0.15) {
		t.Errorf("interval %+v", r)
	}
	if again := bootstrap(seeds, stat); again != r {
		t.Error("the same data gave another interval")
	}
	if one := bootstrap(seeds[:1], stat); !math.IsNaN(one.Lo) || one.Value != 1 {
		t.Errorf("one seed gave %+v, wanted no interval", one)
	}
	if bad := bootstrap(seeds, func(d []uint64) float64 {
		if &d[0] == &seeds[0] {
			return 1
		}
		return math.NaN()
	}); !math.IsNaN(bad.Lo) {
		t.Error("an interval was made from draws without a value")
	}
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }
