package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
)

// WithoutEffect says which settings of scripts, and whether the seed, changed nothing: wherever runs differ in one of them alone, they
// reported the same, to the last bit. Nothing is said of runs that report too little to tell, and of a setting with only some of whose values runs
// failed.
func WithoutEffect(runs []Run) (sentences []string) {
	var keys []string
	for _, r := range runs {
		if r.Kind == store.Script {
			for k := range r.Settings {
				if !strings.HasPrefix(k, "trainer.") && k != "run.epochs" && k != "run.horizon" && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
	}
	slices.Sort(keys)
	prints := make([]string, len(runs))
	for i := range runs {
		print, telling := runs[i].reported()
		if prints[i] = print; !telling {
			prints[i] = "" // equal to nothing
		}
	}
	for _, key := range keys {
		switch same := idle(runs, prints, key); {
		case same == 0 || !slices.Contains(seedKeys, key) && partsFailures(runs, key):
		case slices.Contains(seedKeys, key):
			sentences = append(sentences, fmt.Sprintf("the seed changes nothing: in %s, seeds gave the same run, to the last bit; they are no replicates", format.Count(same, "comparison")))
		default:
			sentences = append(sentences, fmt.Sprintf("%s changes nothing: in %s, runs that differ in it alone reported the same, to the last bit; does the script ask for it by this name?", ShortKey(key), format.Count(same, "comparison")))
		}
	}
	return sentences
}

// partsFailures reports whether runs failed with some values of a setting, and with others not.
func partsFailures(runs []Run, key string) bool {
	values, failed := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		values[r.Settings[key]] = true
		if r.Status == store.Failed {
			failed[r.Settings[key]] = true
		}
	}
	return len(failed) > 0 && len(failed) < len(values)
}

// idle counts groups of runs that differ in a setting alone and reported the same; 0 if others that do did not.
func idle(runs []Run, prints []string, key string) (same int) {
	groups := map[string]map[string]string{} // by the other settings: what was reported by value of the setting
	for i, r := range runs {
		if r.Status == store.Failed {
			continue
		}
		rest := maps.Clone(r.Settings)
		delete(rest, key)
		where := fmt.Sprint(rest) // sorted by key
		if groups[where] == nil {
			groups[where] = map[string]string{}
		}
		groups[where][r.Settings[key]] = prints[i]
	}
	for _, group := range groups {
		if len(group) < 2 {
			continue
		}
		first := ""
		for _, print := range group {
			if first == "" {
				first = print
			}
			if print == "" || print != first {
				return 0
			}
		}
		same++
	}
	return same
}
