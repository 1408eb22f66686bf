package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"collapse/internal/recipe"
	"collapse/internal/report"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/train"
)

// train runs a recipe that trains networks: what the lab does not hold is trained, then the page is made.
func (c *reproduceCmd) train(a *app, id string) (reproduced, error) {
	r, err := recipe.Load(id)
	if err != nil {
		return reproduced{}, usageError{err}
	}
	choice := c.choice()
	runs, err := r.Expand(choice)
	if err != nil {
		return reproduced{}, usageError{err}
	}
	if err := dataAtHand(runs); err != nil {
		return reproduced{}, err
	}
	lab, err := store.Open(a.flags.Lab, store.Options{})
	if err != nil {
		return reproduced{}, err
	}
	defer lab.Close()
	var hashes []string
	var found []report.Search
	if r.Search != nil {
		hashes, found, err = c.searchAll(a, lab, r, choice)
	} else {
		hashes, err = c.runAll(a, lab, r, runs)
	}
	if err != nil {
		return reproduced{}, err
	}
	loaded, err := report.Load(lab, hashes...)
	if err != nil {
		return reproduced{}, err
	}
	page, err := r.Page(choice, loaded)
	if err != nil {
		return reproduced{}, err
	}
	page.Generated, page.Searches = time.Now(), found
	result, err := report.WriteRecipe(c.dir(id), page)
	return reproduced{IndexEntry: report.IndexEntry{ID: id, Title: r.Title, Paper: r.Paper, Index: result.Index, Claims: result.Claims},
		Notes: page.Notes, Runs: result.Runs, Failed: result.Failed, Figures: result.Figures}, err
}

// runAll makes the runs a study of the lab, computes what is missing, and returns their names in the lab.
func (c *reproduceCmd) runAll(a *app, lab *store.Lab, r *recipe.Recipe, runs []recipe.Run) ([]string, error) {
	o, err := c.options(a)
	if err != nil {
		return nil, err
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
	progress := newEngineProgress(a.stderr)
	o.Watch, o.Logf = progress.event, progress.logf
	sum, err := study.Execute(a.ctx, lab, []string{name}, o)
	progress.close()
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
	if !recipe.Is(c.ID) {
		return usagef("%q trains no network: there is nothing to foresee", c.ID)
	}
	r, err := recipe.Load(c.ID)
	if err != nil {
		return usageError{err}
	}
	runs, err := r.Expand(c.choice())
	if err != nil {
		return usageError{err}
	}
	if err := dataAtHand(runs); err != nil {
		return err
	}
	configs, items, err := itemsOf(runs)
	if err != nil {
		return err
	}
	o, err := c.options(a)
	if err != nil {
		return err
	}
	return dryRun(a, c.ID+"."+c.Scale, configs, items, o)
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
