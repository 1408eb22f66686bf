package page

import (
	"cmp"
	"fmt"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// namedClaims is how many claims per verdict the first sentence of a page names.
const namedClaims = 2

// Found is the first sentence of the page.
func (p recipePage) Found() string {
	if p.Trains {
		return Found(p.Judged, "these runs")
	}
	return Found(p.Judged, "")
}

// Found says how many claims hold, and which do not hold or stay open: "" without claims. runs are the words for what they were judged
// on, if that is runs.
func Found(claims []judge.Claim, runs string) string {
	if len(claims) == 0 {
		return ""
	}
	by := map[judge.Verdict][]string{}
	for _, c := range claims {
		by[c.Verdict] = append(by[c.Verdict], "“"+c.Statement+"”")
	}
	on := ""
	if runs != "" {
		on = " on " + runs
	}
	var out []string
	switch n, held := len(claims), len(by[judge.Holds]); {
	case held == n && n == 1:
		out = append(out, "The claim holds"+on+".")
	case held == n:
		out = append(out, fmt.Sprintf("All %d claims hold%s.", n, on))
	case n == len(by[judge.CannotTell]):
		if n > 1 || lacking(claims) > 0 {
			out = append(out, noVerdict(claims))
		}
	case n > 1:
		out = append(out, fmt.Sprintf("%d of %d claims hold%s.", held, n, on))
	}
	for _, v := range []struct {
		verdict judge.Verdict
		words   string
	}{{judge.Fails, "Not: "}, {judge.Partly, "In part: "}, {judge.CannotTell, "What " + cmp.Or(runs, "this") + " cannot tell: "}} {
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

// Tally says how the verdicts on claims are spread: "" without claims. runs are the words for what they were judged on.
func Tally(claims []judge.Claim, runs string) string {
	count := map[judge.Verdict]int{}
	for _, c := range claims {
		count[c.Verdict]++
	}
	held, n := count[judge.Holds], len(claims)
	if n == 0 {
		return ""
	}
	switch {
	case count[judge.CannotTell] == n:
		return noVerdict(claims)
	case held == n || n == 1:
		return Found(claims, runs)
	}
	out := fmt.Sprintf("%d of %d claims hold on %s", held, n, runs)
	for _, v := range []struct {
		verdict   judge.Verdict
		one, more string
	}{{judge.Partly, "holds in part", "hold in part"}, {judge.Fails, "does not", "do not"}, {judge.CannotTell, "is open", "are open"}} {
		switch k := count[v.verdict]; {
		case k == 1:
			out += ", 1 " + v.one
		case k > 1:
			out += fmt.Sprintf(", %d %s", k, v.more)
		}
	}
	return out + "."
}

// noVerdict says what is missing where no claim has a verdict.
func noVerdict(claims []judge.Claim) string {
	if n := lacking(claims); n > 0 {
		return "Not enough runs for a verdict: add " + format.Count(n, "seed") + "."
	}
	return "No verdict on these claims: " + claims[0].Reason + "."
}

// lacking is how many seeds would give every claim enough for a verdict; 0 if more seeds would not help one of them.
func lacking(claims []judge.Claim) (n int) {
	for _, c := range claims {
		if c.Lacking == 0 {
			return 0
		}
		n = max(n, c.Lacking)
	}
	return n
}

// WhatRan says in a line what was trained and how much of it counts: the settings that all runs share.
func WhatRan(runs []judge.Run) string {
	shared := func(key string) string {
		for i := range runs {
			if runs[i].Settings[key] != runs[0].Settings[key] {
				return ""
			}
		}
		return runs[0].Settings[key]
	}
	var words []string
	add := func(format, value string) {
		if value != "" {
			words = append(words, fmt.Sprintf(format, value))
		}
	}
	if len(runs) == 0 || runs[0].Loss == "" {
		return ""
	}
	add("%s", shared("data.name"))
	add("%s classes", shared("data.classes"))
	add("%s", shared("net.kind"))
	add("%s epochs", shared("run.epochs"))
	add("%s", format.Count(len(runs), "run"))
	count := map[string]int{}
	for i := range runs {
		for _, state := range runs[i].States() {
			count[state.Name]++
		}
	}
	for _, state := range []judge.State{judge.Degenerate, judge.Early} {
		if n := count[state.Name]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state.Name))
		}
	}
	return strings.Join(words, ", ") + "."
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
