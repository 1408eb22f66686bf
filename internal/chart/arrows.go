package chart

import "math"

// drawSegments draws straight segments; those of Arrows get heads at their ends.
func (f *frame) drawSegments(g painter, s *Series) {
	var lines [][]point
	for i := range s.X {
		if !f.usable(s.X[i], s.Y[i]) || !f.usable(s.X2[i], s.Y2[i]) {
			continue
		}
		tip := f.pos(s.X2[i], s.Y2[i])
		p, q, ok := f.plot.clipSegment(f.pos(s.X[i], s.Y[i]), tip)
		if !ok {
			f.lost.Outside++
			continue
		}
		lines = append(lines, []point{p, q})
		if s.Kind == Arrows && f.plot.contains(tip) {
			drawHead(g, p, q, s.Color)
		}
		if i < len(s.Labels) && s.Labels[i] != "" {
			f.labels.want(q, s.Labels[i], s.Color)
		}
	}
	g.line(s.stroke(), lines...)
}

// drawHead fills a small triangle at q, pointing away from p.
func drawHead(g painter, p, q point, c Color) {
	dx, dy := q.x-p.x, q.y-p.y
	n := math.Hypot(dx, dy)
	if n < 1e-9 {
		return
	}
	dx, dy = dx/n, dy/n
	size := math.Min(7.5, n)
	back := point{q.x - dx*size, q.y - dy*size}
	w := size * 0.42
	g.area([]point{q, {back.x - dy*w, back.y + dx*w}, {back.x + dy*w, back.y - dx*w}}, c, 1)
}
