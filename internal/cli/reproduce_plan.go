package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/reproduce"
	"collapse.example/collapse/internal/scale"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/forecast"
)

// planned is the JSON of a recipe's dry run.
type planned struct {
	scale.Plan
	GPU     string             `json:"gpu,omitempty"`
	Timed   *forecast.Estimate `json:"timed,omitempty"` // for missing runs, from runs of the lab or timed steps; not for a search
	Untimed string             `json:"untimed,omitempty"`
}

// dryRun prints what the recipe would compute and its cost.
func (c *reproduceCmd) dryRun(a *app) error {
	r, err := c.load(c.ID)
	if err != nil {
		return err
	}
	p, err := c.planner(a)
	if err != nil {
		return err
	}
	out := planned{}
	if out.Plan, err = p.Plan(r, c.choice()); err != nil {
		return chosen(err)
	}
	if r.Trains() {
		out.GPU = scale.GPU()
	}
	if r.Trains() && r.Search == nil {
		var first *study.File
		if out.Timed, first, err = c.timed(a, r); err != nil {
			out.Untimed = whyUntimed(err)
		}
		if first != nil {
			out.Notes = append(out.Notes, reproduce.SearchFirst(first))
		}
	}
	return a.emit(out, func() { out.print(a) })
}

// planner plans for this machine, using the lab if there is one.
func (c *reproduceCmd) planner(a *app) (*scale.Planner, error) {
	o, err := c.options(a)
	if err != nil {
		return nil, err
	}
	lab, err := a.reader()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return &scale.Planner{Lab: lab, Cores: o.Threads, Found: func(r *recipe.Recipe) (recipe.Found, error) {
		job, err := c.job(a, r)
		if err != nil {
			return nil, err
		}
		found, _, err := job.FoundBefore(a.reader)
		return found, err
	}}, nil
}

// timed estimates from the lab's runs of the same study, or from steps on this machine. first is a search that has to run
// before.
func (c *reproduceCmd) timed(a *app, r *recipe.Recipe) (e *forecast.Estimate, first *study.File, err error) {
	job, err := c.job(a, r)
	if err != nil {
		return nil, nil, err
	}
	runs, first, err := job.Ahead(a.reader)
	if err != nil {
		return nil, first, chosen(err)
	}
	configs, items, err := reproduce.Items(runs)
	if err != nil {
		return nil, first, err
	}
	o, err := c.options(a)
	if err != nil {
		return nil, first, err
	}
	of, err := foresee(a, configs, items, &o)
	return &of, first, err
}

// chosen makes a choice that a recipe does not have a misuse of the command.
func chosen(err error) error {
	if bad := (*scale.ChoiceError)(nil); errors.As(err, &bad) {
		return usageError{err}
	}
	return err
}

func whyUntimed(err error) string {
	var missing *data.MissingError
	if errors.As(err, &missing) {
		return missing.Name + " is not on this machine; its official sizes were used"
	}
	why, _, _ := strings.Cut(err.Error(), "\n")
	return why
}

func (p planned) print(a *app) {
	a.printf("%s, scale %s: %s\n\n", p.Recipe, p.Scale, p.Title)
	if p.Timed != nil && p.Timed.Missing > 0 {
		a.printf("%-11sabout %s (%s)\n%-11sabout %.0f MB\n", "timed here", left(p.Timed.Time), p.Timed.Basis, "memory", float64(p.Timed.Memory)/(1<<20))
	}
	if p.Untimed != "" {
		a.printf("%-11snot timed: %s\n", "timed here", p.Untimed)
	}
	for _, line := range p.Lines() {
		a.printf("%-11s%s\n", line[0], line[1])
	}
	for _, note := range p.Notes {
		a.printf("\n%s\n", note)
	}
}

// dryRunAll prints the cost of every recipe, and of all together.
func (c *reproduceCmd) dryRunAll(a *app, book *recipe.Book) error {
	p, err := c.planner(a)
	if err != nil {
		return err
	}
	var plans []scale.Plan
	for _, id := range book.IDs() {
		r, err := book.Load(id)
		if err != nil {
			return err
		}
		plan, err := p.Plan(r, c.choice())
		var bad *scale.ChoiceError
		if errors.As(err, &bad) { // as in a real run: shown, without stopping the others
			plan.Notes = append(plan.Notes, "cannot be computed so: "+bad.Error())
		} else if err != nil {
			return err
		}
		plans = append(plans, plan)
	}
	sum := p.Total()
	return a.emit(struct {
		Recipes []scale.Plan `json:"recipes"`
		Sum     scale.Plan   `json:"sum"`
		GPU     string       `json:"gpu"`
	}{plans, sum, scale.GPU()}, func() { printPlans(a, append(plans, sum)) })
}

// printPlans writes plans as a table whose last row is the sum, then the notes on them.
func printPlans(a *app, plans []scale.Plan) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	row := func(cells []string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	row(plans[0].Columns())
	for _, p := range plans {
		row(p.Cells())
	}
	w.Flush()
	a.printf("\nHours are for runs that the lab lacks, at the rates of docs/scale.md. GPU: %s.\n", scale.GPU())
	last := len(plans) - 1
	for _, note := range plans[last].Notes {
		a.printf("%s\n", note)
	}
	about := map[string][]string{} // recipes by note
	var notes []string
	for _, p := range plans[:last] {
		for _, note := range p.Notes {
			if about[note] == nil {
				notes = append(notes, note)
			}
			about[note] = append(about[note], p.Recipe)
		}
	}
	for _, note := range notes {
		a.printf("%s: %s\n", strings.Join(about[note], ", "), note)
	}
}
