package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge/inference"
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
// did not reach the terminal phase. So does one without a run in the configuration of M-D Fig. 4 that the statement selects. Where no
// script reports how far it fits its labels, nobody knows, and no run is left out for it.
func (s Statement) eligible(done []*JudgedRun) (e eligible) {
	t := tally{all: map[string]int{}, kept: map[string]int{}, other: map[string]int{}, one: map[string]*JudgedRun{}}
	if s.Source == Ours {
		t.remedy = "; in the claim, early = true judges unfitted runs, too, and where = { … } leaves configurations out"
	}
	done, trials := withSeeds(done)
	if trials > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%s without a seed left out: trials of a search, which find the settings of the others", format.Count(trials, "run")))
	}
	unknown := !s.Early && nobodyReports(done)
	if unknown {
		e.notes = append(e.notes, "no run reports train/accuracy, so none is left out as unfitted")
	}
	for _, one := range done {
		if !one.Matches(s.Where) {
			continue
		}
		if one.Kind == store.Script {
			t.unreported = ", or train/accuracy was not reported"
		}
		e.all = append(e.all, one)
		t.one[one.Cell] = one
		switch {
		case !one.In(s.Runs):
			t.other[one.Cell]++
		case !s.Early && !unknown && !one.Terminal && !one.Predicted:
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
	if keys := s.averaged(e.kept); len(keys) > 0 {
		e.notes = append(e.notes, averagedOver+format.List(keys)+`; with cells = ["`+strings.Join(keys, `", "`)+`"] each would be judged`)
	}
	e.blocked = cmp.Or(s.nowhere(e.all, done), t.blocked(s.Runs), sameRuns(e.kept))
	return e
}

// nowhere says that finished runs there are, and where selects none; "" if it selects some.
func (s Statement) nowhere(selected, done []*JudgedRun) string {
	if len(selected) > 0 || len(done) == 0 {
		return ""
	}
	where := []selection{s.Where}
	return "no finished run has " + settingsText(where) + sample{runs: done}.nearValue(where)
}

// withSeeds are the runs with a seed, if a script has any, and how many others there are.
func withSeeds(runs []*JudgedRun) (seeded []*JudgedRun, others int) {
	without := func(r *JudgedRun) bool { return r.Kind == store.Script && r.Settings["run.seed"] == "" }
	seeded = slices.DeleteFunc(slices.Clone(runs), without)
	if len(seeded) == 0 {
		return runs, 0
	}
	return seeded, len(runs) - len(seeded)
}

// averagedOver begins the note on what a script's claim averages over.
const averagedOver = "each seed gives a mean over "

// Averaged is the note on what a script's claim averages over; "" if it is over nothing but seeds.
func (c Claim) Averaged() string {
	for _, note := range c.Statistics {
		if c.Effect != nil && strings.HasPrefix(note, averagedOver) {
			return note
		}
	}
	return ""
}

// selected are the settings that expressions select.
var selected = regexp.MustCompile(`"([^"]+)"\s*:`)

// sloped finds what a slope is of, which is no mean over it.
var sloped = regexp.MustCompile(`slope\(\s*"([^"]+)"\s*,\s*"([^"]+)"`)

// averaged are the settings that runs of scripts vary and that the statement neither selects nor has cells for, seeds apart: each value that it
// compares is a mean over them. What the program trains is averaged by the recipe that says so.
func (s Statement) averaged(runs []*JudgedRun) []string {
	if len(runs) == 0 || slices.ContainsFunc(runs, func(r *JudgedRun) bool { return r.Kind != store.Script }) {
		return nil
	}
	said := slices.Clone(s.Cells)
	for _, m := range selected.FindAllStringSubmatch(s.Left+s.Right, -1) {
		said = append(said, m[1])
	}
	for _, m := range sloped.FindAllStringSubmatch(s.Left+s.Right, -1) {
		said = append(said, m[1], m[2])
	}
	varied := map[string]bool{}
	first := map[string]*JudgedRun{} // of the runs that are alike in what is said, and in their seed
	for _, r := range runs {
		alike := r.Settings["run.seed"]
		for _, key := range said {
			alike += "\x00" + r.Settings[key]
		}
		if first[alike] == nil {
			first[alike] = r
		}
		for key, v := range r.Settings {
			if v != first[alike].Settings[key] && !slices.Contains(said, key) && !strings.HasPrefix(key, "trainer.") && !strings.HasPrefix(key, "run.") && key != s.X && key != s.Y {
				varied[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(varied))
}

// nobodyReports says that the runs are a script's, none of which reports its accuracy on the labels that it trains on.
func nobodyReports(runs []*JudgedRun) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r *JudgedRun) bool { return r.Kind != store.Script || !math.IsNaN(r.TrainAccuracy) })
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
	reported, telling := r.reported()
	return print + reported, telling
}

// reported is all that a run of a script has reported, and whether that is more than a few shares that are 0 or 1.
func (r *Run) reported() (print string, telling bool) {
	values := map[float64]bool{0: true, 1: true}
	for _, k := range r.OwnKeys() {
		for _, p := range r.Rows(k.Split, k.Layer, k.Measure) {
			print += fmt.Sprintf(" %x", p.Value)
			values[p.Value] = true
		}
	}
	return print, len(values) >= 2+3
}

// mostNamed is how many configurations a reason names.
const mostNamed = 3

// tally counts the runs of each configuration: selected, kept, and in the other configuration of M-D Fig.
// 4.
type tally struct {
	all, kept, other map[string]int
	one              map[string]*JudgedRun // a run of each configuration
	unreported       string                // of a script's runs: why else they seem unfitted
	remedy           string                // what to write into a claim of one's own
}

func sum(counts map[string]int) (n int) {
	for _, v := range counts {
		n += v
	}
	return n
}

// blocked says why these runs allow no verdict; "" if they allow one.
func (t tally) blocked(wanted string) string {
	var short []string
	none := 0
	for cell, n := range t.all {
		if t.kept[cell]*2 < n {
			short = append(short, cell)
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
	case len(short) > 0:
		return fmt.Sprintf("the terminal phase (train accuracy ≥ 99.9 %% on observed labels) was not reached in %d of %s%s%s",
			len(short), format.Count(len(t.all), "configuration"), t.named(short), t.unreported) + t.fewSeeds() + t.remedy
	}
	return ""
}

// fewSeeds says that there are too few seeds for a verdict besides; "" if there are enough.
func (t tally) fewSeeds() string {
	most := slices.Max(slices.Collect(maps.Values(t.all)))
	if most >= inference.Enough {
		return ""
	}
	return fmt.Sprintf("; a verdict needs %d seeds besides, and there are at most %d", inference.Enough, most)
}

// named are configurations by the settings that tell all of them apart, in brackets; "" if nothing does.
func (t tally) named(cells []string) string {
	var rows []map[string]string
	keys := map[string]bool{}
	for _, one := range t.one {
		rows = append(rows, one.Settings)
		for k := range one.Settings {
			keys[k] = !slices.Contains(seedKeys, k) && !strings.HasSuffix(k, "_digest")
		}
	}
	maps.DeleteFunc(keys, func(_ string, kept bool) bool { return !kept })
	telling := Telling(rows, nil, slices.Sorted(maps.Keys(keys)))
	if len(telling) == 0 {
		return ""
	}
	names := make([]string, len(cells))
	for i, cell := range cells {
		for _, k := range telling {
			if v, ok := t.one[cell].Settings[k]; ok {
				names[i] += k + " = " + ShortValue(v) + ", "
			}
		}
		names[i] = strings.TrimSuffix(names[i], ", ")
	}
	slices.Sort(names)
	if more := len(names) - mostNamed; more > 0 {
		names = append(names[:mostNamed], fmt.Sprintf("%d more", more))
	}
	return " (" + strings.Join(names, "; ") + ")"
}
