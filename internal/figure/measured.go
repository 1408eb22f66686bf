package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/measurement"
)

const (
	// drawnClasses is how many classes a picture shows individually; more are aggregated.
	drawnClasses = 200
	// pairedClasses is how many classes enter the cosines of a picture.
	pairedClasses = 1000
	// namedClasses is how many ticks with class names an axis holds.
	namedClasses = 20
	// curvePoints is how many points of a long curve are drawn.
	curvePoints = 800
)

// OfMeasurement draws the main column and, if there are several, every measure against depth.
func OfMeasurement(m *measurement.Result) []Picture {
	out := OfColumn(m, m.Main)
	if len(m.Columns) > 1 {
		out = append([]Picture{OverLayers(m)}, out...)
	}
	return out
}

// OfColumn draws one column; a picture without data is left out.
func OfColumn(m *measurement.Result, at int) []Picture {
	c := &m.Columns[at]
	id := ""
	if len(m.Columns) > 1 {
		id = "-layer" + strconv.Itoa(at)
	}
	var out []Picture
	for _, draw := range []func(*measurement.Result, *measurement.Column) Picture{meansPlane, separation, gram, lengths, decisions, spectrum, margins} {
		if p := draw(m, c); len(p.Panels) > 0 {
			p.ID += id
			out = append(out, p)
		}
	}
	return out
}

// centred returns class means minus the global mean, for at most so many classes, evenly chosen, and
// which classes they are. Classes without samples, and means at the centre, are left out.
func centred(c *measurement.Column, most int) (mean [][]float64, class []int) {
	if len(c.ClassMeans) == 0 {
		return nil, nil
	}
	step := (c.K + most - 1) / most
	for k := 0; k < c.K; k += step {
		if row := minus(c.ClassMeans[k*c.D:(k+1)*c.D], c.GlobalMean); floats.Norm(row, 2) > 0 {
			mean, class = append(mean, row), append(class, k)
		}
	}
	return mean, class
}

// gram is the heat map of cosines between class means, and of their Gram matrix minus that of a simplex
// ETF, where the diagonal shows lengths and the other entries show angles.
func gram(m *measurement.Result, c *measurement.Column) Picture {
	p := Picture{Figure: chart.Figure{ID: "gram", Title: "Gram matrix of the class means", Columns: 2}}
	mean, class := centred(c, pairedClasses)
	if len(mean) < 2 {
		return p
	}
	n, target := len(mean), -1/float64(c.K-1)
	cosines, off := gramMaps(mean, target)
	p.Caption = fmt.Sprintf("Centred class means μ_k − h_G. In a simplex ETF every pair has the cosine −1/(K−1) = %s and all lengths are equal; the second map is then 0: it shows lengths on its diagonal (squared, over their mean) and angles off it.", format.Digits(target))
	if n <= drawnClasses {
		p.Panels = append(p.Panels, heat(m, c, "cosine", "cosine of two class means", class, cosines, chart.Range(-1, 1)),
			heat(m, c, "deviation", "difference from a simplex ETF", class, off, symmetric(off)))
	} else {
		p.Caption += fmt.Sprintf(" %d classes do not fit: the map shows means over blocks of neighbouring classes, and a histogram counts the pairs.", c.K)
		blocks, side := aggregate(off, n)
		p.Panels = append(p.Panels, blockHeat(c.K, side, blocks), histogram("histogram", "pairs of classes", "cosine of two class means", lowerTriangle(cosines, n), target, "simplex ETF"))
		if n < c.K {
			p.Notes = append(p.Notes, fmt.Sprintf("%d of %d classes, evenly chosen.", n, c.K))
		}
	}
	p.Table = format.Table{Columns: []string{"pairs", "mean cosine", "smallest", "largest", "−1/(K−1)"}, Rows: [][]string{pairStatistics(lowerTriangle(cosines, n), target)}}
	return p
}

// gramMaps returns the cosines of the means (n×n), and G/mean‖m‖² minus the Gram matrix of a simplex ETF,
// both with unit diagonal.
func gramMaps(mean [][]float64, target float64) (cosines, off chart.Numbers) {
	n := len(mean)
	cosines, off = make(chart.Numbers, n*n), make(chart.Numbers, n*n)
	lengths, square := make([]float64, n), 0.0
	for i, row := range mean {
		lengths[i] = floats.Norm(row, 2)
		square += lengths[i] * lengths[i] / float64(n)
	}
	for i := range n {
		cosines[i*n+i], off[i*n+i] = 1, lengths[i]*lengths[i]/square-1
		for j := range i {
			g := floats.Dot(mean[i], mean[j])
			cosines[i*n+j], off[i*n+j] = g/(lengths[i]*lengths[j]), g/square-target
			cosines[j*n+i], off[j*n+i] = cosines[i*n+j], off[i*n+j]
		}
	}
	return cosines, off
}

