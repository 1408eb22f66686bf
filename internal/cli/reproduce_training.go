package cli

import (
	"fmt"
	"runtime"
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
	choice := recipe.Choice{Scale: c.Scale, Preset: c.Preset, Set: c.Set, Seeds: c.Seeds, BuiltIn: c.BuiltIn}
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
	hashes, err := c.runAll(a, lab, runs)
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
	page.Generated = time.Now()
	result, err := report.WriteRecipe(c.dir(id), page)
	return reproduced{IndexEntry: report.IndexEntry{ID: id, Title: r.Title, Paper: r.Paper, Index: result.Index, Claims: result.Claims},
		Notes: page.Notes, Runs: result.Runs, Failed: result.Failed, Figures: result.Figures}, err
}

// runAll trains the runs side by side, one thread each, and returns their names in the lab.
func (c *reproduceCmd) runAll(a *app, lab *store.Lab, runs []recipe.Run) ([]string, error) {
	slots := a.flags.Threads
	if slots <= 0 {
		slots = runtime.GOMAXPROCS(0)
	}
	configs := make([]train.Config, len(runs))
	for i, run := range runs {
		configs[i] = run.Config
	}
	a.notef("%d runs, %d side by side; what the lab %s holds already is not repeated\n", len(configs), slots, a.flags.Lab)
	progress := newStudyProgress(a.stderr, configs)
	outcomes, err := study.Run(a.ctx, lab, configs, slots, slots, progress)
	progress.close()
	if err != nil {
		return nil, err
	}
	if err := study.Failures(outcomes); err != nil {
		a.notef("some runs failed; the page shows them:\n%v\n", err)
	}
	var hashes []string
	for _, o := range outcomes {
		if o.Result.Run != "" && !slices.Contains(hashes, o.Result.Run) {
			hashes = append(hashes, o.Result.Run)
		}
	}
	return hashes, nil
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
