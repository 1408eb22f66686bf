package cli

import (
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// printBySource prints claims below lines that name their source and count their verdicts.
func (a *app) printBySource(indent string, claims []judge.Claim, print func(judge.Claim)) {
	for i, g := range judge.GroupBySource(claims) {
		if i > 0 {
			a.printf("\n")
		}
		a.printf("%s%s (%s)\n", indent, format.Capital(g.Source.Words()), g.Counts())
		for _, c := range g.Claims {
			print(c)
		}
	}
}
