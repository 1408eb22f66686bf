package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/safetext"
)

// splitOrder is the order of columns; other splits follow, by name.
var splitOrder = []string{"", "train", "clean", "test"}

// printValues prints the newest values of a run: a line per measure, a column per split. What no value has is said below, once for each reason.
func printValues(a *app, values []lastValue) {
	newest, splits := int64(0), []string{}
	for _, v := range values {
		newest = max(newest, v.Step)
		if !slices.Contains(splits, v.Split) {
			splits = append(splits, v.Split)
		}
	}
	slices.SortFunc(splits, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "MEASURE")
	for _, split := range splits {
		safetext.Fprintf(w, "\t%s", cmp.Or(strings.ToUpper(split), "VALUE"))
	}
	fmt.Fprintln(w)
	lines, reasons := pivot(values, splits, newest)
	for _, line := range lines {
		for i, cell := range line {
			line[i] = safetext.Line(cell)
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	w.Flush()
	for _, r := range reasons {
		a.printf("no value: %s: %s\n", format.List(r.names), r.why)
	}
}

func rank(split string) int {
	if at := slices.Index(splitOrder, split); at >= 0 {
		return at
	}
	return len(splitOrder)
}

// unvalued are the measures that have no value for one reason.
type unvalued struct {
	why   string
	names []string
}

// pivot returns a line per measure of a layer that has a value, with a cell for each split, and why cells are empty. A value of an older epoch
// says so.
func pivot(values []lastValue, splits []string, newest int64) (lines [][]string, reasons []unvalued) {
	of := map[[2]string][]lastValue{} // by layer and measure
	for _, v := range values {
		of[[2]string{v.Layer, v.Measure}] = append(of[[2]string{v.Layer, v.Measure}], v)
	}
	for _, k := range sortedKeys(values) {
		name := k.Measure
		if k.Layer != "" {
			name = k.Layer + ": " + name
		}
		line, has := append([]string{name}, make([]string, len(splits))...), false
		missing := map[string][]string{} // splits, by reason
		for _, v := range of[[2]string{k.Layer, k.Measure}] {
			cell := "–"
			if v.Value != nil {
				cell, has = format.Short(*v.Value, 6), true
			} else {
				missing[v.Missing] = append(missing[v.Missing], v.Split)
			}
			if v.Step != newest {
				cell += fmt.Sprintf(" (epoch %d)", v.Step)
			}
			line[1+slices.Index(splits, v.Split)] = cell
		}
		if has {
			lines = append(lines, line)
		}
		for _, why := range slices.Sorted(maps.Keys(missing)) {
			words := name
			if has || len(missing) > 1 {
				words += " (" + strings.Join(missing[why], ", ") + ")"
			}
			reasons = because(reasons, why, words)
		}
	}
	return lines, reasons
}

func because(reasons []unvalued, why, name string) []unvalued {
	at := slices.IndexFunc(reasons, func(r unvalued) bool { return r.why == why })
	if at < 0 {
		return append(reasons, unvalued{why, []string{name}})
	}
	reasons[at].names = append(reasons[at].names, name)
	return reasons
}

// sortedKeys are the measures of values, layer by layer: of the last layer first what is of the run itself, then NC1 to NC4 and all others.
func sortedKeys(values []lastValue) []judge.SeriesKey {
	var keys []judge.SeriesKey
	for _, v := range values {
		keys = append(keys, judge.SeriesKey{Split: v.Split, Layer: v.Layer, Measure: v.Measure})
	}
	judge.SortOwn(keys)
	slices.SortStableFunc(keys, func(a, b judge.SeriesKey) int { return strings.Compare(a.Layer, b.Layer) })
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(keys, func(k judge.SeriesKey) bool {
		name := [2]string{k.Layer, k.Measure}
		again := seen[name]
		seen[name] = true
		return again
	})
}
