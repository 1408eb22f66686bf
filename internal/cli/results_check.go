package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/reproduce"
	"collapse.example/collapse/internal/results"
	"collapse.example/collapse/internal/store"
)

// check prints what judging again came to.
func (c *resultsCmd) check(a *app) error {
	rows := filepath.Join(c.Dir, results.RowsName)
	remake, done, err := remakeFrom(rows)
	if err != nil {
		return err
	}
	defer done()
	audit, err := results.Check(c.Dir, remake)
	if err != nil {
		return err
	}
	err = a.emit(audit, func() {
		for _, d := range audit.Different {
			a.printf("%s\n", d)
		}
		for _, name := range audit.Skipped {
			a.printf("%s holds no results: not looked at\n", name)
		}
		for _, d := range audit.NoRows {
			a.printf("%s was not made again from rows: %s\n", d.Recipe, d.What)
		}
		a.printf("%s judged again from what each seed gave.\n", format.Count(audit.Again, "claim"))
		if remake != nil {
			a.printf("%s made again from the rows of %s, %s compared.\n", format.Count(audit.FromRows, "recipe"), rows, format.Count(audit.Numbers, "number"))
		}
		if audit.NotKept > 0 {
			a.printf("%s cannot be: what each seed gave is kept since version 0.2.0; reproduce the recipe again.\n", format.Count(audit.NotKept, "claim"))
		}
		if audit.NoSeeds > 0 {
			a.printf("%s not judged over seeds: theory, or too few runs.\n", format.Count(audit.NoSeeds, "claim"))
		}
		a.printf("%s.\n", format.Count(len(audit.Different), "difference"))
	})
	if err == nil && len(audit.Different) > 0 {
		return fmt.Errorf("results: %s in %s", format.Count(len(audit.Different), "difference"), c.Dir)
	}
	return err
}

// remakeFrom makes recipes again from the rows in a lab; nil if there is no folder of that name.
func remakeFrom(dir string) (remake results.Remake, done func(), err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, func() {}, nil
	}
	// An empty database is one that is being made; to open it would make it whole.
	if info, err := os.Stat(filepath.Join(dir, "lab.sqlite")); err == nil && info.Size() == 0 {
		return nil, nil, fmt.Errorf("%s is an empty lab", dir)
	}
	lab, err := store.OpenReader(dir)
	if err != nil {
		return nil, nil, err
	}
	return func(r results.Recipe) (*results.Recipe, error) { return remade(lab, r) }, func() { lab.Close() }, nil
}

// remade is a recipe made again from the rows of its runs; nil if it trains no networks.
func remade(lab *store.Reader, r results.Recipe) (*results.Recipe, error) {
	if r.Choice == nil {
		if r.Runs == 0 {
			return nil, nil
		}
		return nil, errors.New("what was asked for is not kept: it is since version 0.2.0")
	}
	choice := recipe.Choice{Scale: r.Choice.Scale, Preset: r.Choice.Preset, Set: r.Choice.Set, Seeds: r.Choice.Seeds, BuiltIn: r.Choice.BuiltIn, Recipes: r.Choice.Recipes}
	book, err := recipe.BookIn(choice.Recipes)
	if err != nil {
		return nil, err
	}
	of, err := book.Load(r.ID)
	if err != nil || !of.Trains() {
		return nil, err
	}
	job := reproduce.Job{Recipe: of, Choice: choice}
	found, now, err := job.FromRows(lab, reproduce.Counted{Runs: r.Runs, Finished: r.Runs - r.Failed, Partly: r.Partly})
	if err != nil {
		return nil, err
	}
	out := kept(found, choice, time.Now())
	out.Runs, out.Failed = now.Runs, now.Runs-now.Finished
	return &out, nil
}
