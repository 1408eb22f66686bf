package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/theoryfig"
)

// fitted is the JSON of collapse dilation --fit.
type fitted struct {
	*dilation.Comparison
	F      *float64     `json:"f"`
	PValue *float64     `json:"p_value"`
	Pairs  []fittedPair `json:"pairs"`
	Notes  []string     `json:"notes,omitempty"`
	Index  string       `json:"index,omitempty"`
}

// fittedPair is a measured pair with where it comes from.
type fittedPair struct {
	Source       string  `json:"source"` // hash of the run, or the file
	Class        *int    `json:"class,omitempty"`
	Loss         string  `json:"loss"`
	Memorization float64 `json:"memorization"`
	Dilation     float64 `json:"dilation"`
}

func (c *dilationCmd) fit(a *app) error {
	var out fitted
	var points []dilation.Measured
	for _, source := range append([]string{c.Fit}, c.More...) {
		pairs, notes, err := measuredPairs(a, source)
		if err != nil {
			return err
		}
		out.Pairs, out.Notes = append(out.Pairs, pairs...), append(out.Notes, notes...)
	}
	for _, p := range out.Pairs {
		points = append(points, dilation.Measured{Group: p.Loss, Memorization: p.Memorization, Dilation: p.Dilation})
	}
	var err error
	if out.Comparison, err = dilation.FitCMD(points); err != nil {
		return err
	}
	if !math.IsNaN(out.Comparison.F) {
		out.F, out.PValue = &out.Comparison.F, &out.Comparison.PValue
	}
	if c.Out != "" {
		p := fitPage(&out, points, a.commandLine())
		if out.Index, err = writePage(p, c.to); err != nil {
			return err
		}
	}
	return a.emit(out, func() { printFit(a, &out) })
}

// measuredPairs reads a CSV file or, if there is no such file, a run of the lab.
func measuredPairs(a *app, source string) (pairs []fittedPair, notes []string, err error) {
	f, err := inputfile.Open(source)
	if errors.Is(err, fs.ErrNotExist) {
		return runPairs(a, source)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	measured, err := dilation.ReadMeasured(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", source, err)
	}
	for _, m := range measured {
		pairs = append(pairs, fittedPair{Source: filepath.Base(source), Loss: m.Group, Memorization: m.Memorization, Dilation: m.Dilation})
	}
	return pairs, nil, nil
}

// runPairs measures every class of a run from the features that it saved.
func runPairs(a *app, prefix string) (pairs []fittedPair, notes []string, err error) {
	if filepath.Ext(prefix) != "" {
		return nil, nil, usagef("--fit: there is no file %s", prefix)
	}
	lab, err := a.reader()
	if err != nil {
		return nil, nil, err
	}
	runs, err := judge.Load(lab, prefix)
	if err != nil {
		return nil, nil, err
	}
	run := runs[0]
	f := run.Features()
	if f == nil {
		return nil, nil, fmt.Errorf("run %.12s has no features to fit: %s", run.Hash, run.NoFeatures())
	}
	samples := dilation.Samples{D: f.D, TrainH: f.TrainH, TestH: f.TestH, Observed: f.Observed, True: f.True, TestTrue: f.TestTrue}
	measured, err := samples.Pairs(run.Loss)
	if err != nil {
		return nil, nil, fmt.Errorf("run %.12s: %w", run.Hash, err)
	}
	for _, m := range measured {
		class := m.Class
		pairs = append(pairs, fittedPair{Source: run.Hash, Class: &class, Loss: m.Group, Memorization: m.Memorization, Dilation: m.Dilation})
	}
	if n, m := len(f.True), len(f.TestTrue); n < f.TrainN || m < f.TestN {
		notes = append(notes, fmt.Sprintf("Run %.12s: from the first %d of %d training and %d of %d test samples, which are all that it saved.", run.Hash, n, f.TrainN, m, f.TestN))
	}
	return pairs, notes, nil
}

func fitPage(out *fitted, points []dilation.Measured, command string) findings.Theory {
	p := findings.Theory{ID: "dilation-fit", Title: "C_MD fitted to measured pairs", Command: command, Notes: out.Notes,
		Caption: "In the model's own units, one pair per class and run: memorization is Σ‖h − h*‖ over the corrupted samples, divided by the number of clean ones; dilation is r/‖h1 − h2‖ with r² = tr Σ_W of the test features. The model predicts memorization = C_MD·dilation.",
		Figures: []chart.Figure{theoryfig.FitFigure(points, out.Comparison)}}
	for _, fit := range append(out.Fits, out.Pooled) {
		p.Facts = append(p.Facts, theoryfig.Fact{Name: "C_MD, " + fit.Group, Value: format.Sprintf("%.6g ± %.2g", fit.CMD, fit.Error),
			From: fmt.Sprintf("least squares through the origin, %d pairs, R² = %.4f", fit.Points, fit.R2)})
	}
	if out.F != nil {
		p.Facts = append(p.Facts, theoryfig.Fact{Name: "one slope for all losses", Value: format.Sprintf("p = %.3g", *out.PValue), From: sameSlope(out)})
	}
	return p
}

func sameSlope(out *fitted) string {
	return fmt.Sprintf("F(%d, %d) = %.4g", out.FreeOf[0], out.FreeOf[1], *out.F)
}

func printFit(a *app, out *fitted) {
	for _, fit := range append(out.Fits, out.Pooled) {
		a.printf("%-8s C_MD = %.6g ± %.2g  (%d pairs, R² = %.4f)\n", fit.Group, fit.CMD, fit.Error, fit.Points, fit.R2)
	}
	if out.F != nil {
		a.printf("one slope for all: %s, p = %.3g\n", sameSlope(out), *out.PValue)
	}
	for _, note := range out.Notes {
		a.printf("%s\n", note)
	}
	if out.Index != "" {
		a.printf("%s\n", out.Index)
	}
}
