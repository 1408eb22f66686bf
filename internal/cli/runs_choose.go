package cli

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// chooses reports whether anything but the newest runs of the lab is asked for.
func (c runsListCmd) chooses() bool { return len(c.Where) > 0 || c.Sort != "" || c.Reverse }

// choose keeps the runs whose settings are as --where wants them, and orders them as --sort says; those without a value come last.
// values are those at the end by which they are ordered, by hash; nil if it is a setting, or nothing.
func (c runsListCmd) choose(r *store.Reader, runs []store.Run) (_ []store.Run, values map[string]float64, err error) {
	if !c.chooses() {
		return runs, nil, nil
	}
	settings, _, err := study.Settings(runs)
	if err != nil {
		return nil, nil, err
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
			return nil, nil, usagef("--where is %q; wanted KEY=VALUE, such as lr=0.1", wanted)
		}
		if key, err = settingMeant(key, texts); err != nil {
			return nil, nil, err
		}
		runs = slices.DeleteFunc(runs, func(run store.Run) bool {
			text, has := texts[run.Hash][key]
			return !has || figure.CompareSettings("", text, value) != 0 && !shownAs(key, text, value)
		})
	}
	values, err = c.order(r, runs, texts)
	return runs, values, err
}

// shownAs reports whether a list or a page shows the text of a setting so.
func shownAs(key, text, value string) bool {
	x, err := strconv.ParseFloat(text, 64)
	return "["+text+"]" == value || strings.HasSuffix(study.InWords([]string{key + "=" + text})[0], " "+value) || err == nil && format.Digits(x) == value
}

// settingMeant is the setting of that name, or the one whose name ends in it, as lists call it: seed is run.seed.
func settingMeant(key string, texts map[string]map[string]string) (string, error) {
	known := keysOfSettings(texts)
	ending := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasSuffix(k, "."+key) || strings.HasPrefix(k, "trainer.") })
	switch {
	case len(texts) == 0 || slices.Contains(known, key):
		return key, nil
	case len(ending) == 1:
		return ending[0], nil
	case len(ending) > 1:
		return "", usagef("--where %s: that is %s", key, strings.Join(ending, " or "))
	}
	return "", usagef("--where: no run has a setting %s%s", key, spelling.Suggestion(key, known))
}

func keysOfSettings(texts map[string]map[string]string) []string {
	known := map[string]bool{}
	for _, own := range texts {
		for key := range own {
			known[key] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// order sorts runs by a setting, or by a value at their last epoch.
func (c runsListCmd) order(r *store.Reader, runs []store.Run, texts map[string]map[string]string) (values map[string]float64, err error) {
	name := c.Sort
	switch {
	case len(runs) == 0:
		return nil, nil
	case name == "" && c.Reverse:
		slices.Reverse(runs)
		return nil, nil
	case name == "":
		return nil, nil
	}
	compare := func(a, b store.Run) int {
		return figure.CompareSettings(name, texts[a.Hash][name], texts[b.Hash][name])
	}
	has := func(run store.Run) bool { return texts[run.Hash][name] != "" }
	known := keysOfSettings(texts)
	if !slices.Contains(known, name) {
		if values, err = valuesAtEnd(r, runs, name); err != nil {
			return nil, err
		}
		if len(values) == 0 {
			keys, err := r.Keys(runs[0].Hash)
			if err != nil {
				return nil, err
			}
			for _, k := range keys {
				if k.Series == "epoch" && k.Layer == "" {
					known = append(known, strings.TrimPrefix(k.Split+"/"+k.Measure, "/"))
				}
			}
			return nil, usagef("--sort: no run here has a setting or a value %s%s; values are named as in test/accuracy", name, spelling.Suggestion(name, known))
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
	return values, nil
}

// valuesAtEnd are the values of split/measure, or of a name without a split, at the last epoch of those of the runs that have one.
func valuesAtEnd(r *store.Reader, runs []store.Run, name string) (map[string]float64, error) {
	split, _, key := judge.SplitName(name)
	hashes := make([]string, len(runs))
	for i, run := range runs {
		hashes[i] = run.Hash
	}
	newest, err := r.NewestEach(hashes, []string{key, name})
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for i, of := range newest {
		for _, v := range of {
			reported := v.Split == "" && v.Measure == name // by a script, perhaps with dots
			if _, found := values[hashes[i]]; (reported || !found && v.Split == split && v.Measure == key) && v.Missing == "" && !math.IsNaN(v.Value) {
				values[hashes[i]] = v.Value
			}
		}
	}
	return values, nil
}
