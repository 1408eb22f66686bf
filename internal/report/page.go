package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"collapse/internal/chart"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// page is what the template prints. Every string in it is escaped by the template, but for SVG
// and CSS that package chart made.
type page struct {
	ID                      string
	Title, Finding, Numbers string
	Facts                   []string // the numbers of each loss
	Style                   template.CSS
	Tiles                   []tile
	Groups                  []section
	Substitutions           []Substitution
	Notes                   []string
	Commands                []string
	Unfinished, Runs        table
	Config                  []pair
	Made                    string
	Single                  bool
}

type tile struct{ Value, Name string }

type pair struct{ Name, Value string }

// section is one group of the page.
type section struct {
	ID, Title string
	Claims    []Claim
	Main      []figure // M-D Fig. 1, with and without degenerate runs
	More      []figure // the same against other forms of memorization, folded
	Features  []figure
	Why       string // why there are no features, if there are none
	Epochs    []epochs
	Limits    table
}

// epochs is the folding part for one noise level.
type epochs struct {
	Title   string
	Open    bool
	Figures []figure
}

// figure is a picture ready for the template.
type figure struct {
	ID, Title, Caption string
	Columns            int
	Legend             []swatch
	Panels             []template.HTML
	Notes              []string
	Table              table
}

type swatch struct {
	Sample template.HTML
	Label  string
}

// prepare turns a picture into HTML pieces. The SVG is chart's own, which escapes every text.
func prepare(p picture) figure {
	in := chart.Inline(p.Figure)
	f := figure{ID: p.ID, Title: p.Title, Caption: p.Caption, Columns: p.Columns, Notes: in.Notes, Table: p.Table}
	for _, s := range in.Panels {
		f.Panels = append(f.Panels, template.HTML(s))
	}
	for _, e := range in.Legend {
		f.Legend = append(f.Legend, swatch{template.HTML(e.Swatch), e.Label})
	}
	return f
}

// build makes the page and the pictures whose files lie beside it.
func build(study Study) (page, []picture, Result) {
	gs, unfinished := groups(study.Runs)
	p := page{ID: study.ID, Title: study.Title, Substitutions: study.Substitutions, Notes: study.Notes, Commands: study.Commands,
		Style: template.CSS(chart.StyleSheet()), Single: len(study.Runs) == 1}
	res := Result{Runs: len(study.Runs), Failed: len(unfinished)}
	var pictures []picture
	var all [][]Claim
	for _, g := range gs {
		s, drawn, claims := g.section(study)
		p.Groups = append(p.Groups, s)
		pictures = append(pictures, drawn...)
		all = append(all, claims)
		res.Claims = append(res.Claims, claims...)
		res.Degenerate += g.count(isDegenerate)
		res.Terminal += g.count(isTerminal)
	}
	p.Finding, p.Numbers, p.Facts = headline(gs, all)
	res.Headline = strings.TrimSpace(p.Finding + ". " + p.Numbers)
	res.Facts = p.Facts
	if p.Title == "" {
		p.Title = "Neural collapse"
		if len(gs) > 0 {
			p.Title = "Memorization and dilation: " + gs[0].title
		}
	}
	p.Tiles = tiles(gs, res)
	p.Runs, p.Unfinished = runTable(gs), unfinishedTable(unfinished)
	p.Config = commonSettings(study.Runs)
	if !study.Generated.IsZero() {
		p.Made = study.Generated.UTC().Format("2 January 2006, 15:04 UTC")
	}
	return p, pictures, res
}

func tiles(gs []*group, res Result) []tile {
	var subjects []*subject
	curves, noises := map[string]bool{}, map[float64]bool{}
	for _, g := range gs {
		subjects = append(subjects, g.subjects...)
		for _, c := range g.curves {
			curves[c] = true
		}
		for _, n := range g.noises {
			noises[n] = true
		}
	}
	done := res.Runs - res.Failed
	return []tile{
		{strconv.Itoa(done), "finished runs"},
		{strconv.Itoa(len(curves)), "losses"},
		{strconv.Itoa(len(noises)), "noise levels"},
		{strconv.Itoa(len(seeds(subjects))), "seeds"},
		{fmt.Sprintf("%d of %d", res.Terminal, done), "in the terminal phase"},
		{strconv.Itoa(res.Degenerate), "degenerate"},
		{strconv.Itoa(res.Failed), "failed or unfinished"},
	}
}

