// Package theory runs the recipes of theorems and theory figures: it turns a recipe file into numbers
// from ufm, dilation and landscape, figures as data, claims with verdicts, and one page. Open recipe.go
// for what a recipe says, then run.go.
package theory

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"collapse/internal/chart"
	"collapse/internal/outfile"
)

// Verdict is what the numbers say about a claim.
type Verdict string

// The verdicts, as pages print them.
const (
	Holds      Verdict = "holds"
	Fails      Verdict = "does not hold"
	CannotTell Verdict = "cannot tell"
)

func judge(ok bool) Verdict {
	if ok {
		return Holds
	}
	return Fails
}

// Claim is one statement of a paper, judged on the numbers of this run.
type Claim struct {
	Statement string  `json:"statement"`
	Verdict   Verdict `json:"verdict"`
	Evidence  string  `json:"evidence"`
}

// Fact is a number with where it comes from.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"` // "paper", "exact", "computed here"
}

// Page is what a recipe produced.
type Page struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Caption string         `json:"caption"` // what the paper shows
	Claims  []Claim        `json:"claims"`
	Facts   []Fact         `json:"facts"`
	Notes   []string       `json:"notes"`
	Command string         `json:"command"`
	Figures []chart.Figure `json:"-"`
}

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// drawn is a figure ready for the template; the SVG is package chart's, which escapes every text.
type drawn struct {
	ID, Title, Caption string
	Panels             []template.HTML
	Legend             []legendItem
	Notes              []string
}

type legendItem struct {
	Swatch template.HTML
	Label  string
}

// Write makes dir/index.html and dir/figures/<id>.svg, .png, .csv and .json of every figure, and
// returns the page's path.
func (p *Page) Write(dir string) (string, error) {
	figures := filepath.Join(dir, "figures")
	if err := os.MkdirAll(figures, 0o777); err != nil {
		return "", fmt.Errorf("theory: %w", err)
	}
	for _, f := range p.Figures {
		if err := WriteFigure(figures, f); err != nil {
			return "", err
		}
	}
	var html bytes.Buffer
	data := struct {
		*Page
		Style template.CSS
		Drawn []drawn
	}{p, template.CSS(chart.StyleSheet()), p.inline()}
	if err := pageTemplate.Execute(&html, data); err != nil {
		return "", fmt.Errorf("theory: page: %w", err)
	}
	index := filepath.Join(dir, "index.html")
	return index, outfile.Write(index, html.Bytes())
}

// Files lists what Write writes, by names below its folder.
func (p *Page) Files() []string {
	files := []string{"index.html"}
	for _, f := range p.Figures {
		for _, ext := range []string{".svg", ".png", ".csv", ".json"} {
			files = append(files, filepath.Join("figures", f.ID+ext))
		}
	}
	return files
}

func (p *Page) inline() []drawn {
	var out []drawn
	for _, f := range p.Figures {
		in := chart.Inline(f)
		d := drawn{ID: f.ID, Title: f.Title, Caption: f.Caption, Notes: in.Notes}
		for _, s := range in.Panels {
			d.Panels = append(d.Panels, template.HTML(s))
		}
		for _, l := range in.Legend {
			d.Legend = append(d.Legend, legendItem{template.HTML(l.Swatch), l.Label})
		}
		out = append(out, d)
	}
	return out
}

// WriteFigure writes <id>.svg, .png, .csv and .json to dir.
func WriteFigure(dir string, f chart.Figure) error {
	for ext, write := range map[string]func(w io.Writer) error{
		"svg":  func(w io.Writer) error { return chart.WriteSVG(w, f, chart.Auto) },
		"png":  func(w io.Writer) error { return chart.WritePNG(w, f, chart.Light, 2) },
		"csv":  func(w io.Writer) error { return chart.WriteCSV(w, f) },
		"json": func(w io.Writer) error { return chart.WriteJSON(w, f) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return fmt.Errorf("theory: figure %s: %w", f.ID, err)
		}
		if err := outfile.Write(filepath.Join(dir, f.ID+"."+ext), b.Bytes()); err != nil {
			return fmt.Errorf("theory: figure %s: %w", f.ID, err)
		}
	}
	return nil
}
