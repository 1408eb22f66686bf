package figure

import (
	"fmt"
	"math"

	"collapse.example/collapse/internal/chart"
)

// Words are drawings of what the words mean, each before and after: NC1, NC2, NC3, dilation, memorization, degenerate. They are schemes
// of three classes in a plane, not data.
func Words() []Picture {
	return []Picture{
		word("nc1", "NC1: the spread within classes, compared with the distances between them",
			"At the limit of collapse NC1 is 0: the features of a class are one point.",
			scheme{title: "NC1 is large", means: simplexAt(2), spread: 0.9},
			scheme{title: "NC1 is near 0", means: simplexAt(2), spread: 0.1}),
		word("nc2", "NC2: class means as far apart as they can be",
			"At the limit of collapse the class means around their centre have one length and equal angles: a simplex equiangular tight frame (ETF).",
			scheme{title: "NC2 is large", means: []place{{0.6, 1.9}, {-1.2, 1.1}, {1.3, -1.5}}, spread: 0.1, arrows: true},
			scheme{title: "NC2 is near 0", means: simplexAt(2), spread: 0.1, arrows: true}),
		word("nc3", "NC3: the classifier aligns with the class means",
			"At the limit of collapse each row of the classifier points along the mean of its class.",
			scheme{title: "NC3 is large", means: simplexAt(2), spread: 0.1, arrows: true, rows: 0.6},
			scheme{title: "NC3 is near 0", means: simplexAt(2), spread: 0.1, arrows: true, rows: 0.04}),
		word("dilation", "Dilation: how widely a class spreads on test data",
			"Dilation is √NC1 of the test features (M-D). Training samples can be collapsed while test samples are not.",
			scheme{title: "Little dilation", means: simplexAt(2), spread: 0.1, test: 0.4},
			scheme{title: "Much dilation", means: simplexAt(2), spread: 0.1, test: 1.1}),
		word("memorization", "Memorization: wrong labels that are learned",
			"Training samples with a wrong label are moved from the test features of their true class (here: the first) towards the class of their label. Memorization sums or averages these distances (M-D).",
			scheme{title: "Little memorization", means: simplexAt(2), spread: 0.1, test: 0.5, pulled: 0.2},
			scheme{title: "Much memorization", means: simplexAt(2), spread: 0.1, test: 0.5, pulled: 0.72}),
		word("degenerate", "Degenerate: one class mean lies at the origin",
			"With few dimensions training may leave one class at the origin and the others opposite each other (M-D Fig. 4a). Angles and ratios then mean little, so means over runs and the claims of Fig. 1 leave such runs out, and count them; means and claims about the runs of your own script do not.",
			scheme{title: "A regular run", means: simplexAt(2), spread: 0.1, arrows: true},
			scheme{title: "A degenerate run", means: []place{{0, 0.05}, {-2, 0.2}, {2, -0.2}}, spread: 0.1, arrows: true}),
	}
}

type place struct{ x, y float64 }

// scheme is a panel of a drawing.
type scheme struct {
	title  string
	means  []place
	spread float64 // radius of a class's training samples
	arrows bool    // from the origin to the means
	rows   float64 // angle between the classifier's rows and the means; 0: not drawn
	test   float64 // radius of a class's test samples; 0: not drawn
	pulled float64 // share of the way on which the wrongly labelled samples of the first class have moved to the second; 0: not drawn
}

// simplexAt are three means at a distance from the origin, at equal angles.
func simplexAt(r float64) []place {
	var out []place
	for k := range 3 {
		sin, cos := math.Sincos(math.Pi/2 + 2*math.Pi/3*float64(k))
		out = append(out, place{r * cos, r * sin})
	}
	return out
}

// disc spreads n points evenly over a disc, as the seeds of a sunflower.
func disc(at place, radius float64, n int) (x, y chart.Numbers) {
	for i := range n {
		r := radius * math.Sqrt((float64(i)+0.5)/float64(n))
		sin, cos := math.Sincos(float64(i) * math.Pi * (3 - math.Sqrt(5)))
		x, y = append(x, at.x+r*cos), append(y, at.y+r*sin)
	}
	return x, y
}

func word(id, title, caption string, before, after scheme) Picture {
	return Picture{Figure: chart.Figure{ID: "word-" + id, Title: title, Caption: caption, Columns: 2, Panels: []chart.Panel{before.panel("before"), after.panel("after")}}}
}

func (s scheme) panel(id string) chart.Panel {
	axis := chart.Axis{Range: chart.Range(-3, 3), Ticks: []chart.Tick{{Value: 0, Label: "0"}}}
	p := chart.Panel{ID: id, Title: s.title, Equal: true, X: axis, Y: axis}
	for k, m := range s.means {
		if s.test > 0 {
			p.Series = append(p.Series, samples("test", "test samples", chart.Ring, 5, k, m, s.test, 26))
		}
		p.Series = append(p.Series, samples("train", "training samples", chart.Dot, 3.4, k, m, s.spread, 26))
		if s.arrows {
			p.Series = append(p.Series, arrow("mean", "class mean", k, m, false))
		}
		if s.rows != 0 {
			sin, cos := math.Sincos(s.rows)
			row := place{1.4 * (m.x*cos - m.y*sin), 1.4 * (m.x*sin + m.y*cos)}
			p.Series = append(p.Series, arrow("row", "row of the classifier", k, row, true))
		}
	}
	if s.pulled > 0 {
		from, to := s.means[0], s.means[1]
		at := place{from.x + s.pulled*(to.x-from.x), from.y + s.pulled*(to.y-from.y)}
		p.Series = append(p.Series, samples("wrong", "training samples with a wrong label", chart.Cross, 7, 0, at, 0.3, 7))
	}
	return p
}

func samples(id, label string, marker chart.Marker, size float64, class int, at place, radius float64, n int) chart.Series {
	s := chart.Series{ID: fmt.Sprintf("%s-%d", id, class), Kind: chart.Points, Color: chart.ColorFor(class), Marker: marker, Size: size}
	if class == 0 {
		s.Label = label
	}
	s.X, s.Y = disc(at, radius, n)
	return s
}

func arrow(id, label string, class int, to place, dashed bool) chart.Series {
	s := chart.Series{ID: fmt.Sprintf("%s-%d", id, class), Kind: chart.Arrows, Color: chart.ColorFor(class), Dashed: dashed, Width: 1.8,
		X: chart.Numbers{0}, Y: chart.Numbers{0}, X2: chart.Numbers{to.x}, Y2: chart.Numbers{to.y}}
	if class == 0 {
		s.Label = label
	}
	return s
}
