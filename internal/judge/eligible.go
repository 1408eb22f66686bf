package judge

import (
	"cmp"
	"fmt"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
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
		if one.Kind == store.Script {
			t.hint = ", or train/accuracy was not reported; early = true in the claim judges such runs, too"
		}
		e.all = append(e.all, one)
		switch {
		case !one.In(s.Runs):
			t.other[one.Cell]++
		case !s.Early && !one.Terminal && !one.Predicted:
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
		print, telling := one.fingerprint()
		other := seen[print]
		if telling && other != nil && other.Seed != one.Seed {
			return fmt.Sprintf("seeds %d and %d gave the same run, to the last bit: the seed changes nothing there", other.Seed, one.Seed)
		}
		seen[print] = one
	}
	return ""
}

// fingerprint is what no two runs of one configuration have in common by chance, if it is telling. A script's is all that it reports, where
// that is more than a few shares that are 0 or 1.
func (r *JudgedRun) fingerprint() (print string, telling bool) {
	print = r.Cell
	if r.Kind != store.Script {
		known := 0
		for _, f := range fingerprints {
			if v, ok := r.Last(f[0], f[1]); ok && v != 0 {
				print += fmt.Sprintf(" %x", v)
				known++
			}
		}
		return print, known >= 2
	}
	values := map[float64]bool{0: true, 1: true}
	for _, k := range r.OwnKeys() {
		for _, p := range r.Rows(k.Split, k.Layer, k.Measure) {
			print += fmt.Sprintf(" %x", p.Value)
			values[p.Value] = true
		}
	}
	return print, len(values) >= 2+3
}

// tally counts the runs of each configuration: selected, kept, and in the other configuration of M-D Fig.
// 4.
type tally struct {
	all, kept, other map[string]int

	hint string // of a script's runs: what asks for them nevertheless
}

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
		return fmt.Sprintf("the terminal phase (train accuracy ≥ 99.9 %% on observed labels) was not reached in %d of %s", short, format.Count(len(t.all), "configuration")) + t.hint
	}
	return ""
}
