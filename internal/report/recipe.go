package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"collapse/internal/chart"
	"collapse/internal/outfile"
	"collapse/internal/store"
)

//go:embed recipe.html
var recipeSource string

var recipeTemplate = template.Must(template.Must(pageTemplate.Clone()).New("recipe").Parse(recipeSource))

// Recipe is a figure or table of a paper with the runs that repeat it and the words its page needs; or, with Study, somebody's own search.
type Recipe struct {
	ID, Title     string
	Study         bool   // no paper is behind it
	Source        string // which figure of which paper
	Caption       string
	Scale         string // what scale the runs have, in words
	Runs          []Run
	Drawings      []Drawing
	Memorization  bool     // draw and judge memorization and dilation as M-D Fig. 1 does
	Searches      []Search // of settings; nil: the runs are a grid
	Claims        []Statement
	Numbers       []Number
	Substitutions []Substitution
	Notes         []string
	Commands      []string
	Compute       *Compute // what the runs have taken; nil: not said
	RunPages      bool     // write each run's own page, too, and link to it
	Generated     time.Time
}

// Number is a value the paper prints, set beside ours.
type Number struct {
	What   string  `toml:"what"`
	Paper  float64 `toml:"paper"`
	Spread float64 `toml:"spread"` // as printed; 0: none
	Unit   string  `toml:"unit"`   // "%": Ours is a share and shown as a percentage
	Ours   string  `toml:"ours"`   // an expression (see Statement)
}

// Check reports names that no run can have.
func (n Number) Check() error {
	return Statement{ID: n.What, Holds: "true", Show: []string{n.Ours}}.Check()
}

// recipePage is what the template prints.
type recipePage struct {
	Recipe
	Style      template.CSS
	Tiles      []tile
	Judged     []Claim
	Figures    []figure
	PaperTable table
	FoundTable table // of searches
	RunTable   runsTable
	Unfinished runsTable
	Config     []pair
	Made       string
}

// WriteRecipe makes the page of a recipe, dir/index.html, with the files of its figures beside it
// as Write does.
func WriteRecipe(dir string, r Recipe) (Result, error) {
	p, pictures, err := r.build()
	if err != nil {
		return Result{}, err
	}
	figures := filepath.Join(dir, "figures")
	if err := os.MkdirAll(figures, 0o777); err != nil {
		return Result{}, fmt.Errorf("report: %w", err)
	}
	if err := writePictures(figures, pictures); err != nil {
		return Result{}, err
	}
	html, err := execute(recipeTemplate, p)
	if err != nil {
		return Result{}, err
	}
	res := Result{Index: filepath.Join(dir, "index.html"), Headline: r.Title, Claims: p.Judged, Runs: len(r.Runs), Failed: len(p.Unfinished.Rows), Compute: r.Compute}
	if r.RunPages {
		if res.RunPages, err = writeRunPages(dir, r.Runs, r.Generated); err != nil {
			return Result{}, err
		}
	}
	for _, f := range pictures {
		res.Figures = append(res.Figures, filepath.Join(figures, f.ID))
	}
	return res, outfile.Write(res.Index, html)
}

// Judge is what the runs of a recipe say so far, with the figures of its page. Runs that have not finished are drawn nowhere.
func (r Recipe) Judge() (Judged, error) {
	p, pictures, err := r.build()
	return Judged{Title: r.Source, Claims: p.Judged, Figures: pictures}, err
}

