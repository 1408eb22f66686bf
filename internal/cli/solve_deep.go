package cli

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"collapse.example/collapse/deep"
)

type solveDeepCmd struct {
	K         int       `name:"k" default:"4" help:"Classes; default: 4." placeholder:"K"`
	N         int       `name:"n" default:"50" help:"Samples per class; default: 50." placeholder:"N"`
	Widths    []int     `default:"20,20,20" help:"Widths of the layers from the last to the features: d_{L−1}, …, d_0; as many as the model has weight matrices." placeholder:"D"`
	Penalties []float64 `default:"0.005" help:"λ of W_L, …, W_1 and of H, or one for all." placeholder:"L"`
	ReLU      bool      `name:"relu" help:"A ReLU after each layer but the last: neural collapse against points of low rank."`
	Loss      string    `enum:"mse,ce" default:"mse" help:"Loss: mse or ce." placeholder:"KIND"`
	Starts    *int      `help:"Random starts of a numerical search; default: 10 with ce, as many as half a minute on two cores allows with --relu, else none." placeholder:"N"`
	Seed      uint64    `default:"0" help:"Seed: of the starts, and of the optimum's rotations." placeholder:"S"`
}

// solvedDeep is the JSON of collapse solve deep.
type solvedDeep struct {
	K           int               `json:"k"`
	N           int               `json:"n"`
	Widths      []int             `json:"widths"`
	Penalties   []float64         `json:"penalties"`
	ReLU        bool              `json:"relu"`
	Loss        string            `json:"loss"`
	Exact       *deep.Exact       `json:"exact,omitempty"`       // linear, squared error
	Certificate *deep.Certificate `json:"certificate,omitempty"` // of an instance of the exact optimum
	Known       *deep.Known       `json:"known,omitempty"`       // ReLU, squared error: the best point of the list
	Symmetric   *deep.Symmetric   `json:"symmetric,omitempty"`   // linear, cross entropy
	Simplices   *deep.Simplices   `json:"simplices,omitempty"`   // linear, cross entropy: blocks of classes side by side
	Found       *deep.Found       `json:"found,omitempty"`       // without ReLU, or with cross entropy
	Explored    *deep.Explored    `json:"explored,omitempty"`    // ReLU, squared error: the lowest point of a search
}

const (
	mostStarts    = 100_000 // of a search
	progressAfter = 2 * time.Second
	startsOfCE    = 10 // where nothing else says what the optimum is
	exploreFor    = 30 * time.Second
)

func (c *solveDeepCmd) Run(a *app) error {
	a.onlyComputes()
	if c.Starts != nil && (*c.Starts < 0 || *c.Starts > mostStarts) {
		return usagef("--starts is %d, wanted 0 to %d", *c.Starts, mostStarts)
	}
	problem := deep.Config{K: c.K, N: c.N, Widths: c.Widths, Lambdas: c.Penalties, ReLU: c.ReLU, CE: c.Loss == "ce"}
	for len(c.Penalties) == 1 && len(problem.Lambdas) <= len(c.Widths) {
		problem.Lambdas = append(problem.Lambdas, c.Penalties[0])
	}
	if err := problem.Validate(); err != nil {
		return usageError{err}
	}
	out := &solvedDeep{K: c.K, N: c.N, Widths: c.Widths, Penalties: problem.Lambdas, ReLU: c.ReLU, Loss: c.Loss}
	target, from, err := c.answer(problem, out)
	if err != nil {
		return usageError{err}
	}
	if err := c.search(a, problem, out, target, from); err != nil {
		return err
	}
	return a.emit(out, func() { printDeep(a, out) })
}

