package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/spelling"
)

// Source says whose statement a claim is.
type Source string

const (
	FromPaper  Source = "paper"  // a sentence of the paper, put as a question: limits and bands may be ours
	FromFigure Source = "figure" // read off a figure or a table of the paper, without a sentence
	Ours       Source = "ours"
	OwnCheck   Source = "check" // compares a number of ours with another of ours: it tests the program, not a paper
)

// Sources lists the sources in the order of pages.
var Sources = []Source{FromPaper, FromFigure, Ours, OwnCheck}

// OfStudy is the source of a study's own claims on pages about it; files and documents call it "ours", as its author does.
const OfStudy Source = "study"

// Unrecorded is the source of claims in results that older versions wrote.
const Unrecorded Source = ""

// sourceWords are the names of the sources in counts.
var sourceWords = map[Source]string{FromPaper: "the papers’ sentences", FromFigure: "read off figures and tables", OfStudy: "claims of this study", Ours: "ours", OwnCheck: "checks of this program",
	Unrecorded: "of unrecorded source"}

// Words names the source.
func (s Source) Words() string { return sourceWords[s] }

// Provenance is where a claim comes from.
type Provenance struct {
	Source Source `toml:"source" json:"source,omitempty"`
	Quote  string `toml:"quote" json:"quote,omitempty"` // the paper's words; … stands for what is left out
	Place  string `toml:"place" json:"place,omitempty"` // the section, theorem or figure
}

// mostQuoted is the number of words of the longest quotation.
const mostQuoted = 25

// Check reports an unknown source, and a quotation or place that is missing or too much.
func (p Provenance) Check() error {
	words := len(strings.Fields(p.Quote))
	switch {
	case p.Source == "":
		return fmt.Errorf("source is missing; wanted one of %s", p.Source.known())
	case !slices.Contains(Sources, p.Source):
		return fmt.Errorf("source is %q; wanted one of %s%s", p.Source, p.Source.known(), spelling.Suggestion(string(p.Source), p.Source.names()))
	case p.Source == FromPaper && (p.Quote == "" || p.Place == ""):
		return errors.New("a claim of the paper needs quote, its words, and place, where they stand")
	case words > mostQuoted:
		return fmt.Errorf("quote has %d words; at most %d are quoted", words, mostQuoted)
	case p.Source == FromFigure && (p.Place == "" || p.Quote != ""):
		return errors.New("a claim that is read off a figure needs place, its number, and no quote")
	case (p.Source == Ours || p.Source == OwnCheck) && p.Quote+p.Place != "":
		return fmt.Errorf("a claim with source %q takes no quote and no place", p.Source)
	}
	return nil
}

func (Source) names() (names []string) {
	for _, s := range Sources {
		names = append(names, string(s))
	}
	return names
}

func (s Source) known() string { return strings.Join(s.names(), ", ") }

// Cited is the quotation with its place, or the place; "" for what no paper says.
func (p Provenance) Cited() string {
	if p.Quote == "" {
		return p.Place
	}
	return "“" + strings.NewReplacer("“", "‘", "”", "’").Replace(p.Quote) + "” (" + p.Place + ")"
}

// BySource are claims of one source.
type BySource struct {
	Source Source
	Claims []Claim
}

// GroupBySource sorts claims by source, in the order of Sources; groups without claims are left out.
func GroupBySource(claims []Claim) (groups []BySource) {
	for _, s := range append([]Source{OfStudy}, append(slices.Clone(Sources), Unrecorded)...) {
		g := BySource{Source: s}
		for _, c := range claims {
			if c.Source == s {
				g.Claims = append(g.Claims, c)
			}
		}
		if len(g.Claims) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// Count is the number of the group's claims with a verdict.
func (g BySource) Count(v Verdict) (n int) {
	for _, c := range g.Claims {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// Counts says how many of the group's claims have each verdict.
func (g BySource) Counts() string {
	var words []string
	for _, v := range Verdicts {
		if n := g.Count(v); n > 0 {
			words = append(words, fmt.Sprintf("%s: %d", v, n))
		}
	}
	return strings.Join(words, ", ")
}

// CountsBySource says for each source how many claims have each verdict: "" without claims.
func CountsBySource(claims []Claim) string {
	var lines []string
	for _, g := range GroupBySource(claims) {
		lines = append(lines, format.Capital(g.Source.Words())+": "+g.Counts())
	}
	return strings.Join(lines, "; ")
}
