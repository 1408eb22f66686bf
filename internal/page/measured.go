package page

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement"
)

// measuredPage is what the template prints.
type measuredPage struct {
	measurement.Summary
	Title         string
	Main          string // the layer in the pictures; "" if there is only one
	Pictures      []shown
	Others        []epochs // the other layers, folded
	Layers        []shown
	Many          bool
	Command, Made string
}

// WritePage writes one self-contained HTML page.
func WritePage(m *measurement.Result, w io.Writer) error {
	html, err := execute("measured", pageOfResult(m))
	if err != nil {
		return err
	}
	_, err = w.Write(html)
	return err
}

func pageOfResult(m *measurement.Result) measuredPage {
	p := measuredPage{Summary: m.Summary(), Title: "Collapse measures", Many: len(m.Columns) > 1, Command: m.Command}
	if p.Name != "" {
		p.Title = p.Name + ": " + strings.ToLower(p.Title)
	}
	for at, c := range m.Columns {
		figures := prepareAlone(figure.OfColumn(m, at))
		if at == m.Main {
			p.Pictures = figures
		} else {
			p.Others = append(p.Others, epochs{Title: c.Name, Figures: figures})
		}
	}
	if p.Many {
		p.Main = m.MainColumn().Name
		p.Layers = prepareAlone([]figure.Picture{figure.OverLayers(m)})
	}
	p.Made = format.Time(m.Generated)
	return p
}

// prepareAlone prepares pictures that have no files next to the page: the page holds a file of each.
func prepareAlone(pictures []figure.Picture) []shown {
	var out []shown
	for _, p := range pictures {
		f := prepare(p)
		f.Alone, f.File = true, within(p.Figure.Telling())
		out = append(out, f)
	}
	return out
}

// within is the address of a picture's file inside the page; "" if it cannot be drawn.
func within(f chart.Figure) template.URL {
	var b bytes.Buffer
	if chart.WriteSVG(&b, f, chart.Auto) != nil {
		return ""
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
}