// lowerTriangle lists the entries i>j of an n×n map.
func lowerTriangle(z chart.Numbers, n int) []float64 {
	var out []float64
	for i := range n {
		out = append(out, z[i*n:i*n+i]...)
	}
	return out
}

// symmetric is a range around 0 that holds all values.
func symmetric(z chart.Numbers) *[2]float64 {
	span := 1e-6 // rounding is not drawn as structure
	for _, v := range z {
		span = max(span, math.Abs(v))
	}
	return chart.Range(-span, span)
}

// aggregate averages an n×n map over blocks, at most 100 per side.
func aggregate(z chart.Numbers, n int) (blocks chart.Numbers, side int) {
	step := (n + 99) / 100
	side = (n + step - 1) / step
	blocks = make(chart.Numbers, side*side)
	counts := make([]float64, side*side)
	for i := range n {
		for j := range n {
			at := i/step*side + j/step
			blocks[at] += z[i*n+j]
			counts[at]++
		}
	}
	for at, k := range counts {
		blocks[at] /= k
	}
	return blocks, side
}

func heat(m *measurement.Result, c *measurement.Column, id, title string, class []int, z chart.Numbers, limits *[2]float64) chart.Panel {
	n := len(class)
	edge := float64(n) - 0.5
	axis := chart.Axis{Label: "class", Range: chart.Range(-0.5, edge), Ticks: classTicks(m, c, class)}
	return chart.Panel{ID: id, Title: title, X: axis, Y: axis, Series: []chart.Series{{ID: id, Kind: chart.HeatMap,
		Heat: &chart.Heat{Columns: n, Rows: n, X: [2]float64{-0.5, edge}, Y: [2]float64{-0.5, edge}, Z: z, Range: limits}}}}
}

func blockHeat(k, side int, z chart.Numbers) chart.Panel {
	axis := chart.Axis{Label: "class number", Range: chart.Range(0, float64(k))}
	return chart.Panel{ID: "deviation", Title: "difference from a simplex ETF", X: axis, Y: axis, Series: []chart.Series{{ID: "deviation", Kind: chart.HeatMap,
		Heat: &chart.Heat{Columns: side, Rows: side, X: [2]float64{0, float64(k)}, Y: [2]float64{0, float64(k)}, Z: z, Range: symmetric(z)}}}}
}

// classTicks names the classes at positions 0, 1, …; nil if there are too many.
func classTicks(m *measurement.Result, c *measurement.Column, class []int) []chart.Tick {
	if len(class) > namedClasses {
		return nil
	}
	ticks := make([]chart.Tick, len(class))
	for i, k := range class {
		name := []rune(m.Class(c, k))
		if len(name) > 8 {
			name = append(name[:7], '…')
		}
		ticks[i] = chart.Tick{Value: float64(i), Label: string(name)}
	}
	return ticks
}

// histogram counts values and marks one of them.
func histogram(id, y, x string, values []float64, mark float64, markName string) chart.Panel {
	const bins = 60
	lo, hi := slices.Min(values), slices.Max(values)
	if !(hi > lo) {
		lo, hi = lo-1e-9, hi+1e-9
	}
	counts := make([]float64, bins)
	for _, v := range values {
		counts[min(bins-1, int((v-lo)/(hi-lo)*bins))]++
	}
	s := chart.Series{ID: "counts", Kind: chart.Line, Color: chart.ColorFor(0), X: chart.Numbers{lo}, Y: chart.Numbers{0}}
	for b, n := range counts {
		s.X = append(s.X, lo+(hi-lo)*float64(b)/bins, lo+(hi-lo)*float64(b+1)/bins)
		s.Y = append(s.Y, n, n)
	}
	s.X, s.Y = append(s.X, hi), append(s.Y, 0)
	return chart.Panel{ID: id, X: chart.Axis{Label: x}, Y: chart.Axis{Label: y, Zero: true}, Series: []chart.Series{s,
		{ID: "mark", Label: markName, Kind: chart.VLine, Color: chart.Ink, Dashed: true, X: chart.Numbers{mark}}}}
}

func pairStatistics(cosines []float64, target float64) []string {
	sum := 0.0
	for _, v := range cosines {
		sum += v
	}
	return []string{strconv.Itoa(len(cosines)), format.Digits(sum / float64(len(cosines))), format.Digits(slices.Min(cosines)), format.Digits(slices.Max(cosines)), format.Digits(target)}
}

// thinned returns at most curvePoints of n indices, including both ends.
func thinned(n int) []int {
	points := min(n, curvePoints)
	out := make([]int, points)
	for i := range out {
		out[i] = i
		if points < n {
			out[i] = i * (n - 1) / (points - 1)
		}
	}
	return out
}
