package theory

import (
	"context"
	"fmt"
	"slices"
)

// Options say how to run a recipe.
type Options struct {
	Seed  uint64
	Quick bool // fewer iterations where the recipe has a quick number; said on the page
	// Progress, if set, is told what happens.
	Progress func(format string, args ...any)
}

func (o Options) progressf(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

// runners are the kinds of recipes.
var runners = map[string]func(context.Context, *Recipe, Options, *Page) error{
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
}

// Kinds lists what a recipe's kind may be.
func Kinds() []string {
	out := make([]string, 0, len(runners))
	for kind := range runners {
		out = append(out, kind)
	}
	slices.Sort(out)
	return out
}

// Run makes the page of a recipe. It returns ctx's error if cancelled.
func Run(ctx context.Context, r *Recipe, opt Options) (*Page, error) {
	scale := ""
	if opt.Quick {
		scale = " --scale quick"
	}
	p := &Page{ID: r.ID, Title: r.Title, Caption: r.Paper + ": " + r.Caption,
		Command: fmt.Sprintf("collapse reproduce %s --seed %d%s", r.ID, opt.Seed, scale)}
	if r.Ours != "" {
		p.Notes = append(p.Notes, "Ours, not the paper's: "+r.Ours)
	}
	if err := runners[r.Kind](ctx, r, opt, p); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}
