package reproduce

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/scale"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/trials"
)

// takeSettings runs the search that a recipe takes settings from, unless the lab holds it finished, and returns its result; nil for a
// recipe that takes none.
func (j *Job) takeSettings(lab *store.Lab) (recipe.Found, error) {
	f, err := j.source()
	if f == nil || err != nil {
		return nil, err
	}
	j.Driver.Notef("== %s: the search that %s takes settings from\n", f.Name, j.Recipe.ID)
	ended, err := j.Driver.Search(lab, f)
	if err != nil {
		return nil, fmt.Errorf("%s, the search that %s takes settings from: %w", f.Name, j.Recipe.ID, err)
	}
	switch ended {
	case Spent:
		return nil, fmt.Errorf("the budget was spent before the search %s ended, and %s takes settings from it; the same command goes on", f.Name, j.Recipe.ID)
	case Cancelled:
		return nil, fmt.Errorf("the search %s was cancelled, and %s takes settings from it; continue with: collapse study resume %s", f.Name, j.Recipe.ID, f.Name)
	}
	j.Driver.Notef("== %s\n", j.Recipe.ID)
	return j.foundBy(lab.Reader, f)
}

// source is the search that the recipe takes settings from; nil if it takes none.
func (j *Job) source() (*study.File, error) {
	from := j.Recipe.Source(j.Choice)
	if from == nil {
		return nil, nil
	}
	return scale.SearchFile(from, j.Choice.OfSource())
}

// foundBy is what a finished search found for the cells of a recipe.
func (j *Job) foundBy(lab *store.Reader, f *study.File) (recipe.Found, error) {
	r := j.Recipe
	winners, err := trials.Winners(lab, f, r.SettingsFrom.Match)
	var unfinished *trials.Unfinished
	if errors.As(err, &unfinished) {
		return nil, fmt.Errorf("%w, and %s takes settings from it; run: %s", err, r.ID, j.Choice.OfSource().Command(r.SettingsFrom.Recipe))
	}
	if err != nil {
		return nil, err
	}
	var found recipe.Found
	for _, w := range winners {
		found = append(found, recipe.Taken{Cell: w.Cell, Settings: r.SettingsFrom.Of(w.Settings), From: inWords(f, w)})
	}
	return found, nil
}

// inWords says which trial of a search a winner is: "md-tab1.quick, trial 7 of seed 2: validation.accuracy 82.50 % after 16 epochs".
func inWords(f *study.File, w trials.Winner) string {
	var seeds []string
	for _, s := range w.Seeds {
		seeds = append(seeds, strconv.FormatUint(s, 10))
	}
	from, mean := "seed "+format.List(seeds), ""
	if len(seeds) > 1 {
		from, mean = "seed "+seeds[0]+" and the same settings of seed "+format.List(seeds[1:]), "mean "
	}
	return fmt.Sprintf("%s, trial %d of %s: %s%s %s after %s", f.Name, w.Trial+1, from, mean, f.Search.Metric, format.Measure(f.Search.Metric, w.Value), format.Count(w.Epochs, "epoch"))
}

// Ahead are the runs that the recipe would train. If its settings come from an unfinished search, the recipe's own stand in, and first is
// that search. open opens the lab to read.
func (j *Job) Ahead(open func() (*store.Reader, error)) (runs []recipe.Run, first *study.File, err error) {
	if runs, err = j.foresee(); err != nil {
		return nil, nil, err
	}
	if err := dataAtHand(runs); err != nil {
		return nil, nil, err
	}
	if j.Recipe.Source(j.Choice) == nil {
		return runs, nil, nil
	}
	found, search, err := j.FoundBefore(open)
	if err != nil || found == nil {
		return runs, search, err
	}
	runs, err = j.Recipe.Expand(j.Choice, found)
	return runs, nil, scale.BadChoice(err)
}

// FoundBefore is the search that the recipe takes settings from, and its result; nothing unless the lab holds it finished.
func (j *Job) FoundBefore(open func() (*store.Reader, error)) (recipe.Found, *study.File, error) {
	f, err := j.source()
	if f == nil || err != nil {
		return nil, f, err
	}
	lab, err := open()
	if errors.Is(err, os.ErrNotExist) {
		return nil, f, nil
	}
	if err != nil {
		return nil, f, err
	}
	found, err := j.foundBy(lab, f)
	var unfinished *trials.Unfinished
	if errors.As(err, &unfinished) {
		return nil, f, nil
	}
	return found, f, err
}

// SearchFirst says which search has to run before the counted runs.
func SearchFirst(f *study.File) string {
	return fmt.Sprintf("their settings follow from the search %s, which runs first: %d trials of at most %s in each of %s; its own time is not counted here",
		f.Name, f.Search.Trials, format.Count(f.Search.Epochs, "epoch"), format.Count(len(f.Places()), "combination"))
}
