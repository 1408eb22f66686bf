package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"collapse/internal/chart"
	"collapse/measure"
)

const (
	// drawnClasses is how many classes a picture shows one by one; more are aggregated.
	drawnClasses = 200
	// pairedClasses is how many classes the cosines of a picture are taken of.
	pairedClasses = 1000
	// namedClasses is how many ticks with class names an axis holds.
	namedClasses = 20
	// curvePoints is how many points of a long curve are drawn.
	curvePoints = 800
)

// pictures draws one column; a picture without data is left out.
func (m *Measured) pictures(at int) []picture {
	c := &m.Columns[at]
	id := ""
	if len(m.Columns) > 1 {
		id = "-layer" + strconv.Itoa(at)
	}
	var out []picture
	for _, draw := range []func(*MeasuredColumn) picture{m.plane, m.separation, m.gram, m.lengths, m.decisions, m.spectrum, m.margins} {
		if p := draw(c); len(p.Panels) > 0 {
			p.ID += id
			out = append(out, p)
		}
	}
	return out
}

// centred returns class means less the global mean, of at most so many classes evenly chosen, and which
// classes they are. Classes without a sample, and means at the centre, are left out.
func (c *MeasuredColumn) centred(most int) (mean [][]float64, class []int) {
	if len(c.ClassMeans) == 0 {
		return nil, nil
	}
	step := (c.K + most - 1) / most
	for k := 0; k < c.K; k += step {
		if row := minusVec(c.ClassMeans[k*c.D:(k+1)*c.D], c.GlobalMean); norm(row) > 0 {
			mean, class = append(mean, row), append(class, k)
		}
	}
	return mean, class
}

// gram is the heat map of cosines between class means, and of their Gram matrix against that of a simplex
// ETF, whose diagonal shows lengths and whose other entries show angles.
func (m *Measured) gram(c *MeasuredColumn) picture {
	p := picture{Figure: chart.Figure{ID: "gram", Title: "Gram matrix of the class means", Columns: 2}}
	mean, class := c.centred(pairedClasses)
	if len(mean) < 2 {
		return p
	}
	n, target := len(mean), -1/float64(c.K-1)
	cosines, off := gramMaps(mean, target)
	p.Caption = fmt.Sprintf("Centred class means μ_k − h_G. In a simplex ETF every pair has the cosine −1/(K−1) = %s and all lengths are equal; the second map is 0 there: lengths on its diagonal (squared, over their mean), angles beside it.", digits(target))
	if n <= drawnClasses {
		p.Panels = append(p.Panels, m.heat(c, "cosine", "cosine of two class means", class, cosines, chart.Range(-1, 1)),
			m.heat(c, "deviation", "difference from a simplex ETF", class, off, symmetric(off)))
	} else {
		p.Caption += fmt.Sprintf(" %d classes do not fit: the map shows means over blocks of neighbouring classes, and a histogram counts the pairs.", c.K)
		blocks, side := aggregate(off, n)
		p.Panels = append(p.Panels, blockHeat(c.K, side, blocks), histogram("histogram", "pairs of classes", "cosine of two class means", lowerTriangle(cosines, n), target, "simplex ETF"))
		if n < c.K {
			p.Notes = append(p.Notes, fmt.Sprintf("%d of %d classes, evenly chosen.", n, c.K))
		}
	}
	p.Table = table{Columns: []string{"pairs", "mean cosine", "smallest", "largest", "−1/(K−1)"}, Rows: [][]string{pairStatistics(lowerTriangle(cosines, n), target)}}
	return p
}

