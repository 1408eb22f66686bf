package measurement

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
)

const (
	alone     = 0.99 // of the variance between class means in one coordinate: worth a word
	mostNamed = 10   // classes that a headline names
)

// partly is the verdict on classes that are tight where some of them coincide; false if that is not the case. NC1 cannot tell it: between
// coinciding means it divides by noise.
func partly(r *measure.Report) (verdict, bool) {
	f := &r.Facts
	together, points := 0, r.K
	for _, members := range f.Coinciding {
		together, points = together+len(members), points-len(members)+1
	}
	if together == 0 || points < 2 {
		return verdict{}, false
	}
	ratio := 0.0
	for c, v := range f.Spread {
		ratio = max(ratio, v/f.Apart[c])
	}
	if !(ratio <= CollapsedRatio) {
		return verdict{}, false
	}
	if words := tooFew(r, ratio); words != "" {
		return verdict{unknown, words}, true
	}
	return verdict{partial, fmt.Sprintf("%d of %d classes are collapsed", r.K-together, r.K)}, true
}

// unusual names what a reader would not expect, each with a semicolon before; "" if there is nothing.
func unusual(r *measure.Report, s state, name naming) string {
	f, words := &r.Facts, ""
	if s >= partial {
		for _, members := range f.Coinciding {
			if len(members) < r.K {
				words += "; " + coinciding(r, members, name)
			}
		}
	}
	if s > unknown && f.CoordinateShare >= alone && f.Possible > 1 {
		words += fmt.Sprintf("; coordinate %d carries %s of the variance between class means", f.Coordinate, format.Percent(f.CoordinateShare))
	}
	return words
}

// coinciding says which classes have one mean.
func coinciding(r *measure.Report, members []int, name naming) string {
	largest, least := 0, r.N
	for c, n := range r.ClassCounts {
		if slices.Contains(members, c) {
			largest = max(largest, n)
		} else {
			least = min(least, n)
		}
	}
	switch {
	case largest < least:
		return fmt.Sprintf("the %d smallest classes are one point", len(members))
	case len(members) > mostNamed:
		return fmt.Sprintf("%d classes coincide", len(members))
	}
	var names []string
	for _, c := range members {
		names = append(names, name(c))
	}
	last := len(names) - 1
	return "classes " + strings.Join(names[:last], ", ") + " and " + names[last] + " coincide"
}
