package measure

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/parallel"
)

// Shards that end anywhere, some empty, give the rows of one piece.
func TestJoinReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
		h := make([]float32, n*d)
		for i := range h {
			h[i] = float32(i)
		}
		var parts []Source[float32]
		for i, span := range drawCuts(t, n) {
			rows := Rows[float32]{H: h[span[0]*d : span[1]*d], D: d}
			if i%2 == 0 {
				parts = append(parts, &rows)
			} else {
				parts = append(parts, &chunked[float32]{rows})
			}
		}
		source, err := Join(parts...)
		if err != nil {
			t.Fatal(err)
		}
		if rows, width := source.Size(); rows != n || width != d {
			t.Fatalf("size %d×%d, want %d×%d", rows, width, n, d)
		}
		from := rapid.IntRange(0, n).Draw(t, "from")
		to := rapid.IntRange(from, n).Draw(t, "to")
		got, err := source.Read(make([]float32, (to-from)*d), from, to)
		if err != nil || len(got) != (to-from)*d {
			t.Fatalf("%d elements: %v", len(got), err)
		}
		for i, x := range got {
			if x != h[from*d+i] {
				t.Fatalf("element %d is %g, want %g", i, x, h[from*d+i])
			}
		}
	})
}

// The narrow and the wide pass give the same bits for any shards, any source and any team.
func TestShardsSameBits(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{3000, 24, 10}, {8000, 600, 60}} {
		if c.d == 600 && testing.Short() {
			continue
		}
		in := gaussian[float32](c.n, c.d, c.k, .7, 9)
		rows := in.Train.Features.(*Rows[float32])
		opt := Options{KeepMeans: true, KeepMargins: true}
		want := mustMeasure(t, in, opt)
		for i, cuts := range [][]int{{1}, {0, 63, 64, 65, c.n / 2}, {1000, c.n - 1}} {
			var parts []Source[float32]
			at := 0
			for _, cut := range append(cuts, c.n) {
				parts = append(parts, &Rows[float32]{H: rows.H[at*c.d : cut*c.d], D: c.d})
				at = cut
			}
			source, err := Join(parts...)
			if err != nil {
				t.Fatal(err)
			}
			in.Train.Features = source
			opt.Team = parallel.NewTeam(i + 1)
			equalBits(t, want, mustMeasure(t, in, opt))
			opt.Team.Close()
		}
	}
}

// cutOff fails to read from some row on.
type cutOff struct{ Rows[float32] }

var errCutOff = errors.New("cut off")

func (b *cutOff) Read(buf []float32, from, to int) ([]float32, error) {
	if to > 2000 {
		return nil, errCutOff
	}
	return b.Rows.Read(buf, from, to)
}

// A source's error ends the measurement, in every pass.
func TestSourceErrorsInEveryPass(t *testing.T) {
	for _, c := range []struct{ d, k int }{{8, 4}, {400, 100}} {
		in := gaussian[float32](3000, c.d, c.k, .1, 1)
		in.Train.Features = &cutOff{*in.Train.Features.(*Rows[float32])}
		if _, err := Measure(in, Options{}); !errors.Is(err, errCutOff) {
			t.Errorf("first pass: %v", err)
		}
		m := NewMoments(c.k, c.d, false)
		if err := AddSource(m, nil, in.Train); !errors.Is(err, errCutOff) {
			t.Errorf("one pass: %v", err)
		}
		whole := NewMoments(c.k, c.d, false)
		if err := AddSource(whole, nil, Memory(in.Train.Features.(*cutOff).H, c.d, in.Train.Labels)); err != nil {
			t.Fatal(err)
		}
		if _, err := MeasureSecondPass(in, whole, Options{Measures: []string{"all"}}); !errors.Is(err, errCutOff) {
			t.Errorf("second pass: %v", err)
		}
	}
}

// Second passes over shards of a shape for the wide pass.
func TestWideShards(t *testing.T) {
	in := gaussian[float32](2400, 500, 80, .5, 6)
	m := NewMoments(80, 500, false)
	if err := AddSource(m, nil, in.Train); err != nil {
		t.Fatal(err)
	}
	var whole *SecondPass
	for _, span := range [][2]int{{0, 700}, {700, 2400}} {
		s, err := MeasureSecondPass(Input[float32]{Train: shard(in, span), W: in.W, B: in.B}, m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if whole == nil {
			whole = s
		} else if err := whole.Merge(s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := whole.Report(m, in.W, in.B, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := mustMeasure(t, in, Options{})
	for key, tolerance := range map[string]float64{KeyNC1Pinv: 1e-5, KeyAccuracy: 0, KeyNC4NCCMismatch: 0, KeyNCCAccuracy: 0, KeyTraceWithin: 1e-12, KeyMarginMin: 1e-12, KeyCDNV: 1e-12} {
		g, ok := got.Measures.of[key]
		if w := want.Measures.of[key]; !ok || !(math.Abs(g-w) <= tolerance*math.Abs(w)) {
			t.Errorf("%s: %.17g (%s), of the whole %.17g", key, g, got.Missing[key], w)
		}
	}
}
