package cli

import (
	"fmt"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/scale"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/engine"
)

// searchAll runs the search of a recipe as a study of the lab, and returns the names of its runs and its result.
func (c *reproduceCmd) searchAll(a *app, lab *store.Lab, r *recipe.Recipe, o engine.Options) (hashes []string, found []judge.Search, err error) {
	f, err := scale.SearchFile(r, c.choice())
	if err != nil {
		return nil, nil, usageError{err}
	}
	sum, err := driveSearch(a, lab, f, o)
	if err != nil {
		return nil, nil, err
	}
	if sum.Cancelled {
		return nil, nil, fmt.Errorf("the study was cancelled; continue with: collapse study resume %s", f.Name)
	}
	if found, err = searchesForPage(lab.Reader, f); err != nil {
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
