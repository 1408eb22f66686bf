package cli

import (
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/pointfile"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
	"collapse.example/collapse/ufm"
)

// solveCmd is the theory's problems. The papers' own need no word before the model's name.
type solveCmd struct {
	Deep       solveDeepCmd       `cmd:"" help:"Models of any depth, linear (Dang et al. 2023) or with ReLUs (Súkeník et al. 2024): the exact optimum, or points of low rank that lie below neural collapse."`
	Imbalanced solveImbalancedCmd `cmd:"" help:"Classes with different numbers of samples: optimum with its proof, minority collapse (Fang et al. 2021, Hong & Ling 2023), SELI (Thrampoulidis et al. 2022)."`
	Sphere     solveSphereCmd     `cmd:"" help:"Unit features with a temperature, more classes than dimensions (Jiang et al. 2023): the best arrangement found, its margins, the bound."`
	Model      solveModelCmd      `cmd:"" default:"withargs" help:"A model of the papers, of two or three factors: mse, rescaled-mse, linear3, relu3, ce, ls, ls-nonneg, noisy-features or relu-plain; the word model may be left out."`
}

type solveModelCmd struct {
	Model string `arg:"" enum:"mse,rescaled-mse,linear3,relu3,ce,ls,ls-nonneg,noisy-features,relu-plain" help:"mse, rescaled-mse, linear3, relu3, ce, ls, ls-nonneg, noisy-features or relu-plain."`

	K          *int    `name:"k" help:"Classes; default: 4, or as many as the point file has." placeholder:"K" group:"The problem:"`
	D          *int    `name:"d" help:"Width of the features; default: 20, or that of the point file." placeholder:"D" group:"The problem:"`
	N          *int    `name:"n" help:"Samples per class; default: 50, or as many as the point file has." placeholder:"N" group:"The problem:"`
	LW         float64 `name:"lw" default:"0.005" help:"λ_W: penalty of the classifier W." placeholder:"L" group:"The problem:"`
	LH         float64 `name:"lh" default:"0.005" help:"λ_H: penalty of the features H." placeholder:"L" group:"The problem:"`
	LB         string  `name:"lb" default:"none" help:"λ_b: penalty of the bias; a number, 0 for a free bias, none for no bias." placeholder:"L" group:"The problem:"`
	L2         float64 `name:"l2" default:"0.005" help:"λ of W2, with linear3 and relu3." placeholder:"L" group:"The problem:"`
	L1         float64 `name:"l1" default:"0.005" help:"λ of W1, with linear3 and relu3." placeholder:"L" group:"The problem:"`
	LH1        float64 `name:"lh1" default:"0.005" help:"λ of H1, with linear3 and relu3." placeholder:"L" group:"The problem:"`
	Alpha      float64 `default:"1" help:"Weight of the true class's squared error, with rescaled-mse." placeholder:"A" group:"The problem:"`
	M          float64 `name:"m" default:"1" help:"Target of the true class, with rescaled-mse." placeholder:"M" group:"The problem:"`
	Smoothing  float64 `default:"0.1" help:"Label smoothing: α in [0,1), with ls and ls-nonneg." placeholder:"A" group:"The problem:"`
	Loss       string  `enum:"mse,ce" default:"mse" help:"Loss: mse or ce, with linear3 and relu3." placeholder:"KIND" group:"The problem:"`
	Sigma      float64 `default:"0.5" help:"Standard deviation of the noise, with noisy-features." placeholder:"S" group:"The problem:"`
	HeadLayers int     `default:"1" help:"Layers above the noisy features: 1 or 2, with noisy-features." placeholder:"L" group:"The problem:"`

	Optimizer string    `enum:",gd,momentum,lbfgs,auto" default:"" help:"Optimise numerically: gd, momentum, lbfgs or auto, which searches for the global optimum; by default only where no exact optimum is known." placeholder:"KIND" group:"Numerically:"`
	Seed      uint64    `help:"Seed: of the start, or of the exact optimum's rotation." default:"0" placeholder:"S" group:"Numerically:"`
	Iters     int       `help:"Iterations; default: 50,000 for gd and momentum, 10,000 for lbfgs." placeholder:"N" group:"Numerically:"`
	Step      float64   `help:"Step of gd and momentum." default:"0.1" placeholder:"T" group:"Numerically:"`
	Momentum  float64   `help:"Momentum." default:"0.9" placeholder:"MU" group:"Numerically:"`
	InitScale []float64 `help:"Standard deviation of the start: one number, or W,H, or W2,W1,H1; default: Tirer and Bruna's." placeholder:"S" group:"Numerically:"`
	Init      string    `help:"Start from a point file." type:"existingfile" placeholder:"POINT.npz" group:"Numerically:"`
	TraceAt   []int     `help:"Iterations of the trace in --json; default: about 60, evenly spaced in logarithm." placeholder:"I" group:"Numerically:"`

	At        string `help:"Examine the point in a file: value, gradient and certificate." type:"existingfile" placeholder:"POINT.npz" group:"Points:"`
	Save      string `help:"Write the point (found, or exact) to a file; - is standard output, which moves the result to standard error." type:"output" placeholder:"POINT.npz" group:"Points:"`
	ExactOnly bool   `help:"Values and spectra only: no point, no certificate." group:"Points:"`

	saved *outfile.File // for --save; nil if not asked for
}

// manyVariables is the size from which threads share a problem.
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
	Measures      measure.Values        `json:"measures"`
}

func (c *solveModelCmd) Run(a *app) error {
	a.onlyComputes()
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
		if cfg, point, err = pointfile.Read(cfg, file); err != nil {
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
func (c *solveModelCmd) examine(a *app, cfg ufm.Config, given *ufm.Point, out *solved) error {
	if cfg.Model == ufm.Noisy {
		return c.fit(cfg, out)
	}
	var team *parallel.Team // small products are faster on one thread; the results are the same bits
	if cfg.Variables() >= manyVariables {
		team = parallel.NewTeam(a.flags.Threads)
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
func (c *solveModelCmd) point(a *app, problem *ufm.Problem, given *ufm.Point, out *solved) (*ufm.Point, error) {
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

func (c *solveModelCmd) fit(cfg ufm.Config, out *solved) error {
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

func (c *solveModelCmd) save(cfg ufm.Config, point ufm.Point, out *solved) error {
	out.Saved = c.Save
	return c.saved.Write(func(w io.Writer) error { return pointfile.Write(w, cfg, point) })
}

// evaluate is what --at prints in addition to the certificate.
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
