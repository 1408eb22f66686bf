package chart

import "io"

// WriteSVG draws the whole figure (title, legend, panels, notes) as one SVG file that needs no
// font, style or script from elsewhere.
func WriteSVG(w io.Writer, f Figure, t Theme) error { return writeSVG(w, f, t) }

// WritePNG draws the same picture as pixels, with scale pixels per point (2 suits print and high-resolution screens). Auto means
// Light.
func WritePNG(w io.Writer, f Figure, t Theme, scale float64) error { return writePNG(w, f, t, scale) }

// LegendItem is one legend entry for a page: a small SVG and its text.
type LegendItem struct {
	Label  string
	Swatch string // an <svg> element
}

// Inlined is a figure in pieces that a page arranges itself, so that panels wrap on narrow screens. Each panel is one <svg> element;
// colours come from StyleSheet.
type Inlined struct {
	Panels []string
	Legend []LegendItem
	Notes  []string // the figure's own notes and the counts of DrawNotes
}
