package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"collapse/internal/chart"
	"collapse/internal/figure"
	"collapse/internal/judge"
	"collapse/internal/page"
	"collapse/internal/recipe"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/internal/study/engine"
	"collapse/internal/study/forecast"
	"collapse/internal/train"
)

// train runs a recipe that trains networks: what the lab does not hold is trained, then the page is made.
func (c *reproduceCmd) train(a *app, r *recipe.Recipe) (reproduced, error) {
	choice := c.choice()
	runs, err := r.Foresee(choice)
	if err != nil {
		return reproduced{}, usageError{err}
	}
	if err := dataAtHand(runs); err != nil {
		return reproduced{}, err
	}
	lab, err := a.openLab()
	if err != nil {
		return reproduced{}, err
	}
	hashes, found, taken, err := c.compute(a, lab, r)
	if err != nil {
		return reproduced{}, err
	}
	loaded, err := judge.Load(lab, hashes...)
	if err != nil {
		return reproduced{}, err
	}
	made, err := page.OfRecipe(r, choice, loaded)
	if err != nil {
		return reproduced{}, err
	}
	made.Generated, made.Searches, made.Taken, made.RunPages = time.Now(), found, taken, c.RunPages
	spent := page.Count(loaded, len(found) > 0, forecast.Runs(lab, c.DataDir))
	made.Compute = &spent
	notePages(a, c.RunPages, loaded)
	defer a.onlyComputes()()
	result, err := page.WriteRecipe(c.dir(r.ID), made)
	if err != nil {
		return reproduced{}, err
	}
	judged, err := made.Judge()
	return reproduced{drawn: figuresOf(judged.Figures), numbers: judged.Numbers, command: strings.Join(made.Commands, "; "),
		IndexEntry: page.IndexEntry{ID: r.ID, Title: r.Title, Paper: r.Paper, Index: result.Index, Claims: result.Claims},
		Notes:      made.Notes, Taken: taken, Runs: result.Runs, Failed: result.Failed, Figures: result.Figures, Compute: result.Compute, RunPages: result.RunPages}, err
}

// compute computes what the lab lacks, and returns the names of the runs in the lab, what was found by a recipe that searches, and what one that
// takes settings from a search took.
func (c *reproduceCmd) compute(a *app, lab *store.Lab, r *recipe.Recipe) (hashes []string, found []judge.Search, taken recipe.Found, err error) {
	o, err := c.options(a)
	if err != nil {
		return nil, nil, nil, err
	}
	if r.Search != nil {
		hashes, found, err = c.searchAll(a, lab, r, o)
	} else if taken, err = c.takeSettings(a, lab, r, o); err == nil {
		hashes, err = c.runAll(a, lab, r, taken, o)
	}
	return hashes, found, taken, err
}

func figuresOf(pictures []figure.Picture) (out []chart.Figure) {
	for _, p := range pictures {
		out = append(out, p.Figure)
	}
	return out
}

// notePages says what is about to take a while: drawing a run's page takes a second or so.
func notePages(a *app, wanted bool, runs []judge.Run) {
	if wanted {
		a.notef("writing the pages of %d runs\n", len(runs))
	}
}

// runAll makes the runs a study of the lab, computes what is missing, and returns their names in the lab.
func (c *reproduceCmd) runAll(a *app, lab *store.Lab, r *recipe.Recipe, taken recipe.Found, o engine.Options) ([]string, error) {
	runs, err := r.Expand(c.choice(), taken)
	if err != nil {
		return nil, usageError{err}
	}
	_, items, err := itemsOf(runs)
	if err != nil {
		return nil, err
	}
	var hashes []string
	for _, item := range items {
		if !slices.Contains(hashes, item.Hash) {
			hashes = append(hashes, item.Hash)
		}
	}
	name := r.ID + "." + c.Scale
	if _, err := study.Save(lab, name, r.Title, a.commandLine(), items); err != nil {
		return nil, err
	}
	sum, err := drive(a, lab, []string{name}, o)
	if err == nil && sum.Cancelled {
		err = fmt.Errorf("the study was cancelled; go on with: collapse study resume %s", name)
	}
	return hashes, err
}

