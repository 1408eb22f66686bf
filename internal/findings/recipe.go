package findings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
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
	File          string // of a study that has one, its text
	Commands      []string
	Compute       *Compute // what the runs have cost; nil: not shown
	RunPages      bool     // each run has a page of its own, too
	Generated     time.Time
}

// OfRecipe combines a recipe's text, figures and claims with its runs.
func OfRecipe(r *recipe.Recipe, c recipe.Choice, runs []judge.Run) (Recipe, error) {
	departures, err := r.Departures(c)
	return Recipe{ID: r.ID, Title: r.Title, Source: r.Paper, Caption: r.Caption, Scale: c.Describe(len(runs)), Runs: runs,
		Drawings: r.Drawings, Memorization: r.Memorization, Claims: r.Claims, Numbers: r.Numbers, Printed: r.Printed, PapersScale: len(departures) == 0, Substitutions: departures,
		Commands: []string{c.Command(r.ID)}, Notes: r.Notes()}, err
}

// RecipeFindings are what the runs of a recipe show, or what theory computed for it.
type RecipeFindings struct {
	Recipe
	Common
	Trains     bool // the numbers come from trained networks, not from theory
	Partly     bool // a budget was spent before all runs had ended
	Facts      []theoryfig.Fact
	Judged     []judge.Claim
	Pictures   []figure.Picture
	PaperTable format.Table
	Compared   []judge.Comparison // what PaperTable shows
	FoundTable format.Table       // of searches
	FoundAbout string             // what its columns are
	Tabled     []judge.Tabled
}

// Departs says what is not as in the paper.
func (f RecipeFindings) Departs() string { return recipe.Departs(f.Substitutions) }

// SoFar are the verdicts, pictures and tables alone, as pages of unfinished studies show them.
func (f RecipeFindings) SoFar() Judged {
	return Judged{Title: f.Source, Claims: f.Judged, Numbers: f.Compared, Figures: f.Pictures, Tables: f.Tabled, Notes: f.Notes}
}

// Judge says what the runs of a recipe show. Unfinished runs are not drawn.
func (r Recipe) Judge() (RecipeFindings, error) {
	f := RecipeFindings{Recipe: r, Trains: true, Common: Common{Config: commonSettings(r.Runs), Words: saysCollapse(r.Runs)}}
	done := judge.Finished(r.Runs)
	if r.Memorization { // the paper's figure first, then the recipe's other figures
		f.Pictures = figure.Memorization(r.Runs)
	}
	for i, d := range r.Drawings {
		if picture := d.Draw(r.ID+"-"+strconv.Itoa(i+1), done); len(picture.Panels) > 0 {
			f.Pictures = append(f.Pictures, picture)
		} else {
			f.Notes = append(slices.Clone(f.Notes), fmt.Sprintf("“%s” is not drawn. %s", d.Title, strings.Join(picture.Notes, " ")))
		}
	}
	f.Pictures = append(f.Pictures, figure.OfSearches(r.ID, r.Searches, r.Runs)...)
	if slices.ContainsFunc(r.Searches, func(s judge.Search) bool { return s.Best >= 0 }) {
		f.FoundTable, f.FoundAbout = figure.FoundInSearches(r.Searches)
	}
	f.Tabled, f.Notes = tabulate(r.Tables, r.Runs, f.Notes)
	answers, err := judge.Questions{Claims: r.Claims, Numbers: r.Numbers, Printed: r.Printed, PapersScale: r.PapersScale, Memorization: r.Memorization, Searches: r.Searches}.Judge(r.Runs)
	if err != nil {
		return f, err
	}
	f.Judged, f.Compared, f.PaperTable = answers.Claims, answers.Numbers, numberTable(answers.Numbers)
	f.RunTable, f.Unfinished, f.TakenTable = variedTable(done), unfinishedTable(r.Runs), takenTable(r.Taken)
	f.Tiles = r.tiles(done, f.Judged)
	f.Scale = strings.TrimSpace(f.Scale + " " + WhatRan(r.Runs, f.Judged))
	if r.RunPages {
		f.OfRuns = eachRun(r.Runs, r.Generated)
	}
	return f, judge.ReadError(r.Runs)
}

// tabulate fills tables from runs. One that cannot be filled is named in the notes.
func tabulate(tables []judge.Table, runs []judge.Run, notes []string) (filled []judge.Tabled, said []string) {
	filled, said = Tabulate(tables, runs)
	return filled, slices.Concat(notes, said)
}

// Tabulate fills tables from runs. notes say which cannot be filled, and why.
func Tabulate(tables []judge.Table, runs []judge.Run) (filled []judge.Tabled, notes []string) {
	for _, t := range tables {
		table, err := t.Fill(runs)
		if err != nil {
			notes = append(notes, format.Capital(err.Error())+".")
			continue
		}
		filled = append(filled, table)
	}
	return filled, notes
}

// seeded are the runs with a seed: trials of a script need have none.
func seeded(runs []*judge.JudgedRun) []*judge.JudgedRun {
	return slices.DeleteFunc(slices.Clone(runs), func(s *judge.JudgedRun) bool { return s.Kind == store.Script && s.Settings["run.seed"] == "" })
}

func (r Recipe) tiles(done []*judge.JudgedRun, claims []judge.Claim) []format.Tile {
	terminal := 0
	for _, s := range done {
		if s.Terminal {
			terminal++
		}
	}
	tiles := append(HeldTiles(claims),
		counted(len(done), "finished run", "finished runs"),
		tile(strconv.Itoa(len(r.Runs)-len(done)), "failed or unfinished"))
	if seeds := judge.Seeds(seeded(done)); len(seeds) > 0 {
		tiles = append(tiles, counted(len(seeds), "seed", "seeds"))
	}
	if !allScripts(r.Runs) { // of which nobody knows
		tiles = append(tiles, tile(fmt.Sprintf("%d of %d", terminal, len(done)), "in the terminal phase"))
	}
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
	if ofScripts(done) {
		return scriptTable(done, variedKeys(done))
	}
	keys := variedKeys(done)
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

// variedKeys are the settings in which runs differ, sorted.
func variedKeys(runs []*judge.JudgedRun) (keys []string) {
	values := map[string]map[string]bool{}
	for _, s := range runs {
		for k := range s.Settings {
			values[k] = map[string]bool{}
		}
	}
	for k, seen := range values {
		for _, s := range runs { // a run that lacks a setting differs from those that have it
			seen[s.Settings[k]] = true
		}
		if len(seen) > 1 && !strings.HasSuffix(k, "_digest") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// ofScripts reports whether the runs are of somebody's own script, as those of a search may be.
func ofScripts(runs []*judge.JudgedRun) bool { return len(runs) > 0 && runs[0].Kind == store.Script }
