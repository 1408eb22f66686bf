package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collapse/internal/chart"
)

// Drawing says how the figure of a recipe is made of its runs.
type Drawing struct {
	Title   string         `toml:"title"`
	Caption string         `toml:"caption"`
	Columns int            `toml:"columns"` // panels per row; 0: at most 3
	Panels  []DrawingPanel `toml:"panel"`
}

// DrawingPanel is one panel: a value against the epoch, the layer, a setting, or another value; or
// the sorted cosine margins (x = "sample", y = "train.cosine_margin_mean"); or the features of one
// run (x = "features", no y): the clouds of the training samples, or what Show says.
type DrawingPanel struct {
	Title  string         `toml:"title"`
	X      string         `toml:"x"`      // "epoch", "layer", "sample", "features", a setting or the name of a value
	Y      string         `toml:"y"`      // the name of a value (Statement says how they are written); for x = "layer" with * for the layer
	Label  string         `toml:"label"`  // of the y axis; "" is Y
	XLabel string         `toml:"xlabel"` // of the x axis; "" is X
	Curves []string       `toml:"curves"` // settings: one curve for each combination of their values
	Where  map[string]any `toml:"where"`  // only runs with these settings
	Log    string         `toml:"log"`    // "", "x", "y" or "xy"
	Unit   string         `toml:"unit"`   // "%" shows shares as percentages

	Complement bool   `toml:"complement"` // 1 − y instead of y: an error rate from an accuracy
	Runs       string `toml:"runs"`       // "regular" or "degenerate" (M-D Fig. 4): only such runs
	Show       string `toml:"show"`       // features: "train" and "test" as M-D Fig. 4, "scheme" as M-D Fig. 3
}

// Check reports names of values and settings that no run can have.
func (d Drawing) Check() error {
	for _, p := range d.Panels {
		names := []string{strings.ReplaceAll(p.Y, "*", "layer")}
		if p.X == "features" {
			names = nil
			if p.Y != "" || d.Panels[0].X != p.X {
				return fmt.Errorf("report: panel %q: a panel of features has no y and stands beside its like alone", p.Title)
			}
		}
		if !slices.Contains([]string{"epoch", "layer", "sample", "features"}, p.X) {
			names = append(names, p.X)
		}
		for _, name := range names {
			if err := knownName(name); err != nil {
				return fmt.Errorf("report: panel %q: %w", p.Title, err)
			}
		}
		if err := p.checkWords(); err != nil {
			return fmt.Errorf("report: panel %q: %w", p.Title, err)
		}
		keys := slices.Clone(p.Curves)
		for key := range p.Where {
			keys = append(keys, key)
		}
		for _, key := range keys {
			if !knownSetting(key) {
				return fmt.Errorf("report: panel %q: no setting is called %q", p.Title, key)
			}
		}
	}
	return nil
}

// checkWords reports words that are none of those a panel knows.
func (s DrawingPanel) checkWords() error {
	if !slices.Contains([]string{"", "x", "y", "xy"}, s.Log) {
		return fmt.Errorf("log is %q, wanted x, y or xy", s.Log)
	}
	if !slices.Contains([]string{"", "train", "test", "scheme"}, s.Show) || s.Show != "" && s.X != "features" {
		return fmt.Errorf("show is %q, wanted train, test or scheme, with x = features", s.Show)
	}
	return configuration(s.Runs)
}

// takes reports whether a panel shows a run.
func (s DrawingPanel) takes(r *subject) bool { return matches(r, []selection{s.Where}) && r.in(s.Runs) }

// draw makes the picture of a recipe. Panels without a single value are left out and named.
func (d Drawing) draw(id string, subjects []*subject) picture {
	p := picture{Figure: chart.Figure{ID: id, Title: d.Title, Caption: d.Caption, Columns: d.Columns}}
	p.Table.Columns = []string{"panel", "curve", "x", "runs", "mean", "smallest", "largest"}
	colors := map[string]int{}
	for i, spec := range d.Panels {
		if spec.X == "features" {
			spec.addFeatures(&p, "panel-"+strconv.Itoa(i+1), subjects)
			continue
		}
		panel := chart.Panel{ID: "panel-" + strconv.Itoa(i+1), Title: spec.Title, X: spec.axis(spec.X, spec.XLabel, "x"), Y: spec.axis(spec.Y, spec.Label, "y")}
		panel.Y.Unit = spec.Unit
		for _, c := range spec.curves(subjects) {
			color, seen := colors[c.name]
			if !seen {
				color = len(colors)
				colors[c.name] = color
			}
			series, rows := spec.series(c, color)
			panel.Series = append(panel.Series, series...)
			p.Table.Rows = append(p.Table.Rows, rows...)
		}
		if len(panel.Series) == 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("No run has what the panel “%s” shows.", spec.Title))
			continue
		}
		if spec.X == "layer" {
			panel.X.Ticks = layerTicks(subjects, spec)
		}
		slices.SortStableFunc(panel.Series, func(a, b chart.Series) int { return cmp.Compare(layerOf(a.Kind), layerOf(b.Kind)) })
		p.Panels = append(p.Panels, panel)
	}
	return p
}

// layerOf draws bands below lines.
func layerOf(k chart.Kind) int {
	if k == chart.Band {
		return 0
	}
	return 1
}

