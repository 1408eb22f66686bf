package measure

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestShardsThatAreRefused: what is missing, labels that are no class of the moments, another width.
func TestShardsThatAreRefused(t *testing.T) {
	in := gaussian[float64](40, 3, 4, .5, 1)
	m := momentsOf(t, in, true, 0, 40)
	h := in.Train.Features.(*Rows[float64]).H
	outside := append([]int32(nil), in.Train.Labels...)
	outside[7] = 4
	for name, c := range map[string]struct {
		in    Input[float64]
		words string
	}{
		"no labels":      {Input[float64]{Train: Split[float64]{Features: in.Train.Features}}, "train features or labels: found 0, want 1"},
		"no features":    {Input[float64]{Train: Split[float64]{Labels: in.Train.Labels}}, "train features or labels: found 0, want 1"},
		"a label beyond": {Input[float64]{Train: Memory(h, 3, outside)}, "4"},
		"another width":  {Input[float64]{Train: Memory(h[:80], 2, in.Train.Labels)}, "the shard is not one of those whose moments were merged"},
	} {
		var size *ShapeError
		var label *LabelError
		_, err := MeasureSecondPass(c.in, m, Options{})
		if err == nil || !strings.Contains(err.Error(), c.words) || !errors.As(err, &size) && !errors.As(err, &label) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := MeasureSecondPass(Input[float64]{Train: in.Train}, m, Options{MinCount: 1000}); err == nil || !strings.Contains(err.Error(), "samples in the moments") {
		t.Errorf("every class too rare: %v", err)
	}
}

// TestRowsOfAnotherWidthAreNotAdded to moments.
func TestRowsOfAnotherWidthAreNotAdded(t *testing.T) {
	m := NewMoments(4, 3, false)
	var size *ShapeError
	if err := AddSource(m, nil, gaussian[float64](40, 2, 4, .5, 1).Train); !errors.As(err, &size) || size.What != "feature width" || size.Found != 2 || size.Want != 3 {
		t.Errorf("%v", err)
	}
	split := gaussian[float64](40, 3, 4, .5, 1).Train
	split.Labels = split.Labels[:39]
	if err := AddSource(m, nil, split); !errors.As(err, &size) || size.What != "labels" || size.Found != 39 || size.Want != 40 {
		t.Errorf("%v", err)
	}
}

// TestALadderEndsWithItsGram: the error of a Gram matrix that cannot be computed is the ladder's, on every step.
func TestALadderEndsWithItsGram(t *testing.T) {
	broken := errors.New("cannot be read")
	for step := 1; step <= 2; step++ {
		calls := 0
		ok, err := ladder(2, false, func([]float64, int) ([]float64, error) {
			if calls++; calls == step {
				return nil, broken
			}
			return []float64{1, 0, 0, 1e-8}, nil // the second is left for another step
		}, func([]float64, []float64) {})
		if ok || !errors.Is(err, broken) || calls != step {
			t.Errorf("step %d: %t, %v after %d calls", step, ok, err, calls)
		}
	}
}

// TestTracesOfScatters: tr(A S Aᵀ) of a diagonal S is that of the whole matrix.
func TestTracesOfScatters(t *testing.T) {
	a := []float64{1, 2, 3, -1, .5, 4, 2, 0, -3}
	diagonal := diagonalScatter{2, 3, 5}
	whole := pooledScatter{2, 0, 0, 0, 3, 0, 0, 0, 5}
	want := 0.0
	for i, x := range a {
		want += x * x * diagonal[i%3]
	}
	if got, same := diagonal.trace(nil, a, 3, 3), whole.trace(nil, a, 3, 3); got != want || !(math.Abs(same-want) <= 1e-12*want) {
		t.Errorf("%g and %g, want %g", got, same, want)
	}
	if got := diagonal.trace(nil, a, 2, 3); got != want-(4*2+9*5) {
		t.Errorf("of two rows: %g", got)
	}
}

// TestAChooserKnowsItsBounds: the widest row, the largest logit at the centre and the farthest mean, wherever they stand.
func TestAChooserKnowsItsBounds(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
		rows, b := [][]float64{{3, 4}, {0, 1}, {1, 0}}, []float64{0, -20, 1}
		means := [][]float64{{6, 8}, {0, 1}, {1, 1}}
		var w, mu, bias []float64
		for _, i := range order {
			w, mu, bias = append(w, rows[i]...), append(mu, means[i]...), append(bias, b[i])
		}
		h := &head{w: w, b: bias, k: 3, d: 2, norms: make([]float64, 3)}
		for j := range h.norms {
			h.norms[j] = norm(w[2*j:][:2])
		}
		c := newChooser(mu, mu, []float64{0, 0}, h, 3, 2)
		if c.widest != 5 || c.largestBase != 20 || c.longest != 10 {
			t.Errorf("%v: widest %g, base %g, longest %g", order, c.widest, c.largestBase, c.longest)
		}
	}
}

// TestAZeroRowHasNoAngle: the measures that need an angle of each class say which has none.
func TestAZeroRowHasNoAngle(t *testing.T) {
	in := gaussian[float64](60, 5, 3, .5, 3)
	clear(in.W[5:10])
	r := mustMeasure(t, in, Options{Measures: []string{"all"}})
	for _, key := range []string{KeyNC3Duality, KeyConfWeightAngle} {
		if _, ok := r.Measures.of[key]; ok || !strings.Contains(r.Missing[key], "class 1 is zero") {
			t.Errorf("%s: %q", key, r.Missing[key])
		}
	}
	for _, key := range []string{"nc3_cosine", "nc3_distance"} {
		if v := r.PerClass[key]; len(v) != 3 || math.IsNaN(v[0]) || !math.IsNaN(v[1]) || math.IsNaN(v[2]) {
			t.Errorf("%s: %v", key, v)
		}
	}
}
