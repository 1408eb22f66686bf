package reproduce

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/scale"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/forecast"
	"collapse.example/collapse/internal/study/trials"
	"collapse.example/collapse/internal/train"
)

// Train trains what a lab lacks, and says what all runs show.
func (j *Job) Train(lab *store.Lab) (found findings.RecipeFindings, err error) {
	made, err := j.compute(lab)
	if err != nil {
		return found, err
	}
	return j.show(lab.Reader, made)
}

// show says what the runs that a lab has show.
func (j *Job) show(lab *store.Reader, made computed) (found findings.RecipeFindings, err error) {
	loaded, err := judge.LoadOnDemand(lab, made.names()...)
	if err != nil {
		return found, err
	}
	asked, err := findings.OfRecipe(j.Recipe, j.Choice, loaded)
	if err != nil {
		return found, err
	}
	spent := findings.Count(loaded, len(made.searches) > 0, forecast.Runs(lab, j.Choice.Dir))
	asked.Generated, asked.Searches, asked.Taken, asked.RunPages, asked.Compute = time.Now(), made.searches, made.taken, j.RunPages, &spent
	if !made.partly {
		return asked.Judge()
	}
	return made.judge(asked, loaded)
}

// Check reports a choice that the recipe does not have, and a data set that is not there, before any work.
func (j *Job) Check() error {
	runs, err := j.foresee()
	if err != nil {
		return err
	}
	return dataAtHand(runs)
}

func (j *Job) foresee() ([]recipe.Run, error) {
	runs, err := j.Recipe.Foresee(j.Choice)
	return runs, scale.BadChoice(err)
}

// computed is what a lab has of a recipe.
type computed struct {
	runs     []recipe.Run // none for a search
	hashes   []string     // of each run, "" if the lab has none, or of all runs of a search
	searches []judge.Search
	taken    recipe.Found // settings from another search
	partly   bool         // the budget was spent before all was done
}

// names are the runs' names in the lab, each once.
func (c computed) names() (list []string) {
	for _, hash := range c.hashes {
		if hash != "" && !slices.Contains(list, hash) {
			list = append(list, hash)
		}
	}
	return list
}

// judge judges what is there so far, and says what is missing.
func (c computed) judge(asked findings.Recipe, loaded []judge.Run) (findings.RecipeFindings, error) {
	so, missing, why := covered(c.runs, c.hashes, loaded), "", "the search has not ended"
	if len(c.runs) > 0 {
		missing, why = so.missing(), ""
		if n := so.untouched(); n > 0 {
			why = format.Count(n, "setting") + " of the recipe " + map[bool]string{true: "has", false: "have"}[n == 1] + " no finished run yet"
		}
	} else {
		missing = "The search has not ended. The same command goes on with it."
	}
	if missing != "" { // else the last run ended with the budget
		asked.Notes = append(slices.Clone(asked.Notes), missing)
	}
	found, err := asked.Judge()
	found.Partly = true
	if why != "" {
		withhold(&found, why)
	}
	return found, err
}

// compute computes what the lab lacks, or what the budget allows of it.
func (j *Job) compute(lab *store.Lab) (made computed, err error) {
	if j.Recipe.Search != nil {
		return j.search(lab)
	}
	if made.taken, err = j.takeSettings(lab); err != nil {
		return made, err
	}
	err = j.runAll(lab, &made)
	return made, err
}

// runAll makes the runs a study of the lab and computes what is missing.
func (j *Job) runAll(lab *store.Lab, made *computed) (err error) {
	if made.runs, err = j.Recipe.Expand(j.Choice, made.taken); err != nil {
		return scale.BadChoice(err)
	}
	_, items, err := Items(made.runs)
	if err != nil {
		return err
	}
	for _, item := range items {
		made.hashes = append(made.hashes, item.Hash)
	}
	if j.Budget {
		items = seedsFirst(made.runs, items)
	}
	name := j.Recipe.ID + "." + j.Choice.Scale
	if _, err := study.Save(lab, name, j.Recipe.Title, j.Command, items); err != nil {
		return err
	}
	ended, err := j.Driver.Study(lab, name)
	made.partly = ended == Spent
	return ended.orError(name, err)
}

// search runs the search of a recipe as a study of the lab.
func (j *Job) search(lab *store.Lab) (made computed, err error) {
	f, err := scale.SearchFile(j.Recipe, j.Choice)
	if err != nil {
		return made, scale.BadChoice(err)
	}
	ended, err := j.Driver.Search(lab, f)
	if err := ended.orError(f.Name, err); err != nil {
		return made, err
	}
	made.partly = ended == Spent
	if made.searches, err = trials.Searches(lab.Reader, f); err != nil {
		return made, err
	}
	runs, err := lab.StudyRuns(f.Name)
	for _, run := range runs {
		made.hashes = append(made.hashes, run.Hash)
	}
	return made, err
}

// Items turns the runs of a recipe into items of a study.
func Items(runs []recipe.Run) (configs []train.Config, items []study.Item, err error) {
	for _, run := range runs {
		item, err := study.TrainItem(run.Config, run.Note())
		if err != nil {
			return nil, nil, err
		}
		configs, items = append(configs, run.Config), append(items, item)
	}
	return configs, items, nil
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
