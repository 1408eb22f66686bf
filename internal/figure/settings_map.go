package figure

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

const (
	mostMapValues = 64 // of a setting
	mostMapPanels = 3
)

// SettingsMap maps runs over the two settings in which they differ, but for the seed: a panel for each of a few values, the mean over seeds
// at the last epoch of finished runs. It has no panels if the runs differ in another number of settings.
func SettingsMap(runs []judge.Run) Picture {
	p := Picture{Figure: chart.Figure{ID: "settings", Title: "Every setting", Columns: 2, Caption: "Mean over seeds at the last epoch of finished runs. Empty cells have no such value."}}
	var axes []judge.Difference
	for _, d := range judge.Differences(runs) {
		if !slices.Contains([]string{"run.seed", "data.noise_seed"}, d.Key) {
			axes = append(axes, d)
		}
	}
	if len(axes) != 2 {
		return p
	}
	rows, columns := valuesOf(axes[0]), valuesOf(axes[1])
	if len(rows) > mostMapValues || len(columns) > mostMapValues {
		return p
	}
	for _, k := range mapKeys(runs) {
		sums, counts := make([]float64, len(rows)*len(columns)), make([]float64, len(rows)*len(columns))
		for i := range runs {
			if v, ok, _ := runs[i].Final(k.Split, k.Measure); ok && runs[i].Status == store.Done { // others are at other epochs
				at := slices.Index(rows, axes[0].Values[i])*len(columns) + slices.Index(columns, axes[1].Values[i])
				sums[at] += v
				counts[at]++
			}
		}
		z := make(chart.Numbers, len(sums))
		for i := range z {
			z[i] = sums[i] / counts[i] // 0/0: no value
		}
		name := strings.TrimPrefix(k.Split+"/"+k.Measure, "/")
		p.Panels = append(p.Panels, heatPanel("settings-"+strconv.Itoa(len(p.Panels)), name, judge.ShortKey(axes[0].Key), judge.ShortKey(axes[1].Key), rows, columns, z))
	}
	return p
}

// mapKeys are the values that a map shows: what a script reports under names of its own comes first.
func mapKeys(runs []judge.Run) []judge.SeriesKey {
	keys := runs[0].OwnKeys()
	if runs[0].Kind != store.Script {
		keys = nil
		for _, m := range gridMeasures[:len(gridMeasures)-1] {
			keys = append(keys, judge.SeriesKey{Split: m.split, Measure: m.key})
		}
	}
	return keys[:min(len(keys), mostMapPanels)]
}

// valuesOf are the different values of a setting, numbers by size.
func valuesOf(d judge.Difference) []string {
	out := slices.Compact(slices.Sorted(slices.Values(d.Values)))
	slices.SortStableFunc(out, func(a, b string) int {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if errX != nil || errY != nil {
			return 0
		}
		return cmp.Compare(x, y)
	})
	return out
}

// heatPanel is a heat map of rows and columns with the given names.
func heatPanel(id, title, yLabel, xLabel string, rows, columns []string, z chart.Numbers) chart.Panel {
	axis := func(label string, names []string) chart.Axis {
		a := chart.Axis{Label: label, Range: chart.Range(-0.5, float64(len(names))-0.5)}
		every := (len(names) + 11) / 12 // more would not fit
		for i, name := range names {
			if words := []rune(name); len(words) > 18 {
				name = string(words[:17]) + "…"
			}
			if i%every == 0 {
				a.Ticks = append(a.Ticks, chart.Tick{Value: float64(i), Label: name})
			}
		}
		return a
	}
	heat := &chart.Heat{Columns: len(columns), Rows: len(rows), X: [2]float64{-0.5, float64(len(columns)) - 0.5},
		Y: [2]float64{-0.5, float64(len(rows)) - 0.5}, Z: z}
	return chart.Panel{ID: id, Title: title, X: axis(xLabel, columns), Y: axis(yLabel, rows), Series: []chart.Series{{ID: id, Kind: chart.HeatMap, Heat: heat}}}
}

// decimals are numbers as names.
func decimals(x []float64) []string {
	out := make([]string, len(x))
	for i, v := range x {
		out[i] = format.Decimal(v)
	}
	return out
}
