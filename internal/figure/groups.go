package figure

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// Group are the runs with one value of a setting.
type Group struct {
	Value, Words string
	Runs         []judge.Run
}

// Groups sorts runs by the values of a setting. Runs without it are left out.
func Groups(runs []judge.Run, by string) (groups []Group) {
	at := map[string]int{}
	for _, r := range runs {
		v, ok := r.Settings[by]
		if !ok {
			continue
		}
		i, known := at[v]
		if !known {
			i = len(groups)
			at[v], groups = i, append(groups, Group{Value: v, Words: SettingInWords(by, v)})
		}
		groups[i].Runs = append(groups[i].Runs, r)
	}
	sort.Slice(groups, func(i, j int) bool { a, b := &groups[i], &groups[j]; return CompareSettings(by, a.Value, b.Value) < 0 })
	return groups
}

// MostGroups is how many groups one picture can distinguish.
const MostGroups = chart.DataColors

// Varied lists the settings that have several values among the runs, without those that follow from others. A setting that some runs lack
// has no effect in them.
func Varied(runs []judge.Run) (keys []string) {
	for _, d := range judge.Differences(runs) {
		if d.Key == "data.noise_seed" || strings.HasSuffix(d.Key, "_digest") {
			continue
		}
		found := map[string]bool{}
		for i := range runs {
			if v, has := runs[i].Settings[d.Key]; has {
				found[v] = true
			}
		}
		if len(found) > 1 {
			keys = append(keys, d.Key)
		}
	}
	return keys
}

// ByOneSetting are runs by the first setting that has a few values among them, or all together, by none.
func ByOneSetting(runs []judge.Run) (groups []Group, by string) {
	for _, key := range Varied(runs) {
		if groups := Groups(runs, key); key != "run.seed" && len(groups) <= MostGroups {
			return groups, key
		}
	}
	return []Group{{Words: format.Count(len(runs), "run"), Runs: runs}}, ""
}

// GroupCurves draws the main measures against epoch, one curve per group: the mean over its runs and the band from the smallest to the
// largest.
func GroupCurves(groups []Group) Picture { return ofGroups("measures", groups, mainMeasures) }

// mostOwnPanels is how many of a script's values are drawn against epoch by groups.
const mostOwnPanels = 12

// ownMeasures are the values that scripts report, under their own names: those that a picture draws, and the rest.
func ownMeasures(runs []*judge.JudgedRun) (drawn, rest []tracked) {
	all := measuresOf(runs, hasValues)
	keyOf := func(m tracked) judge.SeriesKey { return judge.SeriesKey{Split: m.splits[0], Measure: m.key} }
	var order []judge.SeriesKey
	for i, m := range all {
		all[i].title, order = judge.NameOf(keyOf(m)), append(order, keyOf(m))
	}
	judge.SortOwn(order)
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return slices.Index(order, keyOf(*a))-slices.Index(order, keyOf(*b)) < 0
	})
	n := min(len(all), mostOwnPanels)
	return all[:n], all[n:]
}

// ofGroups draws some measures or, of scripts, what they report.
func ofGroups(id string, groups []Group, what []tracked) Picture {
	g := &judge.Experiment{}
	for i, group := range groups {
		for j := range group.Runs {
			s := judge.JudgeRun(&groups[i].Runs[j])
			s.Curve = group.Words
			g.Runs = append(g.Runs, s)
		}
		g.Curves = append(g.Curves, group.Words)
	}
	if g.OfScripts() {
		what, _ = ownMeasures(g.Runs)
	}
	p := trackFigure(g, id, g.Runs, what)
	for i := range p.Panels {
		for j := range p.Panels[i].Series {
			if s := &p.Panels[i].Series[j]; s.Kind == chart.Line { // the band shows the spread
				s.YLo, s.YHi, s.N = nil, nil, nil
			}
		}
	}
	p.Title = "The measures of collapse against epoch"
	p.Caption = "The mean over the runs of a group; the band runs from the smallest to the largest. In evaluation mode; training measures use the labels trained on, test labels are never corrupted."
	if g.OfScripts() {
		p.Title, p.Caption = reportedTitle(g), "The mean over the runs of a group; the band runs from the smallest to the largest."
	}
	return p
}

// AgainstSetting draws the last values of finished runs against a setting: the mean over the runs with one value, with the smallest and the
// largest. If losses differ, each has a curve. Without panels if the setting has fewer than three values, or values that are not numbers.
func AgainstSetting(groups []Group, by string) Picture {
	var runs []judge.Run
	for _, g := range groups {
		if _, err := strconv.ParseFloat(g.Value, 64); err != nil || len(groups) < 3 {
			return Picture{}
		}
		runs = append(runs, g.Runs...)
	}
	var curves []string
	if losses := Groups(runs, "loss.kind"); by != "loss.kind" && len(losses) > 1 {
		curves = []string{"loss.kind"}
	}
	d := Drawing{Title: "The last values against " + by, Columns: 2,
		Caption: "The mean over the finished runs with one value of the setting; bars run from the smallest to the largest."}
	noisy := slices.ContainsFunc(runs, func(r judge.Run) bool { return r.Noise > 0 })
	for _, m := range []struct{ title, label, y, unit, log string }{{"NC1 (train)", "NC1", "train.nc1_pinv", "", "y"}, {"Training accuracy", "accuracy", "train.accuracy", "%", ""}, {"Test accuracy", "accuracy", "test.accuracy", "%", ""},
		{"Dilation (test)", "√NC1", "test.dilation", "", ""}, {"Memorization", "Σ‖h − h*‖", "train.memorization_flipped", "", ""}} {
		if m.y == "train.memorization_flipped" && !noisy {
			continue // 0 everywhere
		}
		d.Panels = append(d.Panels, DrawingPanel{Title: m.title, X: by, XLabel: judge.ShortKey(by), Y: m.y, Label: m.label, Unit: m.unit, Log: m.log, Curves: curves})
	}
	p := d.Draw("against", judge.Finished(runs))
	p.Notes = nil // what no run has is not missed here
	return p
}
