package classcounts

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		p    Profile
		want []int
	}{
		{Profile{Balanced, 0, 0}, []int{100, 100, 100}},
		{Profile{Step, 10, 1}, []int{100, 100, 10}},
		{Profile{Step, 3, 3}, []int{33, 33, 33}},
		{Profile{LongTail, 100, 0}, []int{100, 10, 1}},
		{Profile{LongTail, 1e9, 0}, []int{100, 1, 1}},
	} {
		if got, err := c.p.Of(3, 100); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v; wanted %v", c.p, got, err, c.want)
		}
	}
	for want, err := range map[string]error{
		"K is 1":          Profile{Kind: Balanced}.Check(1),
		"ratio is 0.5":    Profile{Kind: Step, Ratio: 0.5}.Check(3),
		"ratio is NaN":    Profile{Kind: LongTail, Ratio: math.NaN()}.Check(3),
		"ratio is +Inf":   Profile{Kind: LongTail, Ratio: math.Inf(1)}.Check(3),
		"4 of 3 classes":  Profile{Kind: Step, Ratio: 2, Minority: 4}.Check(3),
		"-1 of 3 classes": Profile{Kind: Step, Ratio: 2, Minority: -1}.Check(3),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := (Profile{Kind: Balanced}).Of(3, 0); err == nil {
		t.Error("no samples were accepted")
	}
}
