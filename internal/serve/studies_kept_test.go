package serve

import (
	"net/url"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestAStudyIsReadAgainAfterAChange asks that the runs of a study are read once while the lab is the same, anew after each change, and always
// while one of them is computed, which also changes with time.
func TestAStudyIsReadAgainAfterAChange(t *testing.T) {
	dir := t.TempDir()
	fillMany(t, dir, 1)
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	s := startTest(t, Options{Lab: dir})
	read := func() studyRuns {
		t.Helper()
		found, err := s.studyAsked(url.Values{"tag": {"many"}})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first := read()
	if again := read(); &again.rows[0] != &first.rows[0] {
		t.Error("an unchanged study is read twice")
	}
	if again := read(); &again.runs[0] == &first.runs[0] {
		t.Error("two requests share runs, which keep the features that one of them reads")
	}
	hash := first.runs[3].Hash
	if err := lab.SetLabel(hash, "mine"); err != nil {
		t.Fatal(err)
	}
	labelled := read()
	if labelled.runs[3].Label != "mine" || first.runs[3].Label != "" {
		t.Errorf("the run is called %q, once %q", labelled.runs[3].Label, first.runs[3].Label)
	}
	if again := read(); &again.rows[0] != &labelled.rows[0] {
		t.Error("an unchanged study is read twice after a change")
	}
	lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Tags: []string{"many"}, Config: map[string]any{"run": map[string]any{"seed": 99}}})
	if err != nil {
		t.Fatal(err)
	}
	running := read()
	if running.counts.Running != 1 || len(running.runs) != len(first.runs)+1 {
		t.Errorf("%d of %d runs are running", running.counts.Running, len(running.runs))
	}
	if again := read(); &again.rows[0] == &running.rows[0] {
		t.Error("the time left of a run is kept")
	}
	if err := lease.Finish(); err != nil {
		t.Fatal(err)
	}
	if done := read(); done.counts.Running != 0 || done.counts.Done != len(done.runs) {
		t.Errorf("%+v after all runs have ended", done.counts)
	}
}
