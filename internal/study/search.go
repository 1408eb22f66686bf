package study

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

const (
	GoalMax = "max"
	GoalMin = "min"
)

// Search is the table [search] of a study's file:
//
//	[search]
//	sampler = "bayes"               # or random
//	schedule = "hyperband"          # asha, or full: every trial to the last epoch
//	trials = 30
//	epochs = 160                    # of a trial that is never stopped; default: run.epochs
//	min_epochs = 5                  # of the first rung, at least (Rungs)
//	eta = 3                         # one trial in eta goes on from a rung
//	batch = 4                       # trials at once where later ones learn from earlier ones
//	metric = "validation.accuracy"  # the rest of the training samples: data.validation, 0.2 unless [base] says otherwise
//	goal = "max"                    # or min; default: what the metric's name says, if it is accuracy or loss
//	seed = 1
//	compare = true                  # with [base] itself
//
//	[search.space]
//	"optim.lr" = { log_uniform = [1e-5, 0.5] }
//	"net.depth" = { integer = [1, 8] }
//	"optim.schedule.gamma" = { choice = [0.01, 0.1, 0.5] }
//	"loss.smoothing" = { uniform = [0.01, 0.25], when = { "loss.kind" = ["ls", "lr"] } }
//
//	[search.final]                  # the best settings are trained on all samples, with these; lists are a grid
//	"run.epochs" = 200
type Search struct {
	Sampler, Schedule                     string
	Trials, Epochs, MinEpochs, Eta, Batch int
	Metric, Goal                          string
	Seed                                  uint64
	Compare                               bool
	Space                                 []SearchParam
	final                                 []axis
	split, measure                        string
	own                                   bool // a script's
	dotted                                bool // a script's metric that is written as split.measure, which may be its whole name
}

// MetricName is the metric as people write it: a script's as the script reports it, such as val/f1.
func (d *Search) MetricName() string {
	if d.own && !d.dotted && d.split != "" {
		return d.split + "/" + d.measure
	}
	return d.Metric
}

// SearchParam is a setting that is searched.
type SearchParam struct {
	search.Param
	Values []string            // the values of a choice, as TOML
	When   map[string][]string // other settings, and their values as TOML for which the parameter has an effect
	kinds  []string            // of spaceKinds that the file gives: one
}

// searchTable is Search as TOML decodes it.
type searchTable struct {
	Sampler, Schedule, Metric, Goal string
	Trials, Epochs, Eta, Batch      int
	MinEpochs                       int `toml:"min_epochs"`
	Seed                            uint64
	Compare                         bool
	Space, Final                    map[string]any
}

// plainKeys are those of [search] that a command line can set.
var plainKeys = []string{"sampler", "schedule", "metric", "goal", "trials", "epochs", "min_epochs", "eta", "batch", "seed", "compare"}

// override applies the overrides of the search itself, such as "search.trials=20", and returns the others.
func (t *searchTable) override(overrides []string, bad *FileError) (others []string) {
	for _, o := range overrides {
		key, value, _ := strings.Cut(o, "=")
		name, ok := strings.CutPrefix(strings.TrimSpace(key), "search.")
		if !ok || t == nil {
			others = append(others, o)
			continue
		}
		read := func(value string) error {
			return toml.NewDecoder(strings.NewReader(name + " = " + value)).DisallowUnknownFields().Decode(t)
		}
		if err := read(value); err != nil && (strings.Contains(name, ".") || read(strconv.Quote(value)) != nil) {
			bad.add("--set %s: wanted one of the plain keys of [search], such as search.trials=20%s", o, spelling.Suggestion(name, plainKeys))
		}
	}
	return others
}

func (f *File) readSearch(t *searchTable, bad *FileError) {
	if t == nil {
		return
	}
	d := &Search{Sampler: cmp.Or(t.Sampler, search.Bayes), Schedule: t.Schedule, Metric: t.Metric,
		Goal: t.Goal, Trials: t.Trials, Epochs: t.Epochs, Eta: cmp.Or(t.Eta, 3), Batch: cmp.Or(t.Batch, 4),
		MinEpochs: cmp.Or(t.MinEpochs, 1), Seed: cmp.Or(t.Seed, 1), Compare: t.Compare}
	d.readSpace("", t.Space, bad)
	final := train.Flat(t.Final)
	for _, key := range slices.Sorted(maps.Keys(final)) {
		d.final = append(d.final, axis{key, literals(final[key])})
	}
	f.Search = d
}

var spaceKinds = []string{"log_uniform", "uniform", "integer", "choice"}

