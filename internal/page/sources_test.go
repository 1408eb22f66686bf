package page

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
)

var (
	headed = regexp.MustCompile(`data-source="([^"]*)"|data-claim="([^"]+)"`)
	counts = regexp.MustCompile(`data-tile="([^"]+)">([^<]+)<`)
)

// Every claim stands below the heading of its source, so that no claim of ours is headed as the paper's; the paper's words and their
// place stand with its claims, and claims are counted by source.
func TestClaimsStandBelowTheirSource(t *testing.T) {
	WithoutPictures(t)
	r := recipeOf(t)
	r.Claims[0].Provenance = judge.Provenance{Source: judge.FromPaper, Quote: "NC1 falls to zero", Place: "Sec. 9"}
	for _, id := range []string{"ours", "check", "read"} {
		c := r.Claims[0]
		c.ID = id
		c.Provenance = map[string]judge.Provenance{"ours": {Source: judge.Ours}, "check": {Source: judge.OwnCheck}, "read": {Source: judge.FromFigure, Place: "Table 7"}}[id]
		r.Claims = append([]judge.Statement{c}, r.Claims...)
	}
	res, err := JudgeAndWrite(outfile.At(t.TempDir(), Kind), r)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(res.Index)
	if err != nil {
		t.Fatal(err)
	}
	html, source, below := string(raw), "nothing", map[string]string{}
	for _, m := range headed.FindAllStringSubmatch(html, -1) {
		if m[2] == "" {
			source = m[1]
		} else {
			below[m[2]] = source
		}
	}
	for _, c := range res.Claims {
		if below[c.ID] != string(c.Source) {
			t.Errorf("claim %s, whose source is %q, stands below %q", c.ID, c.Source, below[c.ID])
		}
	}
	if below["falls"] != "paper" || below["growth"] != "paper" || below["slope-ls-scale-free"] != "ours" || below["check"] != "check" || below["read"] != "figure" {
		t.Errorf("claims stand below %v", below)
	}
	for _, want := range []string{"“NC1 falls to zero” (Sec. 9)", ">Table 7<", "What the paper says", "Claims of our own", "Checks of this program"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	counted := map[string]string{}
	for _, m := range counts.FindAllStringSubmatch(html, -1) {
		counted[m[1]] = m[2]
	}
	if counted["checks of this program hold"] != "1 of 1" || !strings.HasSuffix(counted["claims of our own hold"], " of 3") {
		t.Errorf("tiles %v", counted)
	}
}

// A page begins with what was found; the paper's words come after it, with their place.
func TestFirstWordsOfAPage(t *testing.T) {
	WithoutPictures(t)
	for _, memorization := range []bool{true, false} {
		r := recipeOf(t)
		r.Memorization = memorization
		res, err := JudgeAndWrite(outfile.At(t.TempDir(), Kind), r)
		if err != nil {
			t.Fatal(err)
		}
		html, err := os.ReadFile(res.Index)
		if err != nil {
			t.Fatal(err)
		}
		rest, _, _ := strings.Cut(string(html), "</header>")
		words := []string{"data-lead>", "on these runs", "<strong>Someone 2022, Fig. 1:</strong> It falls.", "NC1 compares"}
		if memorization {
			words = append(words, "Dilation is")
		} else if strings.Contains(rest, "Dilation is") {
			t.Error("a page without dilation explains it")
		}
		for _, want := range words {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("memorization %v: %q is missing or comes too early", memorization, want)
			}
			rest = after
		}
	}
}
