package chart

import (
	"math"
	"strconv"
	"strings"
)

// tenth is the unit of positions on paths: a tenth of a point is finer than a pixel.
type tenth int64

func tenths(v float64) tenth { return tenth(math.Round(10 * v)) }

// write appends a length in its shortest form.
func (t tenth) write(b *strings.Builder) {
	if t < 0 {
		b.WriteByte('-')
		t = -t
	}
	if whole := int64(t / 10); whole > 0 || t == 0 {
		b.WriteString(strconv.FormatInt(whole, 10))
	}
	if t%10 > 0 {
		b.WriteByte('.')
		b.WriteByte(byte('0' + t%10))
	}
}

// pair appends two lengths.
func pair(b *strings.Builder, x, y tenth) {
	x.write(b)
	if y >= 0 {
		b.WriteByte(' ')
	}
	y.write(b)
}

// track appends a line: its first point, then steps. Steps connect rounded positions, so that rounding errors do not add up.
func track(b *strings.Builder, pts []point) {
	var x, y tenth
	for i, p := range pts {
		nx, ny := tenths(p.x), tenths(p.y)
		switch i {
		case 0:
			b.WriteByte('M')
			pair(b, nx, ny)
		case 1:
			b.WriteByte('l')
			pair(b, nx-x, ny-y)
		default:
			if nx >= x {
				b.WriteByte(' ')
			}
			pair(b, nx-x, ny-y)
		}
		x, y = nx, ny
	}
}

// discs appends a line of length zero for each point: with round caps this draws a disc.
func discs(b *strings.Builder, at []point) {
	var x, y tenth
	for i, p := range at {
		nx, ny := tenths(p.x), tenths(p.y)
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('m')
		}
		pair(b, nx-x, ny-y)
		b.WriteString("h0")
		x, y = nx, ny
	}
}

// unseen is the largest distance, in points, of a line from a point that it leaves out: less than a reader can see.
const unseen = 0.15

// simplified leaves out points of a line that do not change how it looks (Ramer 1972; Douglas & Peucker 1973).
func simplified(pts []point) []point {
	if len(pts) < 3 {
		return pts
	}
	first, last := pts[0], pts[len(pts)-1]
	far, at := unseen, 0
	for i := 1; i < len(pts)-1; i++ {
		if d := distance(pts[i], first, last); d > far {
			far, at = d, i
		}
	}
	if at == 0 {
		return []point{first, last}
	}
	left := simplified(pts[:at+1])
	return append(left[:len(left)-1:len(left)-1], simplified(pts[at:])...)
}

// distance of p to the segment between a and b.
func distance(p, a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	t := 0.0
	if n := dx*dx + dy*dy; n > 0 {
		t = math.Min(math.Max(((p.x-a.x)*dx+(p.y-a.y)*dy)/n, 0), 1)
	}
	return math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy)
}
