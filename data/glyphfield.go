package data

import "math"

// A field is the signed distance to an outline at the centres of fieldSize×fieldSize cells, in
// 1/fieldUnit of a cell, positive inside, cut off at ±fieldFar cells. A warp samples it at any
// scale with smooth edges, and adding to it makes a stroke thicker.
type field [fieldSize * fieldSize]int16

const (
	fieldSize = 96
	fieldBox  = 72 // cells across the longer side of a symbol
	fieldFar  = (fieldSize - fieldBox) / 2
	fieldUnit = 256
)

func newField(edges []edge) *field {
	const far = fieldFar * fieldUnit
	squared := make([]int, fieldSize*fieldSize)
	winding := make([]int8, fieldSize*fieldSize)
	for i := range squared {
		squared[i] = far * far
	}
	for _, e := range edges {
		e.lower(squared)
		e.wind(winding)
	}
	f := new(field)
	for i, d2 := range squared {
		// math.Sqrt is correctly rounded on every platform.
		d := int16(math.Sqrt(float64(d2)))
		if winding[i] == 0 {
			d = -d
		}
		f[i] = d
	}
	return f
}

// center returns the field coordinate of the middle of cell i of a row or column.
func center(i int) int { return i*fieldUnit + fieldUnit/2 }

// cells returns the cells whose centres may lie within fieldFar of [lo, hi].
func cells(lo, hi int) (first, end int) {
	return max(0, lo/fieldUnit-fieldFar-1), min(fieldSize, hi/fieldUnit+fieldFar+2)
}

// lower lowers the squared distances near the edge to the distance from it.
func (e edge) lower(squared []int) {
	dx, dy := e.b.x-e.a.x, e.b.y-e.a.y
	length2 := dx*dx + dy*dy
	x0, x1 := cells(min(e.a.x, e.b.x), max(e.a.x, e.b.x))
	y0, y1 := cells(min(e.a.y, e.b.y), max(e.a.y, e.b.y))
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			px, py := center(x)-e.a.x, center(y)-e.a.y
			var d2 int
			switch along := px*dx + py*dy; {
			case along <= 0:
				d2 = px*px + py*py
			case along >= length2:
				px, py = px-dx, py-dy
				d2 = px*px + py*py
			default:
				across := px*dy - py*dx
				d2 = across * across / length2
			}
			i := y*fieldSize + x
			squared[i] = min(squared[i], d2)
		}
	}
}

// wind adds the edge's part of the winding number of each cell: ±1 for the cells to the right of
// where the edge crosses their row.
func (e edge) wind(winding []int8) {
	turn, a, b := int8(1), e.a, e.b
	if a.y > b.y {
		turn, a, b = -1, b, a
	}
	for y := range fieldSize {
		cy := center(y)
		if a.y > cy || b.y <= cy {
			continue
		}
		for x := range fieldSize {
			if (center(x)-a.x)*(b.y-a.y) > (b.x-a.x)*(cy-a.y) {
				winding[y*fieldSize+x] += turn
			}
		}
	}
}
