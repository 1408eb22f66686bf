package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/engine"
	"collapse.example/collapse/internal/study/forecast"
	"collapse.example/collapse/internal/train"
)

// train runs a recipe that trains networks: it trains what the lab lacks, then makes the page.
func (c *reproduceCmd) train(a *app, r *recipe.Recipe, to *outfile.Folder) (reproduced, error) {
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
	loaded, err := judge.LoadOnDemand(lab, hashes...)
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
	result, err := page.WriteRecipe(to, made)
	if err != nil {
		return reproduced{}, err
	}
	return reproduced{drawn: figuresOf(result.Judged.Figures), numbers: result.Judged.Numbers, command: strings.Join(made.Commands, "; "),
		IndexEntry: page.IndexEntry{ID: r.ID, Title: r.Title, Paper: r.Paper, Index: result.Index, Claims: result.Claims},
		Departs:    recipe.Departs(made.Substitutions), Notes: made.Notes, Taken: taken, Runs: result.Runs, Failed: result.Failed, Figures: result.Figures, Compute: result.Compute, RunPages: result.RunPages}, nil
}

// compute computes what the lab lacks. It returns the names of the runs in the lab, what a search found, and the settings taken from
// another search.
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

// notePages announces a wait: drawing a run's page takes about a second.
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
		err = fmt.Errorf("the study was cancelled; continue with: collapse study resume %s", name)
	}
	return hashes, err
}

// itemsOf turns the runs of a recipe into items of a study.
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

func (c *reproduceCmd) choice() recipe.Choice {
	return recipe.Choice{Scale: c.Scale, Preset: c.Preset, Set: c.Set, Seeds: c.Seeds, BuiltIn: c.BuiltIn, Dir: c.DataDir, Recipes: c.Recipes}
}

// dataAtHand opens every data set of the runs once, to report a missing one before hours of work.
func dataAtHand(runs []recipe.Run) error {
	seen := map[string]bool{}
	for _, run := range runs {
		name := run.Config.Data.Name
		if seen[name] {
			continue
		}
		seen[name] = true
		if _, _, err := train.Identify(run.Config, nil); err != nil {
			return fmt.Errorf("%w\nthe recipe needs %s; to run it on the built-in images instead, which the page will say: --built-in", err, strings.Join(recipe.DataSets(runs), ", "))
		}
	}
	return nil
}
