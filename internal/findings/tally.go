package findings

import (
	"cmp"
	"fmt"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// namedClaims is how many claims per verdict the first sentence of a page names.
const namedClaims = 2

// Found is the first sentence about them.
func (f RecipeFindings) Found() string {
	if f.Trains {
		return Found(f.Judged, "these runs")
	}
	return Found(f.Judged, "")
}

// Found says for each source how many of its claims hold, and which do not hold or stay open: "" without claims. runs are the words for
// what they were judged on, if that is runs.
func Found(claims []judge.Claim, runs string) string {
	if len(claims) == 0 {
		return ""
	}
	by := map[judge.Verdict][]string{}
	for _, g := range judge.GroupBySource(claims) {
		for _, c := range g.Claims {
			by[c.Verdict] = append(by[c.Verdict], named(c))
		}
	}
	var out []string
	switch n := len(claims); {
	case n == len(by[judge.CannotTell]):
		if n > 1 || lacking(claims) > 0 {
			out = append(out, noVerdict(claims))
		}
	case n > 1 || len(by[judge.Holds]) == 1:
		out = append(out, held(claims, runs))
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

// named quotes a claim in a sentence that also names others', and says if it is ours.
func named(c judge.Claim) string {
	if c.Source == judge.Ours || c.Source == judge.OwnCheck {
		return "“" + c.Statement + "” (ours)"
	}
	return "“" + c.Statement + "”"
}

// held says how many claims of each source hold.
func held(claims []judge.Claim, runs string) string {
	on := ""
	if runs != "" {
		on = " on " + runs
	}
	groups := judge.GroupBySource(claims)
	if len(groups) == 1 && groups[0].Count(judge.Holds) == len(claims) {
		if len(claims) == 1 {
			return fmt.Sprintf("The %s holds%s.", claimsOf[groups[0].Source].one, on)
		}
		return fmt.Sprintf("All %d %s hold%s.", len(claims), several(groups[0]), on)
	}
	var parts []string
	for _, g := range groups {
		parts = append(parts, fmt.Sprintf("%d of %d %s", g.Count(judge.Holds), len(g.Claims), several(g)))
	}
	return format.List(parts) + " hold" + on + "."
}

// Tally says how the verdicts on claims are spread, for each source: "" without claims. runs are the words for what they were judged on.
func Tally(claims []judge.Claim, runs string) string {
	groups := judge.GroupBySource(claims)
	switch all := (judge.BySource{Claims: claims}); {
	case len(claims) == 0:
		return ""
	case all.Count(judge.CannotTell) == len(claims):
		return noVerdict(claims)
	case all.Count(judge.Holds) == len(claims) || len(claims) == 1:
		return Found(claims, runs)
	}
	var sentences []string
	for i, g := range groups {
		out := fmt.Sprintf("%d of %d %s hold", g.Count(judge.Holds), len(g.Claims), several(g))
		if i == 0 {
			out += " on " + runs
		}
		sentences = append(sentences, out+otherVerdicts(g)+".")
	}
	return strings.Join(sentences, " ")
}

// otherVerdicts counts the claims of a group that do not simply hold.
func otherVerdicts(g judge.BySource) (out string) {
	for _, v := range []struct {
		verdict   judge.Verdict
		one, more string
	}{{judge.Partly, "holds in part", "hold in part"}, {judge.Fails, "does not", "do not"}, {judge.CannotTell, "is open", "are open"}} {
		switch k := g.Count(v.verdict); {
		case k == 1:
			out += ", 1 " + v.one
		case k > 1:
			out += fmt.Sprintf(", %d %s", k, v.more)
		}
	}
	return out
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

// WhatRan says in a line what was trained and how much of it counts: the settings that all runs share, and whether claims ask runs that
// have not fitted their labels.
func WhatRan(runs []judge.Run, claims []judge.Claim) string {
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
	for _, state := range []judge.State{judge.Degenerate, judge.Early, judge.ZeroSolution, judge.MinorityZero, judge.Minority} {
		if n := count[state.Name]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state.Name)+map[bool]string{true: " as theory predicts"}[state.Predicted])
			if state.Name == judge.Early.Name {
				words[len(words)-1] += countedEarly(claims)
			}
		}
	}
	return strings.Join(words, ", ") + "."
}

// countedEarly says how many of the claims ask runs that have not fitted their labels: "" if none does.
func countedEarly(claims []judge.Claim) string {
	early := 0
	for _, c := range claims {
		if c.Effect != nil && c.Effect.Early {
			early++
		}
	}
	switch early {
	case 0:
		return ""
	case len(claims):
		return " (the claims count them)"
	}
	return fmt.Sprintf(" (%d of the %d claims count them)", early, len(claims))
}

// Words explains the measures, where they are of trained networks.
func (f RecipeFindings) Words() string {
	if !f.Trains || f.Study {
		return ""
	}
	about := f.Caption
	for _, c := range f.Judged {
		about += " " + c.Statement
	}
	words := "NC1 compares the spread of features within classes with the distances between class means: at 0 every class is a point."
	if f.Memorization || strings.Contains(strings.ToLower(about), "dilation") {
		words += " Dilation is √NC1 of test features; memorization is how far training samples with a wrong label lie from the test features of their true class. " +
			"A run is degenerate if one class mean lies at the origin."
	}
	return words
}
