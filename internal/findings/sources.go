package findings

import (
	"fmt"
	"slices"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// claimsOf is what claims of a source are called: one, several, and as the heading of their part of a page.
var claimsOf = map[judge.Source]struct{ one, more, heading string }{
	judge.OfStudy:    {"claim of this study", "claims of this study", "Claims of this study"},
	judge.FromPaper:  {"claim of the paper", "claims of the paper", "What the paper says"},
	judge.FromFigure: {"claim read off the paper’s figures", "claims read off the paper’s figures", "Read off the paper’s figures and tables"},
	judge.Ours:       {"claim of our own", "claims of our own", "Claims of our own"},
	judge.OwnCheck:   {"check of this program", "checks of this program", "Checks of this program"},
	judge.Unrecorded: {"claim", "claims", "Claims whose source was not recorded"},
}

// several is what the claims of a group are called. Where several ask the same sentence of the paper, it says of how many sentences they are.
func several(g judge.BySource) string {
	quotes := map[string]bool{}
	for _, c := range g.Claims {
		quotes[c.Quote] = true
	}
	switch n := len(quotes); {
	case g.Source != judge.FromPaper || n == len(g.Claims) || quotes[""]:
		return claimsOf[g.Source].more
	case n == 1:
		return "claims about one sentence of the paper"
	default:
		return fmt.Sprintf("claims about %d sentences of the paper", n)
	}
}

// Heading heads the claims of a source.
func Heading(of judge.Source) string { return claimsOf[of].heading }

// AskedBy are claims of a study's own file as its page shows them: those without another source are the study's.
func AskedBy(claims []judge.Claim) []judge.Claim {
	out := slices.Clone(claims)
	for i := range out {
		if out[i].Source == judge.Ours {
			out[i].Source = judge.OfStudy
		}
	}
	return out
}

// AskedAmong are claims of which some are of a study's own file: those are the study's, and what the program claims stays its own.
func AskedAmong(claims []judge.Claim, own []judge.Statement) []judge.Claim {
	out := slices.Clone(claims)
	for i, c := range out {
		if c.Source == judge.Ours && slices.ContainsFunc(own, func(s judge.Statement) bool { return s.ID == c.ID }) {
			out[i].Source = judge.OfStudy
		}
	}
	return out
}

// HeldTiles say for each source how many of its claims hold.
func HeldTiles(claims []judge.Claim) (out []format.Tile) {
	for _, g := range judge.GroupBySource(claims) {
		out = append(out, tile(fmt.Sprintf("%d of %d", g.Count(judge.Holds), len(g.Claims)), several(g)+" hold"))
	}
	return out
}
