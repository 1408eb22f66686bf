package chart

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"strconv"
	"strings"
)

// writeSVG lays the figure out and writes it with a style element of its own.
func writeSVG(w io.Writer, f Figure, t Theme) error {
	s := newSheet(&f)
	g := &svgPainter{}
	g.open(s.w, s.h, ` xmlns="http://www.w3.org/2000/svg"`, f.ID, f.Title, f.Caption)
	g.printf("<style>%s</style>", styleFor("svg", t))
	s.draw(g)
	g.b.WriteString("</svg>\n")
	if _, err := io.WriteString(w, g.b.String()); err != nil {
		return fmt.Errorf("chart: figure %s as SVG: %w", f.ID, err)
	}
	return nil
}

// Inline draws the figure in pieces for a page.
func Inline(f Figure) Inlined {
	f.check()
	f = f.sharing()
	var out Inlined
	for i := range f.Panels {
		p := &f.Panels[i]
		g := &svgPainter{}
		title := f.Title
		if p.Title != "" {
			title = p.Title + " — " + f.Title
		}
		g.open(panelW, panelH, ` style="max-width:`+num(widest)+`px"`, f.ID+"--"+p.ID, title, p.Y.title()+" against "+p.X.title())
		drawPanel(g, p, box{0, 0, panelW, panelH})
		g.b.WriteString("</svg>")
		out.Panels = append(out.Panels, g.b.String())
	}
	for _, e := range f.legend() {
		g := &svgPainter{}
		g.printf(`<svg class="swatch" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" aria-hidden="true">`, num(swatchW), num(swatchH))
		e.draw(g, point{})
		g.b.WriteString("</svg>")
		out.Legend = append(out.Legend, LegendItem{e.label, g.b.String()})
	}
	out.Notes = append(append(out.Notes, f.Notes...), f.DrawNotes()...)
	return out
}

// svgPainter writes SVG elements. Colours are CSS custom properties, with the light theme's value as fallback for viewers without
// CSS variables.
type svgPainter struct{ b strings.Builder }

