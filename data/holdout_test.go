package data

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// numbered has samples whose single pixel row says which they are.
func numberedSet(counts []int) *Set {
	s := &Set{Name: "numbered", Classes: len(counts), Shape: Shape{1, 1, 2}}
	for k, n := range counts {
		for range n {
			i := s.N()
			s.Pixels = append(s.Pixels, uint8(i), uint8(i>>8))
			s.True = append(s.True, int32(k))
		}
	}
	return s.seal()
}

func sampleNumbers(s *Set) []int {
	var list []int
	for i := range s.N() {
		list = append(list, int(s.Image(i)[0])+int(s.Image(i)[1])<<8)
	}
	return list
}

// Both sides together are the set, each sample once with its label; the share of every class is held out; more
// is held out by a larger share; and the seed decides.
func TestHoldOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(20, 60), 2, 4).Draw(t, "counts")
		share := rapid.Float64Range(0.05, 0.45).Draw(t, "share")
		seed := rapid.Uint64().Draw(t, "seed")
		s := numberedSet(counts)
		kept, held, err := s.HoldOut(share, seed)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(sampleNumbers(kept), sampleNumbers(held))
		slices.Sort(all)
		if !slices.Equal(all, sampleNumbers(s)) {
			t.Fatalf("the sides are not the set: %v", all)
		}
		for _, side := range []*Set{kept, held} {
			for i, n := range sampleNumbers(side) {
				if side.True[i] != s.True[n] || side.Observed[i] != s.True[n] {
					t.Fatalf("sample %d has label %d", n, side.True[i])
				}
			}
		}
		for k, n := range held.Counts() {
			if d := float64(n) - share*float64(counts[k]); !(d <= 0.5 && d >= -0.5) {
				t.Fatalf("class %d: %d of %d are held out, wanted %g", k, n, counts[k], share)
			}
		}
		_, more, err := s.HoldOut(2*share, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range sampleNumbers(held) {
			if !slices.Contains(sampleNumbers(more), n) {
				t.Fatalf("sample %d is held out by %g and not by %g", n, share, 2*share)
			}
		}
	})
	s := numberedSet([]int{200, 200})
	_, a, _ := s.HoldOut(0.5, 1)
	_, b, _ := s.HoldOut(0.5, 2)
	if slices.Equal(sampleNumbers(a), sampleNumbers(b)) {
		t.Error("two seeds hold out the same samples")
	}
	if _, _, err := numberedSet([]int{100, 2}).HoldOut(0.2, 1); err == nil || !strings.Contains(err.Error(), "class 1") {
		t.Errorf("a class of two: %v", err)
	}
}
