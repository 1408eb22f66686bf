package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse/internal/judge"
	"collapse/internal/recipe"
	"collapse/internal/scale"
	"collapse/internal/search"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/internal/study/engine"
	"collapse/internal/study/trials"
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
	places, err := trials.Look(lab.Reader, f)
	if err != nil {
		return nil, nil, err
	}
	runs, err := lab.StudyRuns(f.Name)
	if err != nil {
		return nil, nil, err
	}
	for _, run := range runs {
		hashes = append(hashes, run.Hash)
	}
	for _, p := range places {
		found = append(found, searchForPage(f.Search, p))
	}
	return hashes, found, nil
}

// searchForPage is the result of the search in one cell, in the form a page needs.
func searchForPage(d *study.Search, p trials.Found) judge.Search {
	s := judge.Search{Group: withoutSeed(p.Where), Metric: d.Metric, Lowest: d.Goal == "min", Best: p.Best, Spent: p.Spent, Whole: p.Whole,
		Final: [2]float64{math.NaN(), math.NaN()}}
	for _, q := range d.Space {
		if len(p.Rows) == 0 || !slices.ContainsFunc(p.Rows[0].Settings, func(s string) bool { return strings.HasPrefix(s, q.Name+"=") }) {
			continue // it has no effect here
		}
		s.Params = append(s.Params, judge.SearchParam{Name: q.Name, Log: q.Scale == search.LogUniform, Low: q.Low, High: q.High, Choices: q.Values})
	}
	for _, r := range p.Rows {
		t := judge.SearchTrial{SearchRun: searchRun(r), Number: r.Number + 1, Settings: map[string]string{}}
		for _, setting := range r.Settings {
			key, value, _ := strings.Cut(setting, "=")
			t.Settings[key] = value
		}
		s.Trials = append(s.Trials, t)
	}
	if p.Default != nil {
		run := searchRun(*p.Default)
		s.Default = &run
	}
	sums, counts := [2]float64{}, [2]float64{}
	for _, r := range p.Final {
		which := 0
		if r.Role == study.RoleDefaultFinal {
			which = 1
		}
		sums[which], counts[which] = sums[which]+r.Test, counts[which]+1
	}
	for i := range sums {
		if counts[i] > 0 {
			s.Final[i] = sums[i] / counts[i]
		}
	}
	return s
}

func searchRun(r trials.Row) judge.SearchRun {
	return judge.SearchRun{Run: r.Hash, Epochs: r.Epochs, Value: r.Value}
}

// withoutSeed drops the seed from the description of a combination, such as "seed 2, loss ce".
func withoutSeed(where string) string {
	words := strings.Split(where, ", ")
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "seed ") }), ", ")
}
