package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/studytest"
)

var must = studytest.Must

func sampleRows(n int) store.EpochRows {
	e := store.EpochRows{Epoch: 12}
	for i := range n {
		v := store.Value{Key: store.Key{Series: "epoch", Split: "train", Layer: fmt.Sprint(i % 3), Measure: fmt.Sprint("m", i%7)}, Step: int64(i), Value: math.Sqrt(float64(i)) - 3}
		if i%11 == 5 {
			v.Value, v.Missing = 0, "no inverse"
		}
		e.Rows = append(e.Rows, v)
	}
	if n > 3 {
		e.Rows[1].Value, e.Rows[2].Value = math.Inf(1), math.Copysign(0, -1)
	}
	return e
}

func TestRowsSurviveTheWay(t *testing.T) {
	for _, n := range []int{0, 1, 30, rowsPerMessage, 2*rowsPerMessage + 1} {
		want := sampleRows(n)
		var got []store.Value
		for _, m := range EncodeRows(want) {
			if len(m) > 400_000 || m[0] != TagRows {
				t.Fatalf("a message of %d bytes, tag %c", len(m), m[0])
			}
			e, err := DecodeRows(m[1:])
			if err != nil || e.Epoch != 12 {
				t.Fatal(e.Epoch, err)
			}
			got = append(got, e.Rows...)
			for cut := 1; cut < min(len(m), 300); cut++ {
				if _, err := DecodeRows(m[1 : len(m)-cut]); err == nil {
					t.Fatalf("%d bytes short is not an error", cut)
				}
			}
		}
		if n > 3 {
			want.Rows[1].Value, want.Rows[1].Missing = 0, "the value was infinite"
		}
		if diff := cmp.Diff(want.Rows, got); diff != "" {
			t.Errorf("%d rows: %s", n, diff)
		}
	}
}

func FuzzDecodeRows(f *testing.F) {
	f.Add(EncodeRows(sampleRows(20))[0][1:])
	f.Add([]byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 127})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeRows(b)
		if err == nil && len(e.Rows) > len(b) {
			t.Fatalf("%d rows of %d bytes", len(e.Rows), len(b))
		}
		for _, v := range e.Rows {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Step < 0 || v.Measure == "" || len(v.Measure) > LongestKey || len(v.Missing) > LongestMissing ||
				!utf8.ValidString(v.Measure+v.Missing) {
				t.Fatalf("%+v", v)
			}
		}
	})
}

// TestCountsThatNoBytesHold: a message that claims more keys or rows than its bytes can hold is refused before anything is made for them; as many as they
// can hold are read.
func TestCountsThatNoBytesHold(t *testing.T) {
	message := func(keys, rows uint64, more int) []byte {
		b := binary.AppendUvarint(binary.AppendVarint(nil, 7), keys)
		if keys == 1 {
			for _, text := range []string{"s", "", "", "m"} {
				b = appendText(b, text)
			}
		}
		return append(binary.AppendUvarint(b, rows), make([]byte, more)...)
	}
	for name, c := range map[string]struct {
		message []byte
		rows    int // -1: refused
	}{
		"nothing":           {message(0, 0, 0), 0},
		"a key, no row":     {message(1, 0, 0), 0},
		"a row":             {message(1, 1, 11), 1},
		"two rows":          {message(1, 2, 22), 2},
		"two in one":        {message(1, 2, 21), -1},
		"a byte more":       {message(1, 1, 12), -1},
		"keys of no bytes":  {message(1<<26, 0, 0), -1},
		"rows of no bytes":  {message(1, 1<<26, 11), -1},
		"rows of a byte":    {message(1, 1<<17, 1<<17), -1},
		"keys of a byte":    {message(1<<17, 0, 1<<17), -1},
		"keys of 2^63":      {message(1<<63, 0, 100), -1},
		"rows of 2^63":      {message(1, 1<<63, 100), -1},
		"rows of no key":    {message(0, 1, 11), -1},
		"an epoch, no more": {binary.AppendVarint(nil, 7), -1},
		"no bytes":          {nil, -1},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e, err := DecodeRows(c.message)
		runtime.ReadMemStats(&after)
		if (err != nil) != (c.rows < 0) || err == nil && (len(e.Rows) != c.rows || e.Epoch != 7) {
			t.Errorf("%s: %d rows, %v; want %d", name, len(e.Rows), err, c.rows)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
			t.Errorf("%s: %d bytes are allocated for a message of %d", name, spent, len(c.message))
		}
	}
}
