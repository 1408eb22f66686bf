package theoryfig

import (
	"math"
	"slices"

	"collapse.example/collapse/internal/chart"
)

// contours returns the level lines of a grid of values at cell centres (z[r·columns+c] at (x[c], y[r])) by
// marching squares, as segments in grid order.
func contours(id, label string, x, y []float64, z []float64, levels []float64) chart.Series {
	s := chart.Series{ID: id, Label: label, Kind: chart.Segments, Color: chart.Ink, Width: .6, Faint: true}
	columns := len(x)
	for r := 0; r+1 < len(y); r++ {
		for c := 0; c+1 < columns; c++ {
			corners := [4]corner{
				{x[c], y[r], z[r*columns+c]}, {x[c+1], y[r], z[r*columns+c+1]},
				{x[c+1], y[r+1], z[(r+1)*columns+c+1]}, {x[c], y[r+1], z[(r+1)*columns+c]},
			}
			for _, level := range levels {
				crossings := crossed(corners, level)
				for i := 0; i+1 < len(crossings); i += 2 {
					a, b := crossings[i], crossings[i+1]
					s.X, s.Y = append(s.X, a[0]), append(s.Y, a[1])
					s.X2, s.Y2 = append(s.X2, b[0]), append(s.Y2, b[1])
				}
			}
		}
	}
	return s
}

type corner struct{ x, y, z float64 }

// crossed returns where the level crosses the four edges of a cell, in order around it: 0, 2 or 4 points.
func crossed(corners [4]corner, level float64) [][2]float64 {
	var out [][2]float64
	for i := range 4 {
		a, b := corners[i], corners[(i+1)%4]
		if (a.z < level) == (b.z < level) {
			continue
		}
		t := (level - a.z) / (b.z - a.z)
		out = append(out, [2]float64{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)})
	}
	return out
}

// evenLevels returns count levels strictly between the smallest and largest value.
func evenLevels(z []float64, count int) []float64 {
	low, high := slices.Min(z), slices.Max(z)
	if math.IsNaN(low + high) {
		return nil
	}
	out := make([]float64, count)
	for i := range out {
		out[i] = low + (high-low)*float64(i+1)/float64(count+1)
	}
	return out
}
