package page

import (
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
)

// sourcedClaims are the claims of a page that have one source.
type sourcedClaims struct {
	judge.BySource
	placedClaims
}

// Heading names the source.
func (s sourcedClaims) Heading() string { return findings.Heading(s.Source) }

// bySource places the claims of one part of a page, apart by their sources.
func bySource(part string, claims []judge.Claim) (out []sourcedClaims) {
	for _, g := range judge.GroupBySource(claims) {
		out = append(out, sourcedClaims{g, place(part, g.Claims)})
	}
	return out
}
