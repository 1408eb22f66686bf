package figure

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// curve is the runs of one curve.
type curve struct {
	name string
	runs []*judge.JudgedRun
}

// curves sorts the selected runs into curves, in the order of their settings' values.
func (s DrawingPanel) curves(runs []*judge.JudgedRun) []curve {
	byName := map[string]*curve{}
	var order []*curve
	for _, r := range runs {
		if !s.takes(r) {
			continue
		}
		var words []string
		for _, key := range s.Curves {
			if value, ok := r.Settings[key]; ok { // a setting without effect in this run has no value
				words = append(words, SettingInWords(key, value))
			}
		}
		name := strings.Join(words, ", ")
		if byName[name] == nil {
			byName[name] = &curve{name: name}
			order = append(order, byName[name])
		}
		byName[name].runs = append(byName[name].runs, r)
	}
	slices.SortStableFunc(order, func(a, b *curve) int {
		for _, key := range s.Curves {
			if c := CompareSettings(key, a.runs[0].Settings[key], b.runs[0].Settings[key]); c != 0 {
				return c
			}
		}
		return 0
	})
	out := make([]curve, len(order))
	for i, c := range order {
		out[i] = *c
	}
	return out
}

// point is a point on a curve with the spread of its runs.
type point struct{ x, y []float64 }

// series draws one curve: a band from the smallest to the largest seed and the mean.
func (s DrawingPanel) series(c curve, color int) ([]chart.Series, [][]string) {
	unit := 1.0
	if s.Unit == "%" {
		unit = 100
	}
	points := s.points(c.runs, unit)
	if len(points) == 0 {
		return nil, nil
	}
	id := strings.Map(idRune, c.name)
	line := chart.Series{ID: "mean-" + id, Label: c.name, Kind: chart.LinePoints, Color: chart.ColorFor(color), Marker: chart.MarkerFor(color)}
	dense := s.X == "epoch" || s.X == "sample"
	if dense {
		line.Kind, line.Marker = chart.Line, chart.NoMarker
	}
	band := chart.Series{ID: "band-" + id, Kind: chart.Band, Color: line.Color}
	var rows [][]string
	spread := false
	for _, p := range points {
		x, y, lo, hi := judge.Mean(p.x), judge.Mean(p.y), slices.Min(p.y), slices.Max(p.y)
		line.X, line.Y, line.N = append(line.X, x), append(line.Y, y), append(line.N, len(p.y))
		line.YLo, line.YHi = append(line.YLo, lo), append(line.YHi, hi)
		band.X, band.YLo, band.YHi = append(band.X, x), append(band.YLo, lo), append(band.YHi, hi)
		spread = spread || len(p.y) > 1
		rows = append(rows, []string{s.Title, c.name, format.Digits(x), strconv.Itoa(len(p.y)), format.Digits(y), format.Digits(lo), format.Digits(hi)})
	}
	if dense {
		line.YLo, line.YHi = nil, nil
		rows = rows[len(rows)-1:]
		if spread {
			return []chart.Series{band, line}, rows
		}
	}
	return []chart.Series{line}, rows
}

func idRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// points collects a curve's points: by epoch, by layer, or by configuration without the seed.
func (s DrawingPanel) points(runs []*judge.JudgedRun, unit float64) []point {
	at := map[string]*point{}
	var order []*point
	add := func(key string, x, y float64) {
		if at[key] == nil {
			at[key] = &point{}
			order = append(order, at[key])
		}
		if s.Complement {
			y = 1 - y
		}
		at[key].x, at[key].y = append(at[key].x, x), append(at[key].y, unit*y)
	}
	for _, r := range runs {
		s.eachPoint(r, add)
	}
	slices.SortStableFunc(order, func(a, b *point) int { return cmp.Compare(judge.Mean(a.x), judge.Mean(b.x)) })
	out := make([]point, len(order))
	for i, p := range order {
		out[i] = *p
	}
	return out
}

// eachPoint returns the points of one run, each with the key it shares with points of other runs.
func (s DrawingPanel) eachPoint(r *judge.JudgedRun, add func(key string, x, y float64)) {
	switch s.X {
	case "epoch":
		for _, p := range r.Named(s.Y) {
			if p.Missing == "" {
				add(strconv.FormatInt(p.Step, 10), float64(p.Step), p.Value)
			}
		}
	case "layer":
		for i, layer := range layersOf(r, s.Y) {
			if y, err := r.Value(strings.Replace(s.Y, "*", layer, 1), 1); err == nil {
				add(layer, float64(i+1), y)
			}
		}
	case "sample":
		for i, margin := range judge.MarginCurve(r.Run) {
			share := 100 * float64(i) / (judge.MarginPoints - 1)
			add(strconv.Itoa(i), share, margin)
		}
	default:
		x, errX := r.Value(s.X, 1)
		y, errY := r.Value(s.Y, 1)
		if errX == nil && errY == nil {
			add(r.Cell, x, y)
		}
	}
}

// layersOf lists the layers in which a run measured the value name ("split@*.measure"), in the network's
// order, which train records with the taps. Taps of all stages are recorded by that word alone; their
// names differ only in a number, so shorter ones come first.
func layersOf(r *judge.JudgedRun, name string) []string {
	split, _, key := judge.SplitName(name)
	var out []string
	if r.Settings["run.taps"] == "stages" {
		for _, k := range r.Keys() {
			if k.Layer != "" && k.Split == split && k.Measure == key && len(r.Rows(split, k.Layer, key)) > 0 {
				out = append(out, k.Layer)
			}
		}
		slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		return out
	}
	for _, layer := range strings.Fields(strings.NewReplacer(",", " ", "[", " ", "]", " ", `"`, " ").Replace(r.Settings["run.taps"])) {
		if len(r.Rows(split, layer, key)) > 0 {
			out = append(out, layer)
		}
	}
	return out
}

func layerTicks(runs []*judge.JudgedRun, spec DrawingPanel) []chart.Tick {
	var ticks []chart.Tick
	for _, r := range runs {
		if layers := layersOf(r, spec.Y); len(layers) > len(ticks) {
			ticks = nil
			for i, layer := range layers {
				ticks = append(ticks, chart.Tick{Value: float64(i + 1), Label: layer})
			}
		}
	}
	return ticks
}
