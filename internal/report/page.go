package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"collapse/internal/chart"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// page is what the template prints. Every string in it is escaped by the template, but for SVG
// and CSS that package chart made.
type page struct {
	ID                      string
	Title, Finding, Numbers string
	Facts                   []string // the numbers of each loss
	Style                   template.CSS
	Tiles                   []tile
	Groups                  []section
	Substitutions           []Substitution
	Notes                   []string
	Commands                []string
	Unfinished, Runs        runsTable
	Compute                 *Compute
	Config                  []pair
	Made                    string
	Single                  bool
}

type tile struct{ Value, Name string }

type pair struct{ Name, Value string }

// section is one group of the page.
type section struct {
	ID, Title string
	Claims    []Claim
	Main      []figure // M-D Fig. 1, with and without degenerate runs
	More      []figure // the same against other forms of memorization, folded
	Features  []figure
	Why       string // why there are no features, if there are none
	Epochs    []epochs
	Limits    table
	LimitNote string // which runs the limits leave out
}

// epochs is the folding part for one noise level.
type epochs struct {
	Title   string
	Open    bool
	Figures []figure
}

// figure is a picture ready for the template.
type figure struct {
	ID, Title, Caption string
	Columns            int
	Legend             []swatch
	Panels             []template.HTML
	Notes              []string
	Table              table
	Alone              bool // no files lie beside the page
}

type swatch struct {
	Sample template.HTML
	Label  string
}

// prepare turns a picture into HTML pieces. The SVG is chart's own, which escapes every text.
func prepare(p picture) figure {
	in := chart.Inline(p.Figure)
	f := figure{ID: p.ID, Title: p.Title, Caption: p.Caption, Columns: p.Columns, Notes: in.Notes, Table: p.Table}
	for _, s := range in.Panels {
		f.Panels = append(f.Panels, template.HTML(s))
	}
	for _, e := range in.Legend {
		f.Legend = append(f.Legend, swatch{template.HTML(e.Swatch), e.Label})
	}
	return f
}

// build makes the page and the pictures whose files lie beside it.
func build(study Study) (page, []picture, Result) {
	gs, unfinished := groups(study.Runs)
	p := page{ID: study.ID, Title: study.Title, Substitutions: study.Substitutions, Notes: study.Notes, Commands: study.Commands,
		Style: template.CSS(chart.StyleSheet()), Single: len(study.Runs) == 1}
	res := Result{Runs: len(study.Runs), Failed: len(unfinished)}
	var pictures []picture
	var all [][]Claim
	for _, g := range gs {
		s, drawn, claims := g.section(study)
		p.Groups = append(p.Groups, s)
		pictures = append(pictures, drawn...)
		all = append(all, claims)
		res.Claims = append(res.Claims, claims...)
		res.Degenerate += g.count(isDegenerate)
		res.Terminal += g.count(isTerminal)
	}
	p.Finding, p.Numbers, p.Facts = headline(gs, all)
	res.Headline = strings.TrimSpace(p.Finding + ". " + p.Numbers)
	res.Facts = p.Facts
	if p.Title == "" {
		p.Title = "Neural collapse"
		if len(gs) > 0 {
			p.Title = "Memorization and dilation: " + gs[0].title
		}
	}
	p.Tiles = tiles(gs, res)
	if p.Compute, res.Compute = study.Compute, study.Compute; p.Compute != nil {
		p.Tiles = append(p.Tiles, p.Compute.tiles()[0])
	}
	p.Runs, p.Unfinished = runsTable{runTable(gs), study.RunPages}, runsTable{unfinishedTable(unfinished), study.RunPages}
	p.Config = commonSettings(study.Runs)
	if !study.Generated.IsZero() {
		p.Made = study.Generated.UTC().Format("2 January 2006, 15:04 UTC")
	}
	return p, pictures, res
}

func tiles(gs []*group, res Result) []tile {
	var subjects []*subject
	curves, noises := map[string]bool{}, map[float64]bool{}
	for _, g := range gs {
		subjects = append(subjects, g.subjects...)
		for _, c := range g.curves {
			curves[c] = true
		}
		for _, n := range g.noises {
			noises[n] = true
		}
	}
	done := res.Runs - res.Failed
	return []tile{
		{strconv.Itoa(done), "finished runs"},
		{strconv.Itoa(len(curves)), "losses"},
		{strconv.Itoa(len(noises)), "noise levels"},
		{strconv.Itoa(len(seeds(subjects))), "seeds"},
		{fmt.Sprintf("%d of %d", res.Terminal, done), "in the terminal phase"},
		{strconv.Itoa(res.Degenerate), "degenerate"},
		{strconv.Itoa(res.Failed), "failed or unfinished"},
	}
}

// section draws everything of one group.
func (g *group) section(study Study) (section, []picture, []Claim) {
	s := section{ID: "group" + g.suffix, Title: g.title}
	var drawn []picture
	add := func(p picture) (figure, bool) {
		if len(p.Panels) == 0 {
			return figure{}, false
		}
		drawn = append(drawn, p)
		return prepare(p), true
	}
	noisy := g.count(func(s *subject) bool { return s.Noise > 0 }) > 0
	if len(g.subjects) > 1 && noisy {
		s.Claims = g.claims()
		for _, p := range g.mainFigures() {
			if f, ok := add(p); ok {
				s.Main = append(s.Main, f)
			}
		}
		if f, ok := add(g.otherForms()); ok {
			s.More = append(s.More, f)
		}
	}
	for _, p := range g.featureFigures(study.FeatureRuns) {
		if f, ok := add(p); ok {
			s.Features = append(s.Features, f)
		}
	}
	if len(s.Features) == 0 {
		s.Why = g.whyNoFeatures()
	}
	for i, noise := range g.noises {
		e := epochs{Title: fmt.Sprintf("η = %s (%s)", decimal(noise), count(g.count(func(s *subject) bool { return s.Noise == noise }), "run")), Open: i == 0}
		first, rest := g.epochFigures(noise)
		first.Title = "The measures of collapse against epoch, η = " + decimal(noise)
		first.Caption = "Mean over seeds; the band reaches from the smallest to the largest seed. Training measures are in evaluation mode and on the labels trained on; test labels are never corrupted."
		rest.Title = "Every other measure against epoch, η = " + decimal(noise)
		rest.Caption = "As above. “clean” are the training samples that kept their label. The key and the split of each measure stand above its axis."
		for _, p := range []picture{first, rest} {
			if f, ok := add(p); ok {
				e.Figures = append(e.Figures, f)
			}
		}
		s.Epochs = append(s.Epochs, e)
	}
	s.Limits, s.LimitNote = g.limits()
	return s, drawn, s.Claims
}

// execute fills a template.
func execute(t *template.Template, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("report: page: %w", err)
	}
	return b.Bytes(), nil
}
