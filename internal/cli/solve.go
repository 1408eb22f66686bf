package cli

import (
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"collapse/internal/kernel"
	"collapse/internal/outfile"
	"collapse/measure"
	"collapse/ufm"
)

type solveCmd struct {
	Model string `arg:"" enum:"mse,rescaled-mse,linear3,relu3,ce,ls,ls-nonneg,noisy-features,relu-plain" help:"mse, rescaled-mse, linear3, relu3, ce, ls, ls-nonneg, noisy-features or relu-plain."`

	K         *int     `name:"k" help:"Classes (4, or from the point file)." placeholder:"K" group:"The problem:"`
	D         *int     `name:"d" help:"Width of the features (20, or from the point file)." placeholder:"D" group:"The problem:"`
	N         *int     `name:"n" help:"Samples per class (50, or from the point file)." placeholder:"N" group:"The problem:"`
	LW        float64  `name:"lw" default:"0.005" help:"λ_W." placeholder:"L" group:"The problem:"`
	LH        float64  `name:"lh" default:"0.005" help:"λ_H." placeholder:"L" group:"The problem:"`
	LB        string   `name:"lb" default:"none" help:"λ_b: a number, 0 for a free bias, none for no bias." placeholder:"L" group:"The problem:"`
	L2        float64  `name:"l2" default:"0.005" help:"λ of W2." placeholder:"L" group:"The problem:"`
	L1        float64  `name:"l1" default:"0.005" help:"λ of W1." placeholder:"L" group:"The problem:"`
	LH1       float64  `name:"lh1" default:"0.005" help:"λ of H1." placeholder:"L" group:"The problem:"`
	Alpha     float64  `default:"1" help:"Weight of the true class (rescaled-mse)." placeholder:"A" group:"The problem:"`
	M         float64  `name:"m" default:"1" help:"Target of the true class (rescaled-mse)." placeholder:"M" group:"The problem:"`
	Smoothing float64  `default:"0.1" help:"Label smoothing α in [0,1) (ls, ls-nonneg)." placeholder:"A" group:"The problem:"`
	Loss      string   `enum:"mse,ce" default:"mse" help:"Loss of linear3 and relu3: mse or ce." group:"The problem:"`
	Sigma     *float64 `help:"Standard deviation of the noise (noisy-features; 0.5)." placeholder:"S" group:"The problem:"`
	Layers    int      `default:"1" help:"Layers above the noisy features, 1 or 2." placeholder:"L" group:"The problem:"`

	Optimizer string    `enum:",gd,momentum,lbfgs,auto" default:"" help:"Optimise numerically: gd, momentum, lbfgs or auto." group:"Numerically:"`
	Seed      uint64    `help:"Seed of the start." placeholder:"S" group:"Numerically:"`
	Iters     int       `help:"Iterations (50,000 for descent, 10,000 for lbfgs)." placeholder:"N" group:"Numerically:"`
	Step      float64   `help:"Step of descent." default:"0.1" placeholder:"T" group:"Numerically:"`
	Momentum  float64   `help:"Momentum." default:"0.9" placeholder:"MU" group:"Numerically:"`
	InitScale []float64 `help:"Standard deviation of the start: one number, or W,H, or W2,W1,H1." placeholder:"S" group:"Numerically:"`
	Init      string    `help:"Start from a point file." type:"existingfile" placeholder:"POINT.npz" group:"Numerically:"`
	TraceAt   []int     `help:"Iterations of the trace." placeholder:"I" group:"Numerically:"`

	At        string `help:"Value, gradient and certificate of the point in a file." type:"existingfile" placeholder:"POINT.npz" group:"Points:"`
	Save      string `help:"Write the point (found, or exact) to a file; - is standard output, and the result then goes to standard error." type:"path" placeholder:"POINT.npz" group:"Points:"`
	ExactOnly bool   `help:"Values and spectra alone: no point, no certificate." group:"Points:"`

	saved *outfile.File // of --save; nil: not asked for
}

// manyVariables is the size from which a problem is shared between threads.
const manyVariables = 100_000

