package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/spelling"
)

// bestPicture is every trial's value in the order the trials were proposed, and the best so far.
func bestPicture(id string, all []judge.Search) Picture {
	p := Picture{Figure: chart.Figure{ID: id + "-best", Title: "Best so far",
		Caption: "One point per trial, in the order proposed" + ofEarlier(all) + ", at its last trained epoch. Lines: the best so far, one per search; a trial that was trained further ranks above one that was stopped, whatever their values."}}
	if slices.ContainsFunc(all, func(s judge.Search) bool { return s.Default != nil }) {
		p.Caption += " Dashed: the default settings, mean over the searches."
	}
	for color, group := range judge.SearchGroups(all) {
		p.Panels = append(p.Panels, bestPanel(color, group, all))
	}
	p.Columns = min(len(p.Panels), 3)
	p.Table.Columns = []string{"search", "trial", "epochs", all[0].Called, "best so far", "of trial", "run"}
	for _, s := range all {
		for i, best := range s.SoFar() {
			t := s.Trials[i]
			row := []string{s.Group, t.Name(), strconv.Itoa(t.Epochs), shownValue(t), "–", "–", fmt.Sprintf("%.12s", t.Run)}
			if best >= 0 {
				row[4], row[5] = format.Digits(s.Trials[best].Value), s.Trials[best].Name()
			}
			p.Table.Rows = append(p.Table.Rows, row)
		}
	}
	p.Table = bySearch(p.Table, all)
	return p
}

// ofEarlier says where the trials of an earlier version of a search stand, if there are any.
func ofEarlier(all []judge.Search) string {
	if slices.ContainsFunc(all, func(s judge.Search) bool {
		return slices.ContainsFunc(s.Trials, func(t judge.SearchTrial) bool { return t.Earlier })
	}) {
		return ", those of an earlier version of the search last"
	}
	return ""
}

func bestPanel(color int, group string, all []judge.Search) chart.Panel {
	panel := chart.Panel{ID: fmt.Sprintf("best-%d", color), Title: group, X: chart.Axis{Label: "trial"}, Y: chart.Axis{Label: all[0].Called}}
	stopped := chart.Series{ID: fmt.Sprintf("stopped-%d", color), Label: "less than the whole budget", Kind: chart.Points, Marker: chart.Ring, Size: 4, Color: chart.ColorFor(color)}
	full := chart.Series{ID: fmt.Sprintf("full-%d", color), Label: "whole budget", Kind: chart.Points, Marker: chart.Circle, Size: 4, Color: chart.ColorFor(color)}
	var lines []chart.Series
	byDefault, counted := 0.0, 0
	for n, s := range all {
		if s.Group != group {
			continue
		}
		factor, unit := s.Unit()
		panel.Y.Unit = unit
		line := chart.Series{ID: fmt.Sprintf("so-far-%d", n), Label: "best so far", Kind: chart.Line, Width: 1.6, Color: chart.ColorFor(color)}
		for i, best := range s.SoFar() {
			t, to := s.Trials[i], &stopped
			if t.Epochs == s.Budget() {
				to = &full
			}
			if !math.IsNaN(t.Value) {
				to.X, to.Y = append(to.X, float64(t.Number)), append(to.Y, factor*t.Value)
			}
			if best >= 0 {
				line.X, line.Y = append(line.X, float64(t.Number)), append(line.Y, factor*s.Trials[best].Value)
			}
		}
		lines = append(lines, line)
		if s.Default != nil && !math.IsNaN(s.Default.Value) {
			byDefault, counted = byDefault+factor*s.Default.Value, counted+1
		}
	}
	for _, series := range append([]chart.Series{stopped, full}, lines...) {
		if len(series.X) > 0 {
			panel.Series = append(panel.Series, series)
		}
	}
	if counted > 0 {
		panel.Series = append(panel.Series, chart.Series{ID: fmt.Sprintf("default-%d", color), Label: "default settings", Kind: chart.HLine, Dashed: true,
			Color: chart.Ink, Y: chart.Numbers{byDefault / float64(counted)}})
	}
	return panel
}

