package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestOutlineHasARowOfEachStretch compares with all rows: of each series the first one of every stretch of epochs, and all of the newest, also
// where steps are as no program counts them.
func TestOutlineHasARowOfEachStretch(t *testing.T) {
	l := open(t, t.TempDir())
	rng := rand.New(rand.NewPCG(1, 5))
	for run, odd := range [][]int64{nil, {-7, 0, 40_000, 1_000_000}, {math.MinInt64, -1, math.MaxInt64 - 1, math.MaxInt64}, {math.MinInt64}} {
		c, _, err := l.Lease(Spec{Kind: Script, Config: map[string]int{"a": run}})
		if err != nil {
			t.Fatal(err)
		}
		rows := []Value{{Key: Key{Series: "epoch", Measure: "odd"}, Step: 3, Value: 1}, {Key: Key{Series: "spent", Measure: "core_seconds"}, Step: 3, Value: 1}}
		for s := int64(1); s < 20_000; s += 1 + rng.Int64N(40) {
			rows = append(rows, Value{Key: Key{Series: "epoch", Split: "train", Measure: "loss"}, Step: s, Value: float64(s)})
		}
		for _, s := range odd {
			rows = append(rows, Value{Key: Key{Series: "epoch", Measure: "odd"}, Step: s, Missing: "none"})
		}
		if err := c.AppendEpoch(1, rows); err != nil {
			t.Fatal(err)
		}
		all, err := l.Values(c.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if got, every, err := l.Outline(c.Hash); err != nil || every != 1 || !reflect.DeepEqual(got, all) {
			t.Errorf("%v: %d of %d values of a run of few, one in %d, %v", odd, len(got), len(all), every, err)
		}
		last := slices.MaxFunc(all, func(a, b Value) int { return cmpSteps(a, b) }).Step
		want := outlined(all, max(1, last/outlinePoints), last-outlineTail)
		got, every, err := l.outline(c.Hash, 10)
		if err != nil || every != max(1, last/outlinePoints) || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %d values, want %d of %d (one in %d, %v)\n%v\n%v", odd, len(got), len(want), len(all), every, err, first(got), first(want))
		}
		for whole, want := range map[int]int64{len(all): 1, len(all) - 1: every} {
			if got, some, err := l.outline(c.Hash, whole); err != nil || some != want || (want == 1) != (len(got) == len(all)) {
				t.Errorf("%v: of %d values, where %d are a whole run, %d are read, one in %d, %v", odd, len(all), whole, len(got), some, err)
			}
		}
	}
	if _, _, err := l.Outline(fmt.Sprintf("%064x", 1)); !IsNotFound(err) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func cmpSteps(a, b Value) int {
	if a.Step < b.Step {
		return -1
	}
	return 1
}

func first(v []Value) []Value { return v[:min(len(v), 12)] }

// outlined takes from all values, in order, those of epochs that begin a stretch, and the newest.
func outlined(all []Value, every, tail int64) (kept []Value) {
	for i, v := range all {
		if v.Series != "epoch" {
			continue
		}
		n := len(kept)
		if i == 0 || n == 0 || kept[n-1].Key != v.Key {
			kept = append(kept, v)
			continue
		}
		before := kept[n-1].Step
		next := before + 1 // may wrap: then there is no later one
		if before < tail {
			next = min((before/every+1)*every, tail)
		}
		if v.Step >= next && v.Step > before {
			kept = append(kept, v)
		}
	}
	return kept
}
