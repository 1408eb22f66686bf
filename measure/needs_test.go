package measure

import (
	"slices"
	"strings"
	"testing"
)

// TestRowsAreWhole: every row of the registry states what it needs, what chance gives, and what no repeated evaluation shows.
func TestRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Definitions() {
		if d.needs == 0 {
			t.Errorf("%s: needs is not stated: what it needs to have a value, or needNothing", d.Key)
		}
		if d.Chance == ChanceUnstated {
			t.Errorf("%s: Chance is not stated: NotShuffled, Shuffled or SmallByChance", d.Key)
		}
		if d.rounding.form == unstated {
			t.Errorf("%s: rounding is not stated: ofValue, sizeOne or another of rounding.go", d.Key)
		}
		for _, text := range []string{d.Key, d.Group, d.Name, d.Formula, d.Sample, d.Class, d.Source, d.Pitfall} {
			if text == "" {
				t.Errorf("%s: a text is missing: %+v", d.Key, d)
			}
		}
		if seen[d.Key] {
			t.Errorf("%s has two rows", d.Key)
		}
		seen[d.Key] = true
	}
}

// complete is a set with all that measures need; one has d < K−1, the other N ≥ d + K and d > K−1.
func complete(d, k int) Input[float64] {
	in := gaussian[float64](20*k, d, k, .4, 11)
	for i := range in.Train.Labels { // classes of two sizes, for the cosine of small classes
		if c := in.Train.Labels[i]; c > 1 && i/k%3 > 0 {
			in.Train.Labels[i] = c % 2
		}
	}
	in.Test = gaussian[float64](12*k, d, k, .4, 12).Train
	in.OOD = gaussian[float64](30, d, k, 1, 13).Train.Features
	in.True = slices.Clone(in.Train.Labels)
	in.Redrawn = make([]bool, len(in.True))
	for i := range in.True[:k] {
		in.True[i], in.Redrawn[i] = (in.True[i]+1)%int32(k), true
	}
	return in
}

// around moves every class's samples so that its mean is where at says.
func around(in Input[float64], at func(c, j int) float64) Input[float64] {
	r, _ := Measure(in, Options{KeepMeans: true, Measures: []string{KeyTraceWithin}})
	h := slices.Clone(in.Train.Features.(*Rows[float64]).H)
	for i, c := range in.Train.Labels {
		for j := range r.D {
			h[i*r.D+j] += at(int(c), j) - r.ClassMeans[int(c)*r.D+j]
		}
	}
	in.Train = Memory(h, r.D, in.Train.Labels)
	return in
}

// TestNeedsAreTrue takes from a complete set one thing at a time. The measures whose row says that they need it have no value for that reason, and
// none of the others has that reason.
func TestNeedsAreTrue(t *testing.T) {
	all := Options{Measures: []string{"all"}}
	plain := func(in Input[float64]) (*Report, error) { return Measure(in, all) }
	moments := func(in Input[float64]) (*Report, error) {
		m := NewMoments(in.Classes, in.Train.Features.(*Rows[float64]).D, true)
		if err := AddSource(m, nil, in.Train); err != nil {
			return nil, err
		}
		return m.Report(in.W, in.B, all)
	}
	for _, c := range []struct {
		need   needs
		reason string
		from   func(Input[float64]) (*Report, error)
		take   func(*Input[float64])
	}{
		{needWeights, noWeights, plain, func(in *Input[float64]) { in.W, in.B = nil, nil }},
		{needSeveral, oneClass, plain, func(in *Input[float64]) { in.Train.Labels = make([]int32, len(in.Train.Labels)) }},
		{needNonzeroW, zeroW, plain, func(in *Input[float64]) { in.W = make([]float64, len(in.W)) }},
		{needSized, AllMeansZero, plain, func(in *Input[float64]) {
			n, d := in.Train.Features.Size()
			in.Train = Memory(make([]float64, n*d), d, in.Train.Labels)
		}},
		{needApart, meansMeet, plain, func(in *Input[float64]) { *in = around(*in, func(_, j int) float64 { return float64(j + 1) }) }},
		{needDirected, meanCentre, plain, func(in *Input[float64]) {
			in.Train.Labels = slices.Clone(in.Train.Labels)
			for i := range in.Train.Labels { // equal classes, so that the mean of one can be that of all
				in.Train.Labels[i] = int32(i % in.Classes)
			}
			*in = around(*in, func(c, j int) float64 { return float64([]int{0, 1, -1, 2, -2, 0, 0, 0, 0}[c] * (j + 1) * (1 + c/3)) })
		}},
		{needTest, noTest, plain, func(in *Input[float64]) { in.Test = Split[float64]{} }},
		{needTruth, "no true labels were given", plain, func(in *Input[float64]) { in.True, in.Redrawn = nil, nil }},
		{needOOD, noOOD, plain, func(in *Input[float64]) { in.OOD = nil }},
		{needSpread, allAlone, plain, func(in *Input[float64]) {
			in.Only = make([]bool, len(in.Train.Labels))
			for c := range in.Classes {
				in.Only[slices.Index(in.Train.Labels, int32(c))] = true
			}
		}},
		{needSamples | needCovariance, secondLook, moments, func(*Input[float64]) {}},
		{needTogether, ofOneClass, moments, func(*Input[float64]) {}},
	} {
		for _, shape := range [][2]int{{3, 9}, {14, 5}} {
			in := complete(shape[0], shape[1])
			c.take(&in)
			r, err := c.from(in)
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			for _, d := range Definitions() {
				v, measured := r.Value(d.Key)
				why := r.Missing[d.Key]
				switch says := strings.Contains(why, c.reason); {
				case d.needs.any(c.need) && measured:
					t.Errorf("%s is %g where its row asks for more: %s", d.Key, v, c.reason)
				case !d.needs.any(c.need) && (says || why == outOfRange || why == notGiven):
					t.Errorf("%s does not say that it needs this: %s (%s)", d.Key, c.reason, why)
				}
			}
		}
	}
}

