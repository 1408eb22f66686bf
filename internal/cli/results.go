package cli

import (
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/results"
)

type resultsCmd struct {
	writesFolder

	Dir string `arg:"" help:"Folder that collapse reproduce --results wrote." type:"path" placeholder:"DIR"`
}

// recipeVerdicts is the JSON of collapse results: a line for each recipe.
type recipeVerdicts struct {
	ID       string                `json:"id"`
	Scale    string                `json:"scale"`
	Verdicts map[judge.Verdict]int `json:"verdicts"`
}

func (c *resultsCmd) Run(a *app) error {
	to, err := a.labOutputs().Folder("", c.Dir, results.Kind)
	if err != nil {
		return misuse(err)
	}
	all, err := results.Rebuild(to)
	if err != nil {
		return err
	}
	var rows []recipeVerdicts
	for _, r := range all {
		row := recipeVerdicts{r.ID, r.Scale, map[judge.Verdict]int{}}
		for _, claim := range r.Claims {
			row.Verdicts[claim.Verdict]++
		}
		rows = append(rows, row)
	}
	return a.emit(rows, func() {
		for _, r := range rows {
			a.printf("%-14s %-9s", r.ID, r.Scale)
			for _, v := range judge.Verdicts {
				if n := r.Verdicts[v]; n > 0 {
					a.printf("  %d %s", n, v)
				}
			}
			a.printf("\n")
		}
	})
}
