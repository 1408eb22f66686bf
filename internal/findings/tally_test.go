package findings

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
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
	quoted := func(quotes ...string) (out []judge.Claim) {
		for _, q := range quotes {
			out = append(out, judge.Claim{Verdict: judge.Holds, Provenance: judge.Provenance{Source: judge.FromPaper, Quote: q}})
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
		{quoted("q", "q"), "All 2 claims about one sentence of the paper hold on 9 runs.", "All 2 claims about one sentence of the paper hold on 9 runs."},
		{append(quoted("q", "q", "r"), ours[0]), "3 of 3 claims about 2 sentences of the paper and 1 of 1 claims of our own hold on 9 runs.",
			"3 of 3 claims about 2 sentences of the paper and 1 of 1 claims of our own hold on 9 runs."},
		{quoted("q", "r"), "All 2 claims of the paper hold on 9 runs.", "All 2 claims of the paper hold on 9 runs."},
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
	if got := WhatRan(nil, nil); got != "" {
		t.Errorf("%q", got)
	}
	var runs []judge.Run
	for _, epochs := range []string{"5", "6"} {
		runs = append(runs, judge.Run{Loss: "ce", Settings: map[string]string{"data.name": "glyphs", "net.kind": "mlp", "run.epochs": epochs}})
	}
	if got, want := WhatRan(runs, nil), "glyphs, mlp, 2 runs."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Verdicts that rest on runs which have not fitted their labels stand beside that count.
func TestWhatRanTellsOfClaimsAboutUnfittedRuns(t *testing.T) {
	unfitted, err := judge.NewRun(store.Run{Hash: "a", Kind: store.Train, Status: store.Done, Config: []byte(`{"loss":{"kind":"ce"}}`)},
		[]store.Value{{Key: store.Key{Series: "epoch", Split: "train", Measure: "accuracy"}, Step: 3, Value: .5}})
	if err != nil {
		t.Fatal(err)
	}
	early, late := judge.Claim{Effect: &judge.Effect{Early: true}}, judge.Claim{Effect: &judge.Effect{}}
	for _, c := range []struct {
		claims []judge.Claim
		want   string
	}{
		{nil, "1 unfitted."}, {[]judge.Claim{late, {}}, "1 unfitted."}, {[]judge.Claim{early, early}, "1 unfitted (the claims count them)."},
		{[]judge.Claim{early, late}, "1 unfitted (1 of the 2 claims count them)."},
	} {
		if got := WhatRan([]judge.Run{unfitted}, c.claims); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q at its end", got, c.want)
		}
	}
}
