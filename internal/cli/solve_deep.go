package cli

import (
	"math/rand/v2"
	"time"

	"collapse/deep"
)

type solveDeepCmd struct {
	K         int       `name:"k" default:"4" help:"Classes; default: 4." placeholder:"K"`
	N         int       `name:"n" default:"50" help:"Samples per class; default: 50." placeholder:"N"`
	Widths    []int     `default:"20,20,20" help:"Widths of the layers from the last to the features: d_{L−1}, …, d_0; as many as the model has weight matrices." placeholder:"D"`
	Penalties []float64 `default:"0.005" help:"λ of W_L, …, W_1 and of H, or one for all." placeholder:"L"`
	Starts    int       `default:"0" help:"Random starts of a numerical search, which must not end lower; 0: none." placeholder:"N"`
	Seed      uint64    `default:"0" help:"Seed: of the starts, and of the optimum's rotations." placeholder:"S"`
}

// solvedDeep is the JSON of collapse solve deep.
type solvedDeep struct {
	K           int              `json:"k"`
	N           int              `json:"n"`
	Widths      []int            `json:"widths"`
	Penalties   []float64        `json:"penalties"`
	Exact       deep.Exact       `json:"exact"`
	Certificate deep.Certificate `json:"certificate"` // of an instance of the exact optimum
	Found       *deep.Found      `json:"found,omitempty"`
}

const (
	mostStarts    = 100_000 // of a search
	progressAfter = 2 * time.Second
)

func (c *solveDeepCmd) Run(a *app) error {
	a.onlyComputes()
	if c.Starts < 0 || c.Starts > mostStarts {
		return usagef("--starts is %d, wanted 0 to %d", c.Starts, mostStarts)
	}
	problem := deep.Config{K: c.K, N: c.N, Widths: c.Widths, Lambdas: c.Penalties}
	for len(c.Penalties) == 1 && len(problem.Lambdas) <= len(c.Widths) {
		problem.Lambdas = append(problem.Lambdas, c.Penalties[0])
	}
	exact, err := problem.Solve()
	if err != nil {
		return usageError{err}
	}
	out := &solvedDeep{K: c.K, N: c.N, Widths: c.Widths, Penalties: problem.Lambdas, Exact: exact}
	out.Certificate = problem.Certify(problem.Instance(exact, rand.New(rand.NewPCG(c.Seed, 1))), exact)
	if c.Starts > 0 {
		found, err := problem.Search(a.ctx, exact, c.Starts, c.Seed, a.startsEnded(c.Starts))
		if err != nil {
			return err
		}
		out.Found = &found
	}
	return a.emit(out, func() { printDeep(a, out) })
}

// startsEnded reports how far a search is, now and then.
func (a *app) startsEnded(starts int) func(ended int, f float64) {
	told := time.Now()
	return func(ended int, f float64) {
		if time.Since(told) > progressAfter {
			told = time.Now()
			a.logf("%d of %d starts; the last ended at %.6g", ended, starts, f)
		}
	}
}

// deepInWords says what each kind of optimum is.
var deepInWords = map[string]string{
	"collapse": "neural collapse in every layer: all classes are kept, with orthogonal and equally long means",
	"rank-d":   "the narrowest layer has fewer directions than there are classes: it keeps as many as it can, equally strong",
	"zero":     "q lies above its threshold: every factor is zero",
}

func printDeep(a *app, s *solvedDeep) {
	e, c := s.Exact, s.Certificate
	a.printf("%d linear layers, squared error, K = %d, n = %d, widths %v\n", len(s.Widths), s.K, s.N, s.Widths)
	a.printf("minimise   1/(2N)·|W_L·…·W_1·H − Y|² + Σ λ_l/2·|W_l|² + λ_H/2·|H|²\n\n")
	a.printf("exact      f* = %.10g  (%s; proved)\n           %s\n", e.Objective, e.Regime, deepInWords[e.Regime])
	a.printf("           q            %.8g  (zero is optimal from %.8g on)\n", e.Q, e.Threshold)
	a.printf("           rank         %d\n           logit t      %.8g\n", e.Rank, e.T)
	a.printf("instance   f − f* = %.2g, gradient %.2g, layers balanced to %.2g\n", c.Gap, c.Gradient, c.Balance)
	if f := s.Found; f != nil {
		a.printf("found      f = %.12g  (f − f* = %.2g); %d of %d starts reach the optimum, %d end at zero\n", f.Best, f.Best-e.Objective, f.Reached, f.Starts, f.Zero)
	}
}
