package judge

import (
	"cmp"
	"fmt"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
)

// eligible are the finished runs that a statement may be judged on.
type eligible struct {
	kept    []*JudgedRun
	all     []*JudgedRun // those that match, including the ones left out
	blocked string       // why there can be no verdict; "" if there can
	notes   []string     // what was left out
}

// eligible sorts runs. A configuration (runs that differ only by seed) that keeps fewer than half of its runs blocks the verdict: it
// did not reach the terminal phase. So does one without a run in the configuration of M-D Fig. 4 that the statement selects.
func (s Statement) eligible(done []*JudgedRun) (e eligible) {
	t := tally{all: map[string]int{}, kept: map[string]int{}, other: map[string]int{}}
	for _, one := range done {
		if !one.Matches(s.Where) {
			continue
		}
		e.all = append(e.all, one)
		switch {
		case !one.In(s.Runs):
			t.other[one.Cell]++
		case !s.Early && !one.Terminal:
			t.all[one.Cell]++
		default:
			t.all[one.Cell]++
			t.kept[one.Cell]++
			e.kept = append(e.kept, one)
		}
	}
	if n := sum(t.all) - sum(t.kept); n > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%s left out, below 99.9 %% train accuracy", format.Count(n, "run")))
	}
	if n := sum(t.other); n > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%s left out, not %s (M-D Fig. 4)", format.Count(n, "run"), s.Runs))
	}
	e.blocked = cmp.Or(t.blocked(s.Runs), sameRuns(e.kept))
	return e
}

// fingerprints are values that no two runs share by chance.
var fingerprints = [][2]string{{"train", "loss"}, {"train", measure.KeyNC1Pinv}, {"test", "loss"}}

// sameRuns names two seeds of one configuration that gave the same run, to the last bit; "" if there are none. Seeds that change nothing
// are no replicates, and an interval over them says nothing.
func sameRuns(runs []*JudgedRun) string {
	seen := map[string]*JudgedRun{}
	for _, one := range runs {
		print, known := one.Cell, 0
		for _, f := range fingerprints {
			if v, ok := one.Last(f[0], f[1]); ok && v != 0 {
				print += fmt.Sprintf(" %x", v)
				known++
			}
		}
		other := seen[print]
		if known >= 2 && other != nil && other.Seed != one.Seed {
			return fmt.Sprintf("seeds %d and %d gave the same run, to the last bit: the seed changes nothing there", other.Seed, one.Seed)
		}
		seen[print] = one
	}
	return ""
}

// tally counts the runs of each configuration: selected, kept, and in the other configuration of M-D Fig.
// 4.
type tally struct{ all, kept, other map[string]int }

func sum(counts map[string]int) (n int) {
	for _, v := range counts {
		n += v
	}
	return n
}

// blocked says why these runs allow no verdict; "" if they allow one.
func (t tally) blocked(wanted string) string {
	short, none := 0, 0
	for cell, n := range t.all {
		if t.kept[cell]*2 < n {
			short++
		}
	}
	for cell := range t.other {
		if t.all[cell] == 0 {
			none++
		}
	}
	switch {
	case none > 0:
		return fmt.Sprintf("no run of %s is %s (M-D Fig. 4)", format.Count(none, "configuration"), wanted)
	case len(t.all) == 0:
		return "no run is finished"
	case short > 0:
		return fmt.Sprintf("the terminal phase (train accuracy ≥ 99.9 %% on observed labels) was not reached in %d of %s", short, format.Count(len(t.all), "configuration"))
	}
	return ""
}
