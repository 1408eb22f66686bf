package cli

import (
	"path/filepath"
	"strings"
	"time"

	"collapse/internal/theory"
)

type reproduceCmd struct {
	ID    string `arg:"" optional:"" help:"Recipe, such as tb-fig1; see --list." placeholder:"ID"`
	List  bool   `help:"List the recipes."`
	Scale string `enum:"quick,paper" default:"paper" help:"quick: fewer iterations where the recipe has a quick number; paper: its own."`
	Seed  uint64 `help:"Seed of random starts and draws." placeholder:"S"`
	Out   string `help:"Directory for the page (./out/ID)." type:"path" placeholder:"DIR"`
	Open  bool   `help:"Show the page in the browser when it is ready."`
}

// reproduced is the JSON of collapse reproduce.
type reproduced struct {
	*theory.Page
	Index   string   `json:"index"`
	Figures []string `json:"figures"` // paths without extension; .svg, .png, .csv and .json exist
	Seconds float64  `json:"seconds"`
}

// recipeRow is a line of collapse reproduce --list.
type recipeRow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Paper string `json:"paper"`
}

func (c *reproduceCmd) Run(a *app) error {
	if c.List {
		return c.list(a)
	}
	if c.ID == "" {
		return usagef("name a recipe (--list shows them), such as: collapse reproduce tb-fig1")
	}
	recipe, err := theory.Load(c.ID)
	if err != nil {
		return usageError{err}
	}
	began := time.Now()
	page, err := theory.Run(a.ctx, recipe, theory.Options{Seed: c.Seed, Quick: c.Scale == "quick", Progress: func(format string, args ...any) {
		a.notef(format+"\n", args...)
	}})
	if err != nil {
		return err
	}
	out := c.Out
	if out == "" {
		out = filepath.Join("out", c.ID)
	}
	return showPage(a, page, out, began, c.Open)
}

func (c *reproduceCmd) list(a *app) error {
	var rows []recipeRow
	for _, id := range theory.List() {
		r, err := theory.Load(id)
		if err != nil {
			return err
		}
		rows = append(rows, recipeRow{r.ID, r.Title, r.Paper})
	}
	return a.emit(rows, func() {
		for _, r := range rows {
			a.printf("%-18s %-52s %s\n", r.ID, r.Title, r.Paper)
		}
	})
}

// showPage writes a page and prints what it says.
func showPage(a *app, page *theory.Page, dir string, began time.Time, open bool) error {
	index, err := page.Write(dir)
	if err != nil {
		return err
	}
	result := reproduced{Page: page, Index: index, Figures: []string{}, Seconds: time.Since(began).Seconds()}
	for _, f := range page.Figures {
		result.Figures = append(result.Figures, filepath.Join(dir, "figures", f.ID))
	}
	if err := a.emit(result, func() {
		a.printf("%s: %s\n\n", page.ID, page.Title)
		for _, claim := range page.Claims {
			a.printf("%-14s %s\n%-14s %s\n", claim.Verdict, claim.Statement, "", claim.Evidence)
		}
		if len(page.Notes) > 0 {
			a.printf("\n%s\n", strings.Join(page.Notes, "\n"))
		}
		a.printf("\n%s  (%.1f s)\n", index, result.Seconds)
	}); err != nil {
		return err
	}
	if open {
		return openInBrowser(index)
	}
	return nil
}
