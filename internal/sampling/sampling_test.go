package sampling

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPerClassIsFairAndRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.Int32Range(-1, 6), 0, 300).Draw(t, "labels")
		n := rapid.IntRange(0, 320).Draw(t, "n")
		got := PerClass(labels, n)
		if !slices.Equal(got, PerClass(labels, n)) {
			t.Fatal("two calls differ")
		}
		if len(got) > n || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%d places of at most %d: %v", len(got), n, got)
		}
		there, shown := map[int32]int{}, map[int32]int{}
		for _, k := range labels {
			there[k]++
		}
		for _, i := range got {
			shown[labels[i]]++
		}
		if shown[-1] > 0 {
			t.Fatal("a sample of no class was drawn")
		}
		all := len(labels) - there[-1]
		if len(got) != min(n, all) {
			t.Fatalf("%d of %d samples, %d were asked for", len(got), all, n)
		}
		for a := range there {
			for b := range there {
				if a >= 0 && b >= 0 && shown[a] < there[a] && shown[b] > shown[a]+1 {
					t.Fatalf("class %d shows %d of %d, class %d %d", a, shown[a], there[a], b, shown[b])
				}
			}
		}
	})
}

// Classes that come in turn, as in most files, were shown in part only when every so-manieth sample was taken.
func TestPerClassOfInterleavedClasses(t *testing.T) {
	labels := make([]int32, 6000)
	for i := range labels {
		labels[i] = int32(i % 10)
	}
	shown := make([]int, 10)
	got := PerClass(labels, 600)
	for _, i := range got {
		shown[labels[i]]++
	}
	for k, n := range shown {
		if n != 60 {
			t.Errorf("class %d has %d of 600 samples", k, n)
		}
	}
	step := got[1] - got[0]
	if !slices.ContainsFunc(got, func(i int) bool { return (i-got[0])%step != 0 }) {
		t.Error("samples are evenly spaced: what comes in turn within a class would be left out")
	}
}
