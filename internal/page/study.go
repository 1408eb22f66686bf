// Package page turns saved results into pages: one self-contained HTML file per study, run, recipe or measurement, with every
// figure beside it as SVG, PNG, CSV and JSON. It reads only what the lab holds, so a page can be remade from saved results
// long after the training.
//
// study.go, recipe.go, measured.go and index.go are the kinds of page, each with its HTML file; parts.html is what they share,
// templates.go fills them, write.go writes their files. Package judge decides what is said, package figure what is drawn.
package page

import (
	"fmt"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
)

// Study is a set of runs with the text of their page. Only Runs must be set.
type Study struct {
	ID            string // identifies the study inside the page (data-study); may be ""
	Title         string // "" becomes a title that names the data
	Runs          []judge.Run
	Substitutions []recipe.Substitution // every departure from the paper's setting
	Commands      []string              // exact commands that repeat the study
	Notes         []string              // printed as they are
	Generated     time.Time             // when the page was made; zero leaves it out (same runs, same bytes)
	FeatureRuns   []string              // hashes (or prefixes) of runs whose features are drawn; nil chooses
	Compute       *Compute              // what the runs have cost; nil: not shown
	RunPages      bool                  // also write each run's own page, and link to it
	Claims        []judge.Statement     // what the study asks
	Drawings      []figure.Drawing      // and draws
	Tables        []judge.Table         // and tabulates
	Beside        *Beside               // an earlier result to be read next to the runs; nil: none
}

// Beside is a result of many runs that were computed earlier, elsewhere, which a page shows below its own runs' and apart from them.
type Beside struct {
	Runs    int
	Scale   string
	Command string // computes them anew
	Program string // version that computed them
	On      time.Time
	Claims  []judge.Claim
	Figure  chart.Figure
}

// Says is what the earlier runs say, in a sentence.
func (b *Beside) Says() string { return Tally(b.Claims, fmt.Sprintf("%d earlier runs", b.Runs)) }

// Result is the content of a page, for commands that print it.
type Result struct {
	Index      string        `json:"index"`                  // path of the page
	Tables     []string      `json:"tables,omitempty"`       // paths of the study's tables, without .tex and .csv
	More       string        `json:"more_figures,omitempty"` // path of the second page, with the figures that do not fit on the first
	Headline   string        `json:"headline"`
	Facts      []string      `json:"facts"` // the numbers behind the headline, a line for each loss
	Claims     []judge.Claim `json:"claims"`
	Runs       int           `json:"runs"`
	Failed     int           `json:"failed"`     // runs that ended in an error or did not end
	Degenerate int           `json:"degenerate"` // recipes: runs with one class mean nearly at zero
	Terminal   int           `json:"terminal"`   // runs with train accuracy ≥ 99.9 % on observed labels
	Figures    []string      `json:"figures"`    // paths without extension; .svg, .png, .csv and .json exist
	Compute    *Compute      `json:"compute,omitempty"`
	RunPages   []string      `json:"run_pages,omitempty"` // paths of the runs' own pages, in the order of their table
	Judged     Judged        `json:"-"`                   // of a recipe: what the page shows
}
