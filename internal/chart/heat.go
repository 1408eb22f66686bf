package chart

import (
	"image"
	"math"
)

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

// ticks are the numbers next to a colour bar of the given height.
func (h *Heat) ticks(height float64) []Tick {
	lo, hi := h.limits()
	return span{lo: lo, hi: hi}.ticks(int(height / 44))
}

// drawHeat draws the map as one image, and the colour bar. Non-finite cells stay empty and are counted; values beyond the colour
// range get its end colours.
func (f *frame) drawHeat(g painter, h *Heat) {
	lo, hi := h.limits()
	at := f.plot.intersect(f.pos(h.X[0], h.Y[0]), f.pos(h.X[1], h.Y[1]))
	if at.w > 0 && at.h > 0 {
		g.image(at, f.pixels(h, at))
	}
	f.countCells(h)
	f.drawColorBar(g, h, lo, hi)
}

// countCells counts the cells without a colour and those outside the axes.
func (f *frame) countCells(h *Heat) {
	dx := (h.X[1] - h.X[0]) / float64(h.Columns)
	dy := (h.Y[1] - h.Y[0]) / float64(h.Rows)
	for i, z := range h.Z {
		if !finite(z) {
			f.lost.NotFinite++
			continue
		}
		c, r := float64(i%h.Columns), float64(i/h.Columns)
		cell := f.plot.intersect(f.pos(h.X[0]+c*dx, h.Y[0]+r*dy), f.pos(h.X[0]+(c+1)*dx, h.Y[0]+(r+1)*dy))
		if !(cell.w > 0 && cell.h > 0) {
			f.lost.Outside++
		}
	}
}

// perPoint is the number of pixels of a heat map per point: enough for print, and for axes of any scale.
const perPoint = 2

// pixels gives each pixel of a box the colour of the cell at its centre; the colour after the last one means none.
func (f *frame) pixels(h *Heat, at box) *image.Paletted {
	lo, hi := h.limits()
	w, high := int(math.Ceil(perPoint*at.w)), int(math.Ceil(perPoint*at.h))
	out := image.NewPaletted(image.Rect(0, 0, w, high), heatPalette())
	columns := make([]int, w)
	for x := range columns {
		place := at.x + (float64(x)+0.5)*at.w/float64(w)
		columns[x] = cell(f.x.value((place-f.plot.x)/f.plot.w), h.X, h.Columns)
	}
	for y := range high {
		place := at.y + (float64(y)+0.5)*at.h/float64(high)
		row := cell(f.y.value(1-(place-f.plot.y)/f.plot.h), h.Y, h.Rows)
		for x, c := range columns {
			level := heatLevels
			if z := h.Z[row*h.Columns+c]; finite(z) {
				t := (z/2 - lo/2) / (hi/2 - lo/2)
				level = int(math.Min(math.Max(t, 0), 1)*(heatLevels-1) + 0.5)
			}
			out.Pix[y*out.Stride+x] = uint8(level)
		}
	}
	return out
}

// cell is the index, of n between two limits, of the cell that contains v.
func cell(v float64, limits [2]float64, n int) int {
	return min(max(int(float64(n)*(v-limits[0])/(limits[1]-limits[0])), 0), n-1)
}

// intersect returns the part of the rectangle with corners p, q that is inside b.
func (b box) intersect(p, q point) box {
	x0, x1 := math.Max(math.Min(p.x, q.x), b.x), math.Min(math.Max(p.x, q.x), b.x+b.w)
	y0, y1 := math.Max(math.Min(p.y, q.y), b.y), math.Min(math.Max(p.y, q.y), b.y+b.h)
	return box{x0, y0, x1 - x0, y1 - y0}
}

func (f *frame) drawColorBar(g painter, h *Heat, lo, hi float64) {
	bar := box{f.plot.x + f.plot.w + 10, f.plot.y, 10, f.plot.h}
	scale := image.NewPaletted(image.Rect(0, 0, 1, heatLevels), heatPalette())
	for l := range heatLevels {
		scale.Pix[heatLevels-1-l] = uint8(l)
	}
	g.image(bar, scale)
	s := span{lo: lo, hi: hi}
	var beside []label
	for _, t := range h.ticks(bar.h) {
		beside = append(beside, label{point{bar.x + bar.w + 4, bar.y + (1-s.at(t.Value))*bar.h + 3.4}, t.Label})
	}
	g.text(tickFace, beside...)
	if h.Label != "" {
		at := tickFace
		at.anchor = end
		g.text(at, label{point{bar.x + bar.w + 30, bar.y - 5}, h.Label})
	}
}
