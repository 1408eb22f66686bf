package page

import (
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
)

// TestEarlierRunsStandApart: results that were computed elsewhere are on the page as what they are, and among no counts or claims of its
// own.
func TestEarlierRunsStandApart(t *testing.T) {
	study := studied(t)
	alone, _ := pageOf(t, study)
	study.Beside = &findings.Beside{Runs: 1234, Scale: "standard", Command: "collapse reproduce x", Program: "0.0.7", On: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		Claims: []judge.Claim{{ID: "growth", Statement: "Earlier <b>claim", Verdict: judge.Fails, Reason: "so it was"}}, Figure: figure.Words()[0].Figure}
	res, html := pageOf(t, study)
	_, pictures := show(judged(t, study))
	if len(res.Claims) != len(alone.Claims) || res.Runs != alone.Runs || res.Headline != alone.Headline {
		t.Errorf("with earlier runs the page's own result is %d claims on %d runs, %q", len(res.Claims), res.Runs, res.Headline)
	}
	section := html[strings.Index(html, `<section id="earlier">`):]
	section = section[:strings.Index(section, "</section>")]
	for _, want := range []string{"1234 earlier runs, at scale standard", "None of this was computed now", "1 February 2026", "0.0.7", "collapse reproduce x", `data-verdict="does not hold"`, "Earlier &lt;b&gt;claim", `figures/earlier.svg`} {
		if !strings.Contains(section, want) {
			t.Errorf("the section of earlier runs lacks %q", want)
		}
	}
	if !slices.ContainsFunc(pictures, func(p figure.Picture) bool { return p.ID == "earlier" }) {
		t.Error("the figure of earlier runs has no files")
	}
	if n := strings.Count(html, "Earlier &lt;b&gt;claim"); n != 2 { // in the section, and named by the first sentences
		t.Errorf("the earlier claim stands %d times", n)
	}
}
