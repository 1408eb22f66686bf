package cli

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/theoryfig"
)

type solveImbalancedCmd struct {
	writesFolder

	K         int     `name:"k" default:"10" help:"Classes; default: 10." placeholder:"K" group:"Samples:"`
	N         int     `name:"n" default:"500" help:"Samples of the largest class; default: 500." placeholder:"N" group:"Samples:"`
	Ratio     float64 `default:"10" help:"Samples of the largest class to those of the smallest." placeholder:"R" group:"Samples:"`
	Profile   string  `enum:"step,long-tail" default:"step" help:"step: two sizes of classes; long-tail: sizes that fall exponentially." placeholder:"KIND" group:"Samples:"`
	Minority  *int    `help:"Classes of the smaller size, with a step; default: half of them." placeholder:"N" group:"Samples:"`
	Counts    []int   `help:"Samples of every class, instead of a profile: 100,100,10." placeholder:"N" group:"Samples:"`
	Loss      string  `enum:"ce,ls,mse" default:"ce" help:"Loss: ce, ls (label smoothing) or mse." placeholder:"KIND" group:"The problem:"`
	Smoothing float64 `default:"0.1" help:"Label smoothing: α in [0,1), with ls." placeholder:"A" group:"The problem:"`
	D         *int    `name:"d" help:"Width of the features; default: K." placeholder:"D" group:"The problem:"`
	LW        float64 `name:"lw" default:"0.0005" help:"λ_W: penalty of the classifier W." placeholder:"L" group:"The problem:"`
	LH        float64 `name:"lh" default:"0.0005" help:"λ_H: penalty of the features H." placeholder:"L" group:"The problem:"`
	Starts    int     `default:"0" help:"Random starts of a numerical search, which must not end lower; 0: none." placeholder:"N" group:"Numerically:"`
	Seed      uint64  `default:"0" help:"Seed: of the starts." placeholder:"S" group:"Numerically:"`
	Out       string  `help:"Where to write: a folder for a page that draws lengths, angles and margins against the ratio." type:"path" placeholder:"DIR" group:"Pictures:"`
}

func (c *solveImbalancedCmd) effects() []effect {
	return []effect{
		{"k n ratio profile minority out", len(c.Counts) == 0, "is about a profile, and --counts gives every class its number"},
		{"minority", c.Profile == "step", "goes with --profile step"},
		{"smoothing", c.Loss == "ls", "goes with --loss ls"},
		{"seed", c.Starts > 0, "goes with --starts"},
	}
}

// solvedImbalanced is the JSON of collapse solve imbalanced.
type solvedImbalanced struct {
	Loss      string              `json:"loss"`
	Smoothing float64             `json:"smoothing"`
	K         int                 `json:"k"`
	D         int                 `json:"d"`
	Samples   float64             `json:"samples"`
	Mu        float64             `json:"mu"` // √(λ_W·λ_H)
	Optimum   imbalance.Optimum   `json:"optimum"`
	Apart     []float64           `json:"same_from_mu"`  // of each group: from this μ on its classes coincide
	Critical  []*float64          `json:"critical_size"` // of each group: samples that its classes need to be apart; null: no number is enough
	SELI      imbalance.Limit     `json:"seli"`
	ToSELI    map[string]*float64 `json:"distance_to_seli"`
	Found     *imbalance.Found    `json:"found,omitempty"`
	Index     string              `json:"index,omitempty"`
}

func (c *solveImbalancedCmd) Run(a *app) error {
	out, err := c.solved(a)
	if err != nil {
		return err
	}
	return a.emit(out, func() { printImbalanced(a, out) })
}