// gramMaps returns the cosines of the means (n×n) and G/mean‖m‖² less the Gram matrix of a simplex ETF, both
// with unit diagonal.
func gramMaps(mean [][]float64, target float64) (cosines, off chart.Numbers) {
	n := len(mean)
	cosines, off = make(chart.Numbers, n*n), make(chart.Numbers, n*n)
	lengths, square := make([]float64, n), 0.0
	for i, row := range mean {
		lengths[i] = norm(row)
		square += lengths[i] * lengths[i] / float64(n)
	}
	for i := range n {
		cosines[i*n+i], off[i*n+i] = 1, lengths[i]*lengths[i]/square-1
		for j := range i {
			g := dot(mean[i], mean[j])
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
	span := 1e-12
	for _, v := range z {
		span = max(span, math.Abs(v))
	}
	return chart.Range(-span, span)
}

// aggregate averages an n×n map over blocks, at most 100 a side.
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

func (m *Measured) heat(c *MeasuredColumn, id, title string, class []int, z chart.Numbers, limits *[2]float64) chart.Panel {
	n := len(class)
	edge := float64(n) - 0.5
	axis := chart.Axis{Label: "class", Range: chart.Range(-0.5, edge), Ticks: m.classTicks(c, class)}
	return chart.Panel{ID: id, Title: title, X: axis, Y: axis, Series: []chart.Series{{ID: id, Kind: chart.HeatMap,
		Heat: &chart.Heat{Columns: n, Rows: n, X: [2]float64{-0.5, edge}, Y: [2]float64{-0.5, edge}, Z: z, Range: limits}}}}
}

func blockHeat(k, side int, z chart.Numbers) chart.Panel {
	axis := chart.Axis{Label: "class number", Range: chart.Range(0, float64(k))}
	return chart.Panel{ID: "deviation", Title: "difference from a simplex ETF", X: axis, Y: axis, Series: []chart.Series{{ID: "deviation", Kind: chart.HeatMap,
		Heat: &chart.Heat{Columns: side, Rows: side, X: [2]float64{0, float64(k)}, Y: [2]float64{0, float64(k)}, Z: z, Range: symmetric(z)}}}}
}

// classTicks names the classes at places 0, 1, …; nil where there are too many.
func (m *Measured) classTicks(c *MeasuredColumn, class []int) []chart.Tick {
	if len(class) > namedClasses {
		return nil
	}
	ticks := make([]chart.Tick, len(class))
	for i, k := range class {
		name := []rune(m.class(c, k))
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
	return []string{strconv.Itoa(len(cosines)), digits(sum / float64(len(cosines))), digits(slices.Min(cosines)), digits(slices.Max(cosines)), digits(target)}
}

// classPanel is one pair of axes with vectors over classes: key and label of each.
type classPanel struct {
	id, title, y string
	zero         bool
	series       [][2]string
}

// lengths draws norms and spread of every class.
func (m *Measured) lengths(c *MeasuredColumn) picture {
	return m.perClass(c, picture{Figure: chart.Figure{ID: "classes", Title: "Every class: length and spread", Columns: 2,
		Caption: "Lengths of class means and of the classifier's rows; variance within the class, (1/n_k) Σ ‖h − μ_k‖², in squared feature units."}},
		classPanel{"norms", "lengths", "norm", true, [][2]string{{"centred_norm", "‖μ_k − h_G‖"}, {"mean_norm", "‖μ_k‖"}, {"weight_norm", "‖w_k‖"}}},
		classPanel{"within", "variance within the class", "variance", true, [][2]string{{"within_trace", "variance, train"}, {"test_within_trace", "variance, test"}}})
}

// decisions draws shares, duality and rank of every class.
func (m *Measured) decisions(c *MeasuredColumn) picture {
	return m.perClass(c, picture{Figure: chart.Figure{ID: "decisions", Title: "Every class: decisions, duality and rank", Columns: 3,
		Caption: "Shares of a class's samples; the cosine of its row to its centred mean; how many directions its samples fill."}},
		classPanel{"shares", "shares of samples", "share", false, [][2]string{{"accuracy", "classified as labelled"}, {"ncc_accuracy", "nearest to its own centre"}}},
		classPanel{"duality", "row and class mean", "cosine", false, [][2]string{{"nc3_cosine", "cos(w_k, μ_k − h_G)"}}},
		classPanel{"ranks", "directions a class fills", "rank", true, [][2]string{{"numerical_rank", "numerical rank"}, {"stable_rank", "stable rank"}, {"effective_rank", "effective rank"}}})
}

func (m *Measured) perClass(c *MeasuredColumn, p picture, panels ...classPanel) picture {
	sorted := c.K > drawnClasses
	if sorted {
		p.Caption += fmt.Sprintf(" With %d classes each curve is sorted for itself.", c.K)
	}
	p.Table = table{Columns: []string{"class", "samples"}}
	var vectors []measure.Vector
	for _, at := range panels {
		panel := chart.Panel{ID: at.id, Title: at.title, X: m.classAxis(c, sorted), Y: chart.Axis{Label: at.y, Zero: at.zero}}
		for _, key := range at.series {
			v := c.PerClass[key[0]]
			if len(v) == 0 {
				continue
			}
			panel.Series = append(panel.Series, m.classSeries(key[0], key[1], v, len(vectors), sorted))
			vectors = append(vectors, v)
			p.Table.Columns = append(p.Table.Columns, key[1])
		}
		if at.id == "shares" {
			panel.Y.Range = upToOne(panel.Series)
		}
		if len(panel.Series) > 0 {
			p.Panels = append(p.Panels, panel)
		}
	}
	for k := range min(c.K, drawnClasses) {
		row := []string{m.class(c, k), strconv.Itoa(c.ClassCounts[k])}
		for _, v := range vectors {
			text := "–"
			if k < len(v) {
				text = digits(v[k])
			}
			row = append(row, text)
		}
		p.Table.Rows = append(p.Table.Rows, row)
	}
	return p
}

// upToOne is a range for shares: what is there, and 1 as its upper end.
func upToOne(series []chart.Series) *[2]float64 {
	lo := 0.9 // of a classifier without a mistake
	for _, s := range series {
		for _, v := range s.Y {
			if v < lo {
				lo = v
			}
		}
	}
	pad := 0.05 * (1 - lo)
	return chart.Range(lo-pad, 1+pad)
}

func (m *Measured) classAxis(c *MeasuredColumn, sorted bool) chart.Axis {
	if sorted {
		return chart.Axis{Label: "classes, sorted"}
	}
	k := c.K
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	return chart.Axis{Label: "class", Range: chart.Range(-0.5, float64(k)-0.5), Ticks: m.classTicks(c, all)}
}

func (m *Measured) classSeries(id, label string, v measure.Vector, color int, sorted bool) chart.Series {
	s := chart.Series{ID: id, Label: label, Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.MarkerFor(color), Size: 5}
	y := slices.Clone([]float64(v))
	if sorted {
		y = slices.DeleteFunc(y, math.IsNaN)
		slices.Sort(y)
		s.Kind, s.Marker = chart.Line, chart.NoMarker
	} else if len(y) > 40 {
		s.Size = 3
	}
	for _, i := range thinned(len(y)) {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, y[i])
	}
	return s
}

// thinned returns at most curvePoints places of n, both ends among them.
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
