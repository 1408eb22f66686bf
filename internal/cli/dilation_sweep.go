package cli

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/theoryfig"
)

// sweptPoint is a setting of a sweep in JSON.
type sweptPoint struct {
	dilationSetting
	CENormalised *float64 `json:"ce_normalised"` // null, like all that follows, if the setting has no solution: see error
	LSNormalised *float64 `json:"ls_normalised"`
	Gamma        *float64 `json:"gamma"`
	Assumption   bool     `json:"assumption"`
	Theorem      bool     `json:"theorem"`
	Error        string   `json:"error,omitempty"`
}

type swept struct {
	Law     string       `json:"law"`
	Points  []sweptPoint `json:"points"`
	Inside  int          `json:"inside_assumption"`
	Broken  int          `json:"assumption_holds_theorem_fails"`
	Outside int          `json:"theorem_fails_outside"`
	Seconds float64      `json:"seconds"`
	Index   string       `json:"index,omitempty"`
}

func (c *dilationCmd) sweep(a *app, base dilation.Params) error {
	settings, err := sweepSettings(base, c.Sweep)
	if err != nil {
		return err
	}
	began := time.Now()
	points, err := dilation.Sweep(a.ctx, settings)
	if err != nil {
		return err
	}
	n := dilation.CountOutcomes(points)
	out := swept{Law: base.Law.Name, Seconds: time.Since(began).Seconds(),
		Inside: n[dilation.Predicted] + n[dilation.Contradiction], Broken: n[dilation.Contradiction], Outside: n[dilation.Reversed]}
	for _, pt := range points {
		out.add(pt)
	}
	if c.Out != "" {
		p := findings.Theory{ID: "dilation-sweep", Title: "Where Theorem 4.3 holds", Source: "Nguyen et al. 2023, Assumption 4.2 and Theorem 4.3",
			Figures: []chart.Figure{theoryfig.SweepFigure(points)}, Command: "collapse dilation " + c.flags() + " --sweep " + c.Sweep}
		if out.Index, err = writePage(p, c.to); err != nil {
			return err
		}
	}
	return a.emit(out, func() {
		printSwept(a, out.Points, sweptNames(c.Sweep))
		a.printf("\n%d settings in %.1f s: %d inside Assumption 4.2 (the theorem fails in %d of them), fails outside in %d\n",
			len(points), out.Seconds, out.Inside, out.Broken, out.Outside)
		if out.Index != "" {
			a.printf("%s\n", out.Index)
		}
	})
}

// add keeps the row of a point.
func (s *swept) add(pt dilation.SweepPoint) {
	row := sweptPoint{dilationSetting: settingOf(pt.Params)}
	if pt.Err != nil {
		row.Error = pt.Err.Error()
		s.Points = append(s.Points, row)
		return
	}
	sol := pt.Solution
	row.CENormalised, row.LSNormalised, row.Gamma = &sol.CE.Normalised, &sol.LS.Normalised, &sol.Gamma
	row.Assumption, row.Theorem = sol.Assumption.Holds, sol.Theorem
	s.Points = append(s.Points, row)
}

// sweepColumns are the parameters that can vary, by the names of their flags.
var sweepColumns = []struct {
	name  string
	value func(dilationSetting) float64
}{
	{"lw", func(s dilationSetting) float64 { return s.LW }}, {"lh", func(s dilationSetting) float64 { return s.LH }},
	{"smoothing", func(s dilationSetting) float64 { return s.Alpha }}, {"c-md", func(s dilationSetting) float64 { return s.CMD }},
	{"eta", func(s dilationSetting) float64 { return s.Eta }},
}

// sweptNames are the names that a sweep varies.
func sweptNames(sweep string) []string {
	var names []string
	for _, item := range strings.Split(sweep, ",") {
		if name, _, ok := strings.Cut(item, "="); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// mostSwept bounds the lines of a sweep's table.
const mostSwept = 200

// printSwept prints a line for each setting, with what varies.
func printSwept(a *app, points []sweptPoint, names []string) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, column := range sweepColumns {
		if slices.Contains(names, column.name) {
			safetext.Fprintf(w, "%s\t", strings.ToUpper(column.name))
		}
	}
	safetext.Fprintf(w, "r*/‖h1−h2‖ CE\tLS\tASSUMPTION 4.2\tTHEOREM 4.3\t\n")
	for _, p := range points[:min(len(points), mostSwept)] {
		for _, column := range sweepColumns {
			if slices.Contains(names, column.name) {
				safetext.Fprintf(w, "%s\t", format.Short(column.value(p.dilationSetting), 4))
			}
		}
		if p.Error != "" {
			safetext.Fprintf(w, "–\t–\t–\t–\t %s\n", p.Error)
			continue
		}
		safetext.Fprintf(w, "%s\t%s\t%s\t%s\t\n", orDash(p.CENormalised), orDash(p.LSNormalised), yesNo(p.Assumption), yesNo(p.Theorem))
	}
	w.Flush()
	if more := len(points) - mostSwept; more > 0 {
		a.printf("%d more settings; --json has them all\n", more)
	}
}

// sweepSettings reads NAME=V,V,NAME=V,… and returns the grid over base.
func sweepSettings(base dilation.Params, text string) ([]dilation.Params, error) {
	settings, name := []dilation.Params{base}, ""
	var values []float64
	apply := func() error {
		if name == "" {
			return nil
		}
		if len(values) == 0 {
			return usagef("--sweep: %s has no values", name)
		}
		var grid []dilation.Params
		for _, p := range settings {
			for _, v := range values {
				field, ok := map[string]*float64{"eta": &p.Eta, "c-md": &p.CMD, "lw": &p.LW, "lh": &p.LH, "smoothing": &p.Alpha}[name]
				if !ok {
					return usagef("--sweep: %q is not one of eta, c-md, lw, lh, smoothing", name)
				}
				*field = v
				grid = append(grid, p)
			}
		}
		settings, values = grid, nil
		return nil
	}
	for _, item := range strings.Split(text, ",") {
		if key, rest, ok := strings.Cut(item, "="); ok {
			if err := apply(); err != nil {
				return nil, err
			}
			name, item = strings.TrimSpace(key), rest
		} else if name == "" {
			return nil, usagef("--sweep is %q, wanted NAME=V,V,…", text)
		}
		more, err := sweepValues(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		values = append(values, more...)
	}
	return settings, apply()
}

// sweepValues reads a number or A..B:N.
func sweepValues(item string) ([]float64, error) {
	if item == "" {
		return nil, usagef("--sweep: a value is missing, wanted NAME=V,V,…")
	}
	low, rest, ranged := strings.Cut(item, "..")
	if !ranged {
		v, err := strconv.ParseFloat(item, 64)
		if err != nil {
			return nil, usagef("--sweep: %q is not a number", item)
		}
		return []float64{v}, nil
	}
	high, count, _ := strings.Cut(rest, ":")
	a, errA := strconv.ParseFloat(low, 64)
	b, errB := strconv.ParseFloat(high, 64)
	n, errN := strconv.Atoi(count)
	if errA != nil || errB != nil || errN != nil || !(a > 0 && b > a) || n < 2 || n > 10000 {
		return nil, usagef("--sweep: %q, wanted A..B:N with 0 < A < B and N from 2 to 10000", item)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = a * math.Pow(b/a, float64(i)/float64(n-1))
	}
	return out, nil
}
