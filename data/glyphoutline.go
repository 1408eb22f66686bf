package data

import (
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// glyphFaces are the Go fonts (Bigelow & Holmes 2016) that glyphs draws from, proportional faces
// first. Small caps are left out because their lower case consists of capitals.
var glyphFaces = [][]byte{goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF, gobold.TTF, gobolditalic.TTF,
	gomono.TTF, gomonoitalic.TTF, gomonobold.TTF, gomonobolditalic.TTF}

// monoFace is the first monospaced one of glyphFaces.
const monoFace = 6

var glyphFonts = sync.OnceValue(func() []*sfnt.Font {
	fonts := make([]*sfnt.Font, len(glyphFaces))
	for i, ttf := range glyphFaces {
		f, err := sfnt.Parse(ttf)
		if err != nil {
			panic("data: a font compiled into the program does not parse")
		}
		fonts[i] = f
	}
	return fonts
})

// point is a place in a distance field, in 1/fieldUnit of a cell.
type point struct{ x, y int }

// edge is a directed piece of an outline.
type edge struct{ a, b point }

// curvePieces is the number of edges a quadratic curve is cut into.
const curvePieces = 8

// outline returns the edges of a symbol in a face, centred in a field and scaled so that the longer
// side of its box measures fieldBox cells. All arithmetic is on integers: TrueType units in, field
// units out. It returns nil if the face lacks the symbol.
func outline(face int, symbol rune) []edge {
	font := glyphFonts()[face]
	var buf sfnt.Buffer
	g, err := font.GlyphIndex(&buf, symbol)
	if err != nil || g == 0 {
		return nil
	}
	// At this size a font unit is one unit of fixed.Int26_6, so nothing is rounded.
	segments, err := font.LoadGlyph(&buf, g, fixed.Int26_6(font.UnitsPerEm()), nil)
	if err != nil {
		return nil
	}
	return fit(flatten(segments))
}

// flatten turns lines and quadratic curves into edges. TrueType outlines have no cubic curves.
func flatten(segments sfnt.Segments) []edge {
	var edges []edge
	var at point
	for _, s := range segments {
		p1 := point{int(s.Args[0].X), int(s.Args[0].Y)}
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			at = p1
		case sfnt.SegmentOpLineTo:
			edges = append(edges, edge{at, p1})
			at = p1
		case sfnt.SegmentOpQuadTo:
			p0, p2 := at, point{int(s.Args[1].X), int(s.Args[1].Y)}
			for i := 1; i <= curvePieces; i++ {
				j := curvePieces - i
				w0, w1, w2 := j*j, 2*i*j, i*i // Bernstein weights times curvePieces²
				next := point{(w0*p0.x + w1*p1.x + w2*p2.x) / (curvePieces * curvePieces),
					(w0*p0.y + w1*p1.y + w2*p2.y) / (curvePieces * curvePieces)}
				edges = append(edges, edge{at, next})
				at = next
			}
		}
	}
	return edges
}

// fit moves edges from font units to a field.
func fit(edges []edge) []edge {
	if len(edges) == 0 {
		return nil
	}
	lo, hi := edges[0].a, edges[0].a
	for _, e := range edges {
		lo = point{min(lo.x, e.a.x, e.b.x), min(lo.y, e.a.y, e.b.y)}
		hi = point{max(hi.x, e.a.x, e.b.x), max(hi.y, e.a.y, e.b.y)}
	}
	extent := max(hi.x-lo.x, hi.y-lo.y)
	place := func(p point) point {
		return point{(2*p.x-lo.x-hi.x)*fieldBox*fieldUnit/(2*extent) + fieldSize*fieldUnit/2,
			(2*p.y-lo.y-hi.y)*fieldBox*fieldUnit/(2*extent) + fieldSize*fieldUnit/2}
	}
	for i, e := range edges {
		edges[i] = edge{place(e.a), place(e.b)}
	}
	return edges
}
