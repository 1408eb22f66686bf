package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
)

// Recipe is a figure or table of a paper with the runs that repeat it and the text of its page; or, with Study, a user's own search.
type Recipe struct {
	ID, Title     string
	Study         bool   // not from a paper
	Source        string // which figure of which paper
	Caption       string
	Scale         string // the scale of the runs, in words
	Runs          []judge.Run
	Drawings      []figure.Drawing
	Tables        []judge.Table
	Memorization  bool           // draw and judge memorization and dilation as in M-D Fig. 1
	Searches      []judge.Search // of settings; nil: the runs are a grid
	Claims        []judge.Statement
	Numbers       []judge.Number
	Printed       *judge.Printed // the claim that the numbers equal the paper's; nil: none
	PapersScale   bool           // the runs have the paper's scale
	Substitutions []recipe.Substitution
	Taken         recipe.Found // settings that a search found for these runs; nil: none
	Notes         []string
	Commands      []string
	Compute       *Compute // what the runs have cost; nil: not shown
	RunPages      bool     // also write each run's own page, and link to it
	Generated     time.Time
}

// OfRecipe combines a recipe's text, figures and claims with its runs.
func OfRecipe(r *recipe.Recipe, c recipe.Choice, runs []judge.Run) (Recipe, error) {
	departures, err := r.Departures(c)
	return Recipe{ID: r.ID, Title: r.Title, Source: r.Paper, Caption: r.Caption, Scale: c.Describe(len(runs)), Runs: runs,
		Drawings: r.Drawings, Memorization: r.Memorization, Claims: r.Claims, Numbers: r.Numbers, Printed: r.Printed, PapersScale: len(departures) == 0, Substitutions: departures,
		Commands: []string{c.Command(r.ID)}, Notes: r.Notes()}, err
}

// recipePage is the template's data.
type recipePage struct {
	Recipe
	shared
	Trains     bool // the numbers come from trained networks, not from theory
	Facts      []theoryfig.Fact
	Judged     []judge.Claim
	Figures    []shown
	PaperTable format.Table
	Compared   []judge.Comparison // what PaperTable shows
	FoundTable format.Table       // of searches
	Tabled     []tableShown
}

// Departs says what is not as in the paper.
func (p recipePage) Departs() string { return recipe.Departs(p.Substitutions) }

// WriteRecipe makes the page of a recipe, index.html in a folder, with the files of its figures, as Write
// does.
func WriteRecipe(to *outfile.Folder, r Recipe) (res Result, err error) {
	err = to.Write(func(files *outfile.Files) error {
		res, err = r.write(files)
		return err
	})
	return res, err
}

func (r Recipe) write(files *outfile.Files) (Result, error) {
	p, pictures, err := r.build()
	if err != nil {
		return Result{}, err
	}
	figures, err := writePictures(files, pictures)
	if err != nil {
		return Result{}, err
	}
	rest, err := arrange(func() (int, error) { html, err := execute("recipe", p); return len(html), err }, each(p.Figures), nil)
	if err != nil {
		return Result{}, err
	}
	more, err := writeMore(files, r.Title, p.Made, rest)
	if err != nil {
		return Result{}, err
	}
	html, err := execute("recipe", p)
	if err != nil {
		return Result{}, err
	}
	tables, err := writeTables(files, p.Tabled)
	if err != nil {
		return Result{}, err
	}
	res := Result{Tables: tables, Index: files.Path(indexName), Headline: r.Title, Claims: p.Judged, Runs: len(r.Runs), Failed: len(p.Unfinished.Rows), Compute: r.Compute, More: more, Figures: figures, Judged: p.judged(pictures)}
	if r.RunPages {
		if res.RunPages, err = writeRunPages(files, r.Runs, r.Generated); err != nil {
			return Result{}, err
		}
		if err := judge.ReadError(r.Runs); err != nil { // these pages show every measure
			return Result{}, err
		}
	}
	return res, files.PutBytes(indexName, html)
}

// Judge is what the runs of a recipe show so far, with the figures of its page. Unfinished runs are not drawn.
func (r Recipe) Judge() (Judged, error) {
	p, pictures, err := r.build()
	return p.judged(pictures), err
}

