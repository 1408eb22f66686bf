package chart

import "math"

// limits are the values of the first and last colour.
func (h *Heat) limits() (lo, hi float64) {
	if h.Range != nil {
		return h.Range[0], h.Range[1]
	}
	var e extent
	e.add(h.Z...)
	if !e.any {
		return 0, 1
	}
	if e.lo == e.hi {
		return e.lo, e.lo + 1
	}
	return e.lo, e.hi
}

// ticks are the numbers beside a colour bar of a height.
func (h *Heat) ticks(height float64) []Tick {
	lo, hi := h.limits()
	return span{lo: lo, hi: hi}.ticks(int(height / 44))
}

// drawHeat draws the cells grouped by colour, and the colour bar. Cells that are not finite stay
// empty and are counted; values beyond the colour range get its end colours.
func (f *frame) drawHeat(g painter, h *Heat) {
	lo, hi := h.limits()
	levels := make([][]box, heatLevels)
	dx := (h.X[1] - h.X[0]) / float64(h.Columns)
	dy := (h.Y[1] - h.Y[0]) / float64(h.Rows)
	for i, z := range h.Z {
		if !finite(z) {
			f.lost.NotFinite++
			continue
		}
		c, r := float64(i%h.Columns), float64(i/h.Columns)
		a := f.pos(h.X[0]+c*dx, h.Y[0]+r*dy)
		b := f.pos(h.X[0]+(c+1)*dx, h.Y[0]+(r+1)*dy)
		cell := f.plot.intersect(a, b)
		if cell.w <= 0 || cell.h <= 0 {
			f.lost.Outside++
			continue
		}
		t := (z/2 - lo/2) / (hi/2 - lo/2)
		level := int(math.Min(math.Max(t, 0), 1)*(heatLevels-1) + 0.5)
		levels[level] = append(levels[level], cell)
	}
	for level, cells := range levels {
		if len(cells) > 0 {
			g.cells(cells, level)
		}
	}
	f.drawColorBar(g, h, lo, hi)
}

// intersect is the part of the rectangle with corners p, q that lies inside b.
func (b box) intersect(p, q point) box {
	x0, x1 := math.Max(math.Min(p.x, q.x), b.x), math.Min(math.Max(p.x, q.x), b.x+b.w)
	y0, y1 := math.Max(math.Min(p.y, q.y), b.y), math.Min(math.Max(p.y, q.y), b.y+b.h)
	return box{x0, y0, x1 - x0, y1 - y0}
}

func (f *frame) drawColorBar(g painter, h *Heat, lo, hi float64) {
	bar := box{f.plot.x + f.plot.w + 10, f.plot.y, 10, f.plot.h}
	step := bar.h / heatLevels
	for l := range heatLevels {
		g.cells([]box{{bar.x, bar.y + bar.h - float64(l+1)*step, bar.w, step}}, l)
	}
	s := span{lo: lo, hi: hi}
	for _, t := range h.ticks(bar.h) {
		g.text(point{bar.x + bar.w + 4, bar.y + (1-s.at(t.Value))*bar.h + 3.4}, t.Label, tickFace)
	}
	if h.Label != "" {
		at := tickFace
		at.anchor = end
		g.text(point{bar.x + bar.w + 30, bar.y - 5}, h.Label, at)
	}
}
