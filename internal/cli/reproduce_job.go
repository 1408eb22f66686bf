package cli

import (
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/reproduce"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
)

// driver computes studies with this command's workers and shows their progress.
type driver struct {
	a *app
	o coordinator.Options
}

func (d driver) Study(lab *store.Lab, name string) (cancelled bool, err error) {
	sum, err := drive(d.a, lab, []string{name}, d.o)
	return sum.Cancelled, err
}

func (d driver) Search(lab *store.Lab, f *study.File) (cancelled bool, err error) {
	sum, err := driveSearch(d.a, lab, f, d.o)
	return sum.Cancelled, err
}

func (d driver) Notef(format string, args ...any) { d.a.notef(format, args...) }

// job is the recipe as this command computes it.
func (c *reproduceCmd) job(a *app, r *recipe.Recipe) (*reproduce.Job, error) {
	o, err := c.options(a)
	return &reproduce.Job{Recipe: r, Choice: c.choice(), Command: a.commandLine(), RunPages: c.RunPages, Driver: driver{a, o}}, err
}

func (c *reproduceCmd) choice() recipe.Choice {
	return recipe.Choice{Scale: c.Scale, Preset: c.Preset, Set: c.Set, Seeds: c.Seeds, BuiltIn: c.BuiltIn, Dir: c.DataDir, Recipes: c.Recipes}
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
