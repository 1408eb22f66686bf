package cli

import (
	"fmt"
	"strings"

	"collapse.example/collapse/deep"
	"collapse.example/collapse/internal/judge"
)

type demoMinorityCmd struct {
	writesFolder

	Out  string `help:"Where to write: a folder for the page." default:"./out/minority" type:"path" placeholder:"DIR"`
	Open bool   `help:"Show the page in the browser when it is ready."`
}

// minorityResult is the JSON document of `collapse demo minority`.
type minorityResult struct {
	Headline string            `json:"headline"`
	Solved   *solvedImbalanced `json:"solved"`
	Index    string            `json:"index"`
}

// minorityProblem has five classes of 500 samples and five of 5.
func minorityProblem(out string) *solveImbalancedCmd {
	return &solveImbalancedCmd{K: 10, N: 500, Ratio: 100, Profile: "step", Loss: "ce", LW: 0.002, LH: 0.002, Out: out}
}

// Run solves one problem and draws it against the ratio of sizes.
func (c *demoMinorityCmd) Run(a *app) error {
	problem := minorityProblem(c.Out)
	solved, err := problem.solved(a)
	if err != nil {
		return err
	}
	out := minorityResult{minorityHeadline(solved), solved, solved.Index}
	return a.made(out, func() {
		a.printf("%s.\n\n", out.Headline)
		printImbalanced(a, solved)
		a.printf("\nwith other sizes: collapse solve imbalanced --ratio 10\n")
	}, solved.Index, c.Open)
}

// minorityHeadline counts the classes of a problem that share one point with others.
func minorityHeadline(s *solvedImbalanced) string {
	same := 0
	for _, g := range s.Optimum.Groups {
		if g.Same && g.Classes > 1 {
			same += g.Classes
		}
	}
	if same == 0 {
		return "No minority collapse of these classes"
	}
	return fmt.Sprintf("Minority collapse: the %d smallest of %d classes are one point at the optimum", same, s.K)
}

type demoTheoryCmd struct {
	writesFolder

	Out  string `help:"Where to write: a folder for the page." default:"./out/theory" type:"path" placeholder:"DIR"`
	Open bool   `help:"Show the page in the browser when it is ready."`
}

// theoryResult is the JSON document of `collapse demo theory`.
type theoryResult struct {
	Headline string        `json:"headline"`
	Deep     deep.Known    `json:"deep"`
	Hexagons []judge.Claim `json:"claims"` // of points below the orthogonal frame of Tirer & Bruna's Theorem 4.2
	Index    string        `json:"index"`
}

// theoryRecipe draws the points below the frame of Tirer & Bruna's Theorem 4.2.
const theoryRecipe = "tb-thm4.2"

// deepProblem has four ReLU layers.
var deepProblem = deep.Config{K: 10, N: 1, Widths: []int{12, 12, 12, 12}, Lambdas: []float64{.01, .01, .01, .01, .01}, ReLU: true}

func (c *demoTheoryCmd) Run(a *app) error {
	recipe := &reproduceCmd{ID: theoryRecipe, Scale: "quick", Out: c.Out}
	if err := recipe.folders(a); err != nil {
		return err
	}
	known, err := deepProblem.Known()
	if err != nil {
		return err
	}
	page, err := recipe.one(a, theoryRecipe)
	if err != nil {
		return err
	}
	out := theoryResult{Headline: deepHeadline(known), Deep: known, Hexagons: []judge.Claim{}, Index: page.Index}
	for _, claim := range page.Claims {
		if claim.Verdict == judge.Holds && strings.Contains(claim.Statement, "a point lies below the frame") {
			out.Hexagons = append(out.Hexagons, claim)
		}
	}
	return a.made(out, func() {
		a.printf("%s\n\n", out.Headline)
		a.printf("With ReLUs, Theorem 4.2 of Tirer & Bruna (arXiv 2202.08087 as printed) does not hold here:\n")
		for _, claim := range out.Hexagons {
			where, _, _ := strings.Cut(claim.Statement, ": ")
			found, _, _ := strings.Cut(claim.Reason, "; ") // without how exact it is
			a.printf("  %-33s %s\n", where, found)
		}
		a.printf("\npage  %s\nmore  collapse solve deep --relu --k 10 --widths 12,12,12,12 --penalties 0.01 --n 1\n", out.Index)
	}, out.Index, c.Open)
}

func deepHeadline(known deep.Known) string {
	if !known.Lower {
		return "Neural collapse is the lowest point known of this network."
	}
	return fmt.Sprintf("Neural collapse is not optimal in a network of %d ReLU layers: features of rank %d for %d classes cost %.1f %% less.",
		deepProblem.Layers(), known.Rank, deepProblem.K, 100*(1-known.Objective/known.Collapse))
}