// solved is the JSON of collapse solve.
type solved struct {
	Model       string           `json:"model"`
	Objective   string           `json:"objective"`
	K           int              `json:"k"`
	D           int              `json:"d"`
	N           int              `json:"n"`
	Exact       ufm.Exact        `json:"exact"`
	Found       *ufm.Found       `json:"found,omitempty"`
	Fit         *noisyFit        `json:"fit,omitempty"`
	At          *solvedAt        `json:"at,omitempty"`
	Certificate *ufm.Certificate `json:"certificate,omitempty"`
	Of          string           `json:"certificate_of,omitempty"`
	Saved       string           `json:"saved,omitempty"`
}

type noisyFit struct {
	Attenuation float64 `json:"attenuation"`
	Residual    float64 `json:"relative_residual"`
	Objective   float64 `json:"objective"`
	Seconds     float64 `json:"seconds"`
}

type solvedAt struct {
	Objective     ufm.Number            `json:"objective"`
	GradientNorms map[string]ufm.Number `json:"gradient_norms"`
	Measures      map[string]float64    `json:"measures"`
}

func (c *solveCmd) Run(a *app) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	o := a.outputs()
	o.Reads(c.At, c.Init)
	if c.saved, err = a.file(o, "--save", c.Save); err != nil {
		return err
	}
	var given *ufm.Point
	if file := c.pointFile(); file != "" {
		var point ufm.Point
		if cfg, point, err = cfg.ReadPoint(file); err != nil {
			return usageError{err}
		}
		given = &point
	}
	if err := cfg.Validate(); err != nil {
		return usageError{err}
	}
	exact, err := cfg.Exact()
	if err != nil {
		return usageError{err}
	}
	out := &solved{Model: c.Model, Objective: cfg.Words(), K: cfg.K, D: cfg.D, N: cfg.N, Exact: exact}
	if !c.ExactOnly {
		if err := c.examine(a, cfg, given, out); err != nil {
			return err
		}
	}
	return a.emit(out, func() { printSolved(a, out) })
}

// examine fits, optimises, certifies and saves, as asked.
func (c *solveCmd) examine(a *app, cfg ufm.Config, given *ufm.Point, out *solved) error {
	if cfg.Model == ufm.Noisy {
		return c.fit(cfg, out)
	}
	var team *kernel.Team // small products are faster on one thread; the results are the same bits
	if cfg.Variables() >= manyVariables {
		team = kernel.NewTeam(a.flags.Threads)
		defer team.Close()
	}
	problem, err := ufm.NewProblem(cfg, team)
	if err != nil {
		return usageError{err}
	}
	point, err := c.point(a, problem, given, out)
	if err != nil || point == nil {
		return err
	}
	certificate := problem.Certify(point.X, out.Exact)
	out.Certificate = &certificate
	return c.save(cfg, *point, out)
}

// point returns what to certify: the user's point, the numerical result, or an instance of the exact
// optimum; nil if there is none.
func (c *solveCmd) point(a *app, problem *ufm.Problem, given *ufm.Point, out *solved) (*ufm.Point, error) {
	switch {
	case c.At != "":
		out.Of, out.At = "at", evaluate(problem, *given)
		return given, nil
	case c.Optimizer != "" || !out.Exact.Available:
		run := ufm.Run{Method: ufm.Method(c.Optimizer), Seed: c.Seed, Iterations: c.Iters, Step: c.Step, Momentum: c.Momentum, TraceAt: c.TraceAt}
		var err error
		if run.Init, err = c.initScale(problem.Config); err != nil {
			return nil, err
		}
		if c.Optimizer == "" && problem.Unpenalised() {
			return nil, nil // nothing to search for; exact says why
		}
		found, at, err := problem.Solve(a.ctx, given, out.Exact, run)
		if err != nil && a.ctx.Err() == nil {
			return nil, usageError{err}
		}
		if err != nil {
			return nil, err
		}
		out.Found, out.Of = &found, "found"
		return &at, nil
	}
	at, err := problem.Instance(out.Exact, rand.New(rand.NewPCG(c.Seed, 1)))
	if err != nil {
		return nil, err
	}
	out.Of = "exact"
	return &at, nil
}

