// Package theoryrun runs the recipes of theorems and theory figures, which need no training: it turns a recipe into results, and
// these into claims with verdicts, figures as data, and numbers. Each kind of recipe has a file of its own; results.go has what they
// share.
package theoryrun

import (
	"context"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
)

// Options say how to run a recipe.
type Options struct {
	Seed  uint64
	Quick bool // fewer iterations if the recipe has a number for quick runs; the page says so
	// Progress, if set, receives progress messages.
	Progress func(format string, args ...any)
}

func (o Options) progressf(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

// runners are the kinds of recipes.
var runners = map[string]func(context.Context, *recipe.Recipe, Options) (results, error){
	"descent":     runDescent,
	"attenuation": runAttenuation,
	"nc1-map":     runNC1Map,
	"curve":       runCurve,
	"scheme":      runScheme,
	"surfaces":    runSurfaces,
	"gradients":   runGradients,
	"feasible":    runFeasible,
	"dilation":    runDilation,
	"biases":      runBiases,
	"optima":      runOptima,
	"saddles":     runSaddles,
	"outputs":     runOutputs,
	"relu":        runReLU,
	"imbalance":   runImbalance,
	"sphere":      runSphere,
	"depth":       runDepth,
}

// Result is the content of a recipe's page.
type Result struct {
	Claims  []judge.Claim
	Figures []chart.Figure
	Facts   []theoryfig.Fact
	Notes   []string
}

// Run computes a recipe and judges its claims. It returns ctx's error if cancelled.
func Run(ctx context.Context, r *recipe.Recipe, opt Options) (*Result, error) {
	found, err := runners[r.Kind](ctx, r, opt)
	if err != nil {
		return nil, err
	}
	out := resultOf(found)
	if err := r.Attribute(out.Claims); err != nil {
		return nil, err
	}
	return out, ctx.Err()
}

// resultOf is a page's content out of what was computed.
func resultOf(found results) *Result {
	return &Result{found.claims(), found.figures(), found.facts(), found.notes()}
}
