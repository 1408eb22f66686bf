package page

import (
	"fmt"
	"strings"

	"collapse/internal/judge"
)

// namedClaims is how many claims per verdict the first sentence of a page names.
const namedClaims = 2

// Found is the first sentence of a page: how many claims hold, and which do not hold or stay open.
func (p recipePage) Found() string {
	if len(p.Judged) == 0 {
		return ""
	}
	by := map[judge.Verdict][]string{}
	for _, c := range p.Judged {
		by[c.Verdict] = append(by[c.Verdict], "“"+c.Statement+"”")
	}
	on := ""
	if p.Trains {
		on = " on these runs"
	}
	var out []string
	switch n, held := len(p.Judged), len(by[judge.Holds]); {
	case held == n && n == 1:
		out = append(out, "The claim holds"+on+".")
	case held == n:
		out = append(out, fmt.Sprintf("All %d claims hold%s.", n, on))
	case n > 1:
		out = append(out, fmt.Sprintf("%d of %d claims hold%s.", held, n, on))
	}
	for _, v := range []struct {
		verdict judge.Verdict
		words   string
	}{{judge.Fails, "Not: "}, {judge.Partly, "In part: "}, {judge.CannotTell, "What these runs cannot tell: "}} {
		claims := by[v.verdict]
		if len(claims) == 0 {
			continue
		}
		more := ""
		if n := len(claims) - namedClaims; n > 0 {
			claims, more = claims[:namedClaims], fmt.Sprintf("; and %d more", n)
		}
		out = append(out, v.words+strings.Join(claims, "; ")+more+".")
	}
	return strings.Join(out, " ")
}

// Words explains the measures on a page about trained networks.
func (p recipePage) Words() string {
	if !p.Trains || p.Study {
		return ""
	}
	about := p.Caption
	for _, c := range p.Judged {
		about += " " + c.Statement
	}
	words := "NC1 compares the spread of features within classes with the distances between class means: at 0 every class is a point."
	if p.Memorization || strings.Contains(strings.ToLower(about), "dilation") {
		words += " Dilation is √NC1 of test features; memorization is how far training samples with a wrong label lie from the test features of their true class. " +
			"A run is degenerate if one class mean lies at the origin."
	}
	return words
}
