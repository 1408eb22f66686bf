package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// tracked is one panel of a figure against epochs: a measure on one or more splits.
type tracked struct {
	key, title, axis string
	splits           []string // the first is drawn solid, the second dashed
	log              bool
	unit             float64
	limit            bool // the scale-free limit of neural collapse is 0
}

const splitTrain = "train"

// mainMeasures are NC1 to NC4, as everywhere, and what explains them; the second figure draws all others.
var mainMeasures = append(properties(), []tracked{
	{"loss", "Loss", "train solid, test dashed", []string{"train", "test"}, true, 1, false},
	{"accuracy", "Accuracy", "train solid, test dashed", []string{"train", "test"}, false, 100, false},
	{"memorization_flipped", "Memorization", "Σ‖h − h*‖ over flipped samples", []string{"train"}, false, 1, false},
	{"dilation", "Dilation", "√NC1 (test)", []string{"test"}, true, 1, false},
	{train.KeyExcess, "Excess over the optimum", "objective − f*, f* over free features", []string{"train"}, true, 1, false},
}...)

// properties are the panels of NC1 to NC4.
func properties() (out []tracked) {
	for _, p := range measure.Properties() {
		t := tracked{key: p.Key, title: p.Name + ", " + p.Short, axis: p.Name + " (train)", splits: []string{"train"}, unit: 1, limit: true}
		switch p.Key {
		case measure.KeyNC1Pinv:
			t.log, t.limit = true, false
		case measure.KeyNC4NCCMismatch:
			t.unit = 100
		}
		out = append(out, t)
	}
	return out
}

// telling are the main measures without those that two classes fix.
func telling(g *judge.Experiment) []tracked {
	if g.Settings["data.classes"] != "2" {
		return mainMeasures
	}
	return slices.DeleteFunc(slices.Clone(mainMeasures), func(t tracked) bool { return t.key == measure.KeyNC2MeansCentred })
}

// EpochFigures draws every measure against epoch at one noise level: the main ones, and the rest.
func EpochFigures(g *judge.Experiment, noise float64) (first, rest Picture) {
	at := g.Pick(func(s *judge.JudgedRun) bool { return s.Noise == noise })
	id := "epochs-noise-" + format.Decimal(noise)
	kept, note := judge.LeaveOut(at)
	first = trackFigure(g, id+g.Suffix, kept, telling(g))
	rest = trackFigure(g, id+"-more"+g.Suffix, kept, otherMeasures(at))
	if note == "" {
		return first, rest
	}
	if len(kept) < len(at) {
		first.addSingle(g, at, mainMeasures)
		note += " In the first figure they are the faint lines."
	}
	first.Notes, rest.Notes = append(first.Notes, note), append(rest.Notes, note)
	return first, rest
}

// addSingle adds each degenerate run as a separate faint line below the means.
func (p *Picture) addSingle(g *judge.Experiment, runs []*judge.JudgedRun, what []tracked) {
	for i := range p.Panels {
		panel := &p.Panels[i]
		for _, m := range what {
			if panel.ID != m.panelID() {
				continue
			}
			var single []chart.Series
			for _, s := range runs {
				if t := overSeeds([]*judge.JudgedRun{s}, m.splits[0], m.key, m.unit); s.Degenerate && len(t.step) > 0 {
					single = append(single, chart.Series{ID: "degenerate-" + s.Hash, Label: "degenerate run", Kind: chart.Line,
						Color: color(g, s.Curve), Faint: true, Width: 1, X: t.step, Y: t.mean})
				}
			}
			panel.Series = append(single, panel.Series...)
		}
	}
}

func (m tracked) panelID() string { return m.key + "-" + strings.Join(m.splits, "-") }

// mainKeys are the series of the main figure.
var mainKeys = sync.OnceValue(func() map[judge.SeriesKey]bool {
	keys := map[judge.SeriesKey]bool{}
	for _, m := range mainMeasures {
		for _, split := range m.splits {
			keys[judge.SeriesKey{Split: split, Measure: m.key}] = true
		}
	}
	return keys
})

// isOther reports whether a run has values of the last layer in a series that the main figure lacks.
func isOther(r *judge.Run, k judge.SeriesKey) bool {
	return !mainKeys()[k] && hasValues(r, k)
}

// hasValues reports whether a run has values of the last layer in a series.
func hasValues(r *judge.Run, k judge.SeriesKey) bool {
	return k.Layer == "" && slices.ContainsFunc(r.Rows(k.Split, "", k.Measure), func(p store.Point) bool { return p.Missing == "" })
}

