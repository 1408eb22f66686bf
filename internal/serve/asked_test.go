package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
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

// A study of several weight decays without label noise begins with a picture against them: the mean of each, without the degenerate run, and
// without a word of memorization. Its runs are called by what differs.
func TestAStudyWithoutNoiseHasAPicture(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	var members []store.Member
	var last string
	for i, decay := range []float64{.1, .2, .3} {
		for seed := 1; seed <= 3; seed++ {
			spec := store.Spec{Kind: store.Train, Config: map[string]any{"loss": map[string]any{"kind": "ce"}, "optim": map[string]any{"weight_decay": decay}, "run": map[string]any{"epochs": 1, "seed": seed}}}
			lease, _, err := lab.Lease(spec)
			if err != nil {
				t.Fatal(err)
			}
			var rows []store.Value
			for key, v := range map[string]float64{"nc1_pinv": float64(10*(i+1) + seed), "accuracy": 1, "memorization_flipped": 0, "mean_norm_ratio": min(1, float64(3-seed))} {
				rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Split: "train", Measure: key}, Step: 1, Value: v})
			}
			if _, err := lab.AppendAll([]store.Part{{Lease: lease, EpochRows: store.EpochRows{Epoch: 1, Rows: rows}}}); err != nil {
				t.Fatal(err)
			}
			if err := lease.Finish(); err != nil {
				t.Fatal(err)
			}
			last = lease.Hash
			members = append(members, store.Member{Spec: spec, Note: fmt.Sprintf("decay %g, seed %d", decay, seed)})
		}
	}
	if err := lab.SaveStudy("decays", "", "", members); err != nil {
		t.Fatal(err)
	}
	s := startTest(t, Options{Lab: lab.Dir()})
	_, body := get(t, http.DefaultClient, "GET", s.URL()+"study?study=decays", nil)
	if !strings.Contains(body, `data-figure="against"`) || !strings.Contains(body, `data-figure="measures"`) || strings.Contains(body, "There is no picture") || strings.Contains(body, "emorization") {
		t.Errorf("the page of the study:\n%.3000s", body)
	}
	var drawn struct {
		Panels []struct {
			Series []struct{ X, Y []float64 }
		}
	}
	_, text := get(t, http.DefaultClient, "GET", s.URL()+"study/figures/against.json?study=decays", nil)
	if err := json.Unmarshal([]byte(text), &drawn); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	if len(drawn.Panels) == 0 || len(drawn.Panels[0].Series) == 0 {
		t.Fatalf("%.300s", text)
	}
	if got := drawn.Panels[0].Series[0]; !slices.Equal(got.X, []float64{.1, .2, .3}) || !slices.Equal(got.Y, []float64{11.5, 21.5, 31.5}) { // seeds 1 and 2
		t.Errorf("drawn %+v, want the means of two of three seeds", got)
	}
	if _, body := get(t, http.DefaultClient, "GET", s.URL()+"run/"+last, nil); !strings.Contains(body, "<h1>decay 0.3, seed 3</h1>") || strings.Contains(body, `data-tile="memorization"`) {
		t.Errorf("the page of a run:\n%.2500s", body)
	}
}
