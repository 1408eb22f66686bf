package cli

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
	"collapse.example/collapse/internal/study/engine"
	"collapse.example/collapse/internal/study/trials"
)

// takeSettings runs the search that a recipe takes settings from, unless the lab holds it finished, and returns its result; nil for a
// recipe that takes none.
func (c *reproduceCmd) takeSettings(a *app, lab *store.Lab, r *recipe.Recipe, o engine.Options) (recipe.Found, error) {
	source := r.Source(c.choice())
	if source == nil {
		return nil, nil
	}
	f, err := scale.SearchFile(source, c.choice().OfSource())
	if err != nil {
		return nil, err
	}
	a.notef("== %s: the search that %s takes settings from\n", f.Name, r.ID)
	sum, err := driveSearch(a, lab, f, o)
	if err != nil {
		return nil, fmt.Errorf("%s, the search that %s takes settings from: %w", f.Name, r.ID, err)
	}
	if sum.Cancelled {
		return nil, fmt.Errorf("the search %s was cancelled, and %s takes settings from it; continue with: collapse study resume %s", f.Name, r.ID, f.Name)
	}
	a.notef("== %s\n", r.ID)
	return c.foundBy(lab.Reader, r, f)
}

// foundBy is what a finished search found for the cells of a recipe.
func (c *reproduceCmd) foundBy(lab *store.Reader, r *recipe.Recipe, f *study.File) (recipe.Found, error) {
	winners, err := trials.Winners(lab, f, r.SettingsFrom.Match)
	var unfinished *trials.Unfinished
	if errors.As(err, &unfinished) {
		return nil, fmt.Errorf("%w, and %s takes settings from it; run: %s", err, r.ID, c.choice().OfSource().Command(r.SettingsFrom.Recipe))
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

// toCome are the runs that a recipe would train. If its settings come from an unfinished search, the recipe's own stand in, and first is
// that search.
func (c *reproduceCmd) toCome(a *app, r *recipe.Recipe) (runs []recipe.Run, first *study.File, err error) {
	choice := c.choice()
	if runs, err = r.Foresee(choice); err != nil {
		return nil, nil, usageError{err}
	}
	if err := dataAtHand(runs); err != nil {
		return nil, nil, err
	}
	if r.Source(choice) == nil {
		return runs, nil, nil
	}
	found, search, err := c.foundBefore(a, r)
	if err != nil || found == nil {
		return runs, search, err
	}
	if runs, err = r.Expand(choice, found); err != nil {
		err = usageError{err}
	}
	return runs, nil, err
}

// foundBefore is the search that a recipe takes settings from, and its result; nothing unless the lab holds it finished.
func (c *reproduceCmd) foundBefore(a *app, r *recipe.Recipe) (recipe.Found, *study.File, error) {
	f, err := scale.SearchFile(r.Source(c.choice()), c.choice().OfSource())
	if err != nil {
		return nil, nil, err
	}
	lab, err := a.reader()
	if errors.Is(err, os.ErrNotExist) {
		return nil, f, nil
	}
	if err != nil {
		return nil, f, err
	}
	found, err := c.foundBy(lab, r, f)
	var unfinished *trials.Unfinished
	if errors.As(err, &unfinished) {
		return nil, f, nil
	}
	return found, f, err
}

// searchFirst says which search has to run before the counted runs.
func searchFirst(f *study.File) string {
	return fmt.Sprintf("their settings follow from the search %s, which runs first: %d trials of at most %s in each of %s; its own time is not counted here",
		f.Name, f.Search.Trials, format.Count(f.Search.Epochs, "epoch"), format.Count(len(f.Places()), "combination"))
}
