package measuretest

import (
	"math"
	"slices"
	"testing"
)

// plane is two classes in the plane, two samples each: means (3,0) and (0,4), residuals ±1 and ±2 along them, h_G = (1.5,2).
func plane() *Set {
	return &Set{
		D: 2, W: []float64{1, 0, 0, 1}, B: []float64{.5, .25},
		Train:   Split{H: []float64{2, 0, 4, 0, 0, 2, 0, 6}, Labels: []int32{0, 0, 1, 1}, K: 2},
		Test:    &Split{H: []float64{3, 0, 5, 0, 0, 1, 0, 3}, Labels: []int32{0, 0, 1, 1}, K: 2},
		True:    []int32{0, 1, 1, 1},
		Redrawn: []bool{false, true, true, false},
		OOD:     []float64{1, 1, 1, 1},
	}
}

func TestByHand(t *testing.T) {
	away := math.Hypot(4, 2) // the flipped sample (4,0) from its true class's (0,2)
	got := New(plane()).Values(Ranks{})
	cos := 4 / 5. // of w_1 = (0,1) and c_1 = (−1.5, 2), and minus it of w_0 and c_0 = (1.5, −2) is .6
	for key, want := range map[string]float64{
		"trace_within": 2.5, "trace_between": 6.25, "nc1_trace_ratio": .4, "rank_between": 1, "rank_between_cut": 0,
		"nc1_pinv": (.5*2.25 + 2*4) / 6.25 / 6.25 / 2, "cdnv": (1 + 4.) / 2 / 25, "nc4_bias": math.Hypot(2, 2.25),
		"accuracy": 1, "nc4_ncc_mismatch": 0, "ncc_accuracy": 1, "test_accuracy": 1,
		"memorization_flipped": away, "memorization_redrawn": away, "memorization_mean": away, "memorization_normalised": away / math.Hypot(4, 2),
		"nc5_ood": math.Sqrt(.5), "mean_norm_ratio": .75, "config_smallest_entry": 0, "config_max_abs_cos": 0, "config_support_overlap": 0,
		"dilation": math.Sqrt(.5 / 5 / 2), "test_nc1_trace_ratio": .2,
		"nc2_norm_cv": 0, "nc2_cos_deviation": 0, "nc2_cos_max_deviation": 0, "gnc2_distance": 0, "gnc2_log": 0, "nc2_means_etf_centred": 0,
		// WWᵀ = I: ‖I/√2 − (I − 11ᵀ/2)‖² has twice (1/√2 − 1/2)² and twice (1/2)².
		"nc2_w": math.Sqrt(2*(math.Sqrt(.5)-.5)*(math.Sqrt(.5)-.5) + .5),
		// H̄ᵀH̄ = diag(9, 16), norm √337.
		"nc2_means_of":        math.Hypot(9/math.Sqrt(337)-math.Sqrt(.5), 16/math.Sqrt(337)-math.Sqrt(.5)),
		"nc3_uniform_duality": (cos - .6) * (cos - .6) / 4, "config_weight_angle": math.Acos(.6),
		"nc3_direct": math.Hypot(math.Sqrt(.5)-.6, math.Sqrt(.5)-.8),
		// Samples less h_G: (.5,−2), (2.5,−2), (−1.5,0), (−1.5,4); w_0 − w_G = (½,−½), cos_1 = −cos_0.
		"cosine_margin_min": 2 * 1.5 / 1.5 / math.Sqrt2, "cosine_margin_max": 2 * 4.5 / math.Hypot(2.5, 2) / math.Sqrt2,
		"numerical_rank": 1, "min_class_count": 2, "cdnv_std": 0, "cdnv_max": (1 + 4.) / 2 / 25,
		// With c = (1.5,−2): Σ_B = ccᵀ, cᵀΣ_W⁻¹c = 6.5, and Σ_T = [2.75 −3; −3 6] has trace 8.75 and determinant 7.5.
		"vci": 1 - 6.5/7.5, "feature_rank": 2, "feature_stable_rank": 17.5 / (8.75 + math.Sqrt(8.75*8.75-30)),
		"nc2_w_centred": 0, "nc2_w_norm_cv": 0, "nc2_w_cos_deviation": 1, "nc2_w_cos_std": 0, "nc2_w_coherence": 0, "nc2_cos_std": 0, "nc2_coherence": 1,
		"nc3_centred": math.Sqrt(.6), "w_mean_alignment": 3.5 / 2.5 / math.Sqrt2, "test_ncc_accuracy": 1, "test_nc4_ncc_mismatch": 0,
		// (1,1) has logits 1.5 and 1.25; (0,1) alone has a smaller largest one. Each score puts one test sample of four below.
		"ood_auroc_msp": 1, "ood_auroc_max_logit": .75, "ood_auroc_energy": .75, "ood_auroc_neco": .75, "ood_auroc_mahalanobis": .75,
	} {
		if v := got[key]; v.Undefined != "" || !(math.Abs(v.V.Hi-want) <= 4e-16*(1+math.Abs(want))) {
			t.Errorf("%s: %.17g (%s), want %.17g", key, v.V.Hi, v.Undefined, want)
		}
	}
	if len(got) != len(definitions) {
		t.Errorf("%d values of %d definitions", len(got), len(definitions))
	}
	for _, key := range []string{"nc2_rank_d", "nc3_rank_d", "gnc2_riesz"} {
		if got[key].Undefined == "" {
			t.Errorf("%s has a value at K = d = 2", key)
		}
	}
}

