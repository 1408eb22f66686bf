package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/results"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/internal/version"
)

type reproduceCmd struct {
	writesFolder

	ID       string        `arg:"" optional:"" complete:"recipes" help:"Recipe, such as tb-fig1; see --list." placeholder:"ID"`
	Recipes  string        `help:"Folder of recipes of your own, ID.toml each, instead of those of the papers." type:"path" placeholder:"DIR"`
	List     bool          `help:"List the recipes."`
	All      bool          `help:"Every recipe, and one page over all of them; finished recipes are not repeated."`
	Scale    string        `enum:"quick,standard,paper" default:"quick" help:"Scale: quick takes minutes on two cores, standard decides most claims on them, paper uses the paper's own sizes." placeholder:"NAME"`
	Preset   string        `help:"Preset: another setting of the recipe; code is what the released code does. None by default." placeholder:"NAME"`
	Set      []string      `sep:"none" complete:"settings" help:"Override a setting: of all runs, or a list of the grid, as in --set data.noise=[0,0.2], or [[60,120],[80]] for a setting that takes lists. May be repeated." placeholder:"SECTION.KEY=VALUE"`
	Seeds    positive      `help:"Number of seeds: for trained networks; default: the recipe's." placeholder:"N"`
	Seed     uint64        `help:"Seed: for random starts and draws in theory recipes." default:"0" placeholder:"S"`
	BuiltIn  bool          `help:"Train on the built-in images instead of the recipe's data sets; the page says so."`
	DataDir  string        `help:"Folder that holds the data sets; default: $COLLAPSE_DATA." type:"existingdir" placeholder:"DIR"`
	Budget   time.Duration `help:"Compute for so long at most, each setting's first seed before any second, and say what is found so far and what is missing, and the same call goes on; default: until all is done." placeholder:"12m"`
	DryRun   bool          `help:"Say what would be computed and what it would take, here, on 64 cores and on a GPU, and stop; with --all, for every recipe."`
	Again    bool          `help:"Compute again what was computed before, with --all: remake every page."`
	Out      string        `help:"Where to write: a folder for the page; default: ./out/ID, with --all ./out/all, with --json no page." type:"path" placeholder:"DIR"`
	Open     bool          `help:"Show the page in the browser when it is ready."`
	Results  string        `help:"Folder of results, such as docs/results/standard: also write what was found there, as JSON, a table and figures for a repository." type:"path" placeholder:"DIR"`
	RunPages bool          `help:"Also write each run's own page (1 to 5 MB each), and link to it."`
	whereFlags

	until       time.Time       // the end of the budget
	index, kept *outfile.Folder // of the page, with --all over all recipes; of results, nil for none
}

// effects separates recipes that train networks from theory, and making pages from listing and estimating.
func (c *reproduceCmd) effects() []effect {
	book, err := c.book()
	if err != nil { // Run says so
		return nil
	}
	trains, pure := c.All || book.Trains(c.ID), c.All || !book.Trains(c.ID)
	return append([]effect{
		{"but list recipes", !c.List, "is about one recipe, and --list lists them all"},
		{dryRunHas + " again out open results run-pages seed", !c.DryRun, "is about computing, and --dry-run computes nothing"},
		{"budget", !c.All && !c.DryRun, "is for computing one recipe"},
		{"again", c.All, "goes with --all; one recipe's page is always made, and its runs are kept"},
		{"open", !c.All, "is for one page, and --all makes many"},
		{"budget preset set seeds built-in data-dir run-pages workers " + dryRunHas, trains, "goes with recipes that train networks; " + c.ID + " trains none"},
		{"seed", pure, "goes with recipes of theory; trained networks have --seeds"},
	}, c.whereFlags.effects()...)
}

// reproduced is the JSON of collapse reproduce, and what --all saves next to a page.
type reproduced struct {
	page.IndexEntry
	Facts    []theoryfig.Fact  `json:"facts,omitempty"`
	Departs  string            `json:"departs,omitempty"` // what is not as in the paper
	Notes    []string          `json:"notes,omitempty"`
	Taken    recipe.Found      `json:"settings_from,omitempty"` // what a search found for the runs, cell by cell
	Runs     int               `json:"runs"`
	Failed   int               `json:"failed"`
	Figures  []string          `json:"figures"` // paths without extension; .svg, .png, .csv and .json exist
	Program  string            `json:"program"`
	Compute  *findings.Compute `json:"compute,omitempty"`
	RunPages []string          `json:"run_pages,omitempty"` // of single runs, with --run-pages
}

// recipeRow is a line of collapse reproduce --list.
type recipeRow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Paper string `json:"paper"`
	Kind  string `json:"kind"` // theory or training
}

func (c *reproduceCmd) Run(a *app) error {
	book, err := c.book()
	if err != nil {
		return err
	}
	if err := c.folders(a); err != nil {
		return err
	}
	if c.Budget < 0 {
		return usagef("--budget is %v; wanted a time such as 12m", c.Budget)
	}
	if c.Budget > 0 {
		c.until = time.Now().Add(c.Budget)
	}
	if !c.List && !c.DryRun {
		defer c.beside(a)()
	}
	switch {
	case c.List:
		return c.list(a, book)
	case c.All && c.ID != "":
		return usagef("--all runs every recipe: leave out %s", c.ID)
	case c.DryRun && c.All:
		return c.dryRunAll(a, book)
	case c.DryRun && c.ID != "":
		return c.dryRun(a)
	case c.All:
		return c.all(a, book)
	case c.ID == "":
		return usagef("name a recipe (--list shows them), such as: collapse reproduce tb-fig1")
	}
	result, err := c.one(a, c.ID)
	if stopped := (*coordinator.StoppedError)(nil); errors.As(err, &stopped) && a.ctx.Err() != nil { // resuming its study alone would make no page
		return fmt.Errorf("%w: %d of %d runs are finished; continue with: %s", a.ctx.Err(), stopped.Done, stopped.Runs, a.commandLine())
	}
	if err != nil {
		return err
	}
	return a.made(result, func() { result.print(a) }, result.Index, c.Open)
}

