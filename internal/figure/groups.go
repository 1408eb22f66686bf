package figure

import (
	"slices"

	"collapse/internal/chart"
	"collapse/internal/judge"
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
	slices.SortFunc(groups, func(a, b Group) int { return CompareSettings(by, a.Value, b.Value) })
	return groups
}

// GroupCurves draws the main measures against epoch, one curve per group: the mean over its runs and the band from the smallest to the
// largest.
func GroupCurves(groups []Group) Picture { return ofGroups("measures", groups, mainMeasures) }

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
	return p
}
