package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestSize counts the points of spaces of choices and whole numbers against a count of what a hundred thousand draws give.
func TestSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Space
		for i := range rapid.IntRange(1, 3).Draw(t, "parameters") {
			p := Param{Name: fmt.Sprint(i), Scale: Choice, Choices: rapid.IntRange(1, 3).Draw(t, "choices")}
			if i > 0 && rapid.Bool().Draw(t, "whole") {
				p = Param{Name: fmt.Sprint(i), Scale: Uniform, Whole: true, Low: -1, High: rapid.SampledFrom([]float64{0, 2}).Draw(t, "high")}
			}
			if i > 0 && s[0].Scale == Choice && rapid.Bool().Draw(t, "needs") {
				p.Needs = []Need{{Param: 0, Values: []int{0}}}
			}
			s = append(s, p)
		}
		seen, r := map[string]bool{}, rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			seen[fmt.Sprint(s.draw(r))] = true
		}
		if got := s.Size(1000); got != len(seen) {
			t.Fatalf("%+v has %d points, and %d were drawn", s, got, len(seen))
		}
		if got := s.Size(2); got != min(2, len(seen)) {
			t.Fatalf("%d of at most 2", got)
		}
	})
	ranges := Space{{Name: "x", Low: 0, High: 1}}
	many := Space{{Name: "n", Whole: true, Low: 0, High: 1e9}}
	if ranges.Size(7) != 7 || many.Size(7) != 7 {
		t.Error("a range of numbers has few points")
	}
}

// TestEverySettingIsTriedOnce in a space of choices, as long as there are new ones, whatever chooses them.
func TestEverySettingIsTriedOnce(t *testing.T) {
	space := Space{{Name: "a", Scale: Choice, Choices: 4}, {Name: "n", Whole: true, Low: 1, High: 3}}
	for _, sampler := range Samplers {
		s, err := New(Config{Space: space, Sampler: sampler, Schedule: Full, Trials: 12, Budget: 1, Batch: 2, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for jobs := s.Ask(); len(jobs) > 0; jobs = s.Ask() {
			for _, j := range jobs {
				seen[fmt.Sprint(j.Point)] = true
				s.Tell(j.Trial, j.Budget, j.Point[0]-j.Point[1])
			}
		}
		if len(seen) != 12 || !s.Done() {
			t.Errorf("%s: %d of 12 settings were tried", sampler, len(seen))
		}
	}
}
