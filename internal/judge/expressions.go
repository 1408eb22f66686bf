package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// splits are those that train measures (train/evaluate.go). The validation split, held out by data.validation, has only heldValues.
var splits = []string{"train", "clean", "test", heldSplit}

const heldSplit = "validation"

var heldValues = []string{"loss", measure.KeyAccuracy}

// sample is the runs of one seed on which an expression is evaluated.
type sample struct {
	runs []*JudgedRun
	at   selection // the cell: settings of all runs, unless an expression selects others
	all  *everySeed
}

// everySeed are the runs of all seeds in a cell, including what was left out.
type everySeed struct {
	runs   []*JudgedRun
	counts map[string]int // configurations, by selection
}

func ofEverySeed(runs []*JudgedRun) *everySeed { return &everySeed{runs, map[string]int{}} }

// configurations counts those that a selection has among all seeds: once, as each seed asks.
func (t sample) configurations(where []selection) int {
	key := settingsText(where)
	n, known := t.all.counts[key]
	if !known {
		n = configurations(only(t.all.runs, t.selects(where)))
		t.all.counts[key] = n
	}
	return n
}

type selection = map[string]any

// functions are those that an expression can call.
func (t sample) functions() map[string]any {
	return map[string]any{
		"final": func(name string, where ...selection) (float64, error) { return t.mean(name, 1, where) },
		"start": func(name string, where ...selection) (float64, error) { return t.mean(name, atStart, where) },
		"at": func(name string, fraction float64, where ...selection) (float64, error) {
			return t.mean(name, fraction, where)
		},
		"slope":        t.slope,
		"margin_share": t.marginShare,
		"exp":          math.Exp,
		"log":          math.Log,
		"sqrt":         math.Sqrt,
	}
}

// atStart stands for epoch 0, which must have been measured, in place of a fraction of the run.
const atStart = -1

// mean is the mean over the selected runs of a value at a fraction of the run. It does not exist if other seeds have more
// configurations than this one (because a run is degenerate, failed or early): a mean over fewer noise levels is another quantity.
func (t sample) mean(name string, fraction float64, where []selection) (float64, error) {
	runs, err := t.pick(where)
	if err != nil {
		return 0, err
	}
	if here, all := configurations(runs), t.configurations(where); here < all {
		return 0, fmt.Errorf("only %d of %s may be judged", here, format.Count(all, "configuration"))
	}
	return meanOf(runs, name, fraction)
}

// configurations counts the configurations that differ by more than the seed.
func configurations(runs []*JudgedRun) int {
	seen := map[string]bool{}
	for _, r := range runs {
		seen[r.Cell] = true
	}
	return len(seen)
}

func meanOf(runs []*JudgedRun, name string, fraction float64) (float64, error) {
	sum := 0.0
	for _, r := range runs {
		v, err := r.Value(name, fraction)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum / float64(len(runs)), nil
}

// Value is a setting of a run as a number, or what it measured at a fraction of its epochs.
func (r *JudgedRun) Value(name string, fraction float64) (float64, error) {
	if text, ok := r.Settings[name]; ok {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("%s is %q, not a number", name, text)
		}
		return v, nil
	}
	if split, _, key := SplitName(name); split == derivedSplit {
		return r.derived(key, fraction)
	}
	points := r.Named(name)
	if len(points) == 0 {
		return 0, fmt.Errorf("run %.12s has no %s%s", r.Hash, name, spelling.Suggestion(name, r.ownNames()))
	}
	if fraction == atStart && points[0].Step > 0 {
		if r.Kind == store.Script {
			return 0, fmt.Errorf("run %.12s was not measured at epoch 0: a script's epochs begin with 1", r.Hash)
		}
		return 0, fmt.Errorf("run %.12s was not measured at epoch 0 (run.measure_start)", r.Hash)
	}
	wanted := math.Max(fraction, 0) * float64(r.LastStep())
	best := points[0]
	for _, p := range points[1:] {
		if math.Abs(float64(p.Step)-wanted) <= math.Abs(float64(best.Step)-wanted) {
			best = p
		}
	}
	if last := float64(r.LastStep()); fraction > 0 && math.Abs(float64(best.Step)-wanted) > max(last/8, 0.5) {
		return 0, fmt.Errorf("run %.12s was not measured near epoch %.0f; the nearest is %d", r.Hash, wanted, best.Step)
	}
	if best.Missing != "" {
		return 0, fmt.Errorf("%s of run %.12s is missing: %s", name, r.Hash, best.Missing)
	}
	return best.Value, nil
}

// SplitName splits "split.measure" or "split@layer.measure", a layer's name may contain dots and slashes; or "split/measure", as scripts
// report it, such as val/map@0.5.
func SplitName(name string) (split, layer, key string) {
	if split, key, reported := strings.Cut(name, "/"); reported && !strings.Contains(split, "@") {
		return split, "", key
	}
	where, key := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		where, key = name[:i], name[i+1:]
	}
	split, layer, _ = strings.Cut(where, "@")
	return split, layer, key
}

