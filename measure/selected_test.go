package measure

import (
	"fmt"
	"slices"
	"testing"
)

// TestFactsAreAlwaysFilled: whichever single measure is asked for, a report has the facts that a report of all has. Where no sample is compared with
// every class mean, the share of those nearest to their own is bounded, from both sides.
func TestFactsAreAlwaysFilled(t *testing.T) {
	for _, shape := range [][2]int{{3, 9}, {14, 5}} {
		in := complete(shape[0], shape[1])
		m := NewMoments(shape[1], shape[0], true)
		if err := AddSource(m, nil, in.Train); err != nil {
			t.Fatal(err)
		}
		routes := map[string]func(Options) (*Report, error){
			"samples": func(opt Options) (*Report, error) { return Measure(in, opt) },
			"moments": func(opt Options) (*Report, error) { return m.Report(in.W, in.B, opt) },
			"passes": func(opt Options) (*Report, error) {
				second, err := MeasureSecondPass(in, m, opt)
				if err != nil {
					return nil, err
				}
				return second.Report(m, in.W, in.B, opt)
			},
		}
		whole := mustMeasure(t, in, Options{Measures: []string{"all"}}).Facts
		for route, report := range routes {
			for _, d := range Definitions() {
				r, err := report(Options{Measures: []string{d.Key}})
				if err != nil {
					t.Fatal(err)
				}
				if why := differentFacts(whole, r.Facts, route != "samples"); why != "" {
					t.Errorf("%d classes of width %d, %s, only %s: %s", shape[1], shape[0], route, d.Key, why)
				}
			}
		}
	}
}

// differentFacts says in which field got is not as all; numbers may differ by rounding between routes.
func differentFacts(all, got Facts, summed bool) string {
	const close = 1e-12
	near := func(a, b Vector) bool {
		return len(a) > 0 && slices.EqualFunc(a, b, func(x, y float64) bool { return x > 0 && x-y <= close*x && y-x <= close*x })
	}
	for field, same := range map[string]bool{
		"Rank": got.Rank == all.Rank && all.Rank > 0, "Possible": got.Possible == all.Possible && all.Possible > 0, "Spread": near(all.Spread, got.Spread),
		"Between": near(Vector{all.Between}, Vector{got.Between}), "Lengths": near(all.Lengths, got.Lengths), "Apart": near(all.Apart, got.Apart),
		"Coinciding": fmt.Sprint(got.Coinciding) == fmt.Sprint(all.Coinciding), "Summed": got.Summed == summed, "Coordinate": got.Coordinate == all.Coordinate,
		"CoordinateShare": near(Vector{all.CoordinateShare}, Vector{got.CoordinateShare}),
		"Nearest":         got.Nearest.Yes <= all.Nearest.Yes && got.Nearest.No <= all.Nearest.No && got.Nearest.Yes >= 0 && all.Nearest.Yes+all.Nearest.No == 1,
	} {
		if !same {
			return fmt.Sprintf("%s is not as in a report of all: %+v and %+v", field, got, all)
		}
	}
	return ""
}