func (c *solveCmd) fit(cfg ufm.Config, out *solved) error {
	if !out.Exact.Available {
		return nil
	}
	began := time.Now()
	fit, err := cfg.FitNoisy(rand.New(rand.NewPCG(c.Seed, 1)))
	if err != nil {
		return err
	}
	out.Fit = &noisyFit{fit.Attenuation, fit.Residual, fit.Objective, time.Since(began).Seconds()}
	return nil
}

func (c *solveCmd) save(cfg ufm.Config, point ufm.Point, out *solved) error {
	out.Saved = c.Save
	return c.saved.Write(func(w io.Writer) error { return cfg.WritePoint(w, point) })
}

// pointFile is the file to read, "" for none.
func (c *solveCmd) pointFile() string {
	if c.At != "" {
		return c.At
	}
	return c.Init
}

// config turns the flags into a configuration.
func (c *solveCmd) config() (ufm.Config, error) {
	if c.At != "" && (c.Init != "" || c.Optimizer != "") {
		return ufm.Config{}, usagef("--at looks at a point; --optimizer and --init start from one: give one of them")
	}
	if c.Init != "" && c.Optimizer == "" {
		return ufm.Config{}, usagef("--init needs --optimizer: gd, momentum, lbfgs or auto")
	}
	lb, err := parseBias(c.LB)
	if err != nil {
		return ufm.Config{}, err
	}
	if c.Loss == "ce" && c.Model != "linear3" && c.Model != "relu3" {
		return ufm.Config{}, usagef("--loss ce goes with linear3 and relu3; the model ce has cross-entropy itself")
	}
	size := func(flag *int, usual int) int {
		switch {
		case flag != nil:
			return *flag
		case c.pointFile() != "":
			return 0 // from the file
		}
		return usual
	}
	cfg := ufm.Config{Model: ufm.Model(c.Model), K: size(c.K, 4), D: size(c.D, 20), N: size(c.N, 50), LW: c.LW, LH: c.LH, LB: lb,
		L2: c.L2, L1: c.L1, LH1: c.LH1, Loss: c.Loss, Alpha: c.Alpha, M: c.M, Layers: c.Layers, Sigma: .5}
	if c.Alpha == 0 || c.M == 0 {
		return cfg, usagef("--alpha and --m are %g and %g, wanted above 0", c.Alpha, c.M)
	}
	if c.Model == "ls" || c.Model == "ls-nonneg" {
		cfg.Smoothing = c.Smoothing
	}
	if c.Sigma != nil {
		cfg.Sigma = *c.Sigma
	}
	return cfg, nil
}

func parseBias(text string) (float64, error) {
	if text == "none" {
		return ufm.NoBias, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, usagef("--lb is %q, wanted a number, 0 for a free bias, or none", text)
	}
	return v, nil
}

// initScale reads --init-scale: one number for all, or one per factor.
func (c *solveCmd) initScale(cfg ufm.Config) (ufm.InitScale, error) {
	s := c.InitScale
	for _, v := range s {
		if !(v >= 0) {
			return ufm.InitScale{}, usagef("--init-scale is %g, wanted at least 0", v)
		}
	}
	switch {
	case len(s) == 0:
		return ufm.InitScale{}, nil
	case len(s) == 1:
		return ufm.InitScale{W: s[0], W1: s[0], H: s[0]}, nil
	case len(s) == 2 && !cfg.ThreeFactor():
		return ufm.InitScale{W: s[0], H: s[1]}, nil
	case len(s) == 3 && cfg.ThreeFactor():
		return ufm.InitScale{W: s[0], W1: s[1], H: s[2]}, nil
	}
	return ufm.InitScale{}, usagef("--init-scale has %d numbers, wanted one, or one per factor", len(s))
}

// evaluate is what --at prints besides the certificate.
func evaluate(problem *ufm.Problem, at ufm.Point) *solvedAt {
	grad := problem.NewPoint()
	out := &solvedAt{Objective: ufm.Number(problem.Eval(at.X, grad.X)), GradientNorms: map[string]ufm.Number{}}
	for name, g := range problem.Named(grad) {
		out.GradientNorms[strings.ToLower(name)] = ufm.Number(ufm.Norm(g))
	}
	if measures, err := problem.Measures(at); err == nil {
		out.Measures = measures
	}
	return out
}

