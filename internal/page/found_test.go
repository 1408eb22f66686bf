package page

import (
	"os"
	"strings"
	"testing"

	"collapse/internal/judge"
)

func TestFound(t *testing.T) {
	claims := func(verdicts ...judge.Verdict) (out []judge.Claim) {
		for i, v := range verdicts {
			out = append(out, judge.Claim{Statement: string(rune('A' + i)), Verdict: v})
		}
		return out
	}
	for _, c := range []struct {
		judged []judge.Claim
		trains bool
		want   string
	}{
		{nil, true, ""},
		{claims(judge.Holds), false, "The claim holds."},
		{claims(judge.Holds, judge.Holds), true, "All 2 claims hold on these runs."},
		{claims(judge.CannotTell), true, "What these runs cannot tell: “A”."},
		{claims(judge.Partly, judge.Holds, judge.Fails, judge.Fails, judge.Fails, judge.CannotTell), false,
			"1 of 6 claims hold. Not: “C”; “D”; and 1 more. In part: “A”. What this cannot tell: “F”."},
	} {
		if got := (recipePage{Judged: c.judged, Trains: c.trains}).Found(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A page begins with what was found; the paper's words come after it, with their place.
func TestFirstWordsOfAPage(t *testing.T) {
	WithoutPictures(t)
	for _, memorization := range []bool{true, false} {
		r := recipeOf(t)
		r.Memorization = memorization
		res, err := WriteRecipe(t.TempDir(), r)
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