// folders checks the folders that will be written, before hours of work.
func (c *reproduceCmd) folders(a *app) error {
	if c.List || c.DryRun || c.ID == "" && !c.All {
		return nil
	}
	dir, ids := c.dir(c.ID), []string{c.ID}
	book, err := c.book()
	if err != nil {
		return err
	}
	if c.All {
		dir, ids = c.allDir(), book.IDs()
	}
	o := a.labOutputs()
	if c.paged(a) {
		if c.index, err = pageFolder(o, dir); err != nil {
			return err
		}
	}
	c.kept, err = resultsFolder(o, c.Results, ids...)
	return err
}

// folder is that of a recipe's page.
func (c *reproduceCmd) folder(a *app, id string) (*outfile.Folder, error) {
	if !c.All {
		return c.index, nil
	}
	return pageFolder(a.labOutputs(), c.dir(id))
}

// paged says that pages are wanted: --json alone prints what was found, and makes none.
func (c *reproduceCmd) paged(a *app) bool {
	return !a.flags.JSON || c.All || c.Out != "" || c.Open || c.RunPages
}

// one computes a recipe of either kind, and makes its page if one is wanted.
func (c *reproduceCmd) one(a *app, id string) (result reproduced, err error) {
	began := time.Now()
	r, err := c.load(id)
	if err != nil {
		return result, err
	}
	to, err := c.folder(a, id)
	if err != nil {
		return result, err
	}
	found, err := c.find(a, r)
	if err != nil {
		return result, err
	}
	if result, err = c.write(a, found, to); err != nil {
		return result, err
	}
	result.Seconds, result.Scale, result.Program = time.Since(began).Seconds(), c.Scale, version.Version
	if c.kept != nil {
		err = results.Save(c.kept, kept(found, c.choice(), began))
	}
	return result, err
}

// write makes the page of what was found, unless to is nil, and sums both up.
func (c *reproduceCmd) write(a *app, found findings.RecipeFindings, to *outfile.Folder) (reproduced, error) {
	result := reproduced{IndexEntry: page.IndexEntry{ID: found.ID, Title: found.Title, Paper: found.Source, Claims: found.Judged}, Facts: found.Facts, Departs: found.Departs(),
		Notes: found.Notes, Taken: found.Taken, Runs: len(found.Runs), Failed: len(found.Unfinished.Rows), Figures: []string{}, Compute: found.Compute}
	if to == nil {
		return result, nil
	}
	if found.RunPages {
		notePages(a, found.Runs)
	}
	defer a.onlyComputes()()
	made, err := page.WriteRecipe(to, found)
	if err != nil {
		return result, misuse(err)
	}
	result.Index, result.RunPages = made.Index, made.RunPages
	if result.Figures = append(result.Figures, made.Figures...); len(result.Figures) > 0 {
		result.Picture = result.Figures[0] + ".svg"
	}
	return result, nil
}

// notePages announces a wait: drawing a run's page takes about a second.
func notePages(a *app, runs []judge.Run) { a.notef("writing the pages of %d runs\n", len(runs)) }

func (r reproduced) print(a *app) {
	a.printf("%s: %s\n\n", r.ID, r.Title)
	if r.Departs != "" {
		a.printf("%s\n\n", r.Departs)
	}
	a.printClaims(r.Claims)
	for _, note := range r.Notes {
		a.printf("\n%s\n", note)
	}
	if r.Failed > 0 {
		a.printf("\n%d of %d runs failed, or have not ended yet\n", r.Failed, r.Runs)
	}
	a.printf("\n%s  (%.1f s)\n", r.Index, r.Seconds)
}

// book is where recipes are.
func (c *reproduceCmd) book() (*recipe.Book, error) {
	b, err := recipe.BookIn(c.Recipes)
	if err != nil {
		return nil, usageError{err}
	}
	return b, nil
}

func (c *reproduceCmd) load(id string) (*recipe.Recipe, error) {
	book, err := c.book()
	if err != nil {
		return nil, err
	}
	r, err := book.Load(id)
	var unknown *recipe.UnknownError
	if errors.As(err, &unknown) {
		err = usagef("%w (--list shows what there is)", err)
	}
	return r, err
}

func (c *reproduceCmd) list(a *app, book *recipe.Book) error {
	var rows []recipeRow
	for _, h := range book.List() {
		kind := "theory"
		if h.Trains() {
			kind = recipe.KindTraining
		}
		rows = append(rows, recipeRow{h.ID, h.Title, h.Paper, kind})
	}
	return a.emit(rows, func() {
		for _, r := range rows {
			a.printf("%-18s %-9s %-52s · %s\n", r.ID, r.Kind, r.Title, r.Paper)
		}
	})
}

// dir is the folder for the page of a recipe.
func (c *reproduceCmd) dir(id string) string {
	if c.All {
		return filepath.Join(c.allDir(), id)
	}
	return cmp.Or(c.Out, filepath.Join("out", id))
}
