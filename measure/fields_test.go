package measure

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// changed is a sealed state with another 8-byte field.
func changed(body []byte, at int, v uint64) []byte {
	x := slices.Clone(body)
	binary.LittleEndian.PutUint64(x[at:], v)
	return seal(x)
}

// refusedAs fails unless a state is refused with a reason that begins so; "" stands for one that is taken.
func refusedAs(t *testing.T, name string, file []byte, reason string) {
	t.Helper()
	_, err := ReadState(file)
	var bad *StateError
	switch {
	case reason == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case reason != "" && (!errors.As(err, &bad) || !strings.HasPrefix(bad.Reason, reason)):
		t.Errorf("%s: %v, want %q", name, err, reason)
	}
}

// TestEveryFieldOfAFirstPassIsChecked: each number that no first pass can hold is refused by its field's name, and the largest possible is not.
func TestEveryFieldOfAFirstPassIsChecked(t *testing.T) {
	const k, d = 3, 2
	m := NewMoments(k, d, true)
	m.Values, m.Dropped = []int64{-1, 4, 9}, 2
	rows := []float64{1, 2, 1 + 1e-16, 2.5, 3, 4, 5, 6, .1, .7, .3, .9}
	if err := AddRows(m, nil, rows, []int32{0, 0, 1, 1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if !m.inTwo() || len(m.Far) != 6*d {
		t.Fatalf("rests %v, %d farthest", m.Rest, len(m.Far)/d)
	}
	file := written(t, m)
	body := file[:len(file)-32]
	const (
		dropped = stateHeader
		values  = dropped + 8
		count   = values + 8*k
		scatter = count + 8*k
		mean    = scatter + 8*k
		rest    = mean + 8*k*d
		spread  = rest + 8*k*d
		pooled  = spread + 8*d
		far     = pooled + 8*3
	)
	nan, negative, infinite := math.Float64bits(math.NaN()), math.Float64bits(-1), math.Float64bits(math.Inf(1))
	for _, c := range []struct {
		name   string
		at     int
		v      uint64
		reason string
	}{
		{"itself", dropped, 2, ""}, {"as many as can be dropped", dropped, 1 << 52, ""}, {"one more", dropped, 1<<52 + 1, "impossible number of dropped rows"},
		{"equal values", values, 4, "impossible label values: not ascending"}, {"values in another order", values + 8, 10, "impossible label values: not ascending"},
		{"a count", count, 1<<52 + 1, "impossible class count"}, {"counts", count, 1 << 52, "impossible class counts: more samples than numbers can count"},
		{"scatter", scatter, negative, "impossible within-class scatter"}, {"no number", scatter, nan, "impossible within-class scatter"}, {"too large a number", scatter, infinite, "impossible within-class scatter"},
		{"no scatter", scatter, 0, ""},
		{"mean", mean, infinite, "impossible class mean"}, {"rest", rest, nan, "impossible rest of a class mean"},
		{"spread", spread, negative, "impossible spread of a coordinate"}, {"pooled", pooled + 8, nan, "impossible pooled scatter"},
		{"diagonal", pooled, negative, "impossible pooled scatter: negative diagonal"}, {"beside it", pooled + 8, negative, ""},
		{"far", far, nan, "impossible one of the farthest rows"},
		{"an empty class with a mean", mean + 8*2*d, math.Float64bits(1), "impossible moments of a class without samples"},
		{"one with a rest", rest + 8*2*d, math.Float64bits(1e-20), "impossible moments of a class without samples"},
		{"one with scatter", scatter + 8*2, math.Float64bits(1), "impossible moments of a class without samples"},
		{"more samples than farthest rows", count, 1, "impossible farthest rows: not needed, or not as many as there must be"},
	} {
		refusedAs(t, c.name, changed(body, c.at, c.v), c.reason)
	}
	noRest := slices.Clone(body)
	clear(noRest[rest:spread])
	refusedAs(t, "rests that are nothing", seal(noRest), "impossible rests of class means: not needed")
	for flags, reason := range map[uint32]string{
		flagPooled | flagValues | flagRest | flagFar:      "",
		32 | flagPooled | flagValues | flagRest | flagFar: "flags 0x3d are unknown; a newer program wrote it",
		flagPooled | flagRest | flagFar:                   "its header needs ",
		flagPooled | flagValues | flagRest:                "its header needs ",
	} {
		x := slices.Clone(body)
		binary.LittleEndian.PutUint32(x[8:], flags)
		refusedAs(t, "flags", seal(x), reason)
	}
	refusedAs(t, "one number less", seal(body[:len(body)-8]), "its header needs ")
}

// TestEveryFieldOfASecondPassIsChecked is the same for second passes.
func TestEveryFieldOfASecondPassIsChecked(t *testing.T) {
	in := gaussian[float64](60, 3, 3, .3, 5)
	s, err := MeasureSecondPass(Input[float64]{Train: in.Train, W: in.W, B: in.B}, momentsOf(t, in, true, 0, 60), Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := written(t, s)
	body := file[:len(file)-32]
	const (
		k          = 3
		dropped    = stateHeader + 32
		marginless = dropped + 8
		white      = marginless + 8
		least      = white + 8
		most       = least + 8
		count      = most + 8
		scatter    = count + 8*k
		margin     = scatter + 8*k
		correct    = margin + 8*k
	)
	nan, negative, infinite, many := math.Float64bits(math.NaN()), math.Float64bits(-1), math.Float64bits(math.Inf(1)), uint64(1<<52+1)
	for _, c := range []struct {
		name   string
		at     int
		v      uint64
		reason string
	}{
		{"dropped", dropped, many, "impossible number of dropped rows"}, {"without margin", marginless, many, "impossible number of samples without margin"},
		{"white", white, negative, "impossible NC1 sum"}, {"no number", white, nan, "impossible NC1 sum"},
		{"least margin", least, nan, "impossible margin"}, {"no margin yet", least, infinite, ""}, {"largest margin", most, nan, "impossible margin"},
		{"count", count, many, "impossible class count"}, {"scatter", scatter, negative, "impossible within-class scatter"}, {"margins", margin, infinite, "impossible margin sum"},
		{"hits", correct, many, "impossible hits"}, {"all hit", correct, 20, ""}, {"one more", correct, 21, "impossible hits: more than samples"},
		{"nearest", correct + 8*k, 21, "impossible hits: more than samples"}, {"mismatches", correct + 8*2*k, 21, "impossible hits: more than samples"},
	} {
		refusedAs(t, c.name, changed(body, c.at, c.v), c.reason)
	}
	flags := slices.Clone(body)
	flags[8] |= 64
	refusedAs(t, "flags", seal(flags), "flags 0x")
	refusedAs(t, "a longer one", seal(append(slices.Clone(body), make([]byte, 8)...)), "its header needs ")
	for kind, reason := range map[byte]string{0: "kind 0 is neither 1 (first pass) nor 2 (second pass); a newer program wrote it", 3: "kind 3 is neither"} {
		x := slices.Clone(body)
		x[4] = kind
		refusedAs(t, "a kind", seal(x), reason)
	}
	for at, v := range map[int]uint32{12: 0, 16: 0} {
		x := slices.Clone(body)
		binary.LittleEndian.PutUint32(x[at:], v)
		_, err := ReadState(seal(x))
		var bad *StateError
		if !errors.As(err, &bad) || !strings.HasSuffix(bad.Reason, " are impossible") {
			t.Errorf("field %d: %v", at, err)
		}
	}
}

// brokenPipe is a place where nothing can be written.
type brokenPipe struct{ took int }

func (b brokenPipe) Write(p []byte) (int, error) { return b.took, errBroken }

// TestAStateThatCannotBeWritten: the error says so, with its cause and how much was written.
func TestAStateThatCannotBeWritten(t *testing.T) {
	in := gaussian[float64](60, 3, 3, .3, 5)
	m := momentsOf(t, in, true, 0, 60)
	s, err := MeasureSecondPass(Input[float64]{Train: in.Train}, m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n1, err1 := m.WriteTo(brokenPipe{7})
	n2, err2 := s.WriteTo(brokenPipe{9})
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "measure: writing a state file: ") {
			t.Error(err)
		}
	}
	if n1 != 7 || n2 != 9 {
		t.Errorf("%d and %d bytes", n1, n2)
	}
}

// TestSecondPassesAddUp: every number of two halves adds up, and a report needs all samples, each once.
func TestSecondPassesAddUp(t *testing.T) {
	in := gaussian[float64](60, 3, 3, .3, 5)
	m := momentsOf(t, in, true, 0, 60)
	pass := func(from, to int, opt Options) *SecondPass {
		s, err := MeasureSecondPass(Input[float64]{Train: shard(in, [2]int{from, to}), W: in.W, B: in.B}, m, opt)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole, half, rest := pass(0, 60, Options{}), pass(0, 20, Options{}), pass(20, 60, Options{})
	half.Dropped, rest.Dropped = 2, 3
	half.sampleCounts.marginless = 1
	if err := half.Merge(rest); err != nil {
		t.Fatal(err)
	}
	a, b := &half.sampleCounts, &whole.sampleCounts
	if half.Dropped != 5 || a.marginless != 1 || !slices.Equal(half.Count, whole.Count) || !slices.Equal(a.correct, b.correct) || !slices.Equal(a.nearest, b.nearest) ||
		!slices.Equal(a.mismatch, b.mismatch) || a.marginMin != b.marginMin || a.marginMax != b.marginMax {
		t.Errorf("%+v of halves, %+v of the whole", *a, *b)
	}
	for c := range 3 {
		near(t, "scatter", a.scatter[c], b.scatter[c], b.scatter[c])
		near(t, "margins", a.margin[c], b.margin[c], 20)
	}
	near(t, "white", a.white, b.white, b.white)
	twice := pass(0, 60, Options{})
	if err := twice.Merge(rest); err != nil {
		t.Fatal(err)
	}
	var shape *ShapeError
	if _, err := twice.Report(m, in.W, in.B, Options{}); !errors.As(err, &shape) || shape.Want != 20 || shape.Found <= 20 || !strings.Contains(err.Error(), "merge the second pass of every shard, each once") {
		t.Error(err)
	}
	var other *StateError
	if err := whole.Merge(pass(0, 60, Options{Imbalance: PerClass})); !errors.As(err, &other) || !strings.Contains(err.Error(), "different class means, weights or options") {
		t.Error(err)
	}
	absent := func(weight float64) *SecondPass { // class 3 has no sample here, and its row of the classifier decides about samples
		w := append(slices.Clone(in.W), weight, 0, 0)
		s, err := MeasureSecondPass(Input[float64]{Train: shard(in, [2]int{0, 60}), W: w, B: append(slices.Clone(in.B), 0)}, m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := absent(1).Merge(absent(2)); !errors.As(err, &other) || !strings.Contains(err.Error(), "different class means, weights or options") {
		t.Errorf("two classifiers that differ for a class without samples: %v", err)
	}
	if err := whole.Merge(pass(0, 60, Options{Measures: []string{KeyAccuracy}})); !errors.As(err, &other) || !strings.Contains(err.Error(), "different measures") {
		t.Error(err)
	}
	if _, err := whole.Report(m, in.W, in.B, Options{RankCutoff: .1}); !errors.As(err, &other) || !strings.Contains(err.Error(), "it was made with") {
		t.Error(err)
	}
}
