package bench

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

func TestGemmReport(t *testing.T) {
	shapes := []Shape{{gemm.NT, 33, 70, 65}, {gemm.NN, 64, 40, 31}, {gemm.TN, 12, 64, 100}}
	r, err := Gemm(2, 3, shapes)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rates) != 2*len(shapes) || r.Threads != 2 || r.Repeats != 3 || r.Kernel != isa.Name() {
		t.Fatalf("report %+v", r)
	}
	for i, rate := range r.Rates {
		limit := r.FMAAll
		if i >= len(shapes) {
			limit = r.FMA64All
		}
		if !(rate.Median > 0 && rate.Median <= rate.Best && math.Abs(rate.Fraction-rate.Best/limit) < 1e-12) {
			t.Errorf("rate %+v, limit %g", rate, limit)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"fma_gflops_all":`, `"fma64_gflops_all":`, `"form":"NT"`, `"dtype":"float64"`, `"fraction_of_peak":`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("no %s in %s", key, text)
		}
	}
}

// verify must notice a wrong element and a NaN.
func TestVerifyNotices(t *testing.T) {
	p := newProblem[float32](Shape{gemm.NT, 20, 30, 40})
	p.multiply(nil)
	if err := p.verify(); err != nil {
		t.Fatal(err)
	}
	last := len(p.c) - 1
	for _, wrong := range []float32{p.c[last] + 0.01, float32(math.NaN())} {
		p.c[last] = wrong
		if p.verify() == nil {
			t.Errorf("%g passed", wrong)
		}
	}
}

func TestReadRate(t *testing.T) {
	tm := parallel.NewTeam(2)
	defer tm.Close()
	rate, err := readRate(tm, 2*readPart)
	if err != nil || !(rate > 0) {
		t.Fatalf("rate %g, error %v", rate, err)
	}
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	t.Setenv("TMP", t.TempDir()+"/missing")
	if _, err := readRate(tm, readPart); err == nil {
		t.Fatal("no error without a directory for temporary files")
	}
}

func TestLoopRates(t *testing.T) {
	l := newLoop[float32](nil)
	l.sample()
	if !(l.best > 0) {
		t.Fatalf("rate %g", l.best)
	}
}

func TestMedian(t *testing.T) {
	if m := median([]float64{9, 1, 5}); m != 5 {
		t.Fatalf("median %g, want 5", m)
	}
	if m := median([]float64{4, 1, 3, 2}); m != 2 {
		t.Fatalf("median of four %g, want the lower, 2", m)
	}
}

func BenchmarkPeak(b *testing.B) {
	for b.Loop() {
		l, err := Peak(0)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(l.FMA1, "GFLOP/s-1")
		b.ReportMetric(l.FMAAll, "GFLOP/s-all")
		b.ReportMetric(l.FMA64All, "GFLOP/s-64")
		b.ReportMetric(l.ReadGBs, "GB/s")
	}
}

func BenchmarkGemm(b *testing.B) {
	for b.Loop() {
		r, err := Gemm(0, 5, LayerShapes)
		if err != nil {
			b.Fatal(err)
		}
		for _, rate := range r.Rates {
			b.Logf("%+v", rate)
		}
	}
}

func TestMeasureReport(t *testing.T) {
	longtest.Only(t)
	many := longtest.Of(1000, 3000)
	for _, c := range []struct {
		n, d, k int
		spread  float64
	}{{4000, 40, 8, Collapsed}, {many, 400, 100, Collapsed}, {many, 400, 100, 1.5}} {
		r, err := Measure(c.n, c.d, c.k, c.spread, 2, measure.Options{Uncertainty: true, Null: 3})
		if err != nil {
			t.Fatal(err)
		}
		if r.N != c.n || r.D != c.d || r.K != c.k || r.Threads != 2 || r.Kernel != isa.Name() || r.Runs < 1 {
			t.Errorf("report %+v", r)
		}
		total := 0.0
		for _, p := range r.Breakdown {
			total += p.Seconds
		}
		if !(total > .5*r.Seconds && total <= r.Seconds) {
			t.Errorf("%v: phases of %g s in all, the measurement took %g", c, total, r.Seconds)
		}
		if wide := c.d == 400; !(r.Pass1GBs > 0 && r.ReadGBs > 0 && r.RSSMB > 0) || (r.NC1 > 0) != wide {
			t.Errorf("%v: rates %+v", c, r)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{`"seconds":`, `"pass1_gb_s":`, `"rss_mb":`, `"nc1_fraction_of_peak":`, `"breakdown":[{"name":`} {
			if !strings.Contains(string(text), key) {
				t.Errorf("no %s in %s", key, text)
			}
		}
	}
	r, err := Measure(many, 400, 100, Collapsed, 2, measure.Options{Measures: []string{measure.KeyNC1Pinv, measure.KeyNC2W}})
	if err != nil || r.NC1 <= 0 || slices.ContainsFunc(r.Breakdown, func(p measure.Phase) bool { return p.Name == measure.PhaseMargins }) {
		t.Errorf("two measures, none of margins: %+v, %v", r, err)
	}
	if _, err := Measure(3000, 400, 100, Collapsed, 2, measure.Options{Measures: []string{"nc9"}}); err == nil || !strings.Contains(err.Error(), "nc9") {
		t.Errorf("a measure that does not exist: %v", err)
	}
	wrong := &measure.Report{N: 4000, D: 40, K: 8, Measures: measure.NewValues(map[string]float64{measure.KeyNC1TraceRatio: .01, measure.KeyNC1Pinv: 1})}
	if checkMade(wrong, Collapsed) == nil {
		t.Error("a wrong trace ratio was timed")
	}
	if _, err := Measure(10, 4, 8, Collapsed, 1, measure.Options{}); err == nil || !strings.Contains(err.Error(), "two samples of each class") {
		t.Errorf("too few samples: %v", err)
	}
	if _, err := Measure(100, 4, 8, 0, 1, measure.Options{}); err == nil || !strings.Contains(err.Error(), "spread 0") {
		t.Errorf("no spread: %v", err)
	}
}
