package data

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawSet draws a small set in which every class has a sample. Pixel 0 and 1 of a sample are its number.
func drawSet(t *rapid.T) *Set {
	k := rapid.IntRange(2, 6).Draw(t, "K")
	labels := rapid.SliceOfN(rapid.Int32Range(0, int32(k-1)), 0, 60).Draw(t, "labels")
	for c := range k {
		labels = append(labels, int32(c))
	}
	s := &Set{Name: "drawn", Classes: k, Shape: Shape{1, 1, 2}, True: labels}
	for i := range labels {
		s.Pixels = append(s.Pixels, uint8(i), uint8(i>>8))
	}
	return s.seal()
}

// numbers returns which samples of drawSet's set are in a subset, and fails if labels moved.
func numbers(t *rapid.T, full, sub *Set) []int {
	out := make([]int, sub.N())
	for i := range out {
		p := sub.Image(i)
		out[i] = int(p[0]) | int(p[1])<<8
		if full.True[out[i]] != sub.True[i] || sub.Observed[i] != sub.True[i] || sub.Redrawn[i] {
			t.Fatalf("sample %d has another label than in the full set", i)
		}
	}
	if !slices.IsSorted(out) {
		t.Fatal("a subset is not in the order of its set")
	}
	return out
}

func TestFirstClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		k := rapid.IntRange(2, s.Classes).Draw(t, "k")
		sub, err := s.FirstClasses(k)
		if err != nil {
			t.Fatal(err)
		}
		numbers(t, s, sub)
		if sub.Classes != k || !slices.Equal(sub.Counts(), s.Counts()[:k]) {
			t.Fatalf("counts %v of %d classes, want %v", sub.Counts(), sub.Classes, s.Counts()[:k])
		}
		if (sub.Digest == s.Digest) != (k == s.Classes) {
			t.Fatal("digest does not follow the content")
		}
	})
}

func TestPerClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		most := slices.Min(s.Counts())
		big := rapid.IntRange(1, most).Draw(t, "big")
		small := rapid.IntRange(1, big).Draw(t, "small")
		seed := rapid.Uint64().Draw(t, "seed")
		a, err := s.PerClass(big, seed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.PerClass(small, seed)
		if err != nil {
			t.Fatal(err)
		}
		for k, n := range a.Counts() {
			if n != big || b.Counts()[k] != small {
				t.Fatalf("class %d: %d and %d samples, want %d and %d", k, n, b.Counts()[k], big, small)
			}
		}
		have := numbers(t, s, a)
		for _, i := range numbers(t, s, b) {
			if !slices.Contains(have, i) {
				t.Fatalf("sample %d is kept at %d per class and not at %d", i, small, big)
			}
		}
		if _, err := s.PerClass(most+1, seed); err == nil {
			t.Fatal("more samples than a class has were given")
		}
	})
}

func TestPerClassGolden(t *testing.T) {
	s, err := labelled(40, 2).PerClass(5, 3)
	if want := []uint8{2, 3, 6, 9, 11, 13, 15, 20, 32, 38}; err != nil || !slices.Equal(s.Pixels, want) { // port
		t.Fatalf("kept %v, want %v (%v)", s.Pixels, want, err)
	}
}

func TestPerClassDependsOnSeed(t *testing.T) {
	s := labelled(200, 2)
	a, _ := s.PerClass(10, 1)
	b, _ := s.PerClass(10, 2)
	if a.Digest == b.Digest {
		t.Fatal("two seeds keep the same samples")
	}
}

func TestSubsetErrors(t *testing.T) {
	gap := &Set{Name: "gap", Classes: 3, Shape: Shape{1, 1, 1}, Pixels: make([]uint8, 3), True: []int32{0, 2, 2}}
	gap.seal()
	for want, f := range map[string]func() (*Set, error){
		"class 1 has no sample":           func() (*Set, error) { return gap.FirstClasses(2) },
		"has 3 classes, 4 were requested": func() (*Set, error) { return gap.FirstClasses(4) },
		"needs at least 2":                func() (*Set, error) { return gap.FirstClasses(1) },
		"class 0 has 1 samples, 2 per":    func() (*Set, error) { return gap.PerClass(2, 1) },
		"0 samples per class asked":       func() (*Set, error) { return gap.PerClass(0, 1) },
		"class 1 has 0 samples, 1 per cl": func() (*Set, error) { return gap.PerClass(1, 1) },
	} {
		if s, err := f(); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestSubsetOfNoisyPanics(t *testing.T) {
	s := noisy(t, labelled(50, 2), Noise{Rate: 0.5, Seed: 1})
	defer func() {
		if recover() == nil {
			t.Fatal("a subset after label noise did not panic")
		}
	}()
	s.PerClass(1, 1)
}

// TestDigest: every part of the content enters, names do not.
func TestDigest(t *testing.T) {
	base := func() *Set {
		return &Set{Name: "a", Classes: 2, Shape: Shape{1, 1, 2}, Pixels: []uint8{1, 2, 3, 4}, True: []int32{0, 1}}
	}
	want := base().seal().Digest
	if s := base(); len(want) != 64 {
		t.Fatalf("digest %q", want)
	} else if s.Name, s.Split = "b", Test; s.seal().Digest != want {
		t.Error("the digest depends on the name or the split")
	}
	for what, change := range map[string]func(*Set){
		"pixel":   func(s *Set) { s.Pixels[3] = 5 },
		"label":   func(s *Set) { s.True[1] = 0 },
		"shape":   func(s *Set) { s.Shape = Shape{1, 2, 1} },
		"classes": func(s *Set) { s.Classes = 3 },
	} {
		s := base()
		change(s)
		if s.seal().Digest == want {
			t.Errorf("the digest does not depend on the %s", what)
		}
	}
}
