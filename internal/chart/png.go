package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// writePNG lays the figure out and paints it.
func writePNG(w io.Writer, f Figure, t Theme, scale float64) error {
	if !(scale > 0) || scale > 8 {
		panic("chart: PNG scale must be above 0 and at most 8")
	}
	s := newSheet(&f)
	dpi := int(math.Round(72 * scale))
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(s.w), vg.Length(s.h)), vgimg.UseDPI(dpi))
	s.draw(&pngPainter{c: canvas, h: s.h, scale: float64(dpi) / 72, dark: t == Dark})
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // takes half the time for a whole page; files are a third larger
	if err := encoder.Encode(w, canvas.Image()); err != nil {
		return fmt.Errorf("chart: figure %s as PNG: %w", f.ID, err)
	}
	return nil
}

// pngPainter paints on a gonum canvas, whose y axis points up.
type pngPainter struct {
	c     *vgimg.Canvas
	h     float64
	scale float64 // pixels per point
	dark  bool
}

func (g *pngPainter) begin(string, ...string) {}
func (g *pngPainter) end()                    {}

func (g *pngPainter) at(p point) vg.Point {
	return vg.Point{X: vg.Length(p.x), Y: vg.Length(g.h - p.y)}
}

func (g *pngPainter) use(c Color, opacity float64) {
	v := rgb(c.in(g.dark))
	v.A = uint8(math.Round(255 * opacity))
	g.c.SetColor(v)
}

func (g *pngPainter) trace(pts []point, closed bool) vg.Path {
	var p vg.Path
	for i, q := range pts {
		if i == 0 {
			p.Move(g.at(q))
		} else {
			p.Line(g.at(q))
		}
	}
	if closed {
		p.Close()
	}
	return p
}

func (g *pngPainter) line(st stroke, lines ...[]point) {
	g.use(st.color, st.opacity)
	g.c.SetLineWidth(vg.Length(st.width))
	dash := make([]vg.Length, len(st.dash))
	for i, d := range st.dash {
		dash[i] = vg.Length(d)
	}
	g.c.SetLineDash(dash, 0)
	for _, pts := range lines {
		g.c.Stroke(g.trace(pts, false))
	}
}

func (g *pngPainter) area(pts []point, fill Color, opacity float64) {
	g.use(fill, opacity)
	g.c.Fill(g.trace(pts, true))
}

func (g *pngPainter) marks(at []point, m Marker, size float64, c Color, opacity float64, _ []string) {
	filled, shape := m.outline(size)
	g.use(c, opacity)
	g.c.SetLineDash(nil, 0)
	g.c.SetLineWidth(1.6)
	for _, p := range at {
		for _, poly := range shape {
			if filled {
				g.c.Fill(g.trace(shift(poly, p), true))
			} else {
				g.c.Stroke(g.trace(shift(poly, p), false))
			}
		}
		if shape != nil {
			continue
		}
		var disc vg.Path
		q := g.at(p)
		disc.Move(vg.Point{X: q.X + vg.Length(size/2), Y: q.Y})
		disc.Arc(q, vg.Length(size/2), 0, 2*math.Pi)
		disc.Close()
		if m == Ring {
			g.c.Stroke(disc)
		} else {
			g.c.Fill(disc)
		}
	}
}

// image writes pixels directly to the drawing: a canvas would smooth them.
func (g *pngPainter) image(at box, im *image.Paletted) {
	pixel := func(v float64) int { return int(math.Round(v * g.scale)) }
	to := image.Rect(pixel(at.x), pixel(at.y), pixel(at.x+at.w), pixel(at.y+at.h))
	canvas, from := g.c.Image(), im.Bounds()
	for y := to.Min.Y; y < to.Max.Y; y++ {
		for x := to.Min.X; x < to.Max.X; x++ {
			if c := im.At(from.Min.X+(2*(x-to.Min.X)+1)*from.Dx()/(2*to.Dx()), from.Min.Y+(2*(y-to.Min.Y)+1)*from.Dy()/(2*to.Dy())); opaque(c) {
				canvas.Set(x, y, c)
			}
		}
	}
}

func (g *pngPainter) text(f face, words ...label) {
	g.use(f.color, 1)
	for _, w := range words {
		switch f.anchor {
		case middle:
			w.at.x -= f.width(w.words) / 2
		case end:
			w.at.x -= f.width(w.words)
		}
		g.fill(f, w)
	}
}

func (g *pngPainter) fill(f face, w label) {
	fontMutex.Lock()
	defer fontMutex.Unlock()
	words := drawable(w.words)
	g.c.FillString(lookup(f, words), g.at(w.at), words)
}

func opaque(c color.Color) bool { _, _, _, a := c.RGBA(); return a == 0xffff }