func (g *svgPainter) printf(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

// widest is the largest width at which a page shows a panel: beyond it, the text of the panel would be larger than that of the page.
const widest = 470

// open begins the picture. attrs is the namespace, which a file needs, or the width that a page may use.
func (g *svgPainter) open(w, h float64, attrs, id, title, desc string) {
	g.printf(`<svg%s viewBox="0 0 %s %s" width="%[2]s" height="%[3]s" role="img" id="%[4]s" aria-labelledby="%[4]s-t" font-family="%[5]s">`,
		attrs, num(w), num(h), escape(id), escape(fontFamily))
	g.printf(`<title id="%s-t">%s</title>`, escape(id), escape(title))
	if desc != "" {
		g.printf("<desc>%s</desc>", escape(desc))
	}
}

func (g *svgPainter) begin(class string, attrs ...string) {
	g.printf(`<g class="%s"`, class)
	for i := 0; i+1 < len(attrs); i += 2 {
		g.printf(` %s="%s"`, attrs[i], escape(attrs[i+1]))
	}
	g.b.WriteByte('>')
}

func (g *svgPainter) end() { g.b.WriteString("</g>") }

// line writes all pieces as one path.
func (g *svgPainter) line(st stroke, lines ...[]point) {
	if len(lines) == 0 {
		return
	}
	var d strings.Builder
	for _, pts := range lines {
		track(&d, simplified(pts))
	}
	g.printf(`<path d="%s" fill="none" style="stroke:%s" stroke-width="%s" stroke-linejoin="round" stroke-linecap="round"%s%s/>`,
		d.String(), css(st.color), num(st.width), dashes(st.dash), opacityAttr(st.opacity))
}

func dashes(d []float64) string {
	if len(d) == 0 {
		return ""
	}
	words := make([]string, len(d))
	for i, v := range d {
		words[i] = num(v)
	}
	return ` stroke-dasharray="` + strings.Join(words, " ") + `"`
}

func opacityAttr(o float64) string {
	if o == 1 {
		return ""
	}
	return ` opacity="` + num(o) + `"`
}

func (g *svgPainter) area(pts []point, fill Color, opacity float64) {
	var d strings.Builder
	track(&d, simplified(pts))
	g.printf(`<path d="%sz" style="fill:%s"%s/>`, d.String(), css(fill), opacityAttr(opacity))
}

// marks writes points without tips as one path: thousands of samples stay a few bytes each.
func (g *svgPainter) marks(at []point, m Marker, size float64, c Color, opacity float64, tips []string) {
	if len(at) == 0 {
		return
	}
	if tips == nil {
		g.markPath(at, m, size, c, opacity, "")
		return
	}
	for i, p := range at {
		g.markPath([]point{p}, m, size, c, opacity, tips[i])
	}
}

func (g *svgPainter) markPath(at []point, m Marker, size float64, c Color, opacity float64, tip string) {
	filled, shape := m.outline(size)
	var d strings.Builder
	if shape == nil {
		discs(&d, at)
	}
	for _, p := range at {
		for _, poly := range shape {
			d.WriteString(path(shift(poly, p), filled))
		}
	}
	style := "stroke:" + css(c)
	attrs := ` fill="none" stroke-width="1.6" stroke-linecap="round"`
	switch {
	case m == Ring:
		g.ring(at, size, c, opacity, tip)
		return
	case shape == nil:
		attrs = ` fill="none" stroke-linecap="round" stroke-width="` + num(size) + `"`
	case filled:
		style, attrs = "fill:"+css(c), ""
	}
	g.printf(`<path class="mark" d="%s" style="%s"%s%s`, d.String(), style, attrs, opacityAttr(opacity))
	g.closeWith("path", tip)
}

func (g *svgPainter) ring(at []point, size float64, c Color, opacity float64, tip string) {
	for _, p := range at {
		g.printf(`<circle class="mark" cx="%s" cy="%s" r="%s" fill="none" stroke-width="1.6" style="stroke:%s"%s`,
			num(p.x), num(p.y), num(size/2), css(c), opacityAttr(opacity))
		g.closeWith("circle", tip)
	}
}

func (g *svgPainter) closeWith(element, tip string) {
	if tip == "" {
		g.b.WriteString("/>")
		return
	}
	g.printf("><title>%s</title></%s>", escape(tip), element)
}

// image embeds the pixels, so that a file is self-contained; a map of ten thousand cells takes a few kilobytes.
func (g *svgPainter) image(at box, pixels *image.Paletted) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, pixels); err != nil {
		panic("chart: a heat map's pixels cannot be written as PNG")
	}
	g.printf(`<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`,
		num(at.x), num(at.y), num(at.w), num(at.h), base64.StdEncoding.EncodeToString(b.Bytes()))
}

// text writes texts with the same face; if there are several, a group holds their common attributes.
func (g *svgPainter) text(f face, words ...label) {
	a := ""
	switch f.anchor {
	case middle:
		a = ` text-anchor="middle"`
	case end:
		a = ` text-anchor="end"`
	}
	set := ` font-size="` + num(f.size) + `" style="fill:` + css(f.color) + `"`
	if f.bold {
		set += ` font-weight="700"`
	}
	if len(words) > 1 {
		g.printf("<g%s>", set)
		defer g.end()
		set = ""
	}
	for _, w := range words {
		g.printf(`<text x="%s" y="%s"%s%s>%s</text>`, num(w.at.x), num(w.at.y), set, a, escape(w.words))
	}
}

func css(c Color) string { return fmt.Sprintf("var(%s,#%06x)", c.variable(), c.in(false)) }

func path(pts []point, closed bool) string {
	var b strings.Builder
	for i, p := range pts {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		b.WriteString(coord(p.x))
		b.WriteByte(' ')
		b.WriteString(coord(p.y))
	}
	if closed {
		b.WriteByte('Z')
	}
	return b.String()
}

func shift(pts []point, by point) []point {
	out := make([]point, len(pts))
	for i, p := range pts {
		out[i] = point{p.x + by.x, p.y + by.y}
	}
	return out
}

// coord writes a position on a path to a tenth of a point: finer than a pixel, and compact on pages with thousands of positions.
func coord(v float64) string {
	s := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

// num writes a length to a hundredth of a point, without trailing zeros.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// escape makes any text safe in XML text and attributes; characters XML cannot hold become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}
