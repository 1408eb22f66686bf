package data

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The classes of a set add up to its official number of samples, and a set of files that are here has the sizes that are foretold.
func TestOfficialSizes(t *testing.T) {
	for _, info := range List() {
		for _, split := range []Split{Train, Test} {
			s, err := SizesOf(Source{Name: info.Name}, split)
			if info.Name == folderName {
				if err == nil || !strings.Contains(err.Error(), "no official size") {
					t.Errorf("a folder: %v, %v", s, err)
				}
				continue
			}
			if err != nil || !info.BuiltIn() && (s.N() != info.Official[split] || len(s.Counts) != info.Classes) || s.Shape != info.Shape {
				t.Errorf("%s %s: %d samples, %v", info.Name, split, s.N(), err)
			}
			if os.Getenv(RootVariable) == "" {
				continue
			}
			if set, err := Open(Source{Name: info.Name}, split); err == nil && set.N() == s.N() && !slices.Equal(set.Counts(), s.Counts) {
				t.Errorf("%s %s has %v of each class, foretold %v", info.Name, split, set.Counts(), s.Counts)
			}
		}
	}
	s, err := SizesOf(Source{Name: "mnist", Classes: 2}, Train)
	if err != nil || s.N() != 5923+6742 {
		t.Errorf("zeros and ones of MNIST: %v, %v", s, err)
	}
	for _, src := range []Source{{Name: "mnist", Classes: 11}, {Name: "mnist", TrainPerClass: 5422}, {Name: "mnist", TrainSamples: 60000}, {Name: "nosuch"}} {
		if s, err := SizesOf(src, Train); err == nil {
			t.Errorf("%+v: %v", src, s)
		}
	}
}

// Sizes are those of the set that Open draws, whole or in part, held out or not.
func TestSizesAreThoseOfTheSet(t *testing.T) {
	for _, src := range []Source{{Name: "glyphs"}, {Name: "glyphs", Classes: 3, TrainPerClass: 20, TestPerClass: 7, Size: 32, Color: true}} {
		for _, split := range []Split{Train, Test} {
			set, err := Open(src, split)
			if err != nil {
				t.Fatal(err)
			}
			s, err := SizesOf(src, split)
			if err != nil || s.Shape != set.Shape || !slices.Equal(s.Counts, set.Counts()) {
				t.Errorf("%+v %s: foretold %v, it has %v of %v; %v", src, split, s, set.Counts(), set.Shape, err)
			}
			kept, held, err := set.HoldOut(0.22, 1)
			if err != nil {
				t.Fatal(err)
			}
			in, out := s.HoldOut(0.22)
			if !slices.Equal(in.Counts, kept.Counts()) || !slices.Equal(out.Counts, held.Counts()) {
				t.Errorf("%+v %s: %v and %v held out, foretold %v and %v", src, split, kept.Counts(), held.Counts(), in, out)
			}
		}
	}
	for src, want := range map[Source][]int{
		{Name: "svhn", Classes: 3, TrainPerClass: 5}: {5, 5, 5},
		{Name: "svhn", Classes: 3, TrainSamples: 11}: {4, 4, 3},
		{Name: "svhn", Classes: 3, TestSamples: 11}:  {4948, 13861, 10585},
	} {
		if s, err := SizesOf(src, Train); err != nil || !reflect.DeepEqual(s.Counts, want) {
			t.Errorf("%+v: %v, wanted %v; %v", src, s, want, err)
		}
	}
	for kind, want := range map[string]int{"": 5, NoiseUniform: 5, NoiseLatent: 10, NoiseLatentBernoulli: 10} {
		if got := (Noise{Kind: kind}).Classes(5); got != want {
			t.Errorf("noise %q: %d classes, wanted %d", kind, got, want)
		}
	}
}
