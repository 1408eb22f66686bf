package cli

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// chooses reports whether anything but the newest runs of the lab is asked for.
func (c runsListCmd) chooses() bool { return len(c.Where) > 0 || c.Sort != "" || c.Reverse }

// choose keeps the runs whose settings are as --where wants them, and orders them as --sort says; those without a value come last.
func (c runsListCmd) choose(r *store.Reader, runs []store.Run) ([]store.Run, error) {
	if !c.chooses() {
		return runs, nil
	}
	settings, _, err := study.Settings(runs)
	if err != nil {
		return nil, err
	}
	texts := map[string]map[string]string{} // of each run, by its hash
	for i, run := range runs {
		own := map[string]string{}
		for key, v := range settings[i] {
			own[key] = study.SettingText(v)
		}
		texts[run.Hash] = own
	}
	for _, wanted := range c.Where {
		key, value, given := strings.Cut(wanted, "=")
		if !given {
			return nil, usagef("--where is %q; wanted KEY=VALUE, such as lr=0.1", wanted)
		}
		if known := keysOfSettings(texts); len(runs) > 0 && !slices.Contains(known, key) {
			return nil, usagef("--where: no run has a setting %s%s", key, spelling.Suggestion(key, known))
		}
		runs = slices.DeleteFunc(runs, func(run store.Run) bool {
			text, has := texts[run.Hash][key]
			return !has || figure.CompareSettings("", text, value) != 0
		})
	}
	return runs, c.order(r, runs, texts)
}

func keysOfSettings(texts map[string]map[string]string) (known []string) {
	for _, own := range texts {
		for key := range own {
			if !slices.Contains(known, key) {
				known = append(known, key)
			}
		}
	}
	slices.Sort(known)
	return known
}

// order sorts runs by a setting, or by a value at their last epoch.
func (c runsListCmd) order(r *store.Reader, runs []store.Run, texts map[string]map[string]string) error {
	name := c.Sort
	switch {
	case len(runs) == 0:
		return nil
	case name == "" && c.Reverse:
		slices.Reverse(runs)
		return nil
	case name == "":
		return nil
	}
	compare := func(a, b store.Run) int {
		return figure.CompareSettings(name, texts[a.Hash][name], texts[b.Hash][name])
	}
	has := func(run store.Run) bool { return texts[run.Hash][name] != "" }
	known := keysOfSettings(texts)
	if !slices.Contains(known, name) {
		values, err := valuesAtEnd(r, runs, name)
		if err != nil {
			return err
		}
		if len(values) == 0 {
			keys, err := r.Keys(runs[0].Hash)
			if err != nil {
				return err
			}
			for _, k := range keys {
				if k.Series == "epoch" && k.Layer == "" {
					known = append(known, strings.TrimPrefix(k.Split+"/"+k.Measure, "/"))
				}
			}
			return usagef("--sort: no run here has a setting or a value %s%s; values are named as in test/accuracy", name, spelling.Suggestion(name, known))
		}
		compare = func(a, b store.Run) int { return cmp.Compare(values[a.Hash], values[b.Hash]) }
		has = func(run store.Run) bool { _, ok := values[run.Hash]; return ok }
	}
	way := 1
	if c.Reverse {
		way = -1
	}
	slices.SortStableFunc(runs, func(a, b store.Run) int {
		if has(a) != has(b) {
			return map[bool]int{true: -1, false: 1}[has(a)]
		}
		return way * compare(a, b)
	})
	return nil
}

// valuesAtEnd are the values of split/measure, or of a name without a split, at the last epoch of those of the runs that have one.
func valuesAtEnd(r *store.Reader, runs []store.Run, name string) (map[string]float64, error) {
	split, _, key := judge.SplitName(name)
	hashes := make([]string, len(runs))
	for i, run := range runs {
		hashes[i] = run.Hash
	}
	newest, err := r.NewestEach(hashes, []string{key})
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for i, of := range newest {
		for _, v := range of {
			if v.Split == split && v.Missing == "" && !math.IsNaN(v.Value) {
				values[hashes[i]] = v.Value
			}
		}
	}
	return values, nil
}
