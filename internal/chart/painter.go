package chart

import "image"

// painter draws primitives in points (1/72 inch), origin top left, y downward. The layout draws on a painter and never knows whether
// it writes SVG or pixels.
type painter interface {
	begin(class string, attrs ...string) // attrs: name, value, …; groups carry the data for readers of SVG
	end()
	line(st stroke, lines ...[]point)
	area(pts []point, fill Color, opacity float64)
	marks(at []point, m Marker, size float64, c Color, opacity float64, tips []string)
	image(at box, pixels *image.Paletted) // stretched over the box, pixels stay squares
	text(f face, words ...label)
}

// stroke says how a line is drawn.
type stroke struct {
	color   Color
	width   float64
	dash    []float64
	opacity float64
}

// face says how a text is set; anchor is its horizontal alignment relative to its position on the baseline.
type face struct {
	size   float64
	bold   bool
	color  Color
	anchor anchor
}

// label is a text and the position on its baseline where it starts, is centred or ends.
type label struct {
	at    point
	words string
}

type anchor uint8

const (
	start anchor = iota
	middle
	end
)

// outline returns a marker's shape around the origin for a given size (its width): closed polygons to fill, open strokes, or a
// circle if both are empty.
func (m Marker) outline(size float64) (filled bool, shape [][]point) {
	r := size / 2
	switch m {
	case Square:
		q := r * 0.88
		return true, [][]point{{{-q, -q}, {q, -q}, {q, q}, {-q, q}}}
	case Triangle:
		q := r * 1.15
		return true, [][]point{{{0, -q}, {q * 0.9, q * 0.65}, {-q * 0.9, q * 0.65}}}
	case Diamond:
		q := r * 1.2
		return true, [][]point{{{0, -q}, {q, 0}, {0, q}, {-q, 0}}}
	case Cross:
		q := r * 0.8
		return false, [][]point{{{-q, -q}, {q, q}}, {{-q, q}, {q, -q}}}
	case Plus:
		return false, [][]point{{{-r, 0}, {r, 0}}, {{0, -r}, {0, r}}}
	case Star:
		q, d := r*1.15, r*0.8
		return false, [][]point{{{-q, 0}, {q, 0}}, {{-d, -d}, {d, d}}, {{-d, d}, {d, -d}}}
	}
	return true, nil
}
