package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// limits puts the scale-free measures next to their limits, at the lowest noise.
func limits(g *judge.Experiment) (format.Table, string) {
	noise := g.Noises[0]
	kept, note := judge.LeaveOut(g.Pick(func(s *judge.JudgedRun) bool { return s.Noise == noise }))
	t := format.Table{Columns: []string{"measure", "limit"}}
	for _, c := range g.Curves {
		if g.Noisy() {
			c += ", η = " + format.Decimal(noise)
		}
		t.Columns = append(t.Columns, c)
	}
	k, _ := strconv.Atoi(g.Settings["data.classes"])
	for _, m := range measure.Properties() {
		if measurement.SaysNothing(m.Key, k) {
			continue
		}
		row, any := []string{m.Name + ", " + m.Short, "0"}, false
		for _, c := range g.Curves {
			v := judge.MeanDeviation(judge.OnCurve(kept, c), 1, func(s *judge.JudgedRun) (float64, bool) {
				if noise > 0 {
					if v, ok := s.Last("clean", m.Key); ok {
						return v, true
					}
				}
				return s.Last("train", m.Key)
			})
			any = any || v != "–"
			row = append(row, v)
		}
		if any {
			t.Rows = append(t.Rows, row)
		}
	}
	return t, note
}

// mostOwn is how many values of a script have a column.
const mostOwn = 6

// ownOf are the first values that runs of scripts report.
func ownOf(runs []*judge.JudgedRun) (own []judge.SeriesKey) {
	for _, s := range runs {
		for _, k := range s.OwnKeys() {
			if !slices.Contains(own, k) {
				own = append(own, k)
			}
		}
	}
	judge.SortOwn(own)
	return own[:min(len(own), mostOwn)]
}

// scriptTable lists every finished run of scripts: in which of the settings keys it differs from others of the study, finished or not, and the first values that it reports.
func scriptTable(runs []*judge.JudgedRun, keys []string) format.Table {
	own := ownOf(runs)
	t := format.Table{Columns: append([]string{"run", "label"}, keys...)}
	for _, k := range own {
		t.Columns = append(t.Columns, judge.NameOf(k))
	}
	t.Columns = append(t.Columns, "epochs", "seconds in all")
	for _, s := range runs {
		row := []string{hashStart(s.Run), s.Label}
		for _, k := range keys {
			row = append(row, cmp.Or(judge.ShortValue(s.Settings[k]), "–"))
		}
		for _, k := range own {
			text := "–"
			if v, ok := s.Last(k.Split, k.Measure); ok {
				text = format.Measure(k.Measure, v)
			} else if p, _ := s.Newest(k.Split, k.Measure); p.Missing != "" {
				text = p.Lack()
			}
			row = append(row, text)
		}
		took := seconds(s.Run) // of the last attempt
		if s.Spent > 0 {
			took = format.Digits(s.Spent)
		}
		t.Rows = append(t.Rows, append(row, strconv.FormatInt(s.LastStep(), 10), took))
	}
	if !slices.ContainsFunc(runs, func(s *judge.JudgedRun) bool { return s.Label != "" }) {
		return without(t, "label")
	}
	return t
}

// runTable lists every finished run.
func runTable(gs []*judge.Experiment, all []judge.Run) format.Table {
	if judge.OnlyScripts(gs) {
		var runs []*judge.JudgedRun
		for _, g := range gs {
			runs = append(runs, g.Runs...)
		}
		return scriptTable(runs, variedKeys(judgedRuns(all)))
	}
	t := format.Table{Columns: []string{"run", "label", "loss", "η", "seed", "epochs", "train acc.", "test acc.", "NC1", "dilation", "memorization", "terminal", "degenerate", "seconds", "program"}}
	for _, g := range gs {
		for _, s := range g.Runs {
			q := func(split, key string) string {
				if v, ok := s.Last(split, key); ok {
					return format.Digits(v)
				}
				return "–"
			}
			accuracy := func(split string) string {
				if v, ok := s.Last(split, "accuracy"); ok {
					return format.Percent(v)
				}
				return "–"
			}
			degenerate := "not known"
			if s.DegenerateKnown {
				degenerate = yesNo(s.Degenerate) + " (" + format.Digits(s.NormRatio) + ")"
			}
			t.Rows = append(t.Rows, []string{hashStart(s.Run), s.Label, s.Curve, format.Decimal(s.Noise), strconv.FormatUint(s.Seed, 10),
				strconv.FormatInt(s.LastStep(), 10), accuracy("train"), accuracy("test"), q("train", "nc1_pinv"), q("test", "dilation"),
				q("train", g.Form().Key), yesNo(s.Terminal), degenerate, seconds(s.Run), program(s.Run)})
		}
	}
	if !slices.ContainsFunc(gs, (*judge.Experiment).Noisy) {
		return without(t, "η", "memorization")
	}
	return t
}

