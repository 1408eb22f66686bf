package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// shownFigure is a picture ready for a template. Base and Query say where its files are: Base/ID.svg?Query.
type shownFigure struct {
	figure.Picture
	Base     string
	Query    string // with its "?", or ""
	Panels   []template.HTML
	Legend   []legendItem
	Notes    []string
	Deferred bool // not drawn in the page: scripts draw it when unfolded; without scripts the SVG file is shown
}

type legendItem struct {
	Sample template.HTML
	Label  string
}

// URL is the address of one of the figure's files.
func (f shownFigure) URL(ext string) string { return f.Base + "/" + f.ID + "." + ext + f.Query }

// draw puts a picture into a page. The SVG comes from chart, which escapes every text.
func draw(p figure.Picture, base string, query url.Values) shownFigure {
	f := shownFigure{Picture: p, Base: base, Query: asQuery(query)}
	in := chart.Inline(p.Figure)
	f.Notes = in.Notes
	for _, svg := range in.Panels {
		f.Panels = append(f.Panels, template.HTML(svg))
	}
	for _, l := range in.Legend {
		f.Legend = append(f.Legend, legendItem{template.HTML(l.Swatch), l.Label})
	}
	return f
}

// later is draw for a figure that is folded away.
func later(p figure.Picture, base string, query url.Values) shownFigure {
	return shownFigure{Picture: p, Base: base, Query: asQuery(query), Deferred: true}
}

func asQuery(q url.Values) string {
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// drawAll puts all pictures that show something into a page.
func drawAll(pictures []figure.Picture, base string, query url.Values) []shownFigure {
	return drawOthers(following{}, pictures, base, query)
}

// drawOthers is drawAll for an open page: figures that the page draws itself come without a picture.
func drawOthers(open following, pictures []figure.Picture, base string, query url.Values) []shownFigure {
	var out []shownFigure
	for _, p := range pictures {
		switch {
		case len(p.Panels) == 0:
		case open.drawn[p.ID]:
			out = append(out, shownFigure{Picture: p, Base: base, Query: asQuery(query)})
		default:
			out = append(out, draw(p, base, query))
		}
	}
	return out
}

// curves puts the measures of runs against epoch into a page: the main ones, and all others, folded; nil if there is none.
func curves(open following, runs []judge.Run, base string, query url.Values) (main []shownFigure, rest *shownFigure) {
	if other, some := figure.FoldedCurves(runs); some {
		folded := later(other, base, query)
		rest = &folded
	}
	return drawOthers(open, []figure.Picture{figure.Curves(runs)}, base, query), rest
}

// curvesAsked are the pictures of curves that a request for a file names. A live page asks for all.json, and for folded figures by
// name.
func curvesAsked(r *http.Request, runs []judge.Run) []figure.Picture {
	if strings.HasPrefix(r.PathValue("file"), "measures-more.") {
		return []figure.Picture{figure.OtherCurves(runs)}
	}
	return []figure.Picture{figure.Curves(runs)}
}

// following is what the script of an open page reports about itself when it asks for an update.
type following struct {
	on    bool
	drawn map[string]bool // figures of which it draws every panel
}

func follows(r *http.Request) following {
	lists := r.Header.Values("Collapse-Drawn")
	f := following{on: len(lists) > 0, drawn: map[string]bool{}}
	for _, list := range lists {
		for id := range strings.FieldsSeq(list) {
			f.drawn[id] = true
		}
	}
	return f
}

// figures serves the files of a page's pictures: {id}.svg, .png, .csv, .json, and all.json for the definitions of all of them.
func (s *Server) figures(of func(r *http.Request) ([]figure.Picture, error)) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		file := r.PathValue("file")
		ext := path.Ext(file)
		id := strings.TrimSuffix(file, ext)
		writer, kind := pictureWriter(ext, r)
		if writer == nil {
			return notFound("a picture has the forms .svg, .png, .csv and .json, not %q", clip(ext))
		}
		pictures, err := of(r)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		found := false
		if id == "all" && ext == ".json" {
			found, err = true, writeAll(&b, pictures)
		}
		for _, p := range pictures {
			if p.ID != id || found {
				continue
			}
			if r.URL.Query().Get("first") != "" && len(p.Panels) > 0 { // as a card shows it
				p.Panels, p.Columns, p.Title, p.Caption, p.Notes = p.Panels[:1], 1, "", "", nil
			}
			found, err = true, writer(&b, p.Figure)
		}
		if err != nil {
			return err
		}
		if !found {
			return notFound("this page has no picture %s", clip(id))
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-cache")
		if ext != ".json" && r.URL.Query().Get("show") == "" {
			h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "collapse-" + file}))
		}
		w.Write(b.Bytes()) // a browser that has left is not our error
		return nil
	}
}

// pictureWriter writes a figure as a file with the extension; nil for unknown extensions.
func pictureWriter(ext string, r *http.Request) (func(io.Writer, chart.Figure) error, string) {
	colors := map[string]chart.Theme{"light": chart.Light, "dark": chart.Dark}[r.URL.Query().Get("theme")]
	switch ext {
	case ".svg":
		return func(w io.Writer, f chart.Figure) error { return chart.WriteSVG(w, f, colors) }, "image/svg+xml"
	case ".png":
		if colors == chart.Auto {
			colors = chart.Light
		}
		return func(w io.Writer, f chart.Figure) error { return chart.WritePNG(w, f, colors, 2) }, "image/png"
	case ".csv":
		return func(w io.Writer, f chart.Figure) error { return chart.WriteCSV(w, f) }, "text/csv; charset=utf-8"
	case ".json":
		return func(w io.Writer, f chart.Figure) error { return chart.WriteJSON(w, f) }, "application/json"
	}
	return nil, ""
}

func writeAll(w io.Writer, pictures []figure.Picture) error {
	all := []chart.Figure{}
	for _, p := range pictures {
		if len(p.Panels) > 0 {
			all = append(all, p.Figure)
		}
	}
	if err := json.NewEncoder(w).Encode(all); err != nil {
		return fmt.Errorf("serve: figures as JSON: %w", err)
	}
	return nil
}
