package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"collapse/arrayfile"
	"collapse/dilation"
	"collapse/internal/chart"
	"collapse/internal/outfile"
	"collapse/internal/theory"
)

type dilationCmd struct {
	LW    float64 `name:"lw" default:"0.005" help:"λ_W." placeholder:"L"`
	LH    float64 `name:"lh" default:"0.02" help:"λ_H." placeholder:"L"`
	Alpha float64 `default:"0.1" help:"Label smoothing α0." placeholder:"A"`
	CMD   float64 `name:"c-md" default:"0.5" help:"C_MD." placeholder:"C"`
	Eta   float64 `default:"0.05" help:"Noise level η." placeholder:"ETA"`
	Law   string  `default:"circle" help:"Law of dilated features: two-point, circle, sphere, ball, gaussian, or a .npy file of samples (M×dim, first column along w2−w1)." placeholder:"LAW"`
	Curve int     `help:"Points of the risk curve in JSON." default:"0" placeholder:"N"`
	Sweep string  `help:"Map a grid: eta=0.01,0.1,c-md=0.3,1,3 (also lw, lh, alpha); A..B:N is N values evenly in logarithm." placeholder:"NAME=V,…"`
	Fit   string  `help:"Fit C_MD to measured pairs: runs of the lab (hashes or the starts of them), or CSV files with columns memorization, dilation and loss." placeholder:"RUN…"`
	Out   string  `help:"Directory for pictures and a page." type:"path" placeholder:"DIR"`

	More []string `arg:"" optional:"" help:"More runs or files for --fit." placeholder:"RUN"`

	files *outfile.Outputs
}

// dilated is the JSON of collapse dilation.
type dilated struct {
	Law     string          `json:"law"`
	A       float64         `json:"a"`
	Setting dilationSetting `json:"setting"`
	*dilation.Solution
	Checks map[string][]dilation.Check      `json:"checks"`
	Curves map[string][]dilation.CurvePoint `json:"curves,omitempty"`
	Index  string                           `json:"index,omitempty"`
}

type dilationSetting struct {
	LW    float64 `json:"lw"`
	LH    float64 `json:"lh"`
	Alpha float64 `json:"alpha"`
	CMD   float64 `json:"c_md"`
	Eta   float64 `json:"eta"`
}

func (c *dilationCmd) Run(a *app) error {
	c.files = a.labOutputs()
	c.files.Reads(append([]string{c.Law, c.Fit}, c.More...)...)
	if c.Out != "" {
		if err := a.pageFolder(c.files, c.Out); err != nil {
			return err
		}
	}
	if c.Fit != "" {
		return c.fit(a)
	}
	if len(c.More) > 0 {
		return usagef("%q goes with --fit: collapse dilation --fit RUN…", strings.Join(c.More, " "))
	}
	params, err := c.params()
	if err != nil {
		return usageError{err}
	}
	if c.Sweep != "" {
		return c.sweep(a, params)
	}
	began := time.Now()
	sol, err := dilation.Solve(params)
	if err != nil {
		return usageError{err}
	}
	out := dilated{Law: params.Law.Name, A: params.Law.A, Setting: settingOf(params), Solution: sol,
		Checks: map[string][]dilation.Check{"ce": sol.CE.Lemmas(), "ls": sol.LS.Lemmas()}}
	if c.Curve > 1 {
		out.Curves = map[string][]dilation.CurvePoint{"ce": sol.CE.Curve(c.Curve), "ls": sol.LS.Curve(c.Curve)}
	}
	if c.Out != "" {
		page := &theory.Page{ID: "dilation", Title: "The memorization–dilation model", Caption: "Nguyen et al. 2023, Definition 4.1.", Facts: theory.SolutionFacts(sol),
			Figures: []chart.Figure{theory.RiskFigure(sol), theory.FeasibleFigure(sol)}, Command: "collapse dilation " + c.flags()}
		if out.Index, err = writePage(c.files, page, c.Out); err != nil {
			return err
		}
	}
	return a.emit(out, func() { printDilation(a, &out, time.Since(began)) })
}

func settingOf(p dilation.Params) dilationSetting {
	return dilationSetting{p.LW, p.LH, p.Alpha, p.CMD, p.Eta}
}

func (c *dilationCmd) flags() string {
	return fmt.Sprintf("--lw %g --lh %g --alpha %g --c-md %g --eta %g --law %s", c.LW, c.LH, c.Alpha, c.CMD, c.Eta, c.Law)
}

func (c *dilationCmd) params() (dilation.Params, error) {
	law, err := c.law()
	if err != nil {
		return dilation.Params{}, err
	}
	p := dilation.Params{LW: c.LW, LH: c.LH, Alpha: c.Alpha, CMD: c.CMD, Eta: c.Eta, Law: law}
	return p, p.Validate()
}

// law is a named one, or samples from a file.
func (c *dilationCmd) law() (dilation.Law, error) {
	if !strings.HasSuffix(c.Law, ".npy") {
		return dilation.NamedLaw(c.Law)
	}
	var law dilation.Law
	err := arrayfile.Read(c.Law, func(f *arrayfile.File) (err error) {
		law, err = c.sampleLaw(f)
		return err
	})
	return law, err
}

