package cli

import (
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/results"
	"collapse.example/collapse/internal/version"
)

// kept is what a folder of results keeps of what was found.
func kept(found findings.RecipeFindings, choice recipe.Choice, began time.Time) results.Recipe {
	out := results.Recipe{ID: found.ID, Title: found.Title, Paper: found.Source, Scale: choice.Scale, Choice: chosenOf(choice), Command: strings.Join(found.Commands, "; "), Claims: found.Judged,
		Numbers: found.Compared, Notes: found.Notes, Runs: len(found.Runs), Failed: len(found.Unfinished.Rows), Partly: found.Partly, Program: version.Version, Machine: version.CPU(), Date: began}
	if len(found.Runs) > 0 {
		out.Machine = machinesOf(found.Runs)
	}
	out.Changed = []results.Change{}
	for _, s := range found.Substitutions {
		out.Changed = append(out.Changed, results.Change(s))
	}
	for _, p := range found.Pictures {
		out.Figures = append(out.Figures, p.Figure)
	}
	if found.Compute != nil {
		out.CoreHours = found.Compute.CoreHours
	}
	return out
}

// chosenOf is a choice as a folder of results keeps it.
func chosenOf(c recipe.Choice) *results.Choice {
	return &results.Choice{Scale: c.Scale, Preset: c.Preset, Set: c.Set, Seeds: c.Seeds, BuiltIn: c.BuiltIn, Recipes: c.Recipes}
}

// machinesOf are the processors and devices that computed runs. PyTorch names its device in what the program records as the kernel.
func machinesOf(runs []judge.Run) string {
	var list []string
	for _, r := range runs {
		name := r.Program.CPU
		if strings.HasPrefix(r.Program.Kernel, "torch ") {
			name = r.Program.Kernel
		}
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}
