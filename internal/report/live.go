package report

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse/internal/chart"
	"collapse/internal/store"
)

// Picture is a figure with the table of the numbers behind it, for pages that other packages lay out.
type Picture = picture

// StudyMeasures are the measures that Judged and Grid read: a page about many runs loads no others.
var StudyMeasures = []string{"accuracy", "dilation", "mean_norm_ratio", "nc1_pinv", "memorization_flipped",
	"memorization_redrawn", "memorization_mean", "memorization_normalised"}

// Judged is what the finished runs of one experiment of a study say so far.
type Judged struct {
	Title   string
	Claims  []Claim
	Figures []Picture
}

// Judge draws the main figures of every experiment among the runs and judges the paper's claims on them. Runs that have not
// finished count nowhere.
func Judge(runs []Run) []Judged {
	gs, _ := groups(runs)
	var out []Judged
	for _, g := range gs {
		j := Judged{Title: g.title}
		if len(g.subjects) > 1 && g.count(func(s *subject) bool { return s.Noise > 0 }) > 0 {
			j.Claims = g.claims()
			for _, p := range g.mainFigures() {
				if len(p.Panels) > 0 {
					j.Figures = append(j.Figures, p)
				}
			}
		}
		out = append(out, j)
	}
	return out
}

// Curves draws the measures that tell the story of runs in any state against epoch, a curve for each.
func Curves(runs []Run) Picture {
	g := eachAlone(runs)
	p := withoutSpread(g.trackFigure("measures", g.subjects, mainMeasures))
	p.Title = "The measures of collapse against epoch"
	p.Caption = "In evaluation mode; training measures are on the labels trained on, test labels are never corrupted. A dashed grey line is the limit of complete collapse."
	return p
}

// OtherCurves is Curves of every other measure; without panels if there is none.
func OtherCurves(runs []Run) Picture {
	g := eachAlone(runs)
	p := withoutSpread(g.trackFigure("measures-more", g.subjects, otherMeasures(g.subjects)))
	return otherTitle(p)
}

// FoldedCurves is OtherCurves for a page that draws it when it is unfolded: no panels. It reports whether there is anything to draw.
func FoldedCurves(runs []Run) (Picture, bool) {
	return otherTitle(Picture{Figure: chart.Figure{ID: "measures-more", Columns: 3}}), len(otherMeasures(eachAlone(runs).subjects)) > 0
}

func otherTitle(p Picture) Picture {
	p.Title = "Every other measure against epoch"
	p.Caption = "The key and the split of each measure stand beside its axis. “clean” are the training samples that kept their label."
	return p
}

// eachAlone is a group in which every run has a curve of its own.
func eachAlone(runs []Run) *group {
	g := &group{}
	names := Names(runs)
	for i := range runs {
		s := judge(&runs[i])
		s.curve = names[i]
		g.subjects, g.curves = append(g.subjects, s), append(g.curves, s.curve)
	}
	return g
}

// withoutSpread leaves out what curves of one run each do not have.
func withoutSpread(p Picture) Picture {
	for i := range p.Panels {
		for j := range p.Panels[i].Series {
			s := &p.Panels[i].Series[j]
			s.YLo, s.YHi, s.N = nil, nil, nil
		}
	}
	return p
}

// Names tells runs apart in a few words: by what differs between them, and by hash where nothing does.
func Names(runs []Run) []string {
	differ := Differences(runs)
	out := make([]string, len(runs))
	used := map[string]int{}
	for i := range runs {
		words := []string{runs[i].curveName()}
		if len(runs) == 1 && runs[i].Loss != "" {
			words = append(words, "η "+decimal(runs[i].Noise), "seed "+strconv.FormatUint(runs[i].Seed, 10))
		}
		for _, d := range differ {
			if d.Values[i] == missing || d.Key == "loss.kind" || d.Key == "data.noise_seed" || strings.HasSuffix(d.Key, "_digest") {
				continue
			}
			words = append(words, shortKey(d.Key)+" "+d.Values[i])
		}
		out[i] = strings.Join(words, ", ")
		used[out[i]]++
	}
	for i, name := range out {
		if used[name] > 1 {
			out[i] += fmt.Sprintf(" (%.8s)", runs[i].Hash)
		}
	}
	return out
}

// shortKey is the part of a key that people say.
func shortKey(key string) string {
	if key == "data.noise" {
		return "η"
	}
	return strings.ReplaceAll(key[strings.LastIndexByte(key, '.')+1:], "_", " ")
}