// Undefined inputs are told apart, and weighting classes differs from weighting samples.
func TestUndefined(t *testing.T) {
	s := plane()
	s.W, s.Test, s.OOD = nil, nil, nil
	got := New(s).Values(Ranks{})
	for _, key := range []string{"nc2_w", "accuracy", "cosine_margin_min", "dilation", "memorization_flipped", "nc5_ood", "test_accuracy"} {
		if got[key].Undefined == "" {
			t.Errorf("%s without its inputs: %v", key, got[key].V)
		}
	}
	s.Train.Labels = []int32{0, 1, 1, 1}
	samples := New(s).Values(Ranks{})
	s.PerClass = true
	// Means (2,0) and (4,8)/3, whose squared distance is 68/9; h_G lies half way, or at a quarter of it.
	for _, c := range []struct{ got, want float64 }{{samples["trace_between"].V.Hi, 85 / 36.}, {New(s).Values(Ranks{})["trace_between"].V.Hi, 17 / 9.}} {
		if !(math.Abs(c.got-c.want) <= 1e-15) {
			t.Errorf("tr Σ_B: %.17g, want %.17g", c.got, c.want)
		}
	}
	one := samples["trace_within"].V.Hi
	if other := New(s).Values(Ranks{})["trace_within"].V.Hi; !(math.Abs(one-other) > .1) || !(math.Abs(other-one*4/6) <= 1e-15) {
		t.Errorf("tr Σ_W: samples %g, classes %g", one, other)
	}
	s.Train = Split{H: []float64{1, 0, 1, 0, 3, 0}, Labels: []int32{0, 1, 2}, K: 3}
	got = New(s).Values(Ranks{})
	for _, key := range []string{"cdnv", "trace_within", "nc1_pinv", "gnc2_log"} {
		if got[key].Undefined == "" {
			t.Errorf("%s of coinciding single samples: %v", key, got[key].V)
		}
	}
}

