package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unique"

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
// nothing to the seed. Equal texts share their memory: the runs of a study have few.
func (r *Run) settingsWithout(some func(key string) bool) string {
	bySeed := r.Settings["data.subset"] == "seed"
	keys, size := make([]string, 0, len(r.Settings)), 0
	for k, v := range r.Settings {
		if !some(k) && !(bySeed && (k == "data.train_digest" || k == "data.validation_digest")) {
			keys, size = append(keys, k), size+len(k)+len(v)+2
		}
	}
	slices.Sort(keys)
	text := make([]byte, 0, size)
	for _, k := range keys {
		text = append(text, k...)
		text = append(text, '=')
		text = append(text, r.Settings[k]...)
		text = append(text, '\n')
	}
	return unique.Make(string(text)).Value()
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
		signature := r.signature()
		g := bySignature[signature]
		if g == nil {
			g = &Experiment{Settings: r.Settings}
			bySignature[signature] = g
			out = append(out, g)
		}
		g.Runs = append(g.Runs, JudgeRun(r))
	}
	slices.SortStableFunc(out, func(a, b *Experiment) int { return cmp.Compare(len(b.Runs), len(a.Runs)) })
	told := distinctive(out)
	for i, g := range out {
		g.arrange()
		g.Title = g.describe(told)
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

// describe names the data and the given settings, which distinguish this experiment from the others.
func (g *Experiment) describe(told []string) string {
	words := []string{}
	if name := g.Settings["data.name"]; name != "" {
		words = append(words, fmt.Sprintf("%s, %s classes", name, g.Settings["data.classes"]))
	}
	for _, k := range told {
		if v, ok := g.Settings[k]; ok {
			words = append(words, ShortKey(k)+" "+ShortValue(v))
		}
	}
	if len(words) == 0 {
		return "All runs"
	}
	return strings.Join(words, ", ")
}

// distinctive are the settings that tell experiments apart, besides data and classes.
func distinctive(all []*Experiment) []string {
	rows, known := make([]map[string]string, len(all)), map[string]bool{}
	for i, g := range all {
		rows[i] = g.Settings
		for k := range g.Settings {
			known[k] = !varies(k) && !slices.Contains(inTitle, k) && !strings.HasSuffix(k, "_digest")
		}
	}
	maps.DeleteFunc(known, func(_ string, told bool) bool { return !told })
	return Telling(rows, inTitle, slices.Sorted(maps.Keys(known)))
}

// inTitle are the settings that every title has.
var inTitle = []string{"data.name", "data.classes"}

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

// Noisy reports whether a run of the experiment has label noise: pages about others name no noise level and no memorization.
func (g *Experiment) Noisy() bool {
	return slices.ContainsFunc(g.Runs, func(s *JudgedRun) bool { return s.Noise > 0 })
}

func (g *Experiment) Count(keep func(*JudgedRun) bool) int { return len(g.Pick(keep)) }