// itemsOf makes the runs of a recipe items of a study.
func itemsOf(runs []recipe.Run) (configs []train.Config, items []study.Item, err error) {
	for _, run := range runs {
		item, err := study.TrainItem(run.Config, run.Note())
		if err != nil {
			return nil, nil, err
		}
		configs, items = append(configs, run.Config), append(items, item)
	}
	return configs, items, nil
}

// dryRun says what the recipe would train.
func (c *reproduceCmd) dryRun(a *app) error {
	configs, items, first, err := c.wouldTrain(a, c.ID)
	if err != nil {
		return err
	}
	o, err := c.options(a)
	if err != nil {
		return err
	}
	return dryRun(a, c.ID+"."+c.Scale, configs, items, first, o)
}

// foreseen is what a recipe would train beside those before it.
type foreseen struct {
	ID string `json:"id"`
	forecast.Estimate
}

// dryRunAll says what every recipe would train. Runs that recipes share count for the first.
func (c *reproduceCmd) dryRunAll(a *app) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	var rows []foreseen
	seen, total := map[string]bool{}, forecast.Estimate{}
	for _, h := range recipe.List() {
		if !h.Trains() {
			continue
		}
		configs, items, _, err := c.wouldTrain(a, h.ID)
		if err != nil {
			return err
		}
		var own []train.Config
		var fresh []study.Item
		for i, item := range items {
			if !seen[item.Hash] {
				seen[item.Hash] = true
				own, fresh = append(own, configs[i]), append(fresh, item)
			}
		}
		e, err := foresee(a, own, fresh, o)
		if err != nil {
			return fmt.Errorf("%s: %w", h.ID, err)
		}
		rows = append(rows, foreseen{h.ID, e})
		total.Runs, total.Missing, total.Failed = total.Runs+e.Runs, total.Missing+e.Missing, total.Failed+e.Failed
		total.Time, total.Seconds, total.Memory = total.Time+e.Time, total.Seconds+e.Seconds, max(total.Memory, e.Memory)
	}
	rows = append(rows, foreseen{"all", total})
	return a.emit(rows, func() {
		a.printf("%-10s %6s %11s %12s %10s\n", "recipe", "runs", "to compute", "about", "memory")
		for _, r := range rows {
			a.printf("%-10s %6d %11d %12s %7.0f MB\n", r.ID, r.Runs, r.Missing, left(r.Time), float64(r.Memory)/(1<<20))
		}
		a.printf("\nRuns that recipes share count for the first; a search (md-tab1) counts its grid only, and what takes settings from it (md-tab2) all its runs, with its own settings until the search has ended. Recipes of the theory train nothing.\n")
	})
}

// wouldTrain lists the runs of a recipe, and the search that has to come first; see toCome.
func (c *reproduceCmd) wouldTrain(a *app, id string) (configs []train.Config, items []study.Item, first *study.File, err error) {
	if !slices.Contains(recipe.IDs(), id) {
		return nil, nil, nil, unknownRecipe(id)
	}
	if !recipe.Trains(id) {
		return nil, nil, nil, usagef("%q trains no network: there is nothing to foresee", id)
	}
	r, err := recipe.Load(id)
	if err != nil {
		return nil, nil, nil, usageError{err}
	}
	runs, first, err := c.toCome(a, r)
	if err != nil {
		return nil, nil, nil, err
	}
	configs, items, err = itemsOf(runs)
	return configs, items, first, err
}

func (c *reproduceCmd) choice() recipe.Choice {
	return recipe.Choice{Scale: c.Scale, Preset: c.Preset, Set: c.Set, Seeds: c.Seeds, BuiltIn: c.BuiltIn, Dir: c.DataDir}
}

// dataAtHand opens every data set of the runs once, so that a missing one is said before hours of work.
func dataAtHand(runs []recipe.Run) error {
	seen := map[string]bool{}
	for _, run := range runs {
		name := run.Config.Data.Name
		if seen[name] {
			continue
		}
		seen[name] = true
		if _, _, err := train.Identify(run.Config, nil); err != nil {
			return fmt.Errorf("%w\nthe recipe needs %s; to see it on the built-in images instead, labelled so: --built-in", err, strings.Join(recipe.DataSets(runs), ", "))
		}
	}
	return nil
}