// sampleLaw is the law of the samples of a file.
func (c *dilationCmd) sampleLaw(f *arrayfile.File) (dilation.Law, error) {
	headers := f.Headers()
	if len(headers) != 1 || len(headers[0].Shape) < 1 || len(headers[0].Shape) > 2 {
		return dilation.Law{}, fmt.Errorf("%s does not hold one matrix of samples, one per row", c.Law)
	}
	array, err := f.Load(headers[0].Name)
	if err != nil {
		return dilation.Law{}, err
	}
	samples, err := array.Float64s()
	if err != nil {
		return dilation.Law{}, err
	}
	dim := 1
	if len(headers[0].Shape) == 2 {
		dim = headers[0].Shape[1]
	}
	return dilation.SampleLaw(samples, dim)
}

func printDilation(a *app, d *dilated, took time.Duration) {
	a.printf("memorization–dilation model, law %s, λ_W = %g, λ_H = %g, α = %g, C_MD = %g, η = %g\n\n", d.Law, d.Setting.LW, d.Setting.LH, d.Setting.Alpha, d.Setting.CMD, d.Setting.Eta)
	a.printf("%-26s %14s %14s\n", "", "CE", "LS")
	for _, row := range []struct {
		name   string
		ce, ls float64
	}{
		{"margin x", d.CE.Margin, d.LS.Margin}, {"‖h1−h2‖", d.CE.Dist, d.LS.Dist}, {"‖w2−w1‖", d.CE.WDiffNorm, d.LS.WDiffNorm},
		{"r_max", d.CE.RMax, d.LS.RMax}, {"r*", d.CE.RStar, d.LS.RStar}, {"r*/‖h1−h2‖", d.CE.Normalised, d.LS.Normalised},
		{"memorization", d.CE.Memorization, d.LS.Memorization}, {"risk", d.CE.Risk, d.LS.Risk},
	} {
		a.printf("%-26s %14.8g %14.8g\n", row.name, row.ce, row.ls)
	}
	as := d.Assumption
	a.printf("\nAssumption 4.2  %s (noise: √η = %.4g, wanted below %.4g)\n", yesNo(as.Holds), as.SqrtEta, as.NoiseMost)
	a.printf("Theorem 4.3     %s (r*/‖h1−h2‖ smaller for LS)\n", yesNo(d.Theorem))
	for _, loss := range []string{"ce", "ls"} {
		for _, check := range d.Checks[loss] {
			if !check.Holds {
				a.printf("fails           %s, %s: %s\n", loss, check.Name, check.Words())
			}
		}
	}
	if d.Index != "" {
		a.printf("\n%s\n", d.Index)
	}
	a.printf("\n%.2f s\n", took.Seconds())
}

func yesNo(ok bool) string {
	if ok {
		return "holds"
	}
	return "does not hold"
}

// sweptPoint is a setting of a sweep in JSON.
type sweptPoint struct {
	dilationSetting
	CENormalised float64 `json:"ce_normalised"`
	LSNormalised float64 `json:"ls_normalised"`
	Gamma        float64 `json:"gamma"`
	Assumption   bool    `json:"assumption"`
	Theorem      bool    `json:"theorem"`
	Error        string  `json:"error,omitempty"`
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
	out := swept{Law: base.Law.Name, Seconds: time.Since(began).Seconds()}
	for _, pt := range points {
		row := sweptPoint{dilationSetting: settingOf(pt.Params)}
		if pt.Err != nil {
			row.Error = pt.Err.Error()
		} else {
			s := pt.Solution
			row.CENormalised, row.LSNormalised, row.Gamma = s.CE.Normalised, s.LS.Normalised, s.Gamma
			row.Assumption, row.Theorem = s.Assumption.Holds, s.Theorem
			switch {
			case row.Assumption && !row.Theorem:
				out.Broken++
				out.Inside++
			case row.Assumption:
				out.Inside++
			case !row.Theorem:
				out.Outside++
			}
		}
		out.Points = append(out.Points, row)
	}
	if c.Out != "" {
		page := &theory.Page{ID: "dilation-sweep", Title: "Where Theorem 4.3 holds", Caption: "Nguyen et al. 2023, Assumption 4.2 and Theorem 4.3.",
			Figures: []chart.Figure{theory.SweepFigure(points)}, Command: "collapse dilation " + c.flags() + " --sweep " + c.Sweep}
		if out.Index, err = writePage(c.files, page, c.Out); err != nil {
			return err
		}
	}
	return a.emit(out, func() {
		a.printf("%d settings in %.1f s: %d inside Assumption 4.2 (the theorem fails in %d of them), fails outside in %d\n",
			len(points), out.Seconds, out.Inside, out.Broken, out.Outside)
		if out.Index != "" {
			a.printf("%s\n", out.Index)
		}
	})
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
				field, ok := map[string]*float64{"eta": &p.Eta, "c-md": &p.CMD, "lw": &p.LW, "lh": &p.LH, "alpha": &p.Alpha}[name]
				if !ok {
					return usagef("--sweep: %q is not one of eta, c-md, lw, lh, alpha", name)
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
