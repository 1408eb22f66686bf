package cli

import (
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/results"
)

type resultsCmd struct {
	writesFolder

	Dir   string `arg:"" help:"Folder that collapse reproduce --results wrote." type:"path" placeholder:"DIR"`
	Check bool   `help:"Judge every claim again from what each seed gave, and change nothing: the status is 1 if a file says something else than its numbers. If the rows of the runs are in the lab DIR/lab, recipes are made again from them and compared, too: collapse lab copy DIR/lab --numbers puts them there."`
}

// recipeVerdicts is the JSON of collapse results: a line for each recipe.
type recipeVerdicts struct {
	ID       string                                 `json:"id"`
	Scale    string                                 `json:"scale"`
	Verdicts map[judge.Verdict]int                  `json:"verdicts"`
	BySource map[judge.Source]map[judge.Verdict]int `json:"by_source"`
	counts   string
}

func (c *resultsCmd) Run(a *app) error {
	if c.Check {
		return c.check(a)
	}
	to, err := a.labOutputs().Folder("", c.Dir, results.Kind)
	if err != nil {
		return misuse(err)
	}
	all, err := results.Rebuild(to)
	if err != nil {
		return err
	}
	var rows []recipeVerdicts
	var claims []judge.Claim
	for _, r := range all {
		rows, claims = append(rows, verdictsOf(r)), append(claims, r.Claims...)
	}
	return a.emit(rows, func() {
		for _, r := range rows {
			a.printf("%-14s %-9s %s\n", r.ID, r.Scale, r.counts)
		}
		a.printf("\n")
		a.printBySource("", claims, func(judge.Claim) {})
	})
}

func verdictsOf(r results.Recipe) recipeVerdicts {
	row := recipeVerdicts{ID: r.ID, Scale: r.Scale, Verdicts: map[judge.Verdict]int{}, BySource: map[judge.Source]map[judge.Verdict]int{}, counts: judge.CountsBySource(r.Claims)}
	for _, g := range judge.GroupBySource(r.Claims) {
		of := map[judge.Verdict]int{}
		for _, claim := range g.Claims {
			row.Verdicts[claim.Verdict]++
			of[claim.Verdict]++
		}
		row.BySource[g.Source] = of
	}
	return row
}
