package figure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/spelling"
)

// Drawing says how the figure of a recipe is made from its runs.
type Drawing struct {
	Title   string         `toml:"title"`
	Caption string         `toml:"caption"`
	Columns int            `toml:"columns"` // panels per row; 0: at most 3
	Panels  []DrawingPanel `toml:"panel"`
}

// DrawingPanel is one panel: a value against the epoch, the layer, a setting, or another value; or
// the sorted cosine margins (x = "sample", y = "train.cosine_margin_mean"); or the features of one
// run (x = "features", no y), drawn as clouds of the training samples or as Show says.
type DrawingPanel struct {
	Title  string         `toml:"title"`
	X      string         `toml:"x"`      // "epoch", "layer", "sample", "features", a setting or the name of a value
	Y      string         `toml:"y"`      // the name of a value (see Statement); for x = "layer" with * for the layer
	Label  string         `toml:"label"`  // of the y axis; "" is Y
	XLabel string         `toml:"xlabel"` // of the x axis; "" is X
	Curves []string       `toml:"curves"` // settings: one curve for each combination of their values
	Where  map[string]any `toml:"where"`  // only runs with these settings
	Log    string         `toml:"log"`    // "", "x", "y" or "xy"
	Unit   string         `toml:"unit"`   // "%": shares are shown as percentages

	Complement bool   `toml:"complement"` // 1 − y instead of y: an error rate from an accuracy
	Runs       string `toml:"runs"`       // "regular" or "degenerate" (M-D Fig. 4): only such runs
	Show       string `toml:"show"`       // features: "train" and "test" as in M-D Fig. 4, "scheme" as in M-D Fig. 3
}

// ownAxes are what a panel's x may be beside names of values and settings.
var ownAxes = []string{"epoch", "layer", "sample", "features"}

// Check reports names of values and settings that no run can have.
func (d Drawing) Check(words judge.Vocabulary) error {
	for i, p := range d.Panels {
		which := strconv.Itoa(i + 1)
		if p.Title != "" {
			which = strconv.Quote(p.Title)
		}
		wrong := func(err error) error { return fmt.Errorf("drawing %q, panel %s: %w", d.Title, which, err) }
		names := []string{strings.ReplaceAll(p.Y, "*", "layer")}
		if p.X == "features" {
			names = nil
			if p.Y != "" || d.Panels[0].X != p.X {
				return wrong(errors.New("a panel of features has no y and goes only with other panels of features"))
			}
		}
		if !slices.Contains(ownAxes, p.X) {
			names = append(names, p.X)
		}
		for _, name := range names {
			if err := words.Name(name); err != nil {
				return wrong(err)
			}
		}
		if err := p.checkWords(); err != nil {
			return wrong(err)
		}
		keys := slices.Clone(p.Curves)
		for key := range p.Where {
			keys = append(keys, key)
		}
		for _, key := range keys {
			if !words.Setting(key) {
				return wrong(words.Unknown("it names", key))
			}
		}
	}
	return nil
}

// checkWords reports words that a panel does not know.
func (s DrawingPanel) checkWords() error {
	if !slices.Contains([]string{"", "x", "y", "xy"}, s.Log) {
		return fmt.Errorf("log is %q, wanted x, y or xy", s.Log)
	}
	if !slices.Contains([]string{"", "train", "test", "scheme"}, s.Show) || s.Show != "" && s.X != "features" {
		return fmt.Errorf("show is %q, wanted train, test or scheme, with x = features", s.Show)
	}
	return judge.CheckConfiguration(s.Runs)
}

// takes reports whether a panel shows a run.
func (s DrawingPanel) takes(r *judge.JudgedRun) bool { return r.Matches(s.Where) && r.In(s.Runs) }

// Draw makes the picture of a recipe. Panels without any value are left out and named.
func (d Drawing) Draw(id string, runs []*judge.JudgedRun) Picture {
	p := Picture{Figure: chart.Figure{ID: id, Title: d.Title, Caption: d.Caption, Columns: d.Columns}}
	p.Table.Columns = []string{"panel", "curve", "x", "runs", "mean", "smallest", "largest"}
	colors := d.colors(runs)
	for i, spec := range d.Panels {
		if spec.X == "features" {
			spec.addFeatures(&p, "panel-"+strconv.Itoa(i+1), runs)
			continue
		}
		panel := chart.Panel{ID: "panel-" + strconv.Itoa(i+1), Title: spec.Title, X: spec.axis(spec.X, spec.XLabel, "x"), Y: spec.axis(spec.Y, spec.Label, "y")}
		panel.Y.Unit = spec.Unit
		for _, c := range spec.curves(runs) {
			series, rows := spec.series(c, colors[c.name])
			panel.Series = append(panel.Series, series...)
			p.Table.Rows = append(p.Table.Rows, rows...)
		}
		if len(panel.Series) == 0 {
			p.Notes = append(p.Notes, spec.unseen(runs))
			continue
		}
		if spec.X == "layer" {
			panel.X.Ticks = layerTicks(runs, spec)
		}
		slices.SortStableFunc(panel.Series, func(a, b chart.Series) int { return cmp.Compare(layerOf(a.Kind), layerOf(b.Kind)) })
		p.Panels = append(p.Panels, panel)
	}
	if p.Columns == 0 {
		p.Columns = min(3, len(p.Panels))
	}
	return p
}

// colors maps curves to colours. A curve has the same colour in every figure of the runs whose curves differ in the same settings, even if
// a figure shows only some of them. If there are more curves than colours, each panel starts with the first.
func (d Drawing) colors(runs []*judge.JudgedRun) map[string]int {
	out := map[string]int{}
	add := func(curves []curve) {
		for _, c := range curves {
			if _, seen := out[c.name]; !seen {
				out[c.name] = len(out)
			}
		}
	}
	for _, spec := range d.Panels {
		if spec.X == "features" { // these have class colours
			continue
		}
		if all := (DrawingPanel{Curves: spec.Curves}).curves(runs); len(all) <= chart.DataColors {
			add(all)
		}
		add(spec.curves(runs))
	}
	return out
}

// layerOf puts bands below lines.
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

// unseen says that a panel is left out, and which name no run has, if it is one.
func (p DrawingPanel) unseen(runs []*judge.JudgedRun) string {
	for _, name := range []string{p.Y, p.X} {
		if name == "" || slices.Contains(ownAxes, name) || strings.Contains(name, "*") {
			continue
		}
		why := judge.Missed(runs, name)
		if why == "" {
			continue
		}
		if near := spelling.Suggestion(name, ownAxes); near != "" && name == p.X {
			why, _, _ = strings.Cut(why, ";")
			why += near
		}
		if !strings.HasSuffix(why, "?") {
			why += "."
		}
		if p.Title != "" {
			why = fmt.Sprintf("the panel “%s” is left out: %s", p.Title, why)
		}
		return format.Capital(why)
	}
	return fmt.Sprintf("No run has what the panel “%s” shows.", cmp.Or(p.Title, p.Y))
}
