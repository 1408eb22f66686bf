package figure

import (
	"fmt"
	"slices"
	"sort"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// Curves draws the main measures of runs in any state, or what scripts report, against epoch, one curve per run.
func Curves(runs []judge.Run) Picture {
	g := eachAlone(runs)
	if g.OfScripts() {
		what, _ := ownMeasures(g.Runs)
		p := otherTitle(g, outlined(withoutSpread(trackFigure(g, "measures", g.Runs, what)), runs))
		p.Title = reportedTitle(g)
		return p
	}
	p := outlined(withoutSpread(trackFigure(g, "measures", g.Runs, mainMeasures)), runs)
	p.Title = "The measures of collapse against epoch"
	p.Caption = "In evaluation mode; training measures use the labels trained on, test labels are never corrupted. A dashed grey line is the limit of complete collapse."
	return p
}

// mostOthers bounds how many panels one picture of other measures has.
const mostOthers = 400

// OtherCurves is Curves for every other measure; without panels if there is none.
func OtherCurves(runs []judge.Run) Picture {
	g := eachAlone(runs)
	others := restOf(g)
	p := otherTitle(g, outlined(withoutSpread(trackFigure(g, "measures-more", g.Runs, others[:min(len(others), mostOthers)])), runs))
	if n := len(others) - mostOthers; n > 0 {
		p.Notes = append(p.Notes, format.Count(n, "more measure")+" not drawn; `collapse export` has all.")
	}
	return p
}

// FoldedCurves is OtherCurves without panels, for a page that draws it when unfolded. It reports whether there is anything to draw.
func FoldedCurves(runs []judge.Run) (Picture, bool) {
	g := eachAlone(runs)
	return otherTitle(g, Picture{Figure: chart.Figure{ID: "measures-more", Columns: 3}}), len(restOf(g)) > 0
}

// restOf are the measures that Curves does not draw.
func restOf(g *judge.Experiment) []tracked {
	if g.OfScripts() {
		_, rest := ownMeasures(g.Runs)
		return rest
	}
	return otherMeasures(g.Runs)
}

// outlined says of which runs some epochs are left out.
func outlined(p Picture, runs []judge.Run) Picture {
	every := int64(1)
	for i := range runs {
		every = max(every, runs[i].Every)
	}
	if every > 1 {
		p.Notes = append(p.Notes, fmt.Sprintf("Of runs with very many epochs, one in %d is drawn, and the newest; `collapse export` has all.", every))
	}
	return p
}

// reportedTitle is that of the first values of scripts: where their features were measured, too, nobody knows who said which.
func reportedTitle(g *judge.Experiment) string {
	if slices.ContainsFunc(g.Runs, func(s *judge.JudgedRun) bool { return s.OfCollapse() }) {
		return "What was reported and measured, against epoch"
	}
	return "What the script reported, against epoch"
}

func otherTitle(g *judge.Experiment, p Picture) Picture {
	if g.OfScripts() {
		p.Title = "Further values against epoch"
		p.Caption = "The name and the split of each value stand above its axis."
		return p
	}
	p.Title = "Every other measure against epoch"
	p.Caption = "Each axis is labelled with the measure's key and split. “clean” means the training samples that kept their label."
	return p
}

// eachAlone is an experiment in which every run has its own curve.
func eachAlone(runs []judge.Run) *judge.Experiment {
	g := &judge.Experiment{}
	names := judge.Names(runs)
	for i := range runs {
		s := judge.JudgeRun(&runs[i])
		s.Curve = names[i]
		g.Runs, g.Curves = append(g.Runs, s), append(g.Curves, s.Curve)
	}
	return g
}

// withoutSpread removes what curves of single runs do not have.
func withoutSpread(p Picture) Picture {
	for i := range p.Panels {
		for j := range p.Panels[i].Series {
			s := &p.Panels[i].Series[j]
			s.YLo, s.YHi, s.N = nil, nil, nil
		}
	}
	return p
}

// gridMeasures are the maps of a grid.
var gridMeasures = []struct{ split, key, title, label string }{
	{"train", "nc1_pinv", "NC1 (train)", "NC1"},
	{"test", "dilation", "Dilation √NC1 (test)", "dilation"},
	{"test", "accuracy", "Test accuracy", "accuracy"},
	{"", "", "Share of runs that are finished", "finished"},
}

// Grid maps a study: a row per loss, a column per noise level, the mean over seeds of the runs' last measured values. It has no
// panels if there is no grid.
func Grid(runs []judge.Run) Picture {
	p := Picture{Figure: chart.Figure{ID: "grid", Title: "The grid", Columns: 2,
		Caption: "Mean over seeds of the last measured epoch, including runs that are under way. Empty cells have no run with that measure."}}
	var rows []string
	var columns []float64
	for i := range runs {
		if name := runs[i].CurveName(); !slices.Contains(rows, name) {
			rows = append(rows, name)
		}
		if !slices.Contains(columns, runs[i].Noise) {
			columns = append(columns, runs[i].Noise)
		}
	}
	if len(rows) < 2 || len(columns) < 2 {
		return p
	}
	sort.Strings(rows)
	slices.Sort(columns)
	p.Table.Columns = []string{"measure", "loss"}
	for _, c := range columns {
		p.Table.Columns = append(p.Table.Columns, "η = "+format.Decimal(c))
	}
	for _, m := range gridMeasures {
		z := make(chart.Numbers, len(rows)*len(columns))
		for i, row := range rows {
			line := []string{m.title, row}
			for j, noise := range columns {
				v := cell(runs, row, noise, m.split, m.key)
				z[i*len(columns)+j] = v
				line = append(line, format.Digits(v))
			}
			p.Table.Rows = append(p.Table.Rows, line)
		}
		panel := heatPanel(m.label, m.title, "", "label noise η", rows, decimals(columns), z)
		if m.label == "finished" {
			panel.Series[0].Heat.Range = chart.Range(0, 1)
		}
		p.Panels = append(p.Panels, panel)
	}
	return p
}

// cell is the mean in a cell of the grid, NaN without a run.
func cell(runs []judge.Run, row string, noise float64, split, key string) float64 {
	var v []float64
	for i := range runs {
		if runs[i].Noise != noise || runs[i].CurveName() != row {
			continue
		}
		if key == "" {
			done := 0.0
			if runs[i].Status == store.Done {
				done = 1
			}
			v = append(v, done)
		} else if p, ok := runs[i].Newest(split, key); ok {
			v = append(v, p.Value)
		}
	}
	return judge.Mean(v)
}
