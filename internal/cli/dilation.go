package cli

import (
	"fmt"
	"strings"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/dilation"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/theoryfig"
)

type dilationCmd struct {
	writesFolder

	LW        float64 `name:"lw" default:"0.005" help:"λ_W: penalty of the classifier." placeholder:"L"`
	LH        float64 `name:"lh" default:"0.02" help:"λ_H: penalty of the features." placeholder:"L"`
	Smoothing float64 `default:"0.1" help:"Label smoothing: α0 in [0,1)." placeholder:"A"`
	CMD       float64 `name:"c-md" default:"0.5" help:"C_MD: memorization per unit of dilation." placeholder:"C"`
	Eta       float64 `default:"0.05" help:"Noise level η." placeholder:"ETA"`
	Law       string  `default:"circle" complete:"two-point,circle,sphere,ball,gaussian" help:"Law of dilated features: two-point, circle, sphere, ball, gaussian, or a .npy file of samples (M×dim, first column along w2−w1)." placeholder:"LAW"`
	Curve     int     `help:"Points of the risk curve in the document of --json; 0: no curve." default:"0" placeholder:"N"`
	Sweep     string  `help:"Map a grid: eta=0.01,0.1,c-md=0.3,1,3 (also lw, lh, smoothing); A..B:N is N values evenly spaced in logarithm." placeholder:"NAME=V,…"`
	Fit       string  `complete:"runs" help:"Fit C_MD to measured pairs: runs of the lab (hashes or the starts of them), or CSV files with columns memorization, dilation and loss." placeholder:"RUN…"`
	Out       string  `help:"Where to write: a folder for pictures and a page; none by default." type:"path" placeholder:"DIR"`

	More []string `arg:"" optional:"" complete:"runs" help:"More runs or files for --fit." placeholder:"RUN"`

	to *outfile.Folder // of the page; nil: none
}

// effects separates the three things that the command does.
func (c *dilationCmd) effects() []effect {
	list := []effect{
		{"lw lh smoothing c-md eta law curve sweep", c.Fit == "", "belongs to the model, and --fit fits measured pairs"},
		{"curve", c.Sweep == "", "is about one setting, and --sweep maps many"},
	}
	for _, name := range sweptNames(c.Sweep) {
		list = append(list, effect{name, false, "is replaced by the values of --sweep"})
	}
	return list
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
	a.onlyComputes()
	o := a.labOutputs()
	o.Reads(append([]string{c.Law, c.Fit}, c.More...)...)
	var err error
	if c.to, err = pageFolder(o, c.Out); err != nil {
		return err
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
		p := findings.Theory{ID: "dilation", Title: "The memorization–dilation model", Source: "Nguyen et al. 2023, Definition 4.1", Facts: theoryfig.SolutionFacts(sol),
			Figures: []chart.Figure{theoryfig.RiskFigure(sol), theoryfig.FeasibleFigure(sol)}, Command: "collapse dilation " + c.flags()}
		if out.Index, err = writePage(p, c.to); err != nil {
			return err
		}
	}
	return a.emit(out, func() { printDilation(a, &out, time.Since(began)) })
}

func settingOf(p dilation.Params) dilationSetting {
	return dilationSetting{p.LW, p.LH, p.Alpha, p.CMD, p.Eta}
}

func (c *dilationCmd) flags() string {
	return fmt.Sprintf("--lw %g --lh %g --smoothing %g --c-md %g --eta %g --law %s", c.LW, c.LH, c.Smoothing, c.CMD, c.Eta, c.Law)
}

func (c *dilationCmd) params() (dilation.Params, error) {
	law, err := c.law()
	if err != nil {
		return dilation.Params{}, err
	}
	p := dilation.Params{LW: c.LW, LH: c.LH, Alpha: c.Smoothing, CMD: c.CMD, Eta: c.Eta, Law: law}
	return p, p.Validate()
}

// law is a named law, or one made of the samples in a file.
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
