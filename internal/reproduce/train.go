package reproduce

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/findings"
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
	hashes, searches, taken, err := j.compute(lab)
	if err != nil {
		return found, err
	}
	loaded, err := judge.LoadOnDemand(lab, hashes...)
	if err != nil {
		return found, err
	}
	asked, err := findings.OfRecipe(j.Recipe, j.Choice, loaded)
	if err != nil {
		return found, err
	}
	spent := findings.Count(loaded, len(searches) > 0, forecast.Runs(lab, j.Choice.Dir))
	asked.Generated, asked.Searches, asked.Taken, asked.RunPages, asked.Compute = time.Now(), searches, taken, j.RunPages, &spent
	return asked.Judge()
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

// compute computes what the lab lacks. It returns the names of the runs in the lab, what a search found, and the settings taken from
// another search.
func (j *Job) compute(lab *store.Lab) (hashes []string, found []judge.Search, taken recipe.Found, err error) {
	if j.Recipe.Search != nil {
		hashes, found, err = j.search(lab)
	} else if taken, err = j.takeSettings(lab); err == nil {
		hashes, err = j.runAll(lab, taken)
	}
	return hashes, found, taken, err
}

// runAll makes the runs a study of the lab, computes what is missing, and returns their names in the lab.
func (j *Job) runAll(lab *store.Lab, taken recipe.Found) ([]string, error) {
	runs, err := j.Recipe.Expand(j.Choice, taken)
	if err != nil {
		return nil, scale.BadChoice(err)
	}
	_, items, err := Items(runs)
	if err != nil {
		return nil, err
	}
	var hashes []string
	for _, item := range items {
		if !slices.Contains(hashes, item.Hash) {
			hashes = append(hashes, item.Hash)
		}
	}
	name := j.Recipe.ID + "." + j.Choice.Scale
	if _, err := study.Save(lab, name, j.Recipe.Title, j.Command, items); err != nil {
		return nil, err
	}
	cancelled, err := j.Driver.Study(lab, name)
	if err == nil && cancelled {
		err = fmt.Errorf("the study was cancelled; continue with: collapse study resume %s", name)
	}
	return hashes, err
}

// search runs the search of a recipe as a study of the lab, and returns the names of its runs and its result.
func (j *Job) search(lab *store.Lab) (hashes []string, found []judge.Search, err error) {
	f, err := scale.SearchFile(j.Recipe, j.Choice)
	if err != nil {
		return nil, nil, scale.BadChoice(err)
	}
	cancelled, err := j.Driver.Search(lab, f)
	if err != nil {
		return nil, nil, err
	}
	if cancelled {
		return nil, nil, fmt.Errorf("the study was cancelled; continue with: collapse study resume %s", f.Name)
	}
	if found, err = trials.Searches(lab.Reader, f); err != nil {
		return nil, nil, err
	}
	runs, err := lab.StudyRuns(f.Name)
	if err != nil {
		return nil, nil, err
	}
	for _, run := range runs {
		hashes = append(hashes, run.Hash)
	}
	return hashes, found, nil
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
