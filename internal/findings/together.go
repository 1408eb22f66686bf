package findings

import (
	"slices"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// Together is what the runs of a script show side by side, where they differ in their settings.
type Together struct {
	Pictures []figure.Picture
	Tables   []judge.Tabled
	Notes    []string // what is left out
}

// mostSettings is how many combinations of settings have a line in a table; the table of runs has all.
const mostSettings = 200

// togetherOf shows the finished runs of the experiments gs of a script: their last values by settings, what they reported against epoch, with
// a curve for each combination of settings if a picture can tell so many apart, and a map if they vary two settings. all are the study's runs,
// finished or not.
func togetherOf(gs []*judge.Experiment, all []judge.Run) *Together {
	var runs []judge.Run
	var groups []figure.Group
	var judged []*judge.JudgedRun
	for _, g := range gs {
		group := figure.Group{Words: g.Title}
		for _, s := range g.Runs {
			group.Runs = append(group.Runs, *s.Run)
		}
		runs, groups, judged = append(runs, group.Runs...), append(groups, group), append(judged, g.Runs...)
	}
	if len(groups) > figure.MostGroups {
		groups, _ = figure.ByOneSetting(runs)
	}
	out := &Together{Pictures: drawn(figure.GroupCurves(groups), figure.SettingsMap(runs))}
	if keys := settingsVaried(judgedRuns(all)); len(gs) <= mostSettings && len(keys) > 0 {
		table := judge.Table{Title: "Last values by settings", Rows: keys}
		for _, k := range ownOf(judged) {
			table.Values = append(table.Values, judge.NameOf(k))
		}
		out.Tables, out.Notes = tabulate([]judge.Table{table}, all, nil)
	}
	return out
}

// settingsAmong counts the combinations of settings of runs, finished or not.
func settingsAmong(runs []judge.Run) int {
	keys, seen := settingsVaried(judgedRuns(runs)), map[string]bool{}
	for i := range runs {
		var text strings.Builder
		for _, key := range keys {
			text.WriteString(runs[i].Settings[key] + "\x00")
		}
		seen[text.String()] = true
	}
	return len(seen)
}

// settingsVaried are the settings that runs vary, but for the seed and the code.
func settingsVaried(runs []*judge.JudgedRun) []string {
	return slices.DeleteFunc(variedKeys(runs), func(key string) bool { return key == "run.seed" || strings.HasPrefix(key, "trainer.") })
}
