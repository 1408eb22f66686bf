package chart

import "math"

// point is a position on the drawing in points, y downward.
type point struct{ x, y float64 }

// box is a rectangle on the drawing.
type box struct{ x, y, w, h float64 }

func (b box) contains(p point) bool {
	const slack = 1e-6 // rounding of a value that lies on the axis limit
	return p.x >= b.x-slack && p.x <= b.x+b.w+slack && p.y >= b.y-slack && p.y <= b.y+b.h+slack
}

func (b box) overlaps(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// clipSegment returns the part of p–q inside b (Liang & Barsky 1984), and whether there is one.
func (b box) clipSegment(p, q point) (point, point, bool) {
	t0, t1 := 0.0, 1.0
	dx, dy := q.x-p.x, q.y-p.y
	for _, e := range [4][2]float64{
		{-dx, p.x - b.x}, {dx, b.x + b.w - p.x}, {-dy, p.y - b.y}, {dy, b.y + b.h - p.y},
	} {
		switch r := e[1] / e[0]; {
		case e[0] == 0 && e[1] < 0:
			return p, q, false
		case e[0] < 0:
			t0 = math.Max(t0, r)
		case e[0] > 0:
			t1 = math.Min(t1, r)
		}
	}
	if !(t0 <= t1) {
		return p, q, false
	}
	return point{p.x + t0*dx, p.y + t0*dy}, point{p.x + t1*dx, p.y + t1*dy}, true
}

// clipLine cuts a polyline into the runs that lie inside b.
func (b box) clipLine(line []point) [][]point {
	var out [][]point
	var run []point
	for i := 1; i < len(line); i++ {
		p, q, ok := b.clipSegment(line[i-1], line[i])
		if !ok {
			continue
		}
		if len(run) == 0 || run[len(run)-1] != p {
			if len(run) > 1 {
				out = append(out, run)
			}
			run = []point{p}
		}
		run = append(run, q)
	}
	if len(run) > 1 {
		out = append(out, run)
	}
	return out
}

// clampY moves a point into the box in y only: enough for a band over x.
func (b box) clampY(p point) point {
	return point{p.x, math.Min(math.Max(p.y, b.y), b.y+b.h)}
}
