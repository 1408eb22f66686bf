package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// OfSearches draws the best so far, every trial over each parameter, and the learning curves; nothing before a trial has a value.
func OfSearches(id string, all []judge.Search, runs []judge.Run) []Picture {
	valued := func(s judge.Search) bool { return s.Best >= 0 }
	if !slices.ContainsFunc(all, valued) {
		return nil
	}
	return []Picture{bestPicture(id, all), trialsPicture(id, all), curvesPicture(id, all, runs)}
}

func trialsPicture(id string, all []judge.Search) Picture {
	p := Picture{Figure: chart.Figure{ID: id + "-trials", Title: "What was tried",
		Caption: "Every trial at its last trained epoch. Filled: the whole budget; rings: less of it; stars: the best of a search."}}
	var params []judge.SearchParam
	for _, s := range all {
		for _, q := range s.Params {
			if !slices.ContainsFunc(params, func(x judge.SearchParam) bool { return x.Name == q.Name }) {
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
	p.Table.Columns = append(p.Table.Columns, "epochs", all[0].Called, "run")
	for _, s := range all {
		for i, t := range s.Trials {
			name := t.Name()
			if i == s.Best {
				name += " (best)"
			}
			row := []string{s.Group, name}
			for _, q := range params {
				row = append(row, settingDigits(t.Settings[q.Name]))
			}
			p.Table.Rows = append(p.Table.Rows, append(row, strconv.Itoa(t.Epochs), shownValue(t), fmt.Sprintf("%.12s", t.Run)))
		}
	}
	p.Table = bySearch(p.Table, all)
	return p
}

// shownValue is a trial's value, or what it has instead.
func shownValue(t judge.SearchTrial) string {
	if math.IsNaN(t.Value) && t.Lacks != "" {
		return t.Lacks
	}
	return format.Digits(t.Value)
}

// bySearch drops the first column, the names of the searches, where one search has none.
func bySearch(t format.Table, all []judge.Search) format.Table {
	if slices.ContainsFunc(all, func(s judge.Search) bool { return s.Group != "" }) {
		return t
	}
	t.Columns = t.Columns[1:]
	for i := range t.Rows {
		t.Rows[i] = t.Rows[i][1:]
	}
	return t
}

// settingDigits shortens a long number for a table.
func settingDigits(text string) string {
	if word, err := strconv.Unquote(text); err == nil {
		return word
	}
	if text != "" && len(text) <= 6 && !strings.ContainsAny(text, "eE") {
		return text
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return format.Digits(x)
	}
	if text == "" {
		return "–"
	}
	return text
}

func trialsPanel(q judge.SearchParam, all []judge.Search) chart.Panel {
	panel := chart.Panel{ID: "over-" + strings.Map(idRune, q.Name), Title: q.Name, X: chart.Axis{Label: q.Name}, Y: chart.Axis{Label: all[0].Called}}
	if q.Log {
		panel.X.Scale = chart.Log
	}
	for i, c := range q.Choices {
		panel.X.Ticks = append(panel.X.Ticks, chart.Tick{Value: float64(i), Label: settingDigits(c)})
	}
	if q.Choices != nil {
		panel.X.Range = chart.Range(-0.5, float64(len(q.Choices))-0.5)
	}
	for color, group := range judge.SearchGroups(all) {
		stopped := chart.Series{ID: fmt.Sprintf("stopped-%d", color), Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.Ring, Size: 4}
		full := chart.Series{ID: fmt.Sprintf("full-%d", color), Label: group, Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.Circle, Size: 4}
		best := chart.Series{ID: fmt.Sprintf("best-%d", color), Kind: chart.Points, Color: chart.ColorFor(color), Marker: chart.Star, Size: 9}
		for _, s := range all {
			factor, unit := s.Unit()
			if panel.Y.Unit = unit; s.Group != group {
				continue
			}
			for i, t := range s.Trials {
				x, ok := q.Place(t)
				if !ok || math.IsNaN(t.Value) {
					continue
				}
				to := &stopped
				switch {
				case i == s.Best:
					to = &best
				case t.Epochs == s.Budget():
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

// shortOfBudget says how many trials were trained for less than the whole budget; "" if none was.
func shortOfBudget(all []judge.Search) string {
	short, trials := 0, 0
	for _, s := range all {
		for _, t := range s.Trials {
			if trials++; t.Epochs < s.Budget() && !math.IsNaN(t.Value) {
				short++
			}
		}
	}
	if short == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of %d with less than the whole budget", short, trials)
}

func curvesPicture(id string, all []judge.Search, runs []judge.Run) Picture {
	p := Picture{Figure: chart.Figure{ID: id + "-curves", Title: "Learning curves" + shortOfBudget(all),
		Caption: "One line per trial, as far as it was trained; thick: the best of each search. Trials without a value have no line."}}
	byHash := map[string]*judge.Run{}
	for i := range runs {
		byHash[runs[i].Hash] = &runs[i]
	}
	for color, group := range judge.SearchGroups(all) {
		panel := chart.Panel{ID: fmt.Sprintf("curves-%d", color), Title: group, X: chart.Axis{Label: "epoch"}, Y: chart.Axis{Label: all[0].Called}}
		var bold []chart.Series
		for n, s := range all {
			if s.Group != group {
				continue
			}
			factor, unit := s.Unit()
			panel.Y.Unit = unit
			for i, t := range s.Trials {
				run := byHash[t.Run]
				if run == nil {
					continue
				}
				line := chart.Series{ID: fmt.Sprintf("trial-%d-%d", n, t.Number), Kind: chart.LinePoints, Marker: chart.Dot, Size: 2, Color: chart.ColorFor(color), Faint: true, Width: 0.8}
				for _, point := range run.Named(s.Called) {
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
