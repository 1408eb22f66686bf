package measure

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reread writes a state, reads it, and checks that it writes the same bytes again.
func reread(t rapid.TB, state io.WriterTo) State {
	t.Helper()
	var first, second bytes.Buffer
	n, err := state.WriteTo(&first)
	if err != nil || n != int64(first.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", n, first.Len(), err)
	}
	read, err := ReadState(first.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	again := io.WriterTo(read.Moments)
	if read.SecondPass != nil {
		again = read.SecondPass
	}
	if _, err := again.WriteTo(&second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatal("a state that was read writes other bytes")
	}
	return read
}

// drawCuts splits n rows into shards, some of them empty.
func drawCuts(t *rapid.T, n int) [][2]int {
	count := rapid.IntRange(1, 6).Draw(t, "shards")
	spans := make([][2]int, count)
	at := 0
	for i := range spans {
		end := n
		if i < count-1 {
			end = rapid.IntRange(at, n).Draw(t, "cut")
		}
		spans[i] = [2]int{at, end}
		at = end
	}
	return spans
}

// mergeTree merges in a drawn order and grouping.
func mergeTree[S any](t *rapid.T, parts []S, merge func(to, from S) error) S {
	for len(parts) > 1 {
		i := rapid.IntRange(0, len(parts)-1).Draw(t, "into")
		j := rapid.IntRange(0, len(parts)-2).Draw(t, "from")
		if j >= i {
			j++
		}
		if err := merge(parts[i], parts[j]); err != nil {
			t.Fatal(err)
		}
		parts = append(parts[:j:j], parts[j+1:]...)
	}
	return parts[0]
}

func shard[T float32 | float64](in Input[T], span [2]int) Split[T] {
	rows := in.Train.Features.(*Rows[T])
	return Memory(rows.H[span[0]*rows.D:span[1]*rows.D], rows.D, in.Train.Labels[span[0]:span[1]])
}

// near fails unless a and b differ by at most 1e-12 of scale.
func near(t rapid.TB, what string, a, b, scale float64) {
	t.Helper()
	if !(math.Abs(a-b) <= 1e-12*scale) {
		t.Fatalf("%s: %.17g and %.17g", what, a, b)
	}
}

// States of shards, written, read and merged in any order and grouping, give the whole, and so do second passes
// beside them.
func TestStatesMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		d := in.Train.Features.(*Rows[float64]).D
		n := len(in.Train.Labels)
		opt := Options{Imbalance: rapid.SampledFrom([]Imbalance{PerSample, PerClass}).Draw(t, "imbalance"), Measures: []string{"all"}}
		if condition(t, in) > 1e3 {
			t.Skip("Σ_B nearly rank-deficient")
		}
		spans := drawCuts(t, n)
		var parts []*Moments
		for _, span := range spans {
			m := NewMoments(in.Classes, d, true)
			if err := AddSource(m, nil, shard(in, span)); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, reread(t, m).Moments)
		}
		merged := reread(t, mergeTree(t, parts, (*Moments).Merge)).Moments
		whole := NewMoments(in.Classes, d, true)
		if err := AddSource(whole, nil, in.Train); err != nil {
			t.Fatal(err)
		}
		size := math.Sqrt(dot(whole.Mean, whole.Mean))
		for i, x := range whole.Mean {
			near(t, "class mean", merged.Mean[i], x, size)
		}
		for i, x := range whole.Pooled {
			near(t, "pooled scatter", merged.Pooled[i], x, dot(whole.Scatter, whole.Scatter)+size*size)
		}
		for c, x := range whole.Scatter {
			near(t, "scatter", merged.Scatter[c], x, x+size*size)
		}
		if !slices.Equal(merged.Far, whole.Far) || len(whole.Far) != min(farRows, len(in.Train.Labels))*d {
			t.Fatalf("farthest rows %v, of the whole %v", merged.Far, whole.Far)
		}
		want := measureRapid(t, in, opt)
		one, err := merged.Report(in.W, in.B, opt)
		if err != nil {
			t.Fatal(err)
		}
		sameMeasures(t, "one pass", one, want, 20)

		var seconds []*SecondPass
		for _, span := range spans {
			s, err := MeasureSecondPass(Input[float64]{Train: shard(in, span), W: in.W, B: in.B}, merged, opt)
			if err != nil {
				t.Fatal(err)
			}
			seconds = append(seconds, reread(t, s).SecondPass)
		}
		second := reread(t, mergeTree(t, seconds, (*SecondPass).Merge)).SecondPass
		two, err := second.Report(merged, in.W, in.B, opt)
		if err != nil {
			t.Fatal(err)
		}
		sameMeasures(t, "two passes", two, want, 30)
		for _, key := range []string{KeyAccuracy, KeyNC4NCCMismatch, KeyNC1Pinv, KeyMarginMin} {
			if _, ok := two.Measures.of[key]; !ok {
				t.Fatalf("two passes lack %s: %s", key, two.Missing[key])
			}
		}
	})
}

