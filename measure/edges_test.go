package measure_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"collapse.example/collapse/measure"
)

// edge is an input at the edge of what measures are defined for.
type edge struct {
	name string
	in   measure.Input[float64]
	opt  measure.Options
	// needs are measures that must be there.
	needs string
}

// noise returns n samples of k classes around means of size 1, times scale.
func noise(n, d, k int, scale float64, seed uint64) measure.Split[float64] {
	r := rand.New(rand.NewPCG(seed, 3))
	means := make([]float64, k*d)
	for i := range means {
		means[i] = r.NormFloat64()
	}
	h, labels := make([]float64, n*d), make([]int32, n)
	for i := range h {
		labels[i/d] = int32(i / d % k)
		h[i] = scale * (means[i/d%k*d+i%d] + .1*r.NormFloat64())
	}
	return measure.Memory(h, d, labels)
}

func normal(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 4))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func edges() []edge {
	const usual = "nc1_pinv nc1_trace_ratio cdnv trace_within nc2_means_etf_centred ncc_accuracy"
	equal := make([]float64, 24*5)
	for i := range equal {
		equal[i] = 3.7
	}
	lone := noise(22, 5, 3, 1, 9)
	lone.Labels[0], lone.Labels[1] = 3, 4
	rest := measure.Input[float64]{Train: noise(60, 6, 3, 1, 10), W: normal(18, 1), B: normal(3, 2), Test: noise(30, 6, 3, 1, 10), OOD: &measure.Rows[float64]{H: normal(60, 3), D: 6},
		True: noise(60, 6, 3, 1, 10).Labels, Redrawn: make([]bool, 60)}
	rest.True[3], rest.Redrawn[3] = (rest.True[3]+1)%3, true
	large := measure.Input[float64]{Train: noise(30_000, 9, 4, 1, 7), W: normal(36, 1), Test: noise(400, 9, 4, 1, 7), True: noise(30_000, 9, 4, 1, 7).Labels}
	large.True[3] = (large.True[3] + 1) % 4
	return []edge{
		{name: "one class", in: measure.Input[float64]{Train: noise(20, 4, 1, 1, 1)}, needs: "trace_within"},
		{name: "one sample a class", in: measure.Input[float64]{Train: noise(5, 4, 5, 1, 2), W: normal(20, 1)}, needs: "trace_between nc2_w nc3_gram"},
		{name: "one sample", in: measure.Input[float64]{Train: noise(1, 4, 1, 1, 3)}, needs: "min_class_count"},
		{name: "one coordinate", in: measure.Input[float64]{Train: noise(20, 1, 2, 1, 4), W: normal(2, 1), B: normal(2, 2)}, needs: "nc1_pinv ncc_accuracy accuracy"},
		{name: "one coordinate, one sample", in: measure.Input[float64]{Train: noise(1, 1, 1, 1, 4)}, needs: "min_class_count"},
		{name: "all features equal", in: measure.Input[float64]{Train: measure.Memory(equal, 5, noise(24, 5, 3, 1, 1).Labels), W: normal(15, 1)}, needs: "trace_within nc2_w"},
		{name: "all features zero", in: measure.Input[float64]{Train: measure.Memory(make([]float64, 120), 5, noise(24, 5, 3, 1, 1).Labels)}, needs: "trace_within"},
		{name: "scale 1e70", in: measure.Input[float64]{Train: noise(40, 6, 4, 1e70, 5)}, needs: usual},
		{name: "scale 1e-70", in: measure.Input[float64]{Train: noise(40, 6, 4, 1e-70, 5)}, needs: usual},
		{name: "scale 1e140", in: measure.Input[float64]{Train: noise(40, 6, 4, 1e140, 5), W: normal(24, 1)}, needs: "numerical_rank"},
		{name: "scale 1e-140", in: measure.Input[float64]{Train: noise(40, 6, 4, 1e-140, 5), W: normal(24, 1)}, needs: "numerical_rank"},
		{name: "scale 1e300", in: measure.Input[float64]{Train: noise(40, 6, 4, 1e300, 5), W: normal(24, 1)}},
		{name: "scale 1e-300", in: measure.Input[float64]{Train: noise(40, 6, 4, 1e-300, 5), W: normal(24, 1)}},
		{name: "W of scale 1e300", in: measure.Input[float64]{Train: noise(40, 2, 4, 1, 5), W: []float64{1e300, 2e300, -1e300, 3, 4, 5, 1e-300, 7}, B: normal(4, 1)}, needs: usual},
		{name: "one class of enough samples", in: measure.Input[float64]{Train: noise(22, 5, 4, 1, 6)}, opt: measure.Options{MinCount: 6}, needs: ""},
		{name: "two classes of one sample", in: measure.Input[float64]{Train: lone}, needs: usual},
		{name: "two classes of one sample left out", in: measure.Input[float64]{Train: lone}, opt: measure.Options{MinCount: 2}, needs: usual},
		{name: "everything", in: rest, needs: usual + " dilation test_accuracy nc5_ood ood_auroc_msp memorization_flipped nc3_gram"},
		{name: "everything, classes count the same", in: rest, opt: measure.Options{Imbalance: measure.PerClass}, needs: usual + " dilation"},
		{name: "too large to be measured again", in: large, needs: usual + " dilation accuracy memorization_flipped"},
		{name: "too large, one class", in: measure.Input[float64]{Train: noise(30_000, 9, 1, 1, 7)}, needs: "trace_within"},
		{name: "too large, one coordinate", in: measure.Input[float64]{Train: noise(270_000, 1, 3, 1, 7)}, needs: "nc1_pinv"},
		{name: "too large, tiny", in: measure.Input[float64]{Train: noise(30_000, 9, 4, 1e-70, 7)}, needs: usual},
		{name: "too large, equal", in: measure.Input[float64]{Train: noise(30_000, 9, 4, 0, 7)}, needs: "trace_within"},
	}
}

