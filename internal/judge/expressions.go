package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse/internal/format"
	"collapse/measure"
)

// splits are what train measures (train/evaluate.go). Of the validation split, what data.validation holds out, there are heldValues alone.
var splits = []string{"train", "clean", "test", heldSplit}

const heldSplit = "validation"

var heldValues = []string{"loss", measure.KeyAccuracy}

// sample is the runs an expression is asked of; a run may come more than once.
type sample struct{ runs []*JudgedRun }

func newSample(runs []*JudgedRun) *sample { return &sample{runs} }

type selection = map[string]any

// functions are what an expression can call.
func (t *sample) functions() map[string]any {
	return map[string]any{
		"final":  func(name string, where ...selection) (float64, error) { return t.mean(name, 1, where) },
		"at":     t.at,
		"values": t.values,
		"slope": func(x, y string, where ...selection) (float64, error) {
			l, err := t.line(x, y, where)
			return l.Slope, err
		},
		"r2": func(x, y string, where ...selection) (float64, error) {
			l, err := t.line(x, y, where)
			return l.R2, err
		},
		"trend":        t.trend,
		"margin_share": t.marginShare,
	}
}

func (t *sample) at(name string, fraction float64, where ...selection) (float64, error) {
	return t.mean(name, fraction, where)
}

// mean is the mean over the selected runs of a value at a fraction of the run.
func (t *sample) mean(name string, fraction float64, where []selection) (float64, error) {
	runs, err := t.pick(where)
	if err != nil {
		return 0, err
	}
	return meanOf(runs, name, fraction)
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
	split, layer, key := SplitName(name)
	if split == derivedSplit {
		return r.derived(key, fraction)
	}
	points := r.Rows(split, layer, key)
	if len(points) == 0 {
		return 0, fmt.Errorf("run %.12s has no %s", r.Hash, name)
	}
	wanted := fraction * float64(r.LastStep())
	best := points[0]
	for _, p := range points[1:] {
		if math.Abs(float64(p.Step)-wanted) <= math.Abs(float64(best.Step)-wanted) {
			best = p
		}
	}
	if best.Missing != "" {
		return 0, fmt.Errorf("%s of run %.12s is missing: %s", name, r.Hash, best.Missing)
	}
	return best.Value, nil
}

// SplitName takes "split.measure" or "split@layer.measure" apart. A layer's name may hold points.
func SplitName(name string) (split, layer, key string) {
	where, key := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		where, key = name[:i], name[i+1:]
	}
	split, layer, _ = strings.Cut(where, "@")
	return split, layer, key
}

// pick returns the runs whose settings are as selected; none is an error.
func (t *sample) pick(where []selection) ([]*JudgedRun, error) {
	out := only(t.runs, func(r *JudgedRun) bool { return r.Matches(where...) })
	if len(out) == 0 {
		return nil, fmt.Errorf("no run has %s", settingsText(where))
	}
	return out, nil
}

// settingsText writes selections as "data.name = mnist, loss.kind = ce".
func settingsText(where []selection) string {
	var out []string
	for _, s := range where {
		for _, key := range slices.Sorted(maps.Keys(s)) {
			out = append(out, fmt.Sprintf("%s = %v", key, s[key]))
		}
	}
	return strings.Join(out, ", ")
}

// Matches reports whether a run has all selected settings.
func (r *JudgedRun) Matches(where ...selection) bool {
	for _, s := range where {
		for key, want := range s {
			if !sameSetting(r.Settings[key], want) {
				return false
			}
		}
	}
	return true
}

func sameSetting(have string, want any) bool {
	switch w := want.(type) {
	case string:
		return have == w
	case int:
		return sameSetting(have, float64(w))
	case float64:
		v, err := strconv.ParseFloat(have, 64)
		return err == nil && v == w
	case []any:
		return slices.ContainsFunc(w, func(one any) bool { return sameSetting(have, one) })
	}
	return have == fmt.Sprint(want)
}

// values are the values of a setting among the selected runs: numbers ascending, else texts.
func (t *sample) values(key string, where ...selection) ([]any, error) {
	runs, err := t.pick(where)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, r := range runs {
		texts = append(texts, r.Settings[key])
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	var numbers []float64
	for _, s := range texts {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) < len(texts) {
		return anys(texts), nil
	}
	slices.Sort(numbers)
	return anys(numbers), nil
}

// anys is a list as expressions take it.
func anys[T any](list []T) (out []any) {
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

// cells are the means of x and y over runs that differ by seed alone.
func (t *sample) cells(x, y string, where []selection) (xs, ys []float64, err error) {
	runs, err := t.pick(where)
	if err != nil {
		return nil, nil, err
	}
	groups, order := map[string][]*JudgedRun{}, []string(nil)
	for _, r := range runs {
		c := r.Cell
		if groups[c] == nil {
			order = append(order, c)
		}
		groups[c] = append(groups[c], r)
	}
	for _, c := range order {
		mx, err := meanOf(groups[c], x, 1)
		if err != nil {
			return nil, nil, err
		}
		my, err := meanOf(groups[c], y, 1)
		if err != nil {
			return nil, nil, err
		}
		xs, ys = append(xs, mx), append(ys, my)
	}
	return xs, ys, nil
}

// cellOf names a run's configuration without its seed.
func cellOf(r *Run) string {
	return r.settingsWithout(func(key string) bool { return key == "run.seed" || key == "data.noise_seed" })
}

func (t *sample) line(x, y string, where []selection) (lineFit, error) {
	xs, ys, err := t.cells(x, y, where)
	if err != nil {
		return lineFit{}, err
	}
	l := fit(xs, ys)
	if math.IsNaN(l.Slope) {
		return l, fmt.Errorf("no line through %s: %s is the same in all", format.Count(len(xs), "point"), x)
	}
	return l, nil
}

func (t *sample) trend(x, y string, where ...selection) (float64, error) {
	xs, ys, err := t.cells(x, y, where)
	if err != nil {
		return 0, err
	}
	rho := spearman(xs, ys)
	if math.IsNaN(rho) {
		return 0, fmt.Errorf("no trend of %s over %s: three different points are needed", y, format.Count(len(xs), "point"))
	}
	return rho, nil
}
