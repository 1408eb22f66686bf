package data

import (
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/classcounts"
)

// TestImbalanced: a profile leaves as many samples as it says, the same ones for the same seed, and a steeper one keeps some of those of
// a flatter one; SizesOf foresees their number.
func TestImbalanced(t *testing.T) {
	src := Source{Name: "glyphs", Classes: 4, TrainPerClass: 40, Seed: 3}
	whole, err := Open(src, Train)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := SizesOf(src, Train)
	if err != nil {
		t.Fatal(err)
	}
	kept := func(p classcounts.Profile, seed uint64) map[string]bool {
		t.Helper()
		s, err := whole.Imbalanced(p, seed)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Of(4, 40)
		if err != nil || !slices.Equal(s.Counts(), want) || s.Digest == whole.Digest && p.Ratio > 1 {
			t.Fatalf("%+v: %v samples, wanted %v (%v)", p, s.Counts(), want, err)
		}
		if foreseen, err := sizes.Imbalanced(p, "glyphs", Train); err != nil || !slices.Equal(foreseen.Counts, want) {
			t.Fatalf("%+v: foreseen %v, %v", p, foreseen, err)
		}
		out := map[string]bool{}
		for i := range s.N() {
			out[string(s.Image(i))] = true
		}
		return out
	}
	steep, flat := kept(classcounts.Profile{Kind: classcounts.LongTail, Ratio: 20}, 5), kept(classcounts.Profile{Kind: classcounts.LongTail, Ratio: 4}, 5)
	for image := range steep {
		if !flat[image] {
			t.Fatal("the steeper profile has a sample that the flatter one lacks")
		}
	}
	step := classcounts.Profile{Kind: classcounts.Step, Ratio: 10, Minority: 2}
	again, other := kept(step, 5), kept(step, 6)
	same := 0
	for image := range other {
		if again[image] {
			same++
		}
	}
	if same == len(again) {
		t.Error("another seed keeps the same samples")
	}
	for image := range kept(step, 5) {
		if !again[image] {
			t.Fatal("the same seed keeps other samples")
		}
	}
}

func TestImbalancedNeedsEqualClasses(t *testing.T) {
	whole, err := Open(Source{Name: "glyphs", Classes: 3, TrainPerClass: 20, Seed: 3}, Train)
	if err != nil {
		t.Fatal(err)
	}
	uneven, err := whole.Imbalanced(classcounts.Profile{Kind: classcounts.Step, Ratio: 2, Minority: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := uneven.Imbalanced(classcounts.Profile{Kind: classcounts.Step, Ratio: 2, Minority: 1}, 1); err == nil || !strings.Contains(err.Error(), "set data.samples_per_class to at most 10") {
		t.Error(err)
	}
	if _, err := whole.Imbalanced(classcounts.Profile{Kind: classcounts.Step, Ratio: 0, Minority: 1}, 1); err == nil || !strings.Contains(err.Error(), "ratio is 0") {
		t.Error(err)
	}
}
