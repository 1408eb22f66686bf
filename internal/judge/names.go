package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
)

// Names distinguishes runs in a few words: by their differing settings, or by hash if none differ.
func Names(runs []Run) []string {
	differ := Differences(runs)
	out := make([]string, len(runs))
	used := map[string]int{}
	for i := range runs {
		words := []string{runs[i].CurveName()}
		if runs[i].Kind == store.Script {
			words = runs[i].scriptInWords(len(runs) == 1)
		}
		if len(runs) == 1 && runs[i].Loss != "" {
			if runs[i].Noise > 0 {
				words = append(words, "η "+format.Decimal(runs[i].Noise))
			}
			words = append(words, "seed "+strconv.FormatUint(runs[i].Seed, 10))
		}
		for _, d := range differ {
			if d.Values[i] == missing || d.Key == "loss.kind" || d.Key == "data.noise_seed" || strings.HasSuffix(d.Key, "_digest") || strings.HasPrefix(d.Key, "trainer.code.") {
				continue
			}
			words = append(words, ShortKey(d.Key)+" "+ShortValue(d.Values[i]))
		}
		out[i] = strings.Join(words, ", ")
		used[out[i]]++
	}
	for i, name := range out {
		if used[name] > 1 {
			out[i] += fmt.Sprintf(" (%.8s)", runs[i].Hash)
		}
	}
	return out
}

// scriptInWords is the file of a script and, of a run alone, all its settings.
func (r *Run) scriptInWords(alone bool) []string {
	var config struct{ Trainer struct{ Command []any } }
	_ = json.Unmarshal(r.Config, &config) // without a command it is called a script
	words := []string{script.Named(config.Trainer.Command)}
	if alone {
		words = append(words, r.settingsInWords()...)
	}
	return words
}

// ShortKey is the part of a key that is shown to people.
func ShortKey(key string) string {
	if key == "data.noise" {
		return "η"
	}
	key = strings.TrimSuffix(key, ".kind") // a kind of what stands before it
	return strings.ReplaceAll(key[strings.LastIndexByte(key, '.')+1:], "_", " ")
}

// Telling are those of the keys that tell rows apart, as few as needed beside those that are always told: of settings that change
// together one is enough. Settings of settings, such as optim.schedule.period, are the first to go, then the later ones.
func Telling(rows []map[string]string, always, keys []string) []string {
	apart := func(keys []string) int {
		seen := map[string]bool{}
		for _, row := range rows {
			var text strings.Builder
			for _, k := range slices.Concat(always, keys) {
				v, ok := row[k]
				text.WriteString(v + "\x00" + strconv.FormatBool(ok) + "\x00")
			}
			seen[text.String()] = true
		}
		return len(seen)
	}
	order := slices.Clone(keys)
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(strings.Count(b, "."), strings.Count(a, ".")) })
	wanted, kept := apart(keys), slices.Clone(keys)
	for _, k := range order {
		if fewer := slices.DeleteFunc(slices.Clone(kept), func(o string) bool { return o == k }); apart(fewer) == wanted {
			kept = fewer
		}
	}
	return kept
}

// ShortValue rounds a number that a search has drawn, all 17 digits of it.
func ShortValue(value string) string {
	if x, err := strconv.ParseFloat(value, 64); err == nil && len(value) > 8 {
		return format.Short(x, 4)
	}
	return value
}

// Difference is a setting in which some runs differ.
type Difference struct {
	Key    string
	Values []string // by run; missing if a run has no such setting
}

// missing stands for a setting that a run does not have.
const missing = "–"

// Differences lists the settings in which runs differ, by key.
func Differences(runs []Run) []Difference {
	differ := map[string]bool{}
	for i := range runs {
		shared := 0
		for k, v := range runs[i].Settings {
			first, has := runs[0].Settings[k]
			if has {
				shared++
			}
			if first != v || !has {
				differ[k] = true
			}
		}
		if shared < len(runs[0].Settings) {
			for k := range runs[0].Settings {
				if _, has := runs[i].Settings[k]; !has {
					differ[k] = true
				}
			}
		}
	}
	var out []Difference
	for _, k := range slices.Sorted(maps.Keys(differ)) {
		d := Difference{Key: k, Values: make([]string, len(runs))}
		for i := range runs {
			v, has := runs[i].Settings[k]
			if !has {
				v = missing
			}
			d.Values[i] = v
		}
		out = append(out, d)
	}
	return out
}

// SettingKeys lists a run's settings, sorted.
func SettingKeys(r Run) []string { return slices.Sorted(maps.Keys(r.Settings)) }

// Epochs is the planned number of epochs of a training run; 0 for other kinds.
func (r *Run) Epochs() int64 {
	n, err := strconv.ParseInt(r.Settings["run.epochs"], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
