package findings

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
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
		if got := (RecipeFindings{Judged: c.judged, Trains: c.trains}).Found(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Claims of ours do not swell the count of the paper's.
func TestFoundCountsBySource(t *testing.T) {
	of := func(source judge.Source, statement string, verdicts ...judge.Verdict) (out []judge.Claim) {
		for _, v := range verdicts {
			out = append(out, judge.Claim{Statement: statement, Verdict: v, Provenance: judge.Provenance{Source: source}})
		}
		return out
	}
	ours, paper := of(judge.Ours, "A", judge.Holds, judge.Holds, judge.Fails), of(judge.FromPaper, "B", judge.Holds, judge.Fails)
	for _, c := range []struct {
		claims       []judge.Claim
		found, tally string
	}{
		{append(ours, paper...), "1 of 2 claims of the paper and 2 of 3 claims of our own hold on 9 runs. Not: “B”; “A” (ours).",
			"1 of 2 claims of the paper hold on 9 runs, 1 does not. 2 of 3 claims of our own hold, 1 does not."},
		{ours[:2], "All 2 claims of our own hold on 9 runs.", "All 2 claims of our own hold on 9 runs."},
		{paper[:1], "The claim of the paper holds on 9 runs.", "The claim of the paper holds on 9 runs."},
		{append(ours[:1:1], paper[0]), "1 of 1 claims of the paper and 1 of 1 claims of our own hold on 9 runs.", "1 of 1 claims of the paper and 1 of 1 claims of our own hold on 9 runs."},
		{of(judge.OwnCheck, "C", judge.Holds), "The check of this program holds on 9 runs.", "The check of this program holds on 9 runs."},
	} {
		if got := Found(c.claims, "9 runs"); got != c.found {
			t.Errorf("found %q, want %q", got, c.found)
		}
		if got := Tally(c.claims, "9 runs"); got != c.tally {
			t.Errorf("tally %q, want %q", got, c.tally)
		}
	}
}

// Where no claim has a verdict, a page says what is missing instead of "0 of n hold".
func TestNoVerdictSaysWhatIsMissing(t *testing.T) {
	open := func(reason string, lacking ...int) (out []judge.Claim) {
		for _, n := range lacking {
			out = append(out, judge.Claim{Statement: "S", Verdict: judge.CannotTell, Reason: reason, Lacking: n})
		}
		return out
	}
	holds := judge.Claim{Verdict: judge.Holds}
	for _, c := range []struct {
		claims []judge.Claim
		want   string
	}{
		{open("3 seeds", 2, 1), "Not enough runs for a verdict: add 2 seeds."},
		{open("4 seeds", 1), "Not enough runs for a verdict: add 1 seed."},
		{open("all runs are unfitted", 0, 2), "No verdict on these claims: all runs are unfitted."},
		{append(open("", 2), holds, holds), "2 of 3 claims hold on these runs, 1 is open."},
	} {
		if got := Tally(c.claims, "these runs"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if found := Found(c.claims, "these runs"); len(c.claims) > 1 && !strings.Contains(c.want, " open.") && !strings.HasPrefix(found, c.want) {
			t.Errorf("a page says %q, want %q first", found, c.want)
		}
	}
}

func TestWhatRan(t *testing.T) {
	if got := WhatRan(nil); got != "" {
		t.Errorf("%q", got)
	}
	var runs []judge.Run
	for _, epochs := range []string{"5", "6"} {
		runs = append(runs, judge.Run{Loss: "ce", Settings: map[string]string{"data.name": "glyphs", "net.kind": "mlp", "run.epochs": epochs}})
	}
	if got, want := WhatRan(runs), "glyphs, mlp, 2 runs."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