// TestEdgesHaveUncertainty measures inputs at the edge of what is defined: no panic, no number in JSON that is not finite, and an
// uncertainty for every measure.
func TestEdgesHaveUncertainty(t *testing.T) {
	for _, e := range edges() {
		e.opt.Uncertainty, e.opt.Null = true, 3
		r, err := measure.Measure(e.in, e.opt)
		if err != nil {
			if e.needs != "" || !strings.Contains(err.Error(), "measure:") {
				t.Errorf("%s: %v", e.name, err)
			}
			continue
		}
		checkCertain(t, e.name, r, e.needs)
	}
}

// The large products of float32 state uncertainties too.
func TestWideHasUncertainty(t *testing.T) {
	const k, d = 150, 300
	split := noise(3*k, d, k, 1, 8)
	rows := split.Features.(*measure.Rows[float64])
	h := make([]float32, len(rows.H))
	for i, x := range rows.H {
		h[i] = float32(x)
	}
	in := measure.Input[float32]{Train: measure.Memory(h, d, split.Labels)}
	for _, w := range [][]float64{nil, normal(k*d, 1)} {
		in.W = w
		r, err := measure.Measure(in, measure.Options{Uncertainty: true, Null: 3})
		if err != nil {
			t.Fatal(err)
		}
		needs := "nc1_pinv cdnv nc2_means_etf_centred"
		if w != nil {
			needs += " nc3_gram accuracy nc2_w"
		}
		checkCertain(t, "wide", r, needs)
	}
}

// checkCertain fails unless every measure of a report has a finite uncertainty, and the report has measures that are needed.
func checkCertain(t *testing.T, name string, r *measure.Report, needs string) {
	t.Helper()
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for key, v := range r.Measures.All() {
		u, ok := r.Uncertainty[key]
		given, known := r.InputRounding[key]
		if v-v != 0 || !ok || !known || !(u >= 0) || !(given >= 0) || u-u != 0 || given-given != 0 {
			t.Errorf("%s: %s = %g ± %g (%v), input rounding %g (%v)", name, key, v, u, ok, given, known)
		}
	}
	for key := range r.Null {
		if n := r.Null[key]; !(n.Low <= n.Median && n.Median <= n.High) || math.IsInf(n.High, 0) {
			t.Errorf("%s: %s by chance %+v", name, key, n)
		}
	}
	for _, key := range strings.Fields(needs) {
		if _, ok := r.Measures.Get(key); !ok {
			t.Errorf("%s: no %s: %s", name, key, r.Missing[key])
		}
	}
}