// headline are the measures that text output shows.
var headline = []string{measure.KeyNC1Pinv, measure.KeyNC2W, measure.KeyNC2MeansETF, measure.KeyNC2MeansOF,
	measure.KeyNC2RankD, measure.KeyNC3Gram, measure.KeyNC3Direct, measure.KeyNC4Bias}

func printSolved(a *app, s *solved) {
	a.printf("%s, K = %d, d = %d, n = %d\nminimise   %s\n\n", s.Model, s.K, s.D, s.N, s.Objective)
	if e := s.Exact; e.Available {
		label := "exact      f* ="
		if e.Status != ufm.Proved {
			label = "best known f ="
		}
		a.printf("%s %.10g  (%s; %s: %s)\n", label, float64(e.Objective), e.Regime, e.Status, e.Source)
		for _, v := range []struct {
			name  string
			value ufm.Number
		}{{"rank", ufm.Number(e.Rank)}, {"bias", e.Bias}, {"margin", e.Margin}, {"kappa", e.Kappa}, {"c", e.C}, {"q", e.Q}, {"tau", e.Tau}, {"sigma", e.Sigma},
			{"‖W‖²", e.WNorm2}, {"‖H‖²", e.HNorm2}, {"‖h_k‖²", e.ClassMeanNorm2}, {"attenuation", e.Attenuation}} {
			if v.value.Known() {
				a.printf("           %-12s %.8g\n", v.name, float64(v.value))
			}
		}
	} else {
		a.printf("exact      none: %s\n", e.Reason)
	}
	if f := s.Fit; f != nil {
		a.printf("fitted     attenuation %.6g, relative residual %.2g\n", f.Attenuation, f.Residual)
	}
	if f := s.Found; f != nil {
		a.printf("found      f = %.12g", float64(f.Objective))
		if f.Gap.Known() {
			a.printf("  (f − f* = %.2g)", float64(f.Gap))
		}
		a.printf("\n           %d iterations, %d evaluations, %.3g s; stopped: %s\n", f.Iterations, f.Evaluations, f.Seconds, f.Stopped)
		if f.Trap != "" {
			a.printf("           trap: %s\n", f.Trap)
		}
		printMeasures(a, f.Measures, s.Exact.Measures)
	} else if s.At != nil {
		a.printf("at         f = %.12g\n", float64(s.At.Objective))
		printMeasures(a, s.At.Measures, s.Exact.Measures)
	} else if s.Exact.Available {
		printMeasures(a, nil, s.Exact.Measures)
	}
	if s.Certificate != nil {
		printCertificate(a, s.Of, s.Certificate)
	}
	if s.Saved != "" {
		a.printf("saved      %s\n", s.Saved)
	}
}

func printMeasures(a *app, got, limit map[string]float64) {
	for _, key := range headline {
		g, okG := got[key]
		l, okL := limit[key]
		switch {
		case okG && okL:
			a.printf("           %-22s %-12.4g limit %.6g\n", key, g, l)
		case okG:
			a.printf("           %-22s %.4g\n", key, g)
		case okL:
			a.printf("           %-22s limit %.6g\n", key, l)
		}
	}
}

func printCertificate(a *app, of string, c *ufm.Certificate) {
	a.printf("verdict    %s  (of the %s point)\n", c.Verdict, of)
	for _, v := range []struct {
		name  string
		value ufm.Number
	}{{"gap bound", c.GapBound}, {"‖∇g‖₂", c.DualNorm}, {"√(λ_Wλ_H)", c.Threshold}, {"residual", c.Residual}, {"min Hessian eigenvalue", c.MinHessian}, {"balance", c.Balance}} {
		if v.value.Known() {
			a.printf("           %-22s %.6g\n", v.name, float64(v.value))
		}
	}
	if c.Negative != nil {
		a.printf("           %-22s %d\n", "negative eigenvalues", *c.Negative)
	}
}