// section draws everything of one group.
func (g *group) section(study Study) (section, []picture, []Claim) {
	s := section{ID: "group" + g.suffix, Title: g.title}
	var drawn []picture
	add := func(p picture) (figure, bool) {
		if len(p.Panels) == 0 {
			return figure{}, false
		}
		drawn = append(drawn, p)
		return prepare(p), true
	}
	noisy := g.count(func(s *subject) bool { return s.Noise > 0 }) > 0
	if len(g.subjects) > 1 && noisy {
		s.Claims = g.claims()
		for _, p := range g.mainFigures() {
			if f, ok := add(p); ok {
				s.Main = append(s.Main, f)
			}
		}
		if f, ok := add(g.otherForms()); ok {
			s.More = append(s.More, f)
		}
	}
	for _, p := range g.featureFigures(study.FeatureRuns) {
		if f, ok := add(p); ok {
			s.Features = append(s.Features, f)
		}
	}
	if len(s.Features) == 0 {
		s.Why = g.whyNoFeatures()
	}
	for i, noise := range g.noises {
		e := epochs{Title: fmt.Sprintf("η = %s (%s)", decimal(noise), count(g.count(func(s *subject) bool { return s.Noise == noise }), "run")), Open: i == 0}
		first, rest := g.epochFigures(noise)
		first.Title = "The measures of collapse against epoch, η = " + decimal(noise)
		first.Caption = "Mean over seeds; the band reaches from the smallest to the largest seed. Training measures are in evaluation mode and on the labels trained on; test labels are never corrupted."
		rest.Title = "Every other measure against epoch, η = " + decimal(noise)
		rest.Caption = "As above. “clean” are the training samples that kept their label. The key and the split of each measure stand above its axis."
		for _, p := range []picture{first, rest} {
			if f, ok := add(p); ok {
				e.Figures = append(e.Figures, f)
			}
		}
		s.Epochs = append(s.Epochs, e)
	}
	s.Limits = g.limits()
	return s, drawn, s.Claims
}

// mainFigures are M-D Fig. 1 without degenerate runs, the other forms of memorization, and, where
// there are degenerate runs, the figure with them.
func (g *group) mainFigures() []picture {
	regular := g.pick(isRegular)
	fig := g.dilationFigure("dilation", regular, []memoryForm{g.form()})
	fig.Title = "Dilation and test accuracy against memorization"
	fig.Caption = "After M-D Fig. 1. Each point is the mean over seeds at one noise level η, with one standard deviation both ways; the faint dots are single runs; η stands beside a point where there is room. Dilation is √NC1 of the test features around their own class means."
	unknown := g.count(func(s *subject) bool { return !s.degenerateKnown })
	switch n := len(g.subjects) - len(regular); {
	case n > 0:
		fig.Notes = append(fig.Notes, fmt.Sprintf("%s left out here and drawn in the figure with all runs.", count(n, "degenerate run")))
	case unknown == 0:
		fig.Notes = append(fig.Notes, "No run is degenerate (least norm of a clean class mean below a tenth of the largest, ours): none is left out.")
	}
	if unknown > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("Of %s it is not known whether they are degenerate: neither the ratio of norms nor the features were saved.", count(unknown, "run")))
	}
	if early := g.count(func(s *subject) bool { return isRegular(s) && !s.terminal }); early > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("%s drawn here did not reach the terminal phase (train accuracy ≥ 99.9 %%).", count(early, "run")))
	}
	out := []picture{fig}
	if len(regular) < len(g.subjects) {
		all := g.dilationFigure("dilation-all-runs", g.subjects, []memoryForm{g.form()})
		all.Title = "The same with degenerate runs"
		all.Caption = "Every finished run, those in the configuration of M-D Fig. 4(a) included."
		out = append(out, all)
	}
	return out
}

