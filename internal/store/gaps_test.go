package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMissingSteps(t *testing.T) {
	lab := open(t, t.TempDir())
	run := leased(t, lab, spec(1))
	key, other := Key{Series: "epoch", Measure: "lr"}, Key{Series: "epoch", Measure: "loss"}
	for epoch := int64(1); epoch <= 40; epoch++ {
		rows := []Value{{Key: other, Step: epoch}}
		for _, k := range []Key{{Series: "step", Measure: "lr"}, {Series: "epoch", Split: "test", Measure: "lr"}, {Series: "epoch", Layer: "1", Measure: "lr"}} {
			rows = append(rows, Value{Key: k, Step: epoch}) // others with the same measure
		}
		if epoch < 11 || epoch > 13 && epoch != 20 && epoch < 36 {
			rows = append(rows, Value{Key: key, Step: epoch, Missing: "a reason is a row, too"})
		}
		must(t, run.AppendEpoch(epoch, rows))
	}
	for _, c := range []struct {
		key         Key
		hash        string
		every, last int64
		want        []Span
		text        string
	}{
		{other, run.Hash, 1, 40, nil, ""},
		{Key{Series: "step", Measure: "lr"}, run.Hash, 1, 40, nil, ""},
		{Key{Series: "epoch", Split: "test", Measure: "lr"}, run.Hash, 1, 40, nil, ""},
		{Key{Series: "epoch", Layer: "1", Measure: "lr"}, run.Hash, 1, 40, nil, ""},
		{other, run.Hash, 1, 42, []Span{{41, 42, 1}}, "41–42"},
		{key, run.Hash, 1, 40, []Span{{11, 13, 1}, {20, 20, 1}, {36, 40, 1}}, "11–13, 20, 36–40"},
		{key, run.Hash, 1, 35, []Span{{11, 13, 1}, {20, 20, 1}}, "11–13, 20"},
		{key, run.Hash, 1, 10, nil, ""},
		{key, run.Hash, 1, 0, nil, ""},
		{key, run.Hash, 4, 40, []Span{{12, 12, 4}, {20, 20, 4}, {36, 40, 4}}, "12, 20, 36–40 (every 4)"},
		{key, run.Hash, 7, 34, nil, ""},
		{key, run.Hash, 50, 40, nil, ""},
		{key, run.Hash, 40, 40, []Span{{40, 40, 40}}, "40"},
		{key, "unknown", 3, 10, []Span{{3, 9, 3}}, "3–9 (every 3)"},
		{Key{Series: "epoch", Measure: "nobody's"}, run.Hash, 1, 5, []Span{{1, 5, 1}}, "1–5"},
	} {
		got, err := lab.MissingSteps(c.hash, c.key, c.every, c.every, c.last)
		if err != nil || !slices.Equal(got, c.want) || NameSpans(got) != c.text {
			t.Errorf("%v of %.8s, every %d up to %d: %v (%s), %v; want %v", c.key, c.hash, c.every, c.last, got, NameSpans(got), err, c.want)
		}
	}
	if text := NameSpans(make([]Span, 20)); text != "0, 0, 0, 0, 0, 0, 0, 0, and 12 more gaps" {
		t.Errorf("many gaps are %q", text)
	}
}

// TestReachAgainstCounting compares Reach with counting epochs one by one: whole is the last epoch before which none is missing that nobody else has.
func TestReachAgainstCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elsewhere, upTo := rapid.Int64Range(0, 30).Draw(t, "elsewhere"), rapid.Int64Range(0, 30).Draw(t, "up to")
		missing := map[int64]bool{}
		var gaps [][]Span
		for range rapid.IntRange(0, 3).Draw(t, "series") {
			every, at := rapid.Int64Range(1, 4).Draw(t, "every"), int64(0)
			var spans []Span
			for range rapid.IntRange(0, 3).Draw(t, "gaps") {
				first := at + every*rapid.Int64Range(1, 3).Draw(t, "from")
				last := first + every*rapid.Int64Range(0, 3).Draw(t, "more")
				spans, at = append(spans, Span{first, last, every}), last+every
				for step := first; step <= last; step += every {
					missing[step] = missing[step] || step > elsewhere
				}
			}
			gaps = append(gaps, spans)
		}
		want := int64(0)
		for want < upTo && !missing[want+1] {
			want++
		}
		whole, gap := Reach(elsewhere, upTo, gaps...)
		if whole != want {
			t.Fatalf("elsewhere %d, up to %d, gaps %v: %d, want %d", elsewhere, upTo, gaps, whole, want)
		}
		if begins := ""; want < upTo {
			begins = fmt.Sprint(want + 1)
			if first, _, _ := strings.Cut(strings.Fields(gap + " ")[0], "–"); first != begins {
				t.Fatalf("elsewhere %d, up to %d, gaps %v: the gap is %q, and epoch %s is missing", elsewhere, upTo, gaps, gap, begins)
			}
		} else if gap != "" {
			t.Fatalf("elsewhere %d, up to %d, gaps %v: nothing is missing, and the gap is %q", elsewhere, upTo, gaps, gap)
		}
	})
	for _, c := range []struct {
		elsewhere, upTo int64
		gaps            []Span
		whole           int64
		gap             string
	}{
		{0, 9, []Span{{0, 0, 1}}, 0, "0"}, {0, 9, []Span{{1, 1, 1}}, 0, "1"}, {1, 9, []Span{{1, 1, 1}}, 9, ""}, {1, 9, []Span{{1, 3, 1}}, 1, "2–3"}, {1, 9, []Span{{1, 5, 2}}, 2, "3–5 (every 2)"},
		{1, 9, []Span{{1, 1, 1}, {4, 4, 1}}, 3, "4"}, {0, 4, []Span{{5, 6, 1}}, 4, ""}, {0, 5, []Span{{5, 6, 1}}, 4, "5–6"}, {2, 9, []Span{{2, 2, 1}, {3, 3, 1}}, 2, "3"},
	} {
		if whole, gap := Reach(c.elsewhere, c.upTo, c.gaps); whole != c.whole || gap != c.gap {
			t.Errorf("%+v: %d, %q", c, whole, gap)
		}
	}
}
