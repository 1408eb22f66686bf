package serve

import (
	"net/http"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// While runs of a study are missing, its card and page ask for no seeds; a cancelled one says so. Only all verdicts open is "no verdict".
func TestAStudyThatLacksRunsSaysSo(t *testing.T) {
	open, holds := judge.Claim{Verdict: judge.CannotTell, Lacking: 4}, judge.Claim{Verdict: judge.Holds}
	const tally = "the tally."
	for _, c := range []struct {
		counts    counts
		cancelled bool
		claims    []judge.Claim
		want      string
	}{
		{counts{Total: 30, Done: 14, Running: 2, Pending: 14}, false, []judge.Claim{open, open}, "No verdict yet: 14 of 30 runs."},
		{counts{Total: 30, Done: 14, Interrupted: 16}, false, []judge.Claim{open}, "No verdict yet: 14 of 30 runs."},
		{counts{Total: 30, Done: 14, Running: 2, Pending: 14}, false, []judge.Claim{open, holds}, tally},
		{counts{Total: 30, Done: 14, Pending: 16}, false, nil, tally},
		{counts{Total: 30, Done: 30}, false, []judge.Claim{open}, tally},
		{counts{Total: 30, Done: 29, Failed: 1}, false, []judge.Claim{open}, tally},
		{counts{Total: 30, Done: 30}, true, []judge.Claim{open}, tally},
		{counts{Total: 30, Pending: 30}, true, []judge.Claim{open}, "Cancelled with 0 of 30 runs done."},
		{counts{Total: 30, Done: 3, Interrupted: 27}, true, nil, "Cancelled with 3 of 30 runs done."},
		{counts{Total: 30, Done: 20, Interrupted: 10}, true, []judge.Claim{open, holds}, "Cancelled with 20 of 30 runs done. the tally."},
	} {
		if got := (studyRuns{counts: c.counts, cancelled: c.cancelled}).say(c.claims, tally); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

// A study's own claims stand on its page as those of the study, and a cancelled study says so on its card and its page.
func TestAStudysOwnClaimsAndCancelling(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	const source = `[study]
name = "mine"
seeds = 2
[[claim]]
id = "falls"
says = "NC1 falls"
kind = "less"
left = 'final("train.nc1_pinv")'
right = '1'
`
	spec := store.Spec{Kind: store.Train, Config: map[string]any{"run": map[string]any{"seed": 1}}}
	if err := lab.SaveStudy("mine", "", source, []store.Member{{Spec: spec}}); err != nil {
		t.Fatal(err)
	}
	s := startTest(t, Options{Lab: lab.Dir()})
	read := func(path string) string {
		t.Helper()
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+path, nil)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", path, answer.StatusCode)
		}
		return body
	}
	if body := read("study?study=mine"); !strings.Contains(body, ">Claims of this study</h3>") || strings.Contains(body, "of our own") || !strings.Contains(body, "No verdict yet: 0 of 1 runs.") {
		t.Errorf("the page of a study with a claim:\n%s", body)
	}
	if err := lab.CancelStudy("mine"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"study?study=mine", "study/summary?study=mine"} {
		if body := read(path); !strings.Contains(body, "Cancelled with 0 of 1 runs done.") {
			t.Errorf("%s does not say that the study was cancelled:\n%s", path, body)
		}
	}
}