// otherForms is the main figure against the forms of memorization that it does not show; without
// panels if there are none.
func (g *group) otherForms() picture {
	var others []memoryForm
	for _, f := range memoryForms {
		if f.key != g.form().key && g.count(func(s *subject) bool { _, ok := s.memory(f.key); return ok }) > 0 {
			others = append(others, f)
		}
	}
	p := g.dilationFigure("dilation-other-forms", g.pick(isRegular), others)
	p.Title = "The same against the other forms of memorization"
	p.Caption = "The raw sums grow with the number of corrupted samples and with the length of the features; the last form has neither scale."
	return p
}

// featureFigures chooses runs to draw: those asked for, or at a low and at the highest noise level
// the first regular seed of each loss, and up to two degenerate runs.
func (g *group) featureFigures(asked []string) []picture {
	has := func(s *subject) bool { return s.Features != nil }
	caption := "After M-D Fig. 4. Colour is the true class; crosses are samples trained with a wrong label; rings mark class means, triangles the means of a class's mislabelled samples. The dashed line is where the decision changes."
	named := func(p picture, title string) picture {
		p.Title, p.Caption = title, caption
		return p
	}
	if asked != nil {
		runs := g.pick(func(s *subject) bool {
			for _, h := range asked {
				if has(s) && h != "" && strings.HasPrefix(s.Hash, h) {
					return true
				}
			}
			return false
		})
		return []picture{named(g.featureFigure("features", runs), "Features of the chosen runs")}
	}
	var out []picture
	for _, noise := range g.shownNoises(has) {
		var runs []*subject
		for _, curve := range g.curves {
			for _, s := range onCurve(g.subjects, curve) {
				if s.Noise == noise && has(s) && !s.degenerate {
					runs = append(runs, s)
					break
				}
			}
		}
		out = append(out, named(g.featureFigure("features-noise-"+decimal(noise), runs), "The features themselves, η = "+decimal(noise)))
	}
	if bad := g.pick(func(s *subject) bool { return has(s) && s.degenerate }); len(bad) > 0 {
		out = append(out, named(g.featureFigure("features-degenerate", bad[:min(len(bad), 2)]), "Degenerate runs, as in M-D Fig. 4(a)"))
	}
	return out
}

// shownNoises are the level nearest to 0.1 and the highest, among those with features.
func (g *group) shownNoises(has func(*subject) bool) []float64 {
	at := levels(g.pick(func(s *subject) bool { return has(s) && !s.degenerate }))
	if len(at) == 0 {
		return nil
	}
	near := at[0]
	for _, n := range at {
		if math.Abs(n-0.1) < math.Abs(near-0.1)-1e-12 {
			near = n
		}
	}
	if last := at[len(at)-1]; last != near {
		return []float64{near, last}
	}
	return []float64{near}
}

func (g *group) whyNoFeatures() string {
	reasons := map[string]int{}
	for _, s := range g.subjects {
		reasons[s.NoFeatures]++
	}
	var words []string
	for why, n := range reasons {
		if why != "" {
			words = append(words, fmt.Sprintf("%s: %s", count(n, "run"), why))
		}
	}
	sort.Strings(words)
	return strings.Join(words, "; ")
}

