package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse/internal/chart"
)

// Search is what a search of settings tried for one combination and seed.
type Search struct {
	Group   string // the combination without the seed, in words
	Metric  string // split.measure
	Lowest  bool   // smaller is better
	Params  []SearchParam
	Trials  []SearchTrial
	Best    int        // index in Trials; -1: no trial has a value
	Default *SearchRun // the settings that nobody searched, at the whole budget
	Final   [2]float64 // test accuracy with all training samples, means: the best settings, the default; NaN: none
	Spent   int        // epochs of all trials
	Whole   int        // epochs they would have taken without early stopping
}

// SearchParam is a setting that was searched.
type SearchParam struct {
	Name      string
	Log       bool
	Low, High float64  // of a number
	Choices   []string // of one of these; nil: a number
}

// SearchTrial is a trial at the furthest rung it reached.
type SearchTrial struct {
	SearchRun
	Number   int
	Settings map[string]string
}

// SearchRun is a run with its value.
type SearchRun struct {
	Run    string // hash
	Epochs int
	Value  float64 // NaN: failed
}

// place is the trial's position on a parameter's axis; false if the parameter means nothing in it.
func (p SearchParam) place(t SearchTrial) (x float64, ok bool) {
	text, ok := t.Settings[p.Name]
	if p.Choices != nil {
		i := slices.Index(p.Choices, text)
		return float64(i), ok && i >= 0
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, ok && err == nil
}

// holds reports whether the trial lies in the parameter's range.
func (p SearchParam) holds(t SearchTrial) bool {
	x, ok := p.place(t)
	return ok && (p.Choices != nil || p.Low <= x && x <= p.High)
}

// whole is the largest budget.
func (s Search) whole() int {
	most := 0
	for _, t := range s.Trials {
		most = max(most, t.Epochs)
	}
	return most
}

func (s Search) unit() (factor float64, unit string) {
	if strings.HasSuffix(s.Metric, ".accuracy") {
		return 100, "%"
	}
	return 1, ""
}

// searchGroups are the groups in their order.
func searchGroups(all []Search) (names []string) {
	for _, s := range all {
		if !slices.Contains(names, s.Group) {
			names = append(names, s.Group)
		}
	}
	return names
}

// searchPictures are the best so far, every trial over each parameter, and the learning curves.
func searchPictures(id string, all []Search, runs []Run) []picture {
	if len(all) == 0 {
		return nil
	}
	return []picture{bestPicture(id, all), trialsPicture(id, all), curvesPicture(id, all, runs)}
}

func trialsPicture(id string, all []Search) picture {
	p := picture{Figure: chart.Figure{ID: id + "-trials", Title: "What was tried",
		Caption: "Every trial of every seed at the furthest epoch it was trained to. Filled: the whole budget; rings: stopped early; stars: the best of a search."}}
	var params []SearchParam
	for _, s := range all {
		for _, q := range s.Params {
			if !slices.ContainsFunc(params, func(x SearchParam) bool { return x.Name == q.Name }) {
				params = append(params, q)
			}
		}
	}
	for _, q := range params {
		p.Panels = append(p.Panels, trialsPanel(q, all))
	}
	p.Columns = min(len(p.Panels), 3)
	p.Table.Columns = []string{"search", "trial"}
	for _, q := range params {
		p.Table.Columns = append(p.Table.Columns, q.Name)
	}
	p.Table.Columns = append(p.Table.Columns, "epochs", all[0].Metric, "run")
	for _, s := range all {
		for i, t := range s.Trials {
			name := strconv.Itoa(t.Number)
			if i == s.Best {
				name += " (best)"
			}
			row := []string{s.Group, name}
			for _, q := range params {
				row = append(row, settingDigits(t.Settings[q.Name]))
			}
			p.Table.Rows = append(p.Table.Rows, append(row, strconv.Itoa(t.Epochs), digits(t.Value), fmt.Sprintf("%.12s", t.Run)))
		}
	}
	return p
}

// settingDigits shortens a long number for a table.
func settingDigits(text string) string {
	if text != "" && len(text) <= 6 {
		return text
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return digits(x)
	}
	if text == "" {
		return "–"
	}
	return text
}

func trialsPanel(q SearchParam, all []Search) chart.Panel {
	panel := chart.Panel{ID: "over-" + strings.Map(idRune, q.Name), Title: q.Name, X: chart.Axis{Label: q.Name}, Y: chart.Axis{Label: all[0].Metric}}
	if q.Log {
		panel.X.Scale = chart.Log
	}
	for i, c := range q.Choices {
		panel.X.Ticks = append(panel.X.Ticks, chart.Tick{Value: float64(i), Label: c})
	}
	if q.Choices != nil {
		panel.X.Range = chart.Range(-0.5, float64(len(q.Choices))-0.5)
	}
	for color, group := range searchGroups(all) {
		stopped := chart.Series{ID: fmt.Sprintf("stopped-%d", color), Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.Ring, Size: 4}
		full := chart.Series{ID: fmt.Sprintf("full-%d", color), Label: group, Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.Circle, Size: 4}
		best := chart.Series{ID: fmt.Sprintf("best-%d", color), Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.Star, Size: 9}
		for _, s := range all {
			factor, unit := s.unit()
			if panel.Y.Unit = unit; s.Group != group {
				continue
			}
			for i, t := range s.Trials {
				x, ok := q.place(t)
				if !ok || math.IsNaN(t.Value) {
					continue
				}
				to := &stopped
				switch {
				case i == s.Best:
					to = &best
				case t.Epochs == s.whole():
					to = &full
				}
				to.X, to.Y = append(to.X, x), append(to.Y, factor*t.Value)
			}
		}
		panel.Series = append(panel.Series, stopped, full, best)
	}
	panel.Series = slices.DeleteFunc(panel.Series, func(s chart.Series) bool { return len(s.X) == 0 })
	return panel
}

func curvesPicture(id string, all []Search, runs []Run) picture {
	p := picture{Figure: chart.Figure{ID: id + "-curves", Title: "Learning curves, most of them stopped early",
		Caption: "A line for each trial, as far as it was trained; thick: the best of each search. Trials whose loss became infinite have no line."}}
	byHash := map[string]*Run{}
	for i := range runs {
		byHash[runs[i].Hash] = &runs[i]
	}
	for color, group := range searchGroups(all) {
		panel := chart.Panel{ID: fmt.Sprintf("curves-%d", color), Title: group, X: chart.Axis{Label: "epoch"}, Y: chart.Axis{Label: all[0].Metric}}
		var bold []chart.Series
		for n, s := range all {
			if s.Group != group {
				continue
			}
			factor, unit := s.unit()
			panel.Y.Unit = unit
			split, measure, _ := strings.Cut(s.Metric, ".")
			for i, t := range s.Trials {
				run := byHash[t.Run]
				if run == nil {
					continue
				}
				line := chart.Series{ID: fmt.Sprintf("trial-%d-%d", n, t.Number), Kind: chart.LinePoints, Marker: chart.Dot, Size: 2, Color: chart.ColorFor(color), Faint: true, Width: 0.8}
				for _, point := range run.Series(split, measure) {
					if point.Missing == "" {
						line.X, line.Y = append(line.X, float64(point.Step)), append(line.Y, factor*point.Value)
					}
				}
				if i == s.Best {
					line.Faint, line.Width = false, 2
					bold = append(bold, line)
				} else if len(line.X) > 0 {
					panel.Series = append(panel.Series, line)
				}
			}
		}
		panel.Series = append(panel.Series, bold...)
		p.Panels = append(p.Panels, panel)
	}
	p.Columns = min(len(p.Panels), 3)
	return p
}