// The formula-defined features of the theory's metrics, whose numbers an independent program computed: K = 5, n = 6, d = 3.
func TestFormulaFeatures(t *testing.T) {
	const k, n, d = 5, 6, 3
	s := &Set{D: d, Train: Split{K: k}}
	for c := range k {
		a := float64(c)
		for i := range n {
			for j := range d {
				s.Train.H = append(s.Train.H, math.Sin(.37*(a+1)*float64(j+1)+.5*a)+.25*math.Cos(1.1*float64(i+1)*float64(j+2)+.7*a))
			}
			s.Train.Labels = append(s.Train.Labels, int32(c))
		}
		for j := range d {
			s.W = append(s.W, math.Sin(.37*(a+1)*float64(j+1)+.5*a)+.1*math.Cos(.9*(a+2)*float64(j+1)))
		}
		s.B = append(s.B, .1*math.Sin(1+a))
	}
	got := New(s).Values(Ranks{})
	for key, want := range map[string]float64{
		"nc1_pinv": 0.9145652585, "rank_between": 3, "trace_within": 0.0944376970,
		"nc2_w": 0.7864582086, "nc2_means_etf": 0.7927830496, "nc2_means_etf_centred": 0.7604567655, "nc2_means_of": 0.8026065530,
		"nc3_gram": 0.7719877333, "nc3_direct": 0.0952092209, "nc4_bias": 0.5928538203, "numerical_rank": 1.5639659032,
		"cosine_margin_mean": 0.4702055258, "cosine_margin_min": 0.1003307242, "cosine_margin_max": 0.7824473311,
		"accuracy": .9, "nc4_ncc_mismatch": .1, "nc2_rank_d": 0.6362391648, "nc3_rank_d": 0.6145766662,
	} {
		if v := got[key]; v.Undefined != "" || !(math.Abs(v.V.Hi-want) <= 6e-11) {
			t.Errorf("%s: %.12g (%s), want %.10g", key, v.V.Hi, v.Undefined, want)
		}
	}
}

// The minimum over projections is below what any projection gives, and is reached where the matrix is one.
func TestRankDIsMinimum(t *testing.T) {
	s := Random(166)
	if s.D >= s.Train.K-1 || s.W == nil {
		t.Fatal("the set has no rank-d measures")
	}
	e := New(s)
	x := products(e.w, e.train.centred)
	least := rankD(x, e.d).V
	f := frobenius(x)
	for at := range e.k - e.d { // projections on d of the Helmert axes
		sum := 0.0
		for m := at + 1; m <= min(at+e.d, e.k-1); m++ {
			for i := range m + 1 {
				for j := range m + 1 {
					sum += axis(m, i) * axis(m, j) * x[i][j].Hi / f.Hi
				}
			}
		}
		if other := math.Sqrt(2 - 2/math.Sqrt(float64(e.d))*sum); !(other > least.Hi) {
			t.Errorf("a projection is at %g, the minimum at %g", other, least.Hi)
		}
	}
}

func axis(m, i int) float64 {
	root := math.Sqrt(float64(m * (m + 1)))
	if i == m {
		return -float64(m) / root
	}
	return 1 / root
}

// An index determines the set; the sets have the properties they are drawn for.
func TestRandomSets(t *testing.T) {
	a, b := Random(7), Random(7)
	if !slices.Equal(a.Train.H, b.Train.H) || !slices.Equal(a.W, b.W) || slices.Equal(a.Train.H, Random(8).Train.H) {
		t.Error("the index does not fix the set")
	}
	seen := map[string]int{}
	for i := range 400 {
		s := Random(i)
		count := make([]int, s.Train.K)
		for _, c := range s.Train.Labels {
			count[c]++
		}
		if slices.Min(count) < 1 || len(s.Train.H) != s.D*len(s.Train.Labels) {
			t.Fatalf("set %d: counts %v, %d numbers", i, count, len(s.Train.H))
		}
		for what, is := range map[string]bool{
			"heavy": s.Traits.Heavy > 1e5, "offset": s.Traits.Offset > 1e5, "dependent": s.Traits.Dependence < 1e-10, "rotated": s.Traits.Rotated,
			"small": s.Traits.Scale < 1e-9, "large": s.Traits.Scale > 1e9, "collapsed": s.Traits.Spread < 1e-5, "float32": s.Float32,
			"many classes": s.Train.K > 50, "wide": s.D > 150, "single sample": slices.Min(count) == 1, "large class": slices.Max(count) > 200,
			"test": s.Test != nil, "latent": s.Test != nil && s.Test.K < s.Train.K, "redrawn": s.Redrawn != nil, "outside": s.OOD != nil,
			"classifier": s.W != nil, "bias": s.B != nil, "class-weighted": s.PerClass, "d < K-1": s.D < s.Train.K-1,
		} {
			if is {
				seen[what]++
			}
		}
	}
	for what, n := range seen {
		if n < 8 {
			t.Errorf("%d of 400 sets: %s", n, what)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d kinds: %v", len(seen), seen)
	}
}