// Difference is a setting that is not the same in all of some runs.
type Difference struct {
	Key    string
	Values []string // by run; missing where a run has no such setting
}

// missing stands for a setting that a run does not have.
const missing = "–"

// Differences lists the settings in which runs differ, by key.
func Differences(runs []Run) []Difference {
	keys := map[string]bool{}
	for i := range runs {
		for k := range runs[i].Settings {
			keys[k] = true
		}
	}
	var out []Difference
	for k := range keys {
		d := Difference{Key: k}
		for i := range runs {
			v, ok := runs[i].Settings[k]
			if !ok {
				v = missing
			}
			d.Values = append(d.Values, v)
		}
		if len(slices.Compact(slices.Clone(d.Values))) > 1 {
			out = append(out, d)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// gridMeasures are the maps of a grid.
var gridMeasures = []struct{ split, key, title, label string }{
	{"train", "nc1_pinv", "NC1 (train)", "NC1"},
	{"test", "dilation", "Dilation √NC1 (test)", "dilation"},
	{"test", "accuracy", "Test accuracy", "accuracy"},
	{"", "", "Share of runs that are finished", "finished"},
}

// Grid maps a study: a row for each loss, a column for each noise level, the mean over seeds of what the runs last measured. It
// has no panels where there is no grid.
func Grid(runs []Run) Picture {
	p := Picture{Figure: chart.Figure{ID: "grid", Title: "The grid", Columns: 2,
		Caption: "Mean over seeds of the last measured epoch, for runs that are under way, too. Empty cells have no run with that measure."}}
	var rows []string
	var columns []float64
	for i := range runs {
		if name := runs[i].curveName(); !slices.Contains(rows, name) {
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
		p.Table.Columns = append(p.Table.Columns, "η = "+decimal(c))
	}
	for _, m := range gridMeasures {
		z := make(chart.Numbers, len(rows)*len(columns))
		for i, row := range rows {
			line := []string{m.title, row}
			for j, noise := range columns {
				v := cell(runs, row, noise, m.split, m.key)
				z[i*len(columns)+j] = v
				line = append(line, digits(v))
			}
			p.Table.Rows = append(p.Table.Rows, line)
		}
		p.Panels = append(p.Panels, gridPanel(m.label, m.title, rows, columns, z))
	}
	return p
}

// cell is the mean of a grid's cell, NaN without a run.
func cell(runs []Run, row string, noise float64, split, key string) float64 {
	var v []float64
	for i := range runs {
		if runs[i].Noise != noise || runs[i].curveName() != row {
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
	return mean(v)
}

func gridPanel(id, title string, rows []string, columns []float64, z chart.Numbers) chart.Panel {
	axis := func(label string, n int, name func(int) string) chart.Axis {
		a := chart.Axis{Label: label, Range: chart.Range(-0.5, float64(n)-0.5)}
		for i := range n {
			a.Ticks = append(a.Ticks, chart.Tick{Value: float64(i), Label: name(i)})
		}
		return a
	}
	short := func(i int) string {
		if words := []rune(rows[i]); len(words) > 18 {
			return string(words[:17]) + "…"
		}
		return rows[i]
	}
	heat := &chart.Heat{Columns: len(columns), Rows: len(rows), X: [2]float64{-0.5, float64(len(columns)) - 0.5},
		Y: [2]float64{-0.5, float64(len(rows)) - 0.5}, Z: z}
	if id == "finished" {
		heat.Range = chart.Range(0, 1)
	}
	return chart.Panel{ID: id, Title: title, X: axis("label noise η", len(columns), func(i int) string { return decimal(columns[i]) }),
		Y: axis("", len(rows), short), Series: []chart.Series{{ID: id, Kind: chart.HeatMap, Heat: heat}}}
}

// Written writes a value of a measure for tables.
func Written(key string, v float64) string {
	if strings.HasSuffix(key, "accuracy") {
		return percent(v)
	}
	return digits(v)
}

// SettingKeys lists a run's settings, sorted.
func SettingKeys(r Run) []string { return slices.Sorted(maps.Keys(r.Settings)) }

// Epochs is how many epochs a training run is to have; 0 for other kinds.
func (r *Run) Epochs() int64 {
	n, err := strconv.ParseInt(r.Settings["run.epochs"], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
