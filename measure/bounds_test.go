package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCloseness of scores against their list sorted: of the row that should win and the best other, or of the best two.
func TestCloseness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, d := rapid.IntRange(1, 5).Draw(t, "k"), rapid.IntRange(1, 3).Draw(t, "d")
		number := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-4, 4).Draw(t, "x")) })
		x, rows := rapid.SliceOfN(number, d, d).Draw(t, "x"), rapid.SliceOfN(number, k*d, k*d).Draw(t, "rows")
		scores := rapid.SliceOfNDistinct(rapid.IntRange(-20, 20), k, k, rapid.ID[int]).Draw(t, "scores")
		own := rapid.IntRange(-1, k+1).Draw(t, "own") // a row that there is not decides nothing
		order := make([]int, k)
		for j := range order {
			order[j] = j
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		if own >= 0 && own < k {
			order = append([]int{own}, slices.DeleteFunc(order, func(j int) bool { return j == own })...)
		}
		want := math.Inf(1)
		if k > 1 {
			moved := 0.0
			for i := range x {
				moved += math.Pow((rows[order[0]*d+i]-rows[order[1]*d+i])*x[i], 2)
			}
			if moved > 0 {
				want = math.Abs(float64(scores[order[0]]-scores[order[1]])) / (.25 * math.Sqrt(moved))
			}
		}
		values := make([]float64, k)
		for j, s := range scores {
			values[j] = float64(s)
		}
		if got := closeness(values, rows, x, .25, own); got != want && !(math.Abs(got-want) <= 1e-12*want) {
			t.Fatalf("%g, wanted %g", got, want)
		}
	})
}

// TestArithmeticOfShares: what float64 adds to the share that the rounding of the input moves is in the ratio of the two roundings, times d.
func TestArithmeticOfShares(t *testing.T) {
	in := closeDecisionsSet(true)
	report := mustMeasure(t, in, Options{Measures: []string{KeyTestAccuracy}, Uncertainty: true})
	v, _ := report.Value(KeyTestAccuracy)
	def, _ := Lookup(KeyTestAccuracy)
	ratio := (report.Uncertainty[KeyTestAccuracy] - def.rounding.least(v, report.K, report.D)) / report.InputRounding[KeyTestAccuracy]
	if want := float64(report.D) * 0x1p-52 / 0x1p-24; !(math.Abs(ratio-want) <= 1e-6*want) {
		t.Errorf("%g, wanted %g", ratio, want)
	}
}

// TestPartitions: as many parts as blocks, but 32 at most, which hold all rows in order.
func TestPartitions(t *testing.T) {
	for rows, parts := range map[int]int{0: 1, 1: 1, 10: 1, 11: 2, 95: 10, 320: 32, 321: 32, 5000: 32} {
		p, at := newPartition(rows, 10), 0
		for i := range p.parts {
			from, to := p.span(i)
			if from != at || to < from || rows > 0 && to == from || from%10 != 0 {
				t.Errorf("%d rows: part %d has the rows %d to %d, after %d", rows, i, from, to, at)
			}
			at = to
		}
		if p.parts != parts || at != rows {
			t.Errorf("%d rows: %d parts to row %d, wanted %d", rows, p.parts, at, parts)
		}
	}
}

// TestNumbersRoundAnew: numbers of float32 move within half a bit, those of float64 within two bits, and most of the way for some.
func TestNumbersRoundAnew(t *testing.T) {
	const u = 1e-3
	in := Input[float64]{Train: Memory(make([]float64, 400), 2, make([]int32, 200))}
	h := in.Train.Features.(*Rows[float64]).H
	random := rand.New(rand.NewPCG(1, 2))
	for i := range h {
		h[i] = 1 + random.Float64()
	}
	for isFloat32, limit := range map[bool]float64{true: u, false: 4 * u} {
		w := &whole[float64]{in: in, train: h, d: 2, isFloat32: isFloat32}
		most := 0.0
		for i, v := range w.rounded(random, u).Train.Features.(*Rows[float64]).H {
			most = max(most, math.Abs(v/h[i]-1))
		}
		if !(most <= limit*1.0001 && most > .9*limit) {
			t.Errorf("float32 %v: numbers move by up to %g; wanted nearly %g", isFloat32, most, limit)
		}
	}
}

// TestJogCentre: the centre moves by the rounding of the largest centred mean in each coordinate, and all centred means the other way.
func TestJogCentre(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	farthest := [2]float64{}
	for range 200 {
		s := &samples[float64]{k: 3, d: 2, centre: make([]float64, 2), centred: make([]float64, 6)}
		s.jogCentre(random)
		if s.centre[0] != 0 || s.centre[1] != 0 {
			t.Fatalf("means that coincide moved their centre: %v", s.centre)
		}
		s.centred = []float64{1, -8, -2, 4, .5, 2}
		s.jogCentre(random)
		for j, most := range []float64{2, 8} {
			farthest[j] = max(farthest[j], math.Abs(s.centre[j])/most)
		}
	}
	for j, most := range farthest {
		if !(most > .9*roundoff64/2 && most <= roundoff64/2) {
			t.Errorf("coordinate %d: the centre moves by up to %g of the largest mean; wanted nearly %g", j, most, roundoff64/2)
		}
	}
	s := &samples[float64]{k: 1, d: 1, centre: []float64{1}, centred: []float64{1}}
	if s.jogCentre(nil); s.centre[0] != 1 || s.centred[0] != 1 {
		t.Errorf("without a draw: %v, %v", s.centre, s.centred)
	}
}

// TestTwoMeansThatCoincide up to the rounding of a large spread have no NC1, as three have none; at eight times the distance they have one.
func TestTwoMeansThatCoincide(t *testing.T) {
	for _, k := range []int{2, 3} {
		for apart, missing := range map[float64]string{0x1p-38: coincident, 0x1p-35: ""} {
			var h []float64
			var labels []int32
			for c := range k {
				for range 2 {
					h, labels = append(h, 1024, -1024+float64(c)*apart), append(labels, int32(c), int32(c))
				}
			}
			r := mustMeasure(t, Input[float64]{Train: Memory(h, 1, labels)}, Options{Measures: []string{KeyNC1Pinv}})
			if _, ok := r.Value(KeyNC1Pinv); ok != (missing == "") || r.Missing[KeyNC1Pinv] != missing {
				t.Errorf("%d classes, %g apart: %v, %q", k, apart, r.Measures.of, r.Missing[KeyNC1Pinv])
			}
		}
	}
}

// TestAPassThatNobodyAsksFor leaves nothing in the report.
func TestAPassThatNobodyAsksFor(t *testing.T) {
	in := closeDecisionsSet(false)
	for key, want := range map[string]bool{KeyTestNCCAccuracy: false, KeyTestNC1Ratio: true} {
		r := mustMeasure(t, in, Options{Measures: []string{key}})
		if _, ok := r.Value(key); !ok || (r.PerClass["test_within_trace"] != nil) != want {
			t.Errorf("%s: %v", key, r.PerClass)
		}
	}
}
