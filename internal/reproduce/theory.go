package reproduce

import (
	"context"
	"fmt"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryrun"
)

// Theory runs a recipe that needs no training. The seed is of its random starts and draws.
func Theory(ctx context.Context, r *recipe.Recipe, c recipe.Choice, seed uint64, progress func(format string, args ...any)) (findings.RecipeFindings, error) {
	quick := c.Scale == "quick"
	found, err := theoryrun.Run(ctx, r, theoryrun.Options{Seed: seed, Quick: quick, Progress: progress})
	if err != nil {
		return findings.RecipeFindings{}, err
	}
	command := fmt.Sprintf("collapse reproduce %s --seed %d", r.ID, seed)
	if quick {
		command += " --scale quick"
	}
	return findings.Theory{ID: r.ID, Title: r.Title, Source: r.Paper, Caption: r.Caption, Command: command + c.RecipesFlag(), Claims: found.Claims, Facts: found.Facts,
		Notes: append(r.Notes(), found.Notes...), Figures: found.Figures}.Findings(), nil
}