// pick returns the runs with the selected settings; none is an error.
func (t sample) pick(where []selection) ([]*JudgedRun, error) {
	out := only(t.runs, t.selects(where))
	if len(out) == 0 {
		return nil, fmt.Errorf("no finished run has %s%s", settingsText(append([]selection{t.at}, where...)), t.nearValue(where))
	}
	return out, nil
}

// nearValue asks whether another value of a selected setting was meant.
func (t sample) nearValue(where []selection) string {
	for _, s := range where {
		for _, key := range slices.Sorted(maps.Keys(s)) {
			value, text := s[key].(string)
			if near := spelling.Nearest(value, valuesOf(t.runs, key)); text && near != "" && near != value {
				return "; did you mean " + near + "?"
			}
		}
	}
	return ""
}

// valuesOf are the values that runs have of a setting.
func valuesOf(runs []*JudgedRun, key string) (values []string) {
	for _, r := range runs {
		if v, has := r.Settings[key]; has && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

// selects accepts the runs with the given settings, and with the cell's settings for all other keys.
func (t sample) selects(where []selection) func(*JudgedRun) bool {
	at := maps.Clone(t.at)
	for _, s := range where {
		maps.DeleteFunc(at, func(key string, _ any) bool { _, other := s[key]; return other })
	}
	wanted := settingsOf(append(where, at))
	return func(r *JudgedRun) bool { return r.has(wanted) }
}

// setting is a line of a selection.
type setting struct {
	key   string
	value any
}

func settingsOf(where []selection) (out []setting) {
	for _, s := range where {
		for key, value := range s {
			out = append(out, setting{key, value})
		}
	}
	return out
}

func (r *JudgedRun) has(wanted []setting) bool {
	return !slices.ContainsFunc(wanted, func(w setting) bool { return !sameSetting(r.Settings[w.key], w.value) })
}

// settingsText writes selections as "data.name = mnist, loss.kind = ce".
func settingsText(where []selection) string {
	var out []string
	for _, s := range where {
		for _, key := range slices.Sorted(maps.Keys(s)) {
			out = append(out, key+" = "+format.Setting(s[key]))
		}
	}
	return strings.Join(out, ", ")
}

// Matches reports whether a run has all selected settings.
func (r *JudgedRun) Matches(where ...selection) bool { return r.has(settingsOf(where)) }

func sameSetting(have string, want any) bool {
	switch w := want.(type) {
	case string:
		return have == w
	case int:
		return sameSetting(have, float64(w))
	case float64:
		v, err := strconv.ParseFloat(have, 64)
		return err == nil && v == w
	case []any: // the list itself, as text in a configuration of ours, or one of several values
		if have == format.Setting(w) || have == joined(w) {
			return true
		}
		return slices.ContainsFunc(w, func(one any) bool { return sameSetting(have, one) })
	}
	return have == fmt.Sprint(want)
}

// joined is a list as the program's own settings have it: 60,120.
func joined(list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ",")
}

// points are x and y of the selected runs. A script's have to be all that other seeds have: what else it varies would be another mix. A line
// over noise levels does without those that have not fitted their labels.
func (t sample) points(x, y string, where []selection) (xs, ys []float64, err error) {
	runs, err := t.pick(where)
	if err != nil {
		return nil, nil, err
	}
	if here, all := configurations(runs), t.configurations(where); here < all && runs[0].Kind == store.Script {
		return nil, nil, fmt.Errorf("only %d of %s may be judged", here, format.Count(all, "configuration"))
	}
	for _, r := range runs {
		vx, err := r.Value(x, 1)
		if err != nil {
			return nil, nil, err
		}
		vy, err := r.Value(y, 1)
		if err != nil {
			return nil, nil, err
		}
		xs, ys = append(xs, vx), append(ys, vy)
	}
	return xs, ys, nil
}

// slope is the slope of the least-squares line through the selected runs, which must have at least three values of x: with two,
// noise alone can give any slope.
func (t sample) slope(x, y string, where ...selection) (float64, error) {
	xs, ys, err := t.points(x, y, where)
	if err != nil {
		return 0, err
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(xs)))); n < 3 {
		return 0, fmt.Errorf("a slope needs runs at three values of %s; there are %d", x, n)
	}
	_, slope := stat.LinearRegression(xs, ys, nil, false)
	return slope, nil
}

// Configuration names the run's configuration without the seeds.
func (r *Run) Configuration() string {
	return r.settingsWithout(func(key string) bool { return slices.Contains(seedKeys, key) })
}

// seedKeys are the settings that may differ between runs of one configuration.
var seedKeys = []string{"run.seed", "data.noise_seed"}
