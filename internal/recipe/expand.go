package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/train"
)

// Choice is what a user decides about a recipe.
type Choice struct {
	Scale   string   // quick or paper
	Preset  string   // "" is the paper's setting
	Set     []string // "key=value", overrides the recipe
	Seeds   int      // 0: the scale's
	BuiltIn bool     // use the built-in glyphs instead of the data sets
	Dir     string   // folder of the data sets; "" is the default
	Recipes string   // folder of the recipe; "": it is one of the papers'
}

// Run is one training run of a recipe.
type Run struct {
	Config train.Config
	Varied []string // the settings that the grid varies, "key=value", without the seed
}

// Note says what distinguishes the run, such as "ce, 0.1, seed 3".
func (r Run) Note() string {
	var words []string
	for _, s := range r.Varied {
		key, value, _ := strings.Cut(s, "=")
		words = append(words, figure.SettingInWords(key, strings.Trim(value, `"`)))
	}
	return strings.Join(append(words, "seed "+strconv.FormatUint(r.Config.Run.Seed, 10)), ", ")
}

// Expand lists the runs of a choice, seed by seed, so that an interrupted study has complete figures for the first seeds. It checks every
// configuration. found are the settings per cell for a recipe that takes them from a search (Source), nil for others.
func (r *Recipe) Expand(c Choice, found Found) ([]Run, error) {
	if r.Source(c) == nil {
		return r.expand(c, nil)
	}
	return r.expand(c, func(own train.Config) ([]string, error) {
		cell := own.SettingsOf(r.SettingsFrom.Match)
		taken, ok := found.of(cell)
		if !ok {
			return nil, r.noSearch(c, cell)
		}
		return taken, nil
	})
}

// Foresee is Expand for counting runs: settings that a search has still to find are replaced by the recipe's own. It checks that each cell
// has a search.
func (r *Recipe) Foresee(c Choice) ([]Run, error) {
	source := r.Source(c)
	if source == nil {
		return r.expand(c, nil)
	}
	searches, err := source.Foresee(c.OfSource())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.ID, err)
	}
	var found Found
	for _, s := range searches {
		found = append(found, Taken{Cell: s.Config.SettingsOf(r.SettingsFrom.Match)})
	}
	return r.Expand(c, found)
}

// expand lists runs. The recipe decides which settings a run takes; those of the choice override them.
func (r *Recipe) expand(c Choice, take func(own train.Config) ([]string, error)) ([]Run, error) {
	scale, err := r.scale(c.Scale)
	if err != nil {
		return nil, err
	}
	common, seeds, err := r.common(c, scale)
	if err != nil {
		return nil, err
	}
	cells, err := r.cellRuns(c, common, take)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for seed := 1; seed <= seeds; seed++ {
		for _, run := range cells {
			run.Config.Run.Seed = uint64(seed)
			runs = append(runs, run)
		}
	}
	for _, u := range train.Idle(c.Set, configsOf(runs)) {
		return nil, fmt.Errorf("--set %s has no effect on any run of %s: it applies only with %s; leave it out", u.Key, r.ID, u.Needs)
	}
	return runs, nil
}

// cellRuns are the runs of one seed. No setting's meaning depends on the seed, so they are read and checked once.
func (r *Recipe) cellRuns(c Choice, common []string, take func(own train.Config) ([]string, error)) (runs []Run, err error) {
	scale, set, err := r.chosen(c)
	if err != nil {
		return nil, err
	}
	byHand := append(c.builtIn(), set...)
	for _, varied := range scale.cells() {
		cfg, err := train.LoadShared(slices.Concat(common, varied, byHand)...)
		var taken []string
		if err == nil && take != nil {
			taken, err = take(cfg)
			taken = slices.DeleteFunc(slices.Clone(taken), func(s string) bool { key, _, _ := strings.Cut(s, "="); return c.sets(key) })
		}
		if err == nil && len(taken) > 0 {
			cfg, err = train.LoadShared(slices.Concat(common, varied, taken, byHand)...)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(varied, ", "), err)
		}
		runs = append(runs, Run{Config: cfg, Varied: varied})
	}
	return runs, nil
}

func configsOf(runs []Run) (configs []train.Config) {
	for _, r := range runs {
		configs = append(configs, r.Config)
	}
	return configs
}

// common are the settings of every run of a choice, and how many seeds there are.
func (r *Recipe) common(c Choice, scale Scale) (common []string, seeds int, err error) {
	preset, ok := r.Presets[c.Preset]
	if !ok && c.Preset != "" {
		return nil, 0, fmt.Errorf("there is no preset %q; wanted one of %s", c.Preset, strings.Join(slices.Sorted(maps.Keys(r.Presets)), ", "))
	}
	if scale.Seeds < 1 {
		return nil, 0, fmt.Errorf("the recipe has no scale %s, or it lacks seeds", c.Scale)
	}
	if seeds = scale.Seeds; c.Seeds > 0 {
		seeds = c.Seeds
	}
	preset = maps.Clone(preset)
	delete(preset, "search") // see SearchFile
	common = slices.Concat(train.SettingsIn(r.Base), train.SettingsIn(preset), train.SettingsIn(scale.Set))
	if c.Dir != "" {
		common = append(common, "data.dir="+strconv.Quote(c.Dir))
	}
	return common, seeds, nil
}

// builtIn are the settings that replace a data set by the built-in images.
func (c Choice) builtIn() []string {
	if !c.BuiltIn {
		return nil
	}
	return []string{"data.name=glyphs", "data.size=32", "data.color=true", "data.pipeline=plain", "data.samples=0", "data.test_samples=0"}
}

// cells are the combinations of variants and grid values.
func (s Scale) cells() [][]string {
	cells := [][]string{nil}
	if len(s.Variants) > 0 {
		cells = nil
		for _, v := range s.Variants {
			cells = append(cells, train.SettingsIn(v))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Grid)) {
		var longer [][]string
		for _, cell := range cells {
			for _, value := range s.Grid[key] {
				longer = append(longer, append(slices.Clone(cell), key+"="+train.Literal(value)))
			}
		}
		cells = longer
	}
	return cells
}