func (p recipePage) judged(pictures []figure.Picture) Judged {
	return Judged{Title: p.Source, Claims: p.Judged, Numbers: p.Compared, Figures: pictures}
}

func (r Recipe) build() (recipePage, []figure.Picture, error) {
	p := recipePage{Recipe: r, Trains: true, shared: shared{Config: commonSettings(r.Runs)}}
	done := judge.Finished(r.Runs)
	var pictures []figure.Picture
	if r.Memorization { // the paper's figure first, then the recipe's other figures
		pictures = figure.Memorization(r.Runs)
	}
	for i, d := range r.Drawings {
		if drawn := d.Draw(r.ID+"-"+strconv.Itoa(i+1), done); len(drawn.Panels) > 0 {
			pictures = append(pictures, drawn)
		} else {
			p.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("“%s” is not drawn: no run has what it shows.", d.Title))
		}
	}
	pictures = append(pictures, figure.OfSearches(r.ID, r.Searches, r.Runs)...)
	if len(r.Searches) > 0 {
		p.FoundTable = figure.FoundInSearches(r.Searches)
	}
	for _, drawn := range pictures {
		p.Figures = append(p.Figures, prepare(drawn))
	}
	p.Tabled, p.Notes = tabulate(r.Tables, r.Runs, p.Notes)
	answers, err := judge.Questions{Claims: r.Claims, Numbers: r.Numbers, Printed: r.Printed, PapersScale: r.PapersScale, Memorization: r.Memorization, Searches: r.Searches}.Judge(r.Runs)
	if err != nil {
		return p, nil, err
	}
	p.Judged, p.Compared, p.PaperTable = answers.Claims, answers.Numbers, numberTable(answers.Numbers)
	p.RunTable, p.Unfinished = runsTable{variedTable(done), r.RunPages}, runsTable{unfinishedTable(r.Runs), r.RunPages}
	p.Tiles = r.tiles(done, p.Judged)
	p.TakenTable = takenTable(r.Taken)
	p.Scale = strings.TrimSpace(p.Scale + " " + WhatRan(r.Runs))
	p.Made = format.Time(r.Generated)
	return p, pictures, judge.ReadError(r.Runs)
}

func (r Recipe) tiles(done []*judge.JudgedRun, claims []judge.Claim) []format.Tile {
	terminal := 0
	for _, s := range done {
		if s.Terminal {
			terminal++
		}
	}
	tiles := append(heldTiles(claims),
		tile(strconv.Itoa(len(done)), "finished runs"),
		tile(strconv.Itoa(len(r.Runs)-len(done)), "failed or unfinished"),
		tile(strconv.Itoa(len(judge.Seeds(done))), "seeds"),
		tile(fmt.Sprintf("%d of %d", terminal, len(done)), "in the terminal phase"))
	if r.Compute != nil {
		tiles = append(tiles, r.Compute.tiles()...)
	}
	return tiles
}

// numberTable puts the paper's numbers next to ours.
func numberTable(numbers []judge.Comparison) format.Table {
	t := format.Table{Columns: []string{"", "the paper", "these runs", "difference"}}
	for _, n := range numbers {
		t.Rows = append(t.Rows, []string{n.Placed(), n.Paper, n.Ours, n.Difference})
	}
	return t
}

// variedTable lists the finished runs with the settings in which they differ.
func variedTable(done []*judge.JudgedRun) format.Table {
	var keys []string
	for _, s := range done {
		for k, v := range s.Settings {
			if v != done[0].Settings[k] && !slices.Contains(keys, k) && !strings.HasSuffix(k, "_digest") {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	t := format.Table{Columns: append(append([]string{"run"}, keys...), "train acc.", "test acc.", "NC1", "terminal", "seconds", "program")}
	for _, s := range done {
		row := []string{hashStart(s.Run)}
		for _, k := range keys {
			row = append(row, s.Settings[k])
		}
		number := func(split, key string, write func(float64) string) string {
			if v, ok := s.Last(split, key); ok {
				return write(v)
			}
			return "–"
		}
		t.Rows = append(t.Rows, append(row, number("train", "accuracy", format.Percent), number("test", "accuracy", format.Percent),
			number("train", "nc1_pinv", format.Digits), yesNo(s.Terminal), seconds(s.Run), program(s.Run)))
	}
	return t
}
