package results

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/judge"
)

// scales are the names of scales, the smallest first. A folder of results that is called so lies beside those of other scales.
var scales = []string{"quick", "standard", "paper"}

// smallerOf reads the results of the next smaller scale, from the folder of its name beside that of larger ones: by recipe. Most folders have none.
func smallerOf(dir string, all []Recipe) (name string, found map[string]Recipe) {
	found = map[string]Recipe{}
	at := slices.Index(scales, filepath.Base(dir))
	for at--; at >= 0 && len(found) == 0; at-- {
		name = scales[at]
		for _, r := range all {
			small, _, err := read(filepath.Join(filepath.Dir(dir), name, r.ID+suffix), false)
			if err == nil && small != nil && small.Scale == name {
				found[r.ID] = *small
			}
		}
	}
	return name, found
}

// besideSmaller is the page that sets results beside those of a smaller scale; "" if no recipe has both.
func besideSmaller(all []Recipe, name string, smaller map[string]Recipe) string {
	if len(smaller) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Two scales\n\nEach recipe that has results here beside its results at scale %s. [Claims and numbers](README.md).\n", name)
	for _, r := range all {
		if small, both := smaller[r.ID]; both {
			b.WriteString(r.beside(small, name))
		}
	}
	return b.String()
}

// beside is the section of a recipe.
func (r Recipe) beside(small Recipe, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s (%s)\n\n| | scale %s | scale %s |\n|---|---|---|\n", cell(r.Title), cell(r.Paper), r.ID, r.Scale, name)
	row := func(what, here, there string) { fmt.Fprintf(&b, "| %s | %s | %s |\n", what, here, there) }
	row("runs", finished(r.Runs, r.Failed), finished(small.Runs, small.Failed))
	row("core hours", hours(r), hours(small))
	row("machine", cell(r.Machine), cell(small.Machine))
	if len(r.Figures) > 0 && len(small.Figures) > 0 {
		row("figure", picture(r, ""), picture(small, "../"+name+"/"))
	}
	for _, c := range r.Claims {
		said := "“" + cell(c.Quote) + "” (" + cell(c.Place) + ")"
		if c.Quote == "" {
			said = cell(whose(c))
		}
		there := "not asked"
		if i := slices.IndexFunc(small.Claims, func(s judge.Claim) bool { return s.ID == c.ID }); i >= 0 {
			there = verdict(small.Claims[i])
		}
		row(cell(c.Statement)+": "+said, verdict(c), there)
	}
	b.WriteString(changes(r.Scale, r.Changed) + changes(name, small.Changed))
	return b.String()
}

func picture(r Recipe, folder string) string {
	return fmt.Sprintf("![%s](%s%s)", cell(r.Figures[0].Title), folder, figureName(r.ID))
}

// verdict is a claim's, with what it rests on.
func verdict(c judge.Claim) string {
	effect, seeds := effectOf(c)
	if seeds != "" {
		effect += ", " + seeds + " seeds"
	}
	return fmt.Sprintf("**%s**: %s", c.Verdict, cell(effect))
}

// changes says what is not as in the paper.
func changes(scale string, changed []Change) string {
	if changed == nil {
		return fmt.Sprintf("\nScale %s: what departs from the paper was not recorded.\n", scale)
	}
	if len(changed) == 0 {
		return fmt.Sprintf("\nScale %s: no setting departs from the paper's.\n", scale)
	}
	var b strings.Builder
	what := "What is not as in the paper"
	if !slices.ContainsFunc(changed, func(c Change) bool { return !c.Part }) {
		what = "What part was computed"
	}
	fmt.Fprintf(&b, "\n%s at scale %s:\n\n| | the paper | these runs | why |\n|---|---|---|---|\n", what, scale)
	for _, c := range changed {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.What), cell(c.Paper), cell(c.Here), cell(c.Why))
	}
	return b.String()
}
