package judge

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/store"
)

// Experiment is the runs that share every setting except loss, noise and seed.
type Experiment struct {
	Title    string
	Suffix   string // of figure IDs; "" for the first one
	Settings map[string]string
	Runs     []*JudgedRun
	Curves   []string  // in the order of the losses
	Noises   []float64 // ascending
}

// varies says which settings may differ within an experiment.
func varies(key string) bool {
	return strings.HasPrefix(key, "loss.") || key == "data.noise" || key == "run.seed" || key == "data.noise_seed"
}

// signature is equal for runs of one experiment.
func (r *Run) signature() string {
	return "kind=" + string(r.Kind) + "\n" + r.settingsWithout(varies)
}

// settingsWithout writes all but some settings of a run in one text. It leaves out digests of samples drawn by run.seed, which add
// nothing to the seed.
func (r *Run) settingsWithout(some func(key string) bool) string {
	bySeed := r.Settings["data.subset"] == "seed"
	var b strings.Builder
	for _, k := range SettingKeys(*r) {
		if bySeed && (k == "data.train_digest" || k == "data.validation_digest") {
			continue
		}
		if !some(k) {
			fmt.Fprintf(&b, "%s=%s\n", k, r.Settings[k])
		}
	}
	return b.String()
}

// Experiments sorts finished runs into experiments, the largest first, and returns the others as unfinished.
func Experiments(runs []Run) (out []*Experiment, unfinished []*Run) {
	bySignature := map[string]*Experiment{}
	for i := range runs {
		r := &runs[i]
		if r.Status != store.Done {
			unfinished = append(unfinished, r)
			continue
		}
		g := bySignature[r.signature()]
		if g == nil {
			g = &Experiment{Settings: r.Settings}
			bySignature[r.signature()] = g
			out = append(out, g)
		}
		g.Runs = append(g.Runs, JudgeRun(r))
	}
	slices.SortStableFunc(out, func(a, b *Experiment) int { return cmp.Compare(len(b.Runs), len(a.Runs)) })
	for i, g := range out {
		g.arrange()
		g.Title = g.describe(out)
		if i > 0 {
			g.Suffix = "-" + strconv.Itoa(i+1)
		}
	}
	return out, unfinished
}

// arrange orders the runs and lists curves and noise levels.
func (g *Experiment) arrange() {
	slices.SortStableFunc(g.Runs, func(a, b *JudgedRun) int {
		return cmp.Or(cmp.Compare(LossRank(a.Loss), LossRank(b.Loss)), cmp.Compare(a.Curve, b.Curve), cmp.Compare(a.Noise, b.Noise),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Hash, b.Hash))
	})
	for _, s := range g.Runs {
		if !slices.Contains(g.Curves, s.Curve) {
			g.Curves = append(g.Curves, s.Curve)
		}
		if !slices.Contains(g.Noises, s.Noise) {
			g.Noises = append(g.Noises, s.Noise)
		}
	}
	slices.Sort(g.Noises)
}

// describe names the data and whatever else distinguishes this experiment from the others.
func (g *Experiment) describe(all []*Experiment) string {
	words := []string{}
	if name := g.Settings["data.name"]; name != "" {
		words = append(words, fmt.Sprintf("%s, %s classes", name, g.Settings["data.classes"]))
	}
	var differ []string
	for k, v := range g.Settings {
		if varies(k) || k == "data.name" || k == "data.classes" || strings.HasSuffix(k, "_digest") {
			continue
		}
		if slices.ContainsFunc(all, func(o *Experiment) bool { return o.Settings[k] != v }) {
			differ = append(differ, k+" = "+v)
		}
	}
	sort.Strings(differ)
	words = append(words, differ...)
	if len(words) == 0 {
		return "All runs"
	}
	return strings.Join(words, ", ")
}

// Pick returns the runs that keep accepts.
func (g *Experiment) Pick(keep func(*JudgedRun) bool) []*JudgedRun { return only(g.Runs, keep) }

// only returns the runs that keep accepts; nil if there are none.
func only(runs []*JudgedRun, keep func(*JudgedRun) bool) (out []*JudgedRun) {
	for _, s := range runs {
		if keep(s) {
			out = append(out, s)
		}
	}
	return out
}

func (g *Experiment) Count(keep func(*JudgedRun) bool) int { return len(g.Pick(keep)) }