// FoundInSearches has a line per search: what it found and how good that is, with columns for the default settings and for training on all
// samples where a search has tried those. about says what the columns are.
func FoundInSearches(all []judge.Search) (t format.Table, about string) {
	byDefault := slices.ContainsFunc(all, func(s judge.Search) bool { return s.Default != nil })
	final := slices.ContainsFunc(all, func(s judge.Search) bool { return !math.IsNaN(s.Final[0]) || !math.IsNaN(s.Final[1]) })
	t.Columns, about = []string{"search", "best settings", all[0].Called}, "The best settings of each search, and their value in its trials"
	if byDefault {
		t.Columns, about = append(t.Columns, "default"), about+" next to that of the default settings"
	}
	if final {
		t.Columns, about = append(t.Columns, "test accuracy, all samples", "default"), about+"; the test accuracy of both after training on all samples, including the held-out ones"
	}
	t.Columns = append(t.Columns, "epochs", "without stopping")
	for _, s := range all {
		row := []string{s.Group, "–", "–"}
		if s.Best >= 0 {
			row[1], row[2] = bestSettings(s), format.Digits(s.Trials[s.Best].Value)
		}
		switch {
		case byDefault && s.Default != nil:
			row = append(row, format.Digits(s.Default.Value))
		case byDefault:
			row = append(row, "–")
		}
		if final {
			row = append(row, format.Percent(s.Final[0]), format.Percent(s.Final[1]))
		}
		t.Rows = append(t.Rows, append(row, strconv.Itoa(s.Spent), strconv.Itoa(s.Whole)))
	}
	return bySearch(t, all), about + ". Epochs: of all trials, and the number had none been stopped."
}

func bestSettings(s judge.Search) string {
	var words []string
	for _, q := range s.Params {
		if text, has := s.Trials[s.Best].Settings[q.Name]; has {
			words = append(words, q.Name+" "+settingDigits(text))
		}
	}
	return strings.Join(words, ", ")
}

// with is the settings of further runs, as the rest of a sentence.
func with(settings []string) string {
	if len(settings) == 0 {
		return ""
	}
	return " with " + format.List(settings)
}

// noneFound says of a search without a best that no trial has a value, and what they have instead.
func noneFound(s judge.Search, trials string) string {
	if len(s.Reported) > 0 {
		return fmt.Sprintf("%s, and no best: none reports %s, the metric of the search; they report %s%s", trials, s.Called, format.Few(s.Reported, mostReported), cmp.Or(spelling.Suggestion(s.Called, s.Reported), "."))
	}
	return trials + ", and no best: none has a value of " + s.Called + " at its last epoch" + lacking(s) + "."
}

// mostReported is how many names a sentence says of those that trials report instead of the metric.
const mostReported = 12

// lacking counts the trials without a value by what they have instead, as in " (3 failed, 1 NaN)".
func lacking(s judge.Search) string {
	counts, order := map[string]int{}, []string{}
	for _, t := range s.Trials {
		if math.IsNaN(t.Value) && t.Lacks != "" {
			if counts[t.Lacks]++; counts[t.Lacks] == 1 {
				order = append(order, t.Lacks)
			}
		}
	}
	var words []string
	for _, lack := range order {
		words = append(words, fmt.Sprintf("%d %s", counts[lack], lack))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// FoundBySearch says in a sentence what a search found.
func FoundBySearch(s judge.Search) string {
	words := format.Count(len(s.Trials), "trial")
	if s.Group != "" {
		words += " with " + s.Group
	}
	if s.Best < 0 {
		return noneFound(s, words)
	}
	words = "Best of " + words + lacking(s)
	again := ""
	if s.Command != "" {
		again = fmt.Sprintf(" The lab has its files in runs/%.12s…; it was started as %s.", s.Trials[s.Best].Run, s.Command)
	}
	if len(s.Again) == 1 {
		again += fmt.Sprintf(" Computed once more%s: %s.", with(s.With), format.Digits(s.Again[0]))
	}
	if n := len(s.Again); n > 1 {
		own := ""
		if slices.Contains(s.Again, s.Trials[s.Best].Value) {
			own = "; one of them has the value of the trial itself"
		}
		again += fmt.Sprintf(" Computed again with %s: %s, mean ± half of Student’s 95 %% interval%s.", format.List(append(slices.Clone(s.With), format.Count(n, "run"))), judge.WithHalf(s.Again), own)
	}
	return fmt.Sprintf("%s: %s %s with %s (run %.12s).%s", words, s.Called, format.Digits(s.Trials[s.Best].Value), bestSettings(s), s.Trials[s.Best].Run, again)
}