// search fills in what descents find: by default as much as is needed to say something.
func (c *solveDeepCmd) search(a *app, problem deep.Config, out *solvedDeep, target float64, from deep.Point) error {
	starts := 0
	if problem.CE {
		starts = startsOfCE
	}
	if c.Starts != nil {
		starts = *c.Starts
	}
	if out.Known != nil {
		effort := deep.Effort{Starts: starts, Seed: c.Seed}
		if c.Starts == nil {
			effort.Starts, effort.Time = -1, exploreFor
			a.logf("searching for lower points, for %v at most; --starts 0 leaves that out", exploreFor)
		}
		progress := newExploreProgress(a.stderr, effort.Time)
		explored, err := problem.Explore(a.ctx, from, out.Known.Collapse, effort, progress.step)
		progress.close()
		out.Explored = &explored
		return err
	}
	if starts == 0 {
		return nil
	}
	found, err := problem.Search(a.ctx, target, from, starts, c.Seed, a.startsEnded(starts))
	out.Found = &found
	return err
}

// answer fills in what is known of a problem without a search, and returns its objective and a point to search from, if there is one.
func (c *solveDeepCmd) answer(problem deep.Config, out *solvedDeep) (target float64, from deep.Point, err error) {
	switch {
	case !problem.CE && (!problem.ReLU || problem.Layers() == 1):
		problem.ReLU = false
		exact, err := problem.Solve()
		if err != nil {
			return 0, nil, err
		}
		certificate := problem.Certify(problem.Instance(exact, rand.New(rand.NewPCG(c.Seed, 1))), exact)
		out.Exact, out.Certificate = &exact, &certificate
		return exact.Objective, nil, nil
	case !problem.CE:
		known, err := problem.Known()
		if err != nil {
			return 0, nil, err
		}
		out.Known = &known
		return known.Objective, problem.Place(known), nil
	}
	target = problem.AtZero() // with a ReLU or narrow layers the search is all there is
	if symmetric, err := problem.Symmetric(); err == nil {
		out.Symmetric = &symmetric
		target = symmetric.Objective
	}
	if simplices, err := problem.Simplices(); err == nil {
		out.Simplices = &simplices
		return min(target, simplices.Objective), problem.PlaceSimplices(simplices), nil
	}
	return target, nil, nil
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
	kind, loss := "linear", "squared error"
	error := "1/(2N)·|W_L·…·W_1·H − Y|²"
	if s.ReLU {
		kind, error = "ReLU", "1/(2N)·|W_L·relu(…·relu(W_1·H)) − Y|²"
	}
	if s.Loss == "ce" {
		loss, error = "cross entropy", "1/N·Σ CE(logits, y)"
	}
	a.printf("%d %s layers, %s, K = %d, n = %d, widths %v\n", len(s.Widths), kind, loss, s.K, s.N, s.Widths)
	a.printf("minimise   %s + Σ λ_l/2·|W_l|² + λ_H/2·|H|²\n\n", error)
	if e, c := s.Exact, s.Certificate; e != nil {
		a.printf("exact      f* = %.10g  (%s; proved)\n           %s\n", e.Objective, e.Regime, deepInWords[e.Regime])
		a.printf("           q            %.8g  (zero is optimal from %.8g on)\n", e.Q, e.Threshold)
		a.printf("           rank         %d\n", e.Rank)
		a.detailf("           logit t      %.8g\n", e.T)
		a.detailf("instance   f − f* = %.2g, gradient %.2g, layers balanced to %.2g\n", c.Gap, c.Gradient, c.Balance)
	}
	printKnownDeep(a, s)
	if f := s.Found; f != nil && f.Starts > 0 {
		a.printf("searched   f = %.10g at best in %d random starts; %d end there or where the value above is, %d at zero\n", f.Best, f.Starts, f.Reached, f.Zero)
	}
	if lower, words := s.verdict(); words != "" {
		a.printf("verdict    %s\n", words)
		if proof := s.proof(); proof != "" {
			a.printf("           %s\n", proof)
		}
		if lower && s.ranks() != nil {
			a.printf("           ranks of W_L, …, W_1, H there: %v\n", s.ranks())
		}
	}
}

func (s *solvedDeep) ranks() []int {
	switch {
	case s.Explored != nil:
		return s.Explored.Ranks
	case s.Found != nil:
		return s.Found.Ranks
	}
	return nil
}