func (c *solveImbalancedCmd) solved(a *app) (*solvedImbalanced, error) {
	a.onlyComputes()
	if c.Starts < 0 || c.Starts > mostStarts {
		return nil, usagef("--starts is %d, wanted 0 to %d", c.Starts, mostStarts)
	}
	problem, err := c.problem()
	if err != nil {
		return nil, err
	}
	to, err := pageFolder(a.outputs(), c.Out)
	if err != nil {
		return nil, err
	}
	optimum, err := problem.Solve(a.ctx)
	if err != nil {
		return nil, err
	}
	out := describeImbalanced(problem, optimum)
	if c.Starts > 0 {
		found, err := problem.Search(a.ctx, optimum, c.Starts, c.Seed, a.startsEnded(c.Starts))
		if err != nil {
			return nil, err
		}
		out.Found = &found
	}
	if c.Out != "" {
		if out.Index, err = c.draw(a, to, problem, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *solveImbalancedCmd) problem() (imbalance.Config, error) {
	counts, err := c.Counts, error(nil)
	if len(counts) == 0 {
		counts, err = c.profile(c.N, c.Ratio)
	}
	if err != nil {
		return imbalance.Config{}, usageError{err}
	}
	out := imbalance.Config{Loss: imbalance.Loss(c.Loss), Counts: counts, D: len(counts), LW: c.LW, LH: c.LH}
	if c.Loss == "ls" {
		out.Smoothing = c.Smoothing
	}
	if c.D != nil {
		out.D = *c.D
	}
	if err := out.Validate(); err != nil {
		return out, usageError{err}
	}
	return out, nil
}

func (c *solveImbalancedCmd) profile(n int, ratio float64) ([]int, error) {
	if c.Profile == "long-tail" {
		return imbalance.LongTailed(c.K, n, ratio)
	}
	minority := c.K / 2
	if c.Minority != nil {
		minority = *c.Minority
	}
	return imbalance.Step(c.K, n, minority, ratio)
}

// ratiosDrawn is how many ratios a picture has; a long tail of K classes is a problem of K different counts at each.
const ratiosDrawn = 41

// finer is by how many times the samples of the picture's classes are multiplied, so that their rounding does not show: with √finer
// times smaller penalties the optimum is the same.
const finer = 10_000

func (c *solveImbalancedCmd) draw(a *app, to *outfile.Folder, problem imbalance.Config, solved *solvedImbalanced) (string, error) {
	a.logf("solving %d ratios for the picture", ratiosDrawn)
	problem.LW, problem.LH = problem.LW/math.Sqrt(finer), problem.LH/math.Sqrt(finer)
	counts := func(ratio float64) ([]int, error) { return c.profile(c.N*finer, ratio) }
	found, err := theoryfig.SweepRatio(a.ctx, problem, theoryfig.RatiosUpTo(max(2, float64(c.N)), ratiosDrawn), counts)
	if err != nil {
		return "", err
	}
	p := findings.Theory{ID: "imbalanced", Title: minorityHeadline(solved), Source: "unconstrained features; Fang et al. 2021; Thrampoulidis et al. 2022; Hong & Ling 2023; Dang et al. 2023",
		Figures: []chart.Figure{theoryfig.ImbalanceFigure(found, c.Ratio)}, Command: c.command()}
	return writePage(p, to)
}

func (c *solveImbalancedCmd) command() string {
	text := fmt.Sprintf("collapse solve imbalanced --k %d --n %d --ratio %g --profile %s --loss %s --lw %g --lh %g", c.K, c.N, c.Ratio, c.Profile, c.Loss, c.LW, c.LH)
	if c.Minority != nil {
		text += fmt.Sprintf(" --minority %d", *c.Minority)
	}
	if c.Loss == "ls" {
		text += fmt.Sprintf(" --smoothing %g", c.Smoothing)
	}
	return text
}

func describeImbalanced(c imbalance.Config, optimum imbalance.Optimum) *solvedImbalanced {
	out := &solvedImbalanced{Loss: string(c.Loss), Smoothing: c.Smoothing, K: len(c.Counts), D: c.D, Samples: c.Samples(), Mu: c.Mu(), Optimum: optimum, SELI: c.SELI()}
	for j, g := range optimum.Groups {
		out.Apart = append(out.Apart, c.Apart(g.Count))
		out.Critical = append(out.Critical, finite(c.Critical(j)))
	}
	w, h := c.Distance(optimum.Geometry, out.SELI.Geometry)
	out.ToSELI = map[string]*float64{"classifiers": finite(w), "means": finite(h)}
	return out
}

// finite is nil for what JSON has no number for.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// mostGroups bounds the lines of the table.
const mostGroups = 40

func printImbalanced(a *app, s *solvedImbalanced) {
	loss := map[string]string{"ce": "cross entropy", "ls": fmt.Sprintf("label smoothing %g", s.Smoothing), "mse": "squared error"}[s.Loss]
	a.printf("%s, K = %d, N = %.0f samples, d = %d, no bias\n", loss, s.K, s.Samples, s.D)
	a.printf("minimise   1/N·Σ loss(W·h, y) + λ_W/2·|W|² + λ_H/2·|H|²\n\n")
	o := s.Optimum
	a.printf("exact      f* = %.10g  (%s)\n           rank %d\n           μ = √(λ_W·λ_H) = %.6g\n\n", o.Objective, s.proof(), o.Rank, s.Mu)
	printGroups(a, s)
	a.printf("\nSELI       distance of the classifiers %s, of the means %s (0: the geometry of vanishing penalties)\n", orDash(s.ToSELI["classifiers"]), orDash(s.ToSELI["means"]))
	if f := s.Found; f != nil {
		a.printf("found      f = %.12g  (f − f* = %.2g); %d of %d starts reach the optimum\n", f.Best, f.Best-o.Objective, f.Reached, f.Starts)
	}
	if s.Index != "" {
		a.printf("\npage       %s\n", s.Index)
	}
}

func (s *solvedImbalanced) proof() string {
	switch {
	case !s.Optimum.Reached:
		return fmt.Sprintf("a lower bound: features of width %d cannot reach rank %d, and what they can reach is not known; --starts searches", s.D, s.Optimum.Rank)
	case s.Loss == "mse":
		return "closed form; proved"
	}
	return format.Sprintf("duality gap %.2g; proved", s.Optimum.Gap)
}

func printGroups(a *app, s *solvedImbalanced) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	safetext.Fprintf(w, "SIZE\tCLASSES\t‖w‖\t‖h‖\tMARGIN\tCOS w\tCOS h\tTO FIRST\tONE FROM μ\t\n")
	groups := s.Optimum.Groups
	for j, g := range groups[:min(len(groups), mostGroups)] {
		threshold := "–"
		if g.Classes > 1 {
			threshold = format.Short(s.Apart[j], 4)
		}
		safetext.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", g.Count, g.Classes, format.Short(g.Classifier, 4), format.Short(g.Mean, 4), format.Short(g.Margin, 4),
			orDash(s.Optimum.CosW[j][j]), orDash(s.Optimum.CosMeans[j][j]), orDash(s.Optimum.CosW[0][j]), threshold)
	}
	w.Flush()
	printSizes(a, "One point", groups, func(g imbalance.Shape) bool { return g.Same })
	printSizes(a, "At zero", groups, func(g imbalance.Shape) bool { return g.Kept == 0 })
	printSizes(a, "Some at zero", groups, func(g imbalance.Shape) bool { return g.Kept > 0 && g.Kept < g.Classes })
	a.print("\n" + imbalancedLegend)
	if more := len(groups) - mostGroups; more > 0 {
		a.printf("%d more sizes; --json has them all\n", more)
	}
}

// imbalancedLegend explains the columns of the table.
const imbalancedLegend = `MARGIN      by how much the logit of the right class is above the next
COS w, h    between two classes of this size; 1: they are one
TO FIRST    cosine between w of this size and w of the first
ONE FROM μ  classes of this size are one point where μ is at least this
`

// printSizes names the sizes of classes of which something holds.
func printSizes(a *app, what string, groups []imbalance.Shape, holds func(imbalance.Shape) bool) {
	var sizes []string
	for _, g := range groups[:min(len(groups), mostGroups)] {
		if holds(g) {
			sizes = append(sizes, fmt.Sprint(g.Count))
		}
	}
	if len(sizes) > 0 {
		a.printf("%s: the classes of size %s.\n", what, strings.Join(sizes, ", "))
	}
}
