package page

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
)

// page is the template's data. The template escapes every string in it, except SVG and CSS made by
// package chart.
type page struct {
	ID                      string
	Title, Finding, Numbers string
	Facts                   []string // the numbers of each loss
	Groups                  []section
	Substitutions           []recipe.Substitution
	Notes                   []string
	Commands                []string
	Compute                 *Compute
	Beside                  *besideShown
	Map                     *shown // of the settings, where there are more than have a section
	Further                 int    // settings without one
	Asked                   *asked // nil: the study asks nothing of its own
	shared
}

// asked is what the claims and drawings of a study's own file give.
type asked struct {
	Claims  []judge.Claim
	Tables  []tableShown
	Figures []shown
	Notes   []string
}

// Sourced are the claims, apart by their sources.
func (a *asked) Sourced() []sourcedClaims { return bySource("-asked", AskedBy(a.Claims)) }

// besideShown is an earlier result, drawn.
type besideShown struct {
	*Beside
	Figure shown
	Day    string
}

// shared is what pages about runs have in common.
type shared struct {
	Tiles                []format.Tile
	RunTable, Unfinished runsTable
	Config               []pair
	TakenTable           format.Table // settings that a search found for the runs, and in which trial
	Made                 string
	Single               bool // the page is about one run
}

func tile(value, name string) format.Tile { return format.Tile{Value: value, Name: name} }

// counted is the tile of a number of things.
func counted(n int, one, many string) format.Tile {
	if n == 1 {
		many = one
	}
	return tile(strconv.Itoa(n), many)
}

type pair struct{ Name, Value string }

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

// ask judges the study's own claims and draws its drawings.
func (s Study) ask() (*asked, []figure.Picture, error) {
	if len(s.Claims)+len(s.Drawings)+len(s.Tables) == 0 {
		return nil, nil, nil
	}
	found, err := Recipe{ID: "asked", Runs: s.Runs, Claims: s.Claims, Drawings: s.Drawings}.Judge()
	out := &asked{Claims: found.Claims}
	out.Tables, out.Notes = tabulate(s.Tables, s.Runs, nil)
	for _, p := range found.Figures {
		out.Figures = append(out.Figures, prepare(p))
	}
	return out, found.Figures, err
}

// build makes the page and the pictures that get files next to it.
func build(study Study) (page, []figure.Picture, Result, error) {
	gs, unfinished := judge.Experiments(study.Runs)
	p := page{ID: study.ID, Title: study.Title, Substitutions: study.Substitutions, Notes: study.Notes, Commands: study.Commands, shared: shared{Single: len(study.Runs) == 1}}
	res := Result{Runs: len(study.Runs), Failed: len(unfinished)}
	var pictures []figure.Picture
	var all [][]judge.Claim
	own, drawn, err := study.ask()
	if err != nil {
		return p, nil, res, err
	}
	if p.Asked, pictures = own, append(pictures, drawn...); own != nil {
		res.Claims = append(res.Claims, own.Claims...)
	}
	if p.Further = max(0, len(gs)-mostSections); p.Further > 0 {
		if drawn := figure.SettingsMap(study.Runs); len(drawn.Panels) > 0 {
			pictures = append(pictures, drawn)
			of := prepare(drawn)
			p.Map = &of
		}
	}
	for i, g := range gs {
		var claims []judge.Claim
		if i < mostSections {
			var s section
			var drawn []figure.Picture
			s, drawn, claims = sectionOf(g, study)
			p.Groups = append(p.Groups, s)
			pictures = append(pictures, drawn...)
		} else if manyNoisy(g) {
			claims = g.Claims()
		}
		all = append(all, claims)
		res.Claims = append(res.Claims, claims...)
		res.Degenerate += g.Count(judge.IsDegenerate)
		res.Terminal += g.Count(judge.IsTerminal)
	}
	if b := study.Beside; b != nil {
		drawn := figure.Picture{Figure: b.Figure}
		drawn.ID = "earlier"
		pictures = append(pictures, drawn)
		p.Beside = &besideShown{b, prepare(drawn), b.On.Format("2 January 2006")}
	}
	p.Finding, p.Numbers, p.Facts = judge.Headline(gs, all)
	if words := collapsed(study.Runs); words != "" {
		p.Numbers = words + ". " + p.Numbers
	}
	res.Headline = strings.TrimSpace(p.Finding + ". " + p.Numbers)
	res.Facts = p.Facts
	if p.Title == "" {
		p.Title = "Neural collapse"
		switch {
		case judge.OnlyScripts(gs):
			p.Title = "Runs of a script"
		case len(gs) > 0:
			p.Title = "Memorization and dilation: " + gs[0].Title
			if !slices.ContainsFunc(gs, (*judge.Experiment).Noisy) {
				p.Title = "Neural collapse: " + gs[0].Title
			}
		}
	}
	p.Tiles = tiles(gs, res)
	if p.Compute, res.Compute = study.Compute, study.Compute; p.Compute != nil {
		cost := p.Compute.tiles()
		p.Tiles = append(p.Tiles, cost[:min(1, len(cost))]...)
	}
	p.RunTable, p.Unfinished = runsTable{runTable(gs), study.RunPages}, runsTable{unfinishedTable(study.Runs), study.RunPages}
	p.Config = commonSettings(study.Runs)
	p.Made = format.Time(study.Generated)
	return p, pictures, res, nil
}

// collapsed is the headline of the features of one finished run; "" for several, and where there are no features to measure.
func collapsed(runs []judge.Run) string {
	if len(runs) != 1 || runs[0].Status != store.Done || runs[0].Folder() == "" {
		return ""
	}
	words, err := measurement.RunFinding(context.Background(), runs[0].Folder(), nil)
	if err != nil {
		return "" // the page says why there are no features
	}
	return words
}

func tiles(gs []*judge.Experiment, res Result) []format.Tile {
	var judged []*judge.JudgedRun
	curves, noises := map[string]bool{}, map[float64]bool{}
	for _, g := range gs {
		judged = append(judged, g.Runs...)
		for _, c := range g.Curves {
			curves[c] = true
		}
		for _, n := range g.Noises {
			noises[n] = true
		}
	}
	done := res.Runs - res.Failed
	if judge.OnlyScripts(gs) {
		return []format.Tile{
			counted(done, "finished run", "finished runs"),
			counted(len(gs), "setting", "settings"),
			tile(strconv.Itoa(res.Failed), "failed or unfinished"),
		}
	}
	out := []format.Tile{counted(done, "finished run", "finished runs"), counted(len(curves), "loss", "losses")}
	if slices.ContainsFunc(gs, (*judge.Experiment).Noisy) {
		out = append(out, counted(len(noises), "noise level", "noise levels"))
	}
	return append(out,
		counted(len(judge.Seeds(judged)), "seed", "seeds"),
		tile(fmt.Sprintf("%d of %d", res.Terminal, done), "in the terminal phase"),
		tile(strconv.Itoa(res.Degenerate), "degenerate"),
		tile(strconv.Itoa(res.Failed), "failed or unfinished"))
}

// figures lists the figures of a page in order of importance, and separately those of interest only to readers who look for them:
// every other measure of many runs.
func (p *page) figures() (figures, last []*shown) {
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
