package cli

import (
	"fmt"
	"time"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/sphere"
)

type solveSphereCmd struct {
	writesFolder

	K           int     `name:"k" default:"10" help:"Classes; default: 10." placeholder:"K"`
	D           int     `name:"d" default:"3" help:"Width of the features, at most K; default: 3." placeholder:"D"`
	Temperature float64 `default:"0.1" help:"Temperature τ; default: 0.1." placeholder:"T"`
	Starts      int     `default:"10" help:"Random starts of a numerical search, besides that from a known code; default: 10." placeholder:"N"`
	Seed        uint64  `default:"0" help:"Seed: of the starts." placeholder:"S"`
	Out         string  `help:"Where to write: a folder for a page that draws margins and objective against the width." type:"path" placeholder:"DIR"`
}

// solvedSphere is the JSON of collapse solve sphere.
type solvedSphere struct {
	K           int              `json:"k"`
	D           int              `json:"d"`
	Temperature float64          `json:"temperature"`
	Found       *sphere.Solution `json:"found"`
	W           [][]float64      `json:"w"` // K rows of d
	H           [][]float64      `json:"h"`
	Index       string           `json:"index,omitempty"`
}

func (c *solveSphereCmd) Run(a *app) error {
	a.onlyComputes()
	if c.Starts < 0 || c.Starts > mostStarts {
		return usagef("--starts is %d, wanted 0 to %d", c.Starts, mostStarts)
	}
	problem := sphere.Config{K: c.K, D: c.D, Temperature: c.Temperature}
	if err := problem.Validate(); err != nil {
		return usageError{err}
	}
	if c.Starts == 0 && sphere.Known(c.K, c.D) == nil {
		return usagef("--starts is 0, and no good arrangement of %d vectors in %d dimensions is known to start from", c.K, c.D)
	}
	to, err := pageFolder(a.outputs(), c.Out)
	if err != nil {
		return err
	}
	found, err := problem.Solve(a.ctx, c.Starts, c.Seed, a.startsEnded(c.Starts+1))
	if err != nil {
		return err
	}
	out := &solvedSphere{K: c.K, D: c.D, Temperature: c.Temperature, Found: found}
	for k := range c.K {
		out.W, out.H = append(out.W, found.W.RawRowView(k)), append(out.H, found.H.RawRowView(k))
	}
	if c.Out != "" {
		if out.Index, err = c.draw(a, to, problem); err != nil {
			return err
		}
	}
	return a.emit(out, func() { printSphere(a, out) })
}

func (c *solveSphereCmd) draw(a *app, to *outfile.Folder, problem sphere.Config) (string, error) {
	told := time.Now()
	found, err := theoryfig.SweepWidths(a.ctx, problem, max(1, c.Starts), c.Seed, func(ended, all int) {
		if time.Since(told) > progressAfter {
			told = time.Now()
			a.logf("%d of %d widths for the picture", ended, all)
		}
	})
	if err != nil {
		return "", err
	}
	p := findings.Theory{ID: "sphere", Title: "More classes than dimensions", Source: "Yaras et al. 2022; Jiang et al. 2023; Alcala et al. 2026",
		Figures: []chart.Figure{theoryfig.WidthsFigure(found, c.D)},
		Command: fmt.Sprintf("collapse solve sphere --k %d --d %d --temperature %g --starts %d --seed %d", c.K, c.D, c.Temperature, c.Starts, c.Seed)}
	return writePage(p, to)
}

func printSphere(a *app, s *solvedSphere) {
	f := s.Found
	a.printf("%d unit features and classifiers in %d dimensions, temperature %g\n", s.K, s.D, s.Temperature)
	a.printf("minimise   −1/K·Σ log softmax_k(W·h_k/τ)\n\n")
	a.printf("found      f = %.10g  (τ·log f = %.8g); from: %s\n", f.Objective, f.LogF, f.From)
	switch {
	case f.Proved:
		a.printf("bound      f ≥ %.10g for every d: proved optimal\n", f.Bound)
	default:
		a.printf("bound      f ≥ %.10g for every d; attained only by the simplex ETF, which needs d ≥ %d\n", f.Bound, s.K-1)
		a.printf("verdict    not proved optimal: the lowest end of %d starts, at which %d of them end; however many do, another may end lower\n", f.Starts, f.Reached)
	}
	g := f.Shape
	a.detailf("gradient   %.2g\n", f.Gradient)
	a.printf("\n")
	a.printf("one-vs-rest margin       %.8g to %.8g\n", g.Margin, g.MarginMost)
	if g.Known != "" {
		a.printf("  of the %-15s %.8g\n", g.Known, g.KnownMargin)
	}
	a.printf("largest cosine           %.8g\nfeatures off classifiers %.2g at most\noff a tight frame        %.2g\n", g.Cosine, g.Duality, g.TightFrame)
	if s.Index != "" {
		a.printf("\n%s\n", s.Index)
	}
}
