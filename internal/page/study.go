// Package page prints what was found as pages: one self-contained HTML file per study, run, recipe or measurement, with every
// figure beside it as SVG, PNG, CSV and JSON. It judges nothing: a page says what package findings returns.
//
// study.go, recipe.go, measured.go and index.go are the kinds of page, each with its HTML file; parts.html is what they share,
// templates.go fills them, write.go writes their files.
package page

import (
	"html/template"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
)

// Written are the paths of what a page consists of.
type Written struct {
	Index    string   `json:"index"`                  // of the page
	Tables   []string `json:"tables,omitempty"`       // of the study's tables, without .tex and .csv
	More     string   `json:"more_figures,omitempty"` // of the second page, with the figures that do not fit on the first
	Figures  []string `json:"figures"`                // without extension; .svg, .png, .csv and .json exist
	RunPages []string `json:"run_pages,omitempty"`    // of the runs' own pages, in the order of their table
}

// Result is the content of a page about runs, for commands that print it.
type Result struct {
	Written
	Headline   string            `json:"headline"`
	Facts      []string          `json:"facts"` // the numbers behind the headline, a line for each loss
	Claims     []judge.Claim     `json:"claims"`
	Runs       int               `json:"runs"`
	Failed     int               `json:"failed"`     // runs that ended in an error or did not end
	Degenerate int               `json:"degenerate"` // runs with one class mean nearly at zero
	Terminal   int               `json:"terminal"`   // runs with train accuracy ≥ 99.9 % on observed labels
	Compute    *findings.Compute `json:"compute,omitempty"`
	Left       []string          `json:"left,omitempty"` // what the study's file asks for and is not drawn or filled, with the reason
}

// studyPage is the template's data. The template escapes every string in it, except SVG and CSS made by
// package chart.
type studyPage struct {
	findings.StudyFindings
	shared
	Groups   []section
	Map      *shown    // of the settings, where there are more than have a section
	Asked    *asked    // nil: the study asks nothing of its own
	Together *together // of a script's runs that differ in their settings
	Beside   *besideShown
}

// section is one group of the page.
type section struct {
	findings.Group
	Main, More, Features []shown
	Reel                 *reel // features epoch by epoch; nil: none
	Epochs               []epochs
}

// epochs is the foldable part for one noise level.
type epochs struct {
	Title   string
	Open    bool
	Figures []shown
}

// asked is what the study's own claims and drawings give.
type asked struct {
	*findings.Asked
	Tables  []tableShown
	Figures []shown
}

// together is what runs of a script show side by side.
type together struct {
	*findings.Together
	Tables  []tableShown
	Figures []shown
}

// Sourced are the claims, apart by their sources.
func (a *asked) Sourced() []sourcedClaims { return bySource("-asked", findings.AskedBy(a.Claims)) }

// besideShown is an earlier result, drawn.
type besideShown struct {
	*findings.Beside
	Figure shown
	Day    string
}

// shared is what pages about runs have in common.
type shared struct {
	RunTable, Unfinished runsTable
	Made                 string
}

func sharedBy(found findings.Common, made time.Time) shared {
	pages := found.OfRuns != nil
	return shared{runsTable{found.RunTable, pages}, runsTable{found.Unfinished, pages}, format.Time(made)}
}

// shown is a picture ready for the template.
type shown struct {
	ID, Title, Caption string
	Columns            int
	Legend             []swatch
	Panels             []template.HTML
	Notes              []string
	Table              format.Table
	Alone              bool         // there are no files next to the page
	File               template.URL // where it is alone, its SVG
	Elsewhere          bool         // on the second page
}

type swatch struct {
	Sample template.HTML
	Label  string
}

// prepare turns a picture into pieces of HTML. The SVG comes from chart, which escapes every text.
func prepare(p figure.Picture) shown {
	in := chart.Inline(p.Figure.Telling())
	f := shown{ID: p.ID, Title: p.Title, Caption: p.Caption, Columns: p.Columns, Notes: in.Notes, Table: p.Table}
	for _, s := range in.Panels {
		f.Panels = append(f.Panels, template.HTML(s))
	}
	for _, e := range in.Legend {
		f.Legend = append(f.Legend, swatch{template.HTML(e.Swatch), e.Label})
	}
	return f
}

// pictures collects those that get files next to the page.
type pictures []figure.Picture

