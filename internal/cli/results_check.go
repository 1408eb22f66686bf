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
	remake, done, err := remakeFrom(filepath.Join(c.Dir, results.RowsName))
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
		a.printf("%s judged again from what each seed gave, %s.\n", format.Count(audit.Again, "claim"), format.Count(len(audit.Different), "difference"))
		if remake != nil {
			a.printf("%s made again from the rows of %s, %s compared.\n", format.Count(audit.FromRows, "recipe"), filepath.Join(c.Dir, results.RowsName), format.Count(audit.Numbers, "number"))
		}
		if audit.NotKept > 0 {
			a.printf("%s cannot be: what each seed gave is kept since version 0.2.0; reproduce the recipe again.\n", format.Count(audit.NotKept, "claim"))
		}
		if audit.NoSeeds > 0 {
			a.printf("%s not judged over seeds: theory, or too few runs.\n", format.Count(audit.NoSeeds, "claim"))
		}
	})
	if err == nil && len(audit.Different) > 0 {
		return fmt.Errorf("results: %s in %s", format.Count(len(audit.Different), "difference"), c.Dir)
	}
	return err
}

// remakeFrom makes recipes again from the rows in a lab; nil if there is none.
func remakeFrom(dir string) (remake results.Remake, done func(), err error) {
	lab, err := store.OpenReader(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return func(r results.Recipe) (*results.Recipe, error) { return remade(lab, r) }, func() { lab.Close() }, nil
}

// remade is a recipe made again from the rows of its runs; nil if it trains none, or cannot be made of rows alone.
func remade(lab *store.Reader, r results.Recipe) (*results.Recipe, error) {
	if r.Runs == 0 || r.Choice == nil {
		return nil, nil
	}
	choice := recipe.Choice{Scale: r.Choice.Scale, Preset: r.Choice.Preset, Set: r.Choice.Set, Seeds: r.Choice.Seeds, BuiltIn: r.Choice.BuiltIn, Recipes: r.Choice.Recipes}
	book, err := recipe.BookIn(choice.Recipes)
	if err != nil {
		return nil, err
	}
	of, err := book.Load(r.ID)
	if err != nil {
		return nil, err
	}
	job := reproduce.Job{Recipe: of, Choice: choice}
	found, err := job.FromRows(lab)
	if errors.Is(err, reproduce.ErrNotFromRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := kept(found, choice, time.Now())
	return &out, nil
}