// otherMeasures lists every (split, measure) that the runs have and the main figure lacks.
func otherMeasures(runs []*judge.JudgedRun) []tracked { return measuresOf(runs, isOther) }

// measuresOf lists every (split, measure) of runs that is wanted, in the order of the registry; measures that the registry does not know
// come last, by name.
func measuresOf(runs []*judge.JudgedRun, wanted func(*judge.Run, judge.SeriesKey) bool) []tracked {
	seen := map[judge.SeriesKey]bool{}
	var keys []judge.SeriesKey
	for _, s := range runs {
		for _, k := range s.Keys() {
			if !seen[k] && wanted(s.Run, k) {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	sortMeasures(keys)
	keys = slices.DeleteFunc(keys, func(k judge.SeriesKey) bool { // drawn beside what was measured
		return k.Split == train.SplitTheory && seen[judge.SeriesKey{Split: splitTrain, Measure: k.Measure}]
	})
	var out []tracked
	for _, k := range keys {
		out = append(out, trackedOf(k))
	}
	return out
}

// sortMeasures orders keys as the registry does, then unknown keys by name; train before test before clean.
func sortMeasures(keys []judge.SeriesKey) {
	order := map[string]int{}
	for i, d := range measure.Definitions() {
		order[d.Key] = i - len(measure.Definitions())
	}
	slices.SortFunc(keys, func(a, b judge.SeriesKey) int {
		return cmp.Or(cmp.Compare(order[a.Measure], order[b.Measure]), cmp.Compare(a.Measure, b.Measure), -cmp.Compare(a.Split, b.Split))
	})
}

func trackedOf(k judge.SeriesKey) tracked {
	t := tracked{key: k.Measure, title: k.Measure, splits: []string{k.Split}, unit: 1}
	if d, ok := measure.Lookup(k.Measure); ok {
		t.title = d.Name
		t.log = d.Group == "NC1" && !strings.HasPrefix(k.Measure, "rank_between") // ranks are counts and may be 0
	}
	if strings.HasSuffix(k.Measure, "accuracy") {
		t.unit = 100
	}
	if k.Split == splitTrain && slices.Contains(train.SizeKeys(), k.Measure) {
		t.splits, t.axis = append(t.splits, train.SplitTheory), k.Measure+" (theory dashed)"
		return t
	}
	t.axis = k.Measure
	if k.Split != "" {
		t.axis += " (" + k.Split + ")"
	}
	return t
}

// trackFigure draws one panel per measure, one curve per loss: the mean over seeds and the band
// from smallest to largest. Measures that no run has are left out.
func trackFigure(g *judge.Experiment, id string, runs []*judge.JudgedRun, what []tracked) Picture {
	p := Picture{Figure: chart.Figure{ID: id, Columns: 3}}
	curves := "loss"
	if g.OfScripts() {
		curves = "settings"
	}
	p.Table.Columns = []string{"measure", "split", curves, "runs", "first", "half way", "last", "smallest last", "largest last"}
	for _, m := range what {
		if m.key == measure.KeyMemFlipped && !g.OfScripts() && !g.Noisy() {
			continue // 0 at every epoch
		}
		panel := chart.Panel{ID: m.panelID(), Title: m.title,
			X: chart.Axis{Label: "epoch"}, Y: chart.Axis{Label: m.axis}}
		if m.unit == 100 {
			panel.Y.Unit = "%"
		}
		var bands, lines []chart.Series
		for k, split := range m.splits {
			for i, curve := range g.Curves {
				t := overSeeds(judge.OnCurve(runs, curve), split, m.key, m.unit)
				if len(t.step) == 0 {
					continue
				}
				name := split + "-" + strconv.Itoa(i)
				if t.runs > 1 {
					bands = append(bands, chart.Series{ID: "band-" + name, Label: curve, Kind: chart.Band, Color: color(g, curve), X: t.step, YLo: t.lo, YHi: t.hi})
				}
				lines = append(lines, chart.Series{ID: "mean-" + name, Label: curve, Kind: chart.Line, Color: color(g, curve),
					Dashed: k > 0, X: t.step, Y: t.mean, YLo: t.lo, YHi: t.hi, N: t.n})
				p.Table.Rows = append(p.Table.Rows, t.row(m.key, split, curve))
				if words := t.without(m.key, split, curve); words != "" {
					p.Notes = append(p.Notes, words)
				}
			}
		}
		if len(lines) == 0 {
			continue
		}
		if m.log && slices.ContainsFunc(lines, anyPositive) {
			panel.Y.Scale = chart.Log
		}
		panel.Series = append(bands, lines...)
		panel.Y.Zero = m.limit || strings.HasPrefix(m.key, "memorization")
		if m.limit {
			panel.Series = append(panel.Series, chart.Series{ID: "limit", Kind: chart.HLine, Color: chart.Muted, Dashed: true,
				Y: chart.Numbers{0}, Labels: []string{"limit of collapse: 0"}})
		}
		p.Panels = append(p.Panels, panel)
	}
	return p
}

// anyPositive reports whether a logarithmic axis can show any point of a series.
func anyPositive(s chart.Series) bool {
	return slices.ContainsFunc(s.Y, func(y float64) bool { return y > 0 })
}

// track is a measure by epoch over the runs of one curve.
type track struct {
	step, mean, lo, hi chart.Numbers
	n                  []int
	runs               int
	until              float64         // the last epoch of any of these rows, with or without a value
	missing            string          // why one has none there; "" if it has one
	rows               map[float64]int // epochs of all rows, with or without a value, and how many runs have one
}

func overSeeds(runs []*judge.JudgedRun, split, key string, unit float64) track {
	var all []store.Point
	t := track{rows: map[float64]int{}}
	for _, s := range runs {
		pts := s.Series(split, key)
		for _, p := range s.Rows(split, "", key) {
			if t.rows[float64(p.Step)] += min(len(pts), 1); len(pts) == 0 {
				continue
			}
			if float64(p.Step) >= t.until {
				t.until, t.missing = float64(p.Step), p.Missing
			}
		}
		if len(pts) > 0 {
			t.runs++
		}
		all = append(all, pts...)
	}
	slices.SortStableFunc(all, func(a, b store.Point) int { return cmp.Compare(a.Step, b.Step) })
	values := make([]float64, len(all))
	for i, p := range all {
		values[i] = unit * p.Value
	}
	for from, to := 0, 0; from < len(all); from = to {
		for to = from; to < len(all) && all[to].Step == all[from].Step; to++ {
		}
		v := values[from:to]
		t.step = append(t.step, float64(all[from].Step))
		t.mean = append(t.mean, judge.Mean(v))
		t.lo, t.hi = append(t.lo, slices.Min(v)), append(t.hi, slices.Max(v))
		t.n = append(t.n, len(v))
	}
	return t
}

func (t track) row(key, split, curve string) []string {
	last := len(t.mean) - 1
	for last > 0 && t.rows[t.step[last]] < t.runs { // a mean over ever fewer runs, since others have ended, is none of theirs
		last--
	}
	at := ""
	if last < len(t.mean)-1 {
		t.until = t.step[last]
		at = fmt.Sprintf(" at epoch %g", t.until)
	}
	row := []string{key, split, curve, strconv.Itoa(t.runs), t.cell(0, ""), t.halfWay()}
	if t.step[last] < t.until { // an older value is not the last
		return append(row, "–", "–", "–")
	}
	return append(row, t.cell(last, at), format.Digits(t.lo[last]), format.Digits(t.hi[last]))
}

// cell is the mean at a step, with the epoch if that is not the one of the column, and with the number of runs if some have no value there.
func (t track) cell(i int, at string) string {
	if t.n[i] < t.runs {
		at += fmt.Sprintf(" (%d of %d runs)", t.n[i], t.runs)
	}
	return format.Digits(t.mean[i]) + at
}

// halfWay is the value at the epoch nearest to the middle; a dash if there is none there.
func (t track) halfWay() string {
	half := math.Inf(1)
	for s := range t.rows {
		if from, to := math.Abs(half-t.until/2), math.Abs(s-t.until/2); to < from || to == from && s < half {
			half = s
		}
	}
	if i := slices.Index(t.step, half); i >= 0 {
		return t.cell(i, "")
	}
	return "–"
}

// without says from where on there are no values, and why; "" if there are.
func (t track) without(key, split, curve string) string {
	last := t.step[len(t.step)-1]
	if last >= t.until {
		return ""
	}
	return fmt.Sprintf("%s, %s: no value after epoch %g (%s).", strings.TrimPrefix(split+"/"+key, "/"), curve, last, t.missing)
}