func (p *pictures) show(of ...figure.Picture) (out []shown) {
	*p = append(*p, of...)
	for _, picture := range of {
		out = append(out, prepare(picture))
	}
	return out
}

// show prepares the page of a study, and the pictures that get files next to it.
func show(found findings.StudyFindings) (studyPage, []figure.Picture) {
	p := studyPage{StudyFindings: found, shared: sharedBy(found.Common, found.Generated)}
	var all pictures
	asks := 0
	if a := found.Asked; a != nil {
		p.Asked = &asked{a, tablesShown(0, a.Tables), all.show(a.Pictures...)}
		asks = len(a.Tables)
	}
	if t := found.Together; t != nil {
		p.Together = &together{t, tablesShown(asks, t.Tables), all.show(t.Pictures...)}
	}
	if len(found.Map.Panels) > 0 {
		p.Map = &all.show(found.Map)[0]
	}
	for _, g := range found.Groups {
		s := section{Group: g, Main: all.show(g.Main...), More: all.show(g.More...), Features: all.show(g.Features...), Reel: reelOf(g.Experiment)}
		for i, e := range g.Epochs {
			s.Epochs = append(s.Epochs, epochs{e.Title, i == 0, all.show(e.Pictures...)})
		}
		p.Groups = append(p.Groups, s)
	}
	if b := found.Beside; b != nil {
		drawn := figure.Picture{Figure: b.Figure}
		drawn.ID = "earlier"
		p.Beside = &besideShown{b, all.show(drawn)[0], b.On.Format("2 January 2006")}
	}
	return p, all
}

// Write makes the page of a study, index.html in a folder, and figures/<id>.svg, .png, .csv and .json for
// each of its pictures. With a single run it is the page of that run. All files are complete before
// any takes its place (see package outfile), the page last, so an open page always finds its figures.
//
// The same findings give the same bytes. The folder is created if missing; other files in it stay.
func Write(to *outfile.Folder, found findings.StudyFindings) (res Result, err error) {
	res = resultOf(found)
	err = to.Write(func(files *outfile.Files) error {
		res.Written, err = write(files, found)
		return err
	})
	return res, err
}

func resultOf(found findings.StudyFindings) Result {
	return Result{Headline: found.Headline(), Facts: found.Facts, Claims: found.Claims, Runs: len(found.Runs), Failed: found.Failed, Degenerate: found.Degenerate,
		Terminal: found.Terminal, Compute: found.Compute}
}

func write(files *outfile.Files, found findings.StudyFindings) (res Written, err error) {
	p, pictures := show(found)
	if res.Figures, err = writePictures(files, pictures); err != nil {
		return res, err
	}
	if res.Tables, err = writeTables(files, p.tables()); err != nil {
		return res, err
	}
	figures, last := p.figures()
	return res, writeHTML(files, "study", found.Title, p.Made, &p, figures, last, found.Common, &res)
}

// SideBySide reports whether a table says what the headline's list would say again.
func (p studyPage) SideBySide() bool { return p.Together != nil && len(p.Together.Tables) > 0 }

// tables are all that the page has.
func (p *studyPage) tables() (tables []tableShown) {
	if p.Asked != nil {
		tables = append(tables, p.Asked.Tables...)
	}
	if p.Together != nil {
		tables = append(tables, p.Together.Tables...)
	}
	return tables
}

// figures lists the figures of a page in order of importance, and separately those of interest only to readers who look for them:
// every other measure of many runs.
func (p *studyPage) figures() (figures, last []*shown) {
	var more []*shown
	for i := range p.Groups {
		s := &p.Groups[i]
		figures = append(append(figures, each(s.Main)...), each(s.Features)...)
		more = append(more, each(s.More)...)
		for j := range s.Epochs {
			of := each(s.Epochs[j].Figures)
			figures = append(figures, of[:min(1, len(of))]...)
			last = append(last, of[min(1, len(of)):]...)
		}
	}
	if p.Beside != nil {
		figures = append([]*shown{&p.Beside.Figure}, figures...)
	}
	if p.Map != nil {
		figures = append([]*shown{p.Map}, figures...)
	}
	if p.Together != nil {
		figures = append(figures, each(p.Together.Figures)...)
	}
	figures = append(figures, more...)
	if p.Single {
		figures, last = append(figures, last...), nil
	}
	return figures, last
}

func each(figures []shown) []*shown {
	out := make([]*shown, len(figures))
	for i := range figures {
		out[i] = &figures[i]
	}
	return out
}