// limits sets the measures that do not depend on scale beside their limits, at the lowest noise.
func (g *group) limits() table {
	noise := g.noises[0]
	t := table{Columns: []string{"measure", "limit"}}
	for _, c := range g.curves {
		t.Columns = append(t.Columns, c+", η = "+decimal(noise))
	}
	cos := "0 (every cosine −1/(K−1))"
	if k, err := strconv.Atoi(g.settings["data.classes"]); err == nil && k > 1 {
		cos = "0 (every cosine " + digits(-1/float64(k-1)) + ")"
	}
	for _, m := range []struct{ name, key, limit string }{
		{"NC1, pseudo-inverse form", "nc1_pinv", "0"},
		{"NC2, classifier against a simplex ETF", "nc2_w", "0"},
		{"NC2, angles of centred class means", "nc2_cos_deviation", cos},
		{"NC2, class means against an orthogonal frame (features of a ReLU)", "nc2_means_of", "0"},
		{"NC3, self-duality", "nc3_gram", "0"},
		{"NC4, nearest-class-centre mismatch", "nc4_ncc_mismatch", "0"},
	} {
		row, any := []string{m.name, m.limit}, false
		for _, c := range g.curves {
			v := meanDeviation(onCurve(g.pick(func(s *subject) bool { return s.Noise == noise }), c), 1, func(s *subject) (float64, bool) {
				if noise > 0 {
					if v, ok := s.final("clean", m.key); ok {
						return v, true
					}
				}
				return s.final("train", m.key)
			})
			any = any || v != "–"
			row = append(row, v)
		}
		if any {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// runTable lists every finished run.
func runTable(gs []*group) table {
	t := table{Columns: []string{"run", "label", "loss", "η", "seed", "epochs", "train acc.", "test acc.", "NC1", "dilation", "memorization", "terminal", "degenerate", "seconds", "program"}}
	for _, g := range gs {
		for _, s := range g.subjects {
			q := func(split, key string) string {
				if v, ok := s.final(split, key); ok {
					return digits(v)
				}
				return "–"
			}
			accuracy := func(split string) string {
				if v, ok := s.final(split, "accuracy"); ok {
					return percent(v)
				}
				return "–"
			}
			degenerate := "not known"
			if s.degenerateKnown {
				degenerate = yesNo(s.degenerate) + " (" + digits(s.normRatio) + ")"
			}
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%.12s", s.Hash), s.Label, s.curve, decimal(s.Noise), strconv.FormatUint(s.Seed, 10),
				strconv.FormatInt(s.LastStep(), 10), accuracy("train"), accuracy("test"), q("train", "nc1_pinv"), q("test", "dilation"),
				q("train", g.form().key), yesNo(s.terminal), degenerate, seconds(s.Run), program(s.Run)})
		}
	}
	return t
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func seconds(r *Run) string {
	if r.Started.IsZero() || r.Finished.IsZero() || r.Finished.Before(r.Started) {
		return "–"
	}
	return digits(r.Finished.Sub(r.Started).Round(time.Millisecond).Seconds())
}

// program is what a run's bits depend on beside its configuration.
func program(r *Run) string {
	p := r.Program
	words := []string{}
	for _, w := range []string{p.Version, p.Kernel, strings.Trim(p.GOOS+"/"+p.GOARCH, "/"), p.GOAMD64, p.CPU} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// unfinishedTable lists the runs that gave no result, with why.
func unfinishedTable(runs []*Run) table {
	t := table{Columns: []string{"run", "label", "loss", "η", "seed", "state", "why"}}
	for _, r := range runs {
		why := r.Error
		if why == "" {
			why = fmt.Sprintf("last measured at epoch %d", r.LastStep())
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%.12s", r.Hash), r.Label, r.curveName(), decimal(r.Noise), strconv.FormatUint(r.Seed, 10), string(r.Status), why})
	}
	return t
}

// commonSettings lists every setting: its value where the runs agree, its values where they differ.
func commonSettings(runs []Run) []pair {
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
	var out []pair
	for k, v := range values {
		sort.Slice(v, func(i, j int) bool {
			a, errA := strconv.ParseFloat(v[i], 64)
			b, errB := strconv.ParseFloat(v[j], 64)
			if errA == nil && errB == nil && a != b {
				return a < b
			}
			return v[i] < v[j]
		})
		out = append(out, pair{k, strings.Join(v, " | ")})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func (p page) html() ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("report: page: %w", err)
	}
	return b.Bytes(), nil
}
