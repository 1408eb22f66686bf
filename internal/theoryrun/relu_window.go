package theoryrun

import (
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/ufm"
)

// scan is a grid over K and q.
type scan recipe.ReLU

// q is the midpoint of step i of the scan.
func (t scan) q(i int) float64 {
	return t.Q[0] + (t.Q[1]-t.Q[0])*(float64(i)+.5)/float64(t.Steps)
}

// drawn reports whether K has a curve of its own.
func (t scan) drawn(K int) bool { return slices.Contains(t.Lines, K) }

// shares is how far the best known point lies below the theorem's value, over K and q.
func (t scan) shares() ([][]float64, error) {
	var out [][]float64
	for K := 2; K <= t.KMax; K++ {
		var row []float64
		for i := range t.Steps {
			share, err := shareBelow(K, t.q(i))
			if err != nil {
				return nil, err
			}
			row = append(row, share)
		}
		out = append(out, row)
	}
	return out, nil
}

// shareBelow is how far the best known value is below the theorem's, in percent.
func shareBelow(K int, q float64) (float64, error) {
	cfg := withQ(ufm.ReLU3, K, q)
	theorem, err := theoremValue(cfg)
	if err != nil {
		return 0, err
	}
	e, err := cfg.Exact()
	if err != nil {
		return 0, err
	}
	if share := 100 * (1 - float64(e.Objective)/theorem); share > 1e-9 {
		return share, nil
	}
	return 0, nil
}

// windowFact says for which q points lie below the theorem's value.
func (t scan) windowFact(K int, shares []float64) theoryfig.Fact {
	name, first, last := fmt.Sprintf("K = %d: q for which the theorem fails", K), math.NaN(), math.NaN()
	for i, share := range shares {
		if share > 0 {
			last = t.q(i)
			if math.IsNaN(first) {
				first = last
			}
		}
	}
	if math.IsNaN(first) {
		return fact(name, "none known", "computed here")
	}
	return fact(name, format.Sprintf("%.3f to %.3f", first, last), "computed here, on the grid of the figure")
}

// windows draws how far the best known point lies below the theorem's value, over q and K.
func (t *relu) windows() chart.Figure {
	scan := scan(t.ReLU)
	heat := &chart.Heat{Columns: scan.Steps, Rows: scan.KMax - 1, X: scan.Q, Y: [2]float64{1.5, float64(scan.KMax) + .5}, Label: "% below the theorem's value"}
	curves := chart.Panel{ID: "curves", Title: "Over q, for some K", X: chart.Axis{Label: "q"}, Y: chart.Axis{Label: "% below the theorem's value", Zero: true}}
	for i, row := range t.shares {
		heat.Z = append(heat.Z, row...)
		K := i + 2
		if !scan.drawn(K) {
			continue
		}
		curve := chart.Series{ID: fmt.Sprintf("k-%d", K), Label: fmt.Sprintf("K = %d", K), Kind: chart.Line, Color: chart.ColorFor(len(curves.Series)), Y: row}
		for i := range row {
			curve.X = append(curve.X, scan.q(i))
		}
		curves.Series = append(curves.Series, curve)
	}
	curves.Series = append(curves.Series, chart.Series{ID: "threshold", Label: "zero beats the frame to the right", Kind: chart.VLine, Dashed: true, Color: chart.Muted, X: chart.Numbers{math.Pow(2, -4.0/3)}})
	return chart.Figure{ID: t.ID, Title: t.Title, Columns: 2,
		Caption: "How far the best known point lies below the smaller of the frame's value and zero's. Dark: the theorem seems to hold.",
		Panels:  []chart.Panel{{ID: "map", Title: "Over q and K", X: chart.Axis{Label: "q"}, Y: chart.Axis{Label: "classes K"}, Series: []chart.Series{{ID: "below", Kind: chart.HeatMap, Heat: heat}}}, curves}}
}