// TestEveryMeasureHasAValue in a complete set of one of two shapes, asked for alone.
func TestEveryMeasureHasAValue(t *testing.T) {
	for _, d := range Definitions() {
		var why []string
		for _, shape := range [][2]int{{3, 9}, {14, 5}} {
			r := mustMeasure(t, complete(shape[0], shape[1]), Options{Measures: []string{d.Key}})
			if _, ok := r.Value(d.Key); !ok {
				why = append(why, r.Missing[d.Key])
			}
		}
		if len(why) == 2 {
			t.Errorf("%s: %q", d.Key, why)
		}
	}
}

// TestMeasuresOfWeightsAlone: other features of the same labels leave them as they are, bit for bit, and move all others.
func TestMeasuresOfWeightsAlone(t *testing.T) {
	for _, shape := range [][2]int{{3, 9}, {14, 5}} {
		in := complete(shape[0], shape[1])
		first := mustMeasure(t, in, Options{Measures: []string{"all"}})
		in.Train = Memory(gaussian[float64](len(in.Train.Labels), shape[0], shape[1], 2, 77).Train.Features.(*Rows[float64]).H, shape[0], in.Train.Labels)
		again := mustMeasure(t, in, Options{Measures: []string{"all"}})
		for _, key := range ofWeights {
			x, ok := first.Value(key)
			if y, both := again.Value(key); ok != both || x != y {
				t.Errorf("%s needs features: %g and %g", key, x, y)
			}
		}
	}
}

// TestPairsAreStated: a measure that a sample of the pairs of classes changes says that it takes pairs, and an average of them gets a standard error.
func TestPairsAreStated(t *testing.T) {
	for _, shape := range [][2]int{{3, 9}, {14, 5}} {
		in := complete(shape[0], shape[1])
		m := NewMoments(shape[1], shape[0], true)
		if err := AddSource(m, nil, in.Train); err != nil {
			t.Fatal(err)
		}
		all, err := m.Report(in.W, in.B, Options{})
		if err != nil {
			t.Fatal(err)
		}
		some, err := m.Report(in.W, in.B, Options{samplePairs: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range Definitions() {
			x, is := all.Value(d.Key)
			y, still := some.Value(d.Key)
			size, stated := some.Sampled.StandardError[d.Key]
			switch {
			case !is:
			case d.pairs == noPairs && (!still || x != y):
				t.Errorf("%s does not say that it takes pairs: %g of all, %g of some (%s)", d.Key, x, y, some.Missing[d.Key])
			case d.pairs == pairAverage && (!still || !stated || !(size >= 0)):
				t.Errorf("%s is an average over pairs without a standard error: %g ± %g (%s)", d.Key, y, size, some.Missing[d.Key])
			case d.pairs == pairExtreme && still:
				t.Errorf("%s is an extreme of pairs, but some gave it: %g", d.Key, y)
			}
		}
	}
}