// sameMeasures compares what both reports have, at least so many numbers.
func sameMeasures(t rapid.TB, what string, got, want *Report, least int) {
	t.Helper()
	found := 0
	for key, v := range want.Measures.of {
		g, ok := got.Measures.of[key]
		if !ok {
			continue
		}
		found++
		// Class means agree to 1e-16 of their size; ill-conditioned measures multiply that.
		if !(math.Abs(g-v) <= 1e-11*(1+math.Abs(v))) {
			t.Fatalf("%s: %s is %.17g, of the whole %.17g", what, key, g, v)
		}
	}
	if found < least {
		t.Fatalf("%s: only %d measures; missing %v", what, found, got.Missing)
	}
}

// Shards that show different classes merge by label value.
func TestStatesMergeByValue(t *testing.T) {
	in := gaussian[float64](400, 6, 4, .3, 5)
	values := []int64{-7, 0, 3, 1 << 40}
	whole := momentsOf(t, in, true, 0, 400)
	rows := in.Train.Features.(*Rows[float64])
	var shards []*Moments
	for s := range 2 { // classes 0…2, then 1…3
		m := NewMoments(3, 6, true)
		m.Values = values[s : s+3]
		for i, c := range in.Train.Labels {
			if mine := i%2 == s; c == 0 && s == 0 || c == 3 && s == 1 || (c == 1 || c == 2) && mine == (i/4%2 == 0) {
				if err := AddRows(m, nil, rows.H[i*6:][:6], []int32{c - int32(s)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		shards = append(shards, reread(t, m).Moments)
	}
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		m := reread(t, shards[order[0]]).Moments
		if err := m.Merge(shards[order[1]]); err != nil {
			t.Fatal(err)
		}
		if len(m.Values) != 4 || m.K != 4 {
			t.Fatalf("values %v", m.Values)
		}
		seen := m.Count[1] + m.Count[2]
		if m.Count[0] != 100 || m.Count[3] != 100 || seen == 0 {
			t.Fatalf("counts %v", m.Count)
		}
		for _, c := range []int{0, 3} {
			for j := range 6 {
				near(t, "class mean", m.Mean[c*6+j], whole.Mean[c*6+j], 1)
			}
			near(t, "scatter", m.Scatter[c], whole.Scatter[c], whole.Scatter[c])
		}
	}
}

// A state without label values holds those of 0 … K−1: it merges with others by value, whichever comes first.
func TestStatesWithAndWithoutValuesMerge(t *testing.T) {
	in := gaussian[float64](400, 6, 4, .3, 5)
	for _, namedFirst := range []bool{true, false} {
		plain, named := momentsOf(t, in, true, 0, 300), momentsOf(t, in, true, 300, 400)
		named.Values = []int64{1, 2, 3, 9}
		into, from := plain, named
		if namedFirst {
			into, from = named, plain
		}
		counts := append([]int{plain.Count[0]}, 0, 0, 0, named.Count[3])
		for c := 1; c < 4; c++ {
			counts[c] = plain.Count[c] + named.Count[c-1]
		}
		if err := into.Merge(from); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(into.Values, []int64{0, 1, 2, 3, 9}) || !slices.Equal(into.Count, counts) {
			t.Errorf("values %v of %v samples, want %v", into.Values, into.Count, counts)
		}
		if from.K != 4 || namedFirst != (from.Values == nil) {
			t.Errorf("merging changed what was merged: %d classes of values %v", from.K, from.Values)
		}
	}
}

func TestMomentsGrow(t *testing.T) {
	in := gaussian[float64](300, 5, 6, .3, 5)
	rows := in.Train.Features.(*Rows[float64])
	grown := NewMoments(1, 5, true)
	for i, c := range in.Train.Labels {
		grown.Grow(int(c) + 1)
		if err := AddRows(grown, nil, rows.H[i*5:][:5], []int32{c}); err != nil {
			t.Fatal(err)
		}
	}
	whole := momentsOf(t, in, true, 0, 300)
	for i, x := range whole.Mean {
		near(t, "class mean", grown.Mean[i], x, 10)
	}
	for i, x := range whole.Pooled {
		near(t, "pooled scatter", grown.Pooled[i], x, 300)
	}
}

// seal adds the checksum.
func seal(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(append([]byte(nil), b...), sum[:]...)
}

func TestStatesRefused(t *testing.T) {
	in := gaussian[float64](60, 3, 3, .3, 5)
	m := momentsOf(t, in, true, 0, 60)
	second, err := MeasureSecondPass(Input[float64]{Train: in.Train, W: in.W, B: in.B}, m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	for buf, state := range map[*bytes.Buffer]io.WriterTo{&a: m, &b: second} {
		if _, err := state.WriteTo(buf); err != nil {
			t.Fatal(err)
		}
	}
	body := a.Bytes()[:a.Len()-sha256.Size]
	change := func(at int, v uint64) []byte {
		x := append([]byte(nil), body...)
		binary.LittleEndian.PutUint64(x[at:], v)
		return seal(x)
	}
	flipped := append([]byte(nil), a.Bytes()...)
	flipped[40] ^= 1
	const counts, scatter = stateHeader + 8, stateHeader + 8 + 3*8
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":             {nil, "want \"NCS2\""},
		"another file":      {bytes.Repeat([]byte("PK"), 100), "starts with \"PKPK\""},
		"a flipped bit":     {flipped, "checksum"},
		"cut":               {a.Bytes()[:a.Len()-1], "checksum"},
		"too long":          {seal(append(body[:len(body):len(body)], 0)), "bytes"},
		"another kind":      {change(4, 9), "kind 9"},
		"huge":              {change(12, math.MaxUint64>>1), "impossible"},
		"claims much":       {change(12, 1<<30|1<<62), "bytes"},
		"no class":          {change(12, 3<<32), "impossible"},
		"negative count":    {change(counts, math.MaxUint64), "impossible class count"},
		"negative scatter":  {change(scatter, math.Float64bits(-1)), "impossible within-class scatter"},
		"NaN":               {change(scatter+24, math.Float64bits(math.NaN())), "impossible class mean"},
		"means without any": {change(counts, 0), "without samples"},
	} {
		_, err := ReadState(c.file)
		var bad *StateError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
	if s, err := ReadState(b.Bytes()); err != nil || s.SecondPass == nil {
		t.Fatal(err)
	}
}

// A second pass belongs to its means, its classifier and its options.
func TestSecondRefused(t *testing.T) {
	in := gaussian[float64](60, 3, 3, .3, 5)
	m := momentsOf(t, in, true, 0, 60)
	pass := func(in Input[float64], opt Options) *SecondPass {
		s, err := MeasureSecondPass(Input[float64]{Train: in.Train, W: in.W, B: in.B}, m, opt)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := pass(in, Options{})
	other := in
	other.W = append([]float64(nil), in.W...)
	other.W[0]++
	for name, s := range map[string]*SecondPass{"classifier": pass(other, Options{}), "weighting": pass(in, Options{Imbalance: PerClass}), "measures": pass(in, Options{Measures: []string{KeyAccuracy}})} {
		if whole.Merge(s) == nil {
			t.Errorf("second passes with another %s were merged", name)
		}
	}
	if _, err := whole.Report(m, other.W, in.B, Options{}); err == nil {
		t.Error("a report with another classifier")
	}
	half := pass(Input[float64]{Train: shard(in, [2]int{0, 30}), W: in.W, B: in.B}, Options{})
	var shape *ShapeError
	if _, err := half.Report(m, in.W, in.B, Options{}); !errors.As(err, &shape) {
		t.Errorf("a report of half of the samples: %v", err)
	}
	wide := Input[float64]{Train: Memory(make([]float64, 8), 4, []int32{0, 1})}
	if _, err := MeasureSecondPass(wide, m, Options{}); !errors.As(err, &shape) {
		t.Errorf("a shard of another width: %v", err)
	}
}

// Rows with NaN are refused or dropped in a second pass as in a first.
func TestSecondNonFinite(t *testing.T) {
	in := gaussian[float64](60, 3, 3, .3, 5)
	rows := in.Train.Features.(*Rows[float64])
	m := momentsOf(t, in, true, 0, 60)
	h := append(append([]float64(nil), rows.H...), 1, math.NaN(), 2)
	bad := Input[float64]{Train: Memory(h, 3, append(append([]int32(nil), in.Train.Labels...), 1)), W: in.W, B: in.B}
	var nan *NonFiniteError
	if _, err := MeasureSecondPass(bad, m, Options{}); !errors.As(err, &nan) || nan.Row != 60 || nan.Col != 1 {
		t.Fatal(err)
	}
	s, err := MeasureSecondPass(bad, m, Options{DropNonFinite: true})
	if err != nil || s.Dropped != 1 {
		t.Fatalf("dropped %v: %v", s, err)
	}
	got, err := s.Report(m, in.W, in.B, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameMeasures(t, "without the dropped row", got, mustMeasure(t, in, Options{}), 30)
}

// FuzzReadState reads any bytes as a state, with a checksum that fits. What can be read is written as it was; a file of version 1 becomes
// one of version 2, which then stays as it is.
func FuzzReadState(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := gaussian[float64](40, 3, 3, .3, rng.Uint64())
	m := momentsOf(f, in, true, 0, 40)
	second, err := MeasureSecondPass(Input[float64]{Train: in.Train, W: in.W, B: in.B}, m, Options{})
	if err != nil {
		f.Fatal(err)
	}
	named := momentsOf(f, in, false, 0, 40)
	named.Values, named.Float32 = []int64{1, 2, 5}, true
	unsealed := func(state io.WriterTo) []byte {
		b := written(f, state)
		return b[:len(b)-sha256.Size]
	}
	for _, state := range []io.WriterTo{m, named, second} {
		f.Add(unsealed(state))
	}
	// Version 1 has another magic number, and its first passes no spread of coordinates.
	b, spread := unsealed(m), stateHeader+8*(1+2*m.K+m.K*m.D)
	f.Add(slices.Concat([]byte(firstMagic), b[len(stateMagic):spread], b[spread+8*m.D:]))
	f.Add(append([]byte(firstMagic), unsealed(second)[len(stateMagic):]...))
	f.Fuzz(func(t *testing.T, body []byte) {
		file := seal(body)
		state, err := ReadState(file)
		if err != nil {
			var bad *StateError
			if !errors.As(err, &bad) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again := written(t, held(state))
		if string(body[:len(firstMagic)]) == firstMagic {
			file = again
			if state, err = ReadState(file); err != nil {
				t.Fatalf("version 1 becomes a file that is refused: %v", err)
			}
			again = written(t, held(state))
		}
		if !bytes.Equal(again, file) {
			t.Fatal("what was read writes other bytes")
		}
	})
}

// held is what a state holds: moments or a second pass.
func held(s State) io.WriterTo {
	if s.SecondPass != nil {
		return s.SecondPass
	}
	return s.Moments
}

// written is the file of a state.
func written(t testing.TB, state io.WriterTo) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := state.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