// without is a table without some columns.
func without(t format.Table, names ...string) format.Table {
	keep := func(row []string) (out []string) {
		for i, cell := range row {
			if !slices.Contains(names, t.Columns[i]) {
				out = append(out, cell)
			}
		}
		return out
	}
	out := format.Table{Columns: keep(t.Columns)}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, keep(row))
	}
	return out
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func seconds(r *judge.Run) string {
	if r.Started.IsZero() || r.Finished.IsZero() || r.Finished.Before(r.Started) {
		return "–"
	}
	return format.Digits(r.Finished.Sub(r.Started).Round(time.Millisecond).Seconds())
}

// program is what a run's bits depend on besides its configuration.
func program(r *judge.Run) string {
	p := r.Program
	words := []string{}
	for _, w := range []string{p.Version, p.Kernel, strings.Trim(p.GOOS+"/"+p.GOARCH, "/"), p.GOAMD64, p.CPU} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// unfinishedTable lists the runs without a result, and why.
func unfinishedTable(runs []judge.Run) format.Table {
	if allScripts(runs) {
		return unfinishedScripts(runs)
	}
	t := format.Table{Columns: []string{"run", "label", "loss", "η", "seed", "state", "why"}}
	for i := range runs {
		r := &runs[i]
		if r.Status == store.Done {
			continue
		}
		t.Rows = append(t.Rows, []string{hashStart(r), r.Label, r.CurveName(), format.Decimal(r.Noise), strconv.FormatUint(r.Seed, 10), string(r.Status), whyUnfinished(r)})
	}
	if !slices.ContainsFunc(runs, func(r judge.Run) bool { return r.Noise > 0 }) {
		return without(t, "η")
	}
	return t
}

// unfinishedScripts is unfinishedTable of a script's runs, by the settings that runs of the study vary.
func unfinishedScripts(runs []judge.Run) format.Table {
	keys := variedKeys(judgedRuns(runs))
	t := format.Table{Columns: append(append([]string{"run", "label"}, keys...), "state", "why")}
	for i := range runs {
		if runs[i].Status == store.Done {
			continue
		}
		row := []string{hashStart(&runs[i]), runs[i].Label}
		for _, k := range keys {
			row = append(row, cmp.Or(judge.ShortValue(runs[i].Settings[k]), "–"))
		}
		t.Rows = append(t.Rows, append(row, string(runs[i].Status), whyUnfinished(&runs[i])))
	}
	if !slices.ContainsFunc(runs, func(r judge.Run) bool { return r.Label != "" }) {
		return without(t, "label")
	}
	return t
}

func judgedRuns(runs []judge.Run) []*judge.JudgedRun {
	judged := make([]*judge.JudgedRun, len(runs))
	for i := range runs {
		judged[i] = judge.JudgeRun(&runs[i])
	}
	return judged
}

func whyUnfinished(r *judge.Run) string {
	if r.Error == "" {
		return fmt.Sprintf("last measured at epoch %d", r.LastStep())
	}
	lines := strings.Split(strings.TrimSpace(r.Error), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	return lines[0] + " … " + lines[len(lines)-1] // of what a script wrote, the line that says what went wrong
}

// few writes sorted values; if there are many, only the least and the greatest.
func few(v []string) string {
	const most, ends = 24, 3
	if len(v) <= most {
		return strings.Join(v, " | ")
	}
	return fmt.Sprintf("%s | … | %s (%d values)", strings.Join(v[:ends], " | "), strings.Join(v[len(v)-ends:], " | "), len(v))
}

// commonSettings lists every setting: its value where the runs agree, its values where they differ.
func commonSettings(runs []judge.Run) []Setting {
	values := map[string][]string{}
	for i := range runs {
		for k, v := range runs[i].Settings {
			known := false
			for _, w := range values[k] {
				known = known || w == v
			}
			if !known {
				values[k] = append(values[k], v)
			}
		}
	}
	var out []Setting
	for k, v := range values {
		sort.Slice(v, func(i, j int) bool {
			a, errA := strconv.ParseFloat(v[i], 64)
			b, errB := strconv.ParseFloat(v[j], 64)
			if errA == nil && errB == nil && a != b {
				return a < b
			}
			return v[i] < v[j]
		})
		out = append(out, Setting{k, few(v)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// hashStart names a run in tables, folders and commands.
func hashStart(r *judge.Run) string { return fmt.Sprintf("%.12s", r.Hash) }

// MeanAt is the mean of the values that runs have at an epoch, with the smallest and the largest, and how many runs have one if not all
// do; "–" without any.
func MeanAt(runs []judge.Run, of judge.SeriesKey, epoch int64) string {
	var values []float64
	for i := range runs {
		for _, p := range runs[i].Rows(of.Split, of.Layer, of.Measure) {
			if p.Step == epoch && p.Missing == "" && !math.IsNaN(p.Value) {
				values = append(values, p.Value)
			}
		}
	}
	text := "–"
	switch {
	case len(values) == 1:
		text = format.Measure(of.Measure, values[0])
	case len(values) > 1:
		text = fmt.Sprintf("%s (%s to %s)", format.Measure(of.Measure, judge.Mean(values)), format.Measure(of.Measure, slices.Min(values)), format.Measure(of.Measure, slices.Max(values)))
	}
	if n := len(values); n > 0 && n < len(runs) {
		text += fmt.Sprintf(", %d of %d runs", n, len(runs))
	}
	return text
}
