package store

import (
	"fmt"
	"strings"
)

// Span is a gap in a series: the steps First, First+Every, …, Last are missing.
type Span struct{ First, Last, Every int64 }

func (s Span) String() string {
	switch {
	case s.First == s.Last:
		return fmt.Sprint(s.First)
	case s.Every == 1:
		return fmt.Sprintf("%d–%d", s.First, s.Last)
	}
	return fmt.Sprintf("%d–%d (every %d)", s.First, s.Last, s.Every)
}

// spansNamed bounds how many gaps a text lists.
const spansNamed = 8

// NameSpans writes gaps for people: "21–99, 140".
func NameSpans(list []Span) string {
	var parts []string
	for i, s := range list {
		if i == spansNamed {
			parts = append(parts, fmt.Sprintf("and %d more gaps", len(list)-i))
			break
		}
		parts = append(parts, s.String())
	}
	return strings.Join(parts, ", ")
}

// Reach returns the last epoch, at most upTo, up to which nothing is missing, and the first gap if there is one before that. Rows up
// to epoch elsewhere are in another lab. Each list holds the gaps of one series in ascending order.
func Reach(elsewhere, upTo int64, gaps ...[]Span) (whole int64, gap string) {
	whole = upTo
	for _, spans := range gaps {
		for _, s := range spans {
			if elsewhere > 0 && s.Last <= elsewhere {
				continue
			}
			if elsewhere > 0 && s.First <= elsewhere {
				s.First += (elsewhere-s.First)/s.Every*s.Every + s.Every
			}
			if s.First <= whole {
				whole, gap = max(0, s.First-1), s.String()
			}
			break
		}
	}
	return whole, gap
}

// MissingSteps lists which multiples of every, from first up to last, are missing from the series k of a run; all of them for an
// unknown run. It reads the steps of that one series in the order of the table and keeps only the gaps.
func (r *Reader) MissingSteps(hash string, k Key, first, every, last int64) ([]Span, error) {
	if every < 1 || first%every != 0 {
		panic("store: steps that are multiples of nothing, or begin beside one")
	}
	end := last - last%every + every // one past the last step, so that a gap there has two ends, too
	return collect(r, func(scan func(...any) error) (Span, error) {
		var before, after int64
		err := scan(&before, &after)
		return Span{First: before + every, Last: after - every, Every: every}, err
	}, `SELECT before, step FROM (
			SELECT lag(step, 1, ?) OVER (ORDER BY step) AS before, step FROM (
				SELECT step FROM value
				WHERE run = (SELECT id FROM run WHERE hash = ?)
				AND series = (SELECT id FROM series WHERE series = ? AND split = ? AND layer = ? AND measure = ?)
				AND step BETWEEN ? AND ? AND step % ? = 0
				UNION ALL SELECT ?))
		WHERE step - before > ? ORDER BY step`, first-every, hash, k.Series, k.Split, k.Layer, k.Measure, first, last, every, end, every)
}