func (r Recipe) build() (recipePage, []picture, error) {
	p := recipePage{Recipe: r, Style: template.CSS(chart.StyleSheet()), Config: commonSettings(r.Runs)}
	var done []*subject
	var unfinished []*Run
	for i := range r.Runs {
		if r.Runs[i].Status == store.Done {
			done = append(done, judge(&r.Runs[i]))
		} else {
			unfinished = append(unfinished, &r.Runs[i])
		}
	}
	var pictures []picture
	for i, d := range r.Drawings {
		if drawn := d.draw(r.ID+"-"+strconv.Itoa(i+1), done); len(drawn.Panels) > 0 {
			pictures = append(pictures, drawn)
		} else {
			p.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("“%s” is not drawn: no run has what it shows.", d.Title))
		}
	}
	for _, s := range r.Claims {
		c, err := s.Judge(r.Runs)
		if err != nil {
			return p, nil, err
		}
		p.Judged = append(p.Judged, c)
	}
	if r.Memorization {
		claims, drawn := memorization(r.Runs)
		p.Judged, pictures = append(p.Judged, claims...), append(pictures, drawn...)
	}
	p.Judged, pictures = append(p.Judged, searchClaims(r.Searches)...), append(pictures, searchPictures(r.ID, r.Searches, r.Runs)...)
	if len(r.Searches) > 0 {
		p.FoundTable = bestTable(r.Searches)
	}
	for _, drawn := range pictures {
		p.Figures = append(p.Figures, prepare(drawn))
	}
	var err error
	if p.PaperTable, err = numberTable(r.Numbers, done); err != nil {
		return p, nil, err
	}
	p.RunTable, p.Unfinished = runsTable{variedTable(done), r.RunPages}, runsTable{unfinishedTable(unfinished), r.RunPages}
	p.Tiles = r.tiles(done, p.Judged)
	if !r.Generated.IsZero() {
		p.Made = r.Generated.UTC().Format("2 January 2006, 15:04 UTC")
	}
	return p, pictures, nil
}

// memorization is what M-D Fig. 1 shows and claims, for every group of runs that differ by loss,
// noise and seed alone.
func memorization(runs []Run) (claims []Claim, pictures []picture) {
	gs, _ := groups(runs)
	for _, g := range gs {
		for _, p := range append(g.mainFigures(), g.otherForms()) {
			if len(p.Panels) > 0 {
				pictures = append(pictures, p)
			}
		}
		for _, c := range g.claims() {
			if len(gs) > 1 {
				c.ID, c.Statement = c.ID+g.suffix, c.Statement+" ("+g.title+")"
			}
			claims = append(claims, c)
		}
	}
	return claims, pictures
}

func (r Recipe) tiles(done []*subject, claims []Claim) []tile {
	terminal, held := 0, 0
	for _, s := range done {
		if s.terminal {
			terminal++
		}
	}
	for _, c := range claims {
		if c.Verdict == Holds {
			held++
		}
	}
	tiles := []tile{
		{fmt.Sprintf("%d of %d", held, len(claims)), "claims hold"},
		{strconv.Itoa(len(done)), "finished runs"},
		{strconv.Itoa(len(r.Runs) - len(done)), "failed or unfinished"},
		{strconv.Itoa(len(seeds(done))), "seeds"},
		{fmt.Sprintf("%d of %d", terminal, len(done)), "in the terminal phase"},
	}
	if r.Compute != nil {
		tiles = append(tiles, r.Compute.tiles()...)
	}
	return tiles
}

// numberTable sets the paper's numbers beside ours.
func numberTable(numbers []Number, done []*subject) (table, error) {
	t := table{Columns: []string{"", "the paper", "these runs", "difference"}}
	for _, n := range numbers {
		c, err := Statement{ID: n.What, Holds: "true", Show: []string{n.Ours}}.compile()
		if err != nil {
			return table{}, err
		}
		ours := ask(c.show[0], done)
		if n.Unit == "%" {
			ours.Value, ours.Lo, ours.Hi = 100*ours.Value, 100*ours.Lo, 100*ours.Hi
		}
		paper := digits(n.Paper)
		if n.Spread != 0 {
			paper += " ± " + digits(n.Spread)
		}
		row := []string{n.What, paper, "–", "–"}
		if !math.IsNaN(ours.Value) {
			row[2], row[3] = withInterval(ours), digits(ours.Value-n.Paper)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// variedTable lists the finished runs with the settings that tell them apart.
func variedTable(done []*subject) table {
	var keys []string
	for _, s := range done {
		for k, v := range s.Settings {
			if v != done[0].Settings[k] && !slices.Contains(keys, k) && !strings.HasSuffix(k, "_digest") {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	t := table{Columns: append(append([]string{"run"}, keys...), "train acc.", "test acc.", "NC1", "terminal", "seconds", "program")}
	for _, s := range done {
		row := []string{hashStart(s.Run)}
		for _, k := range keys {
			row = append(row, s.Settings[k])
		}
		number := func(split, key string, write func(float64) string) string {
			if v, ok := s.final(split, key); ok {
				return write(v)
			}
			return "–"
		}
		t.Rows = append(t.Rows, append(row, number("train", "accuracy", percent), number("test", "accuracy", percent),
			number("train", "nc1_pinv", digits), yesNo(s.terminal), seconds(s.Run), program(s.Run)))
	}
	return t
}
