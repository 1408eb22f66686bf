package cli

import (
	"context"
	"errors"
	"time"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/reproduce"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
)

// driver computes studies with this command's workers and shows their progress.
type driver struct {
	a     *app
	o     coordinator.Options
	until time.Time // the end of the budget; zero: there is none
}

// errSpent ends work whose budget is spent.
var errSpent = errors.New("the budget is spent")

func (d driver) Study(lab *store.Lab, name string) (reproduce.Ended, error) {
	return d.within(func(ctx context.Context) (bool, error) {
		sum, err := drive(ctx, d.a, lab, []string{name}, d.o)
		return sum.Cancelled, err
	})
}

func (d driver) Search(lab *store.Lab, f *study.File) (reproduce.Ended, error) {
	return d.within(func(ctx context.Context) (bool, error) {
		sum, err := driveSearch(ctx, d.a, lab, f, d.o)
		return sum.Cancelled, err
	})
}

// within lets do work until the budget is spent.
func (d driver) within(do func(ctx context.Context) (cancelled bool, err error)) (reproduce.Ended, error) {
	ctx := d.a.ctx
	if !d.until.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, d.until, errSpent)
		defer stop()
	}
	cancelled, err := do(ctx)
	stopped := (*coordinator.StoppedError)(nil)
	switch {
	case errors.Is(context.Cause(ctx), errSpent) && (errors.Is(err, errSpent) || errors.As(err, &stopped)):
		d.a.notef("stopped, as asked: the budget is spent\n")
		return reproduce.Spent, nil
	case err == nil && cancelled:
		return reproduce.Cancelled, nil
	}
	return reproduce.Complete, err
}

func (d driver) Notef(format string, args ...any) { d.a.notef(format, args...) }

// job is the recipe as this command computes it.
func (c *reproduceCmd) job(a *app, r *recipe.Recipe) (*reproduce.Job, error) {
	o, err := c.options(a)
	return &reproduce.Job{Recipe: r, Choice: c.choice(), Command: a.commandLine(), RunPages: c.RunPages, Budget: c.Budget > 0, Driver: driver{a, o, c.until}}, err
}

func (c *reproduceCmd) choice() recipe.Choice {
	return recipe.Choice{Scale: c.Scale, Preset: c.Preset, Set: c.Set, Seeds: int(c.Seeds), BuiltIn: c.BuiltIn, Dir: c.DataDir, Recipes: c.Recipes}
}

// find computes a recipe of either kind.
func (c *reproduceCmd) find(a *app, r *recipe.Recipe) (findings.RecipeFindings, error) {
	if !r.Trains() {
		return reproduce.Theory(a.ctx, r, c.choice(), c.Seed, func(format string, args ...any) { a.notef(format+"\n", args...) })
	}
	job, err := c.job(a, r)
	if err == nil {
		err = job.Check()
	}
	if err != nil {
		return findings.RecipeFindings{}, chosen(err)
	}
	lab, err := a.openLab()
	if err != nil {
		return findings.RecipeFindings{}, err
	}
	found, err := job.Train(lab)
	return found, chosen(err)
}