func (d *Search) readSpace(prefix string, tree map[string]any, bad *FileError) {
	for _, k := range slices.Sorted(maps.Keys(tree)) {
		below, ok := tree[k].(map[string]any)
		isParam := ok && slices.ContainsFunc(spaceKinds, func(kind string) bool { return below[kind] != nil })
		switch {
		case isParam:
			d.readParam(prefix+k, below, bad)
		case ok:
			d.readSpace(prefix+k+".", below, bad)
		default:
			bad.add(`[search.space] %s is %s; wanted a table such as { log_uniform = [1e-5, 0.5] }, { uniform = … }, { integer = [1, 8] } or { choice = … }`, prefix+k, train.Literal(tree[k]))
		}
	}
}

func (d *Search) readParam(key string, t map[string]any, bad *FileError) {
	p := SearchParam{Param: search.Param{Name: key}, When: map[string][]string{}}
	for _, word := range slices.Sorted(maps.Keys(t)) {
		if slices.Contains(spaceKinds, word) {
			p.kinds = append(p.kinds, word)
		}
		list, isList := t[word].([]any)
		switch {
		case word == "choice" && isList:
			p.Scale, p.Choices, p.Values = search.Choice, len(list), literals(list)
		case slices.Contains(spaceKinds, word) && len(list) == 2:
			lo, ok1 := number(list[0])
			hi, ok2 := number(list[1])
			if !ok1 || !ok2 {
				bad.add("[search.space] %s: %s is %s; wanted two numbers", key, word, train.Literal(t[word]))
			}
			if p.Low, p.High, p.Whole = lo, hi, word == "integer"; word == "log_uniform" {
				p.Scale = search.LogUniform
			}
		case word == "when":
			when, _ := t[word].(map[string]any)
			for k, v := range train.Flat(when) {
				p.When[k] = literals(v)
			}
		default:
			bad.add("[search.space] %s: %s is %s; wanted one of log_uniform = [low, high], uniform = [low, high], integer = [low, high], choice = [values], and when = { setting = [values] }",
				key, word, train.Literal(t[word]))
		}
	}
	d.Space = append(d.Space, p)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// text returns a value of the parameter as TOML.
func (p SearchParam) text(x float64) string {
	if p.Scale == search.Choice {
		return p.Values[int(x)]
	}
	if p.Whole {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Keys are those of the lab that the metric may be, the first of which a run has values: scripts may report names with dots.
func (d *Search) Keys() []store.Key {
	keys := []store.Key{{Series: "epoch", Split: d.split, Measure: d.measure}}
	if d.dotted {
		keys = append([]store.Key{{Series: "epoch", Measure: d.Metric}}, keys...)
	}
	return keys
}

// Rungs are the epochs after which a trial may be stopped, and the last one: divided by powers of eta, from MinEpochs on. One for a search
// that stops none early.
func (d *Search) Rungs() []int {
	if d.Schedule == search.Full {
		return []int{d.Epochs}
	}
	return d.config(nil, 0).Ladder()
}

// nameKey takes the metric apart; it reports whether it names a split.
func (d *Search) nameKey() (found bool) {
	if d.split, d.measure, found = strings.Cut(d.Metric, "/"); found { // as a script reports it
		d.Metric = d.split + "." + d.measure
		return true
	}
	if d.split, d.measure, found = strings.Cut(d.Metric, "."); found {
		d.dotted = d.own
		return true
	}
	d.split, d.measure = "", d.Metric // which a script may report
	return d.Metric == ""
}

// config returns the search of one place.
func (d *Search) config(space []SearchParam, n int) search.Config {
	c := search.Config{Sampler: d.Sampler, Schedule: d.Schedule, Trials: d.Trials, Budget: d.Epochs, MinBudget: d.MinEpochs, Eta: d.Eta,
		Batch: d.Batch, Seed: d.Seed + uint64(n)}
	for _, p := range space {
		p.Needs = p.needs(space)
		c.Space = append(c.Space, p.Param)
	}
	return c
}

// trialsIn is how many trials a place has: those of the file, or as many as its space has settings; of a schedule that would then never fill its rungs,
// which a file of an earlier version may have, those of the file.
func (d *Search) trialsIn(c search.Config) int {
	given := c.Trials
	if c.Trials = c.Space.Size(given); c.Trials < given {
		if _, err := search.New(c); err != nil {
			return given
		}
	}
	return c.Trials
}

// needs are the conditions on choices that are searched, too.
func (p SearchParam) needs(space []SearchParam) (list []search.Need) {
	for _, key := range slices.Sorted(maps.Keys(p.When)) {
		at := slices.IndexFunc(space, func(other SearchParam) bool { return other.Name == key })
		if at < 0 {
			continue
		}
		need := search.Need{Param: at}
		for i, value := range space[at].Values {
			if slices.Contains(p.When[key], value) {
				need.Values = append(need.Values, i)
			}
		}
		list = append(list, need)
	}
	return list
}

// searched reports whether a setting is one of the parameters.
func (d *Search) searched(key string) bool {
	return slices.ContainsFunc(d.Space, func(p SearchParam) bool { return p.Name == key })
}
