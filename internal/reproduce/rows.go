package reproduce

import (
	"errors"
	"fmt"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// ErrNotFromRows says that a recipe cannot be judged by rows alone.
var ErrNotFromRows = errors.New("only recipes whose runs follow from their grid alone are made again from rows")

// FromRows says what a lab's runs of the recipe show: it computes nothing, opens no data set, and leaves the lab as it is.
func (j *Job) FromRows(lab *store.Reader) (found findings.RecipeFindings, err error) {
	if !j.Recipe.Trains() || j.Recipe.Search != nil || j.Recipe.Source(j.Choice) != nil {
		return found, ErrNotFromRows
	}
	made := computed{partly: true}
	if made.runs, err = j.Recipe.Expand(j.Choice, nil); err != nil {
		return found, err
	}
	known, err := byLikeness(lab)
	if err != nil {
		return found, err
	}
	for _, run := range made.runs {
		made.hashes = append(made.hashes, known[likeness(run.Config)])
	}
	return j.show(lab, made)
}

// byLikeness are the training runs of a lab by their likeness, which is known without their images.
func byLikeness(lab *store.Reader) (map[string]string, error) {
	runs, err := lab.List(store.Filter{})
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	for _, run := range runs {
		if run.Kind != store.Train || run.Status != store.Done {
			continue
		}
		c, err := train.ConfigOf(lab.RunDir(run.Hash))
		if err != nil {
			return nil, fmt.Errorf("run %.12s: %w", run.Hash, err)
		}
		like := likeness(c)
		if other, twice := known[like]; twice {
			return nil, fmt.Errorf("runs %.12s and %.12s have the same settings, on other images", other, run.Hash)
		}
		known[like] = run.Hash
	}
	return known, nil
}

// likeness is that of a run wherever its images lie.
func likeness(c train.Config) string {
	c.Data.Dir = ""
	return train.Likeness(c)
}