// verdict compares the lowest point known with neural collapse, where theory leaves that open, and says what was searched.
func (s *solvedDeep) verdict() (lower bool, words string) {
	var collapse, least float64
	searched := ""
	switch {
	case s.Explored != nil:
		collapse, least, searched = s.Known.Collapse, s.Explored.Objective, s.searched()
	case s.Symmetric != nil && (s.Found != nil || s.Simplices != nil):
		collapse, least, searched = s.Symmetric.Objective, s.Symmetric.Objective, "simplices side by side"
		if s.Simplices != nil {
			least = s.Simplices.Objective
		}
		if s.Found != nil {
			least, searched = min(least, s.Found.Least), fmt.Sprintf("%d random starts", s.Found.Starts)
		}
	default:
		return false, ""
	}
	if least >= collapse*(1-1e-9) {
		return false, "nothing below neural collapse was found by " + searched + "; that is not a proof"
	}
	return true, fmt.Sprintf("neural collapse is not optimal: a point %.3g %% lower is known", 100*(1-least/collapse))
}

// proof says what the blocks of cross entropy prove of neural collapse.
func (s *solvedDeep) proof() string {
	x := s.Simplices
	if x == nil || !x.Lower {
		return ""
	}
	words := fmt.Sprintf("the blocks prove it, %.3g %% lower", 100*(1-x.Objective/s.Symmetric.Objective))
	if x.Always {
		words += fmt.Sprintf(", as they do with K = %d and %d layers at all penalties at which neural collapse is not zero (Garrod & Keating 2025; docs/internal/formulas.md, 4.1)", s.K, len(s.Widths))
	}
	return words
}

// searched says what an exploration was made of.
func (s *solvedDeep) searched() string {
	e := s.Explored
	words := fmt.Sprintf("descents from the listed point, %d random starts (several sizes, widths and dimensions of the first layers) and %d disturbances of the lowest end", e.Starts, e.Moves)
	if e.Starts == 0 {
		words = "a descent from the listed point (no random start was made)"
	}
	if e.Stopped {
		words += ", where the time ended the search"
	}
	return words
}

// printKnownDeep prints what is known where nothing is proved.
func printKnownDeep(a *app, s *solvedDeep) {
	if k := s.Known; k != nil {
		a.printf("neural collapse  f = %.10g\nof the list      f = %.10g  (%s; features of rank %d)\n", k.Collapse, k.Objective, k.Name, k.Rank)
		e := s.Explored
		a.printf("lowest found     f = %.10g  (descended to from %s)\n", e.Objective, e.From)
		if e.Descent != nil {
			a.printf("                 a descent from the list's point ends at %.10g\n", *e.Descent)
		}
		a.printf("searched         %s;\n                 of the random starts %d end below neural collapse, %d at the lowest point, %d at zero\n", s.searched(), e.Below, e.Arrive, e.Zero)
	}
	if y := s.Symmetric; y != nil {
		optimal := "not proved optimal"
		if s.Simplices != nil && s.Simplices.Lower {
			optimal = "not optimal"
		}
		a.printf("symmetric  f = %.10g  (logits of neural collapse, margin %.6g; %s)\n", y.Objective, y.Margin, optimal)
	}
	if x := s.Simplices; x != nil {
		a.printf("blocks     f = %.10g  (%s; logits of rank %d; not proved optimal)\n", x.Objective, simplicesInWords(x), x.Rank)
	}
}

// simplicesInWords counts the blocks of each size, the larger first: there are at most two sizes.
func simplicesInWords(x *deep.Simplices) string {
	var parts []string
	for from := 0; from < len(x.Sizes); {
		size, to := x.Sizes[from], from
		for to < len(x.Sizes) && x.Sizes[to] == size {
			to++
		}
		parts = append(parts, fmt.Sprintf("%d of %d classes with singular value %.6g", to-from, size, x.Scales[from]))
		from = to
	}
	return "simplices side by side: " + strings.Join(parts, " and ")
}