func (s DrawingPanel) axis(name, label, which string) chart.Axis {
	if label == "" {
		label = name
	}
	if label == "sample" {
		label = "share of the samples, %"
	}
	a := chart.Axis{Label: label}
	if strings.Contains(s.Log, which) {
		a.Scale = chart.Log
	}
	return a
}

// curve is the runs of one curve.
type curve struct {
	name string
	runs []*subject
}

// curves sorts the selected runs into curves, in the order of their settings' values.
func (s DrawingPanel) curves(subjects []*subject) []curve {
	byName := map[string]*curve{}
	var order []*curve
	for _, r := range subjects {
		if !s.takes(r) {
			continue
		}
		var words []string
		for _, key := range s.Curves {
			if value, ok := r.Settings[key]; ok { // without meaning in this run, it has no value
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
			if c := compareSettings(a.runs[0].Settings[key], b.runs[0].Settings[key]); c != 0 {
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

func compareSettings(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// SettingInWords writes a setting as the papers do, such as "d = 10" or "label smoothing".
func SettingInWords(key, value string) string {
	if key == "loss.kind" {
		if name, ok := lossNames[value]; ok {
			return name
		}
	}
	if key == "net.feature_dim" && value == "0" {
		return "the network's own d"
	}
	if symbol, ok := map[string]string{"net.feature_dim": "d", "net.width": "width", "net.stem_width": "k", "loss.alpha": "α", "loss.m": "M",
		"data.noise": "η", "data.classes": "K", "optim.weight_decay": "weight decay", "optim.lr": "rate"}[key]; ok {
		return symbol + " = " + value
	}
	if name, ok := map[string]string{"sgd": "SGD", "adam": "Adam", "lbfgs": "L-BFGS", "etf": "fixed ETF", "learned": "learned classifier",
		"all": "decay on all parameters", "peeled": "peeled decay", "peeled-batch": "peeled decay, sum over a batch",
		"none": "no line search", "strong_wolfe": "strong Wolfe"}[value]; ok {
		return name
	}
	if value == "true" || value == "false" {
		return key + " = " + value
	}
	return value
}

// point is a place on a curve with the spread of its runs.
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
		x, y, lo, hi := mean(p.x), mean(p.y), slices.Min(p.y), slices.Max(p.y)
		line.X, line.Y, line.N = append(line.X, x), append(line.Y, y), append(line.N, len(p.y))
		line.YLo, line.YHi = append(line.YLo, lo), append(line.YHi, hi)
		band.X, band.YLo, band.YHi = append(band.X, x), append(band.YLo, lo), append(band.YHi, hi)
		spread = spread || len(p.y) > 1
		rows = append(rows, []string{s.Title, c.name, digits(x), strconv.Itoa(len(p.y)), digits(y), digits(lo), digits(hi)})
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

// points gathers a curve: by epoch, by layer, or by configuration without the seed.
func (s DrawingPanel) points(runs []*subject, unit float64) []point {
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
		switch s.X {
		case "epoch":
			split, layer, key := splitName(s.Y)
			for _, p := range r.series[seriesKey{split, layer, key}] {
				if p.Missing == "" {
					add(strconv.FormatInt(p.Step, 10), float64(p.Step), p.Value)
				}
			}
		case "layer":
			for i, layer := range layersOf(r, s.Y) {
				if y, err := valueOf(r, strings.Replace(s.Y, "*", layer, 1), 1); err == nil {
					add(layer, float64(i+1), y)
				}
			}
		case "sample":
			for i, margin := range marginCurve(r.Run) {
				share := 100 * float64(i) / (marginPoints - 1)
				add(strconv.Itoa(i), share, margin)
			}
		default:
			x, errX := valueOf(r, s.X, 1)
			y, errY := valueOf(r, s.Y, 1)
			if errX == nil && errY == nil {
				add(r.cell, x, y)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *point) int { return cmp.Compare(mean(a.x), mean(b.x)) })
	out := make([]point, len(order))
	for i, p := range order {
		out[i] = *p
	}
	return out
}

// layersOf lists the layers in which a run measured what name ("split@*.measure") asks, in the
// network's order, which train records with the taps. Taps of all stages are recorded by that word; their
// names differ in a number alone, so shorter ones come first.
func layersOf(r *subject, name string) []string {
	split, _, key := splitName(name)
	var out []string
	if r.Settings["run.taps"] == "stages" {
		for k, points := range r.series {
			if k.layer != "" && k.split == split && k.measure == key && len(points) > 0 {
				out = append(out, k.layer)
			}
		}
		slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		return out
	}
	for _, layer := range strings.Fields(strings.NewReplacer(",", " ", "[", " ", "]", " ", `"`, " ").Replace(r.Settings["run.taps"])) {
		if len(r.series[seriesKey{split, layer, key}]) > 0 {
			out = append(out, layer)
		}
	}
	return out
}

func layerTicks(subjects []*subject, spec DrawingPanel) []chart.Tick {
	var ticks []chart.Tick
	for _, r := range subjects {
		if layers := layersOf(r, spec.Y); len(layers) > len(ticks) {
			ticks = nil
			for i, layer := range layers {
				ticks = append(ticks, chart.Tick{Value: float64(i + 1), Label: layer})
			}
		}
	}
	return ticks
}
