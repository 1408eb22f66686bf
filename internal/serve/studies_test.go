package serve

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
)

// What waits is counted on a study's card and listed on its page; the first page lists what has begun.
func TestTheFirstPageListsWhatHasBegun(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	done, _, err := lab.Lease(store.Spec{Kind: store.Train, Tags: []string{"mine"}, Config: map[string]any{"run": map[string]any{"seed": 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := done.Finish(); err != nil {
		t.Fatal(err)
	}
	waiting, err := lab.Ensure(store.Spec{Kind: store.Train, Tags: []string{"mine"}, Config: map[string]any{"run": map[string]any{"seed": 2}}})
	if err != nil {
		t.Fatal(err)
	}
	s := startTest(t, Options{Lab: lab.Dir()})
	for path, both := range map[string]bool{"": false, "study?tag=mine": true} {
		_, body := get(t, http.DefaultClient, "GET", s.URL()+path, nil)
		if !strings.Contains(body, "/run/"+done.Hash) || strings.Contains(body, "/run/"+waiting.Hash) != both {
			t.Errorf("/%s lists the finished run: %v, the waiting one: %v; want true and %v", path, strings.Contains(body, "/run/"+done.Hash), strings.Contains(body, "/run/"+waiting.Hash), both)
		}
	}
}

// TestTheFirstPageGroupsStudies: archived ones are apart, and a card shows its study's tags.
func TestTheFirstPageGroupsStudies(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	for name, seed := range map[string]int{"kept": 1, "shelved": 2} {
		member := store.Member{Spec: store.Spec{Kind: store.Train, Config: map[string]any{"run": map[string]any{"seed": seed}}}}
		if err := lab.SaveStudy(name, "", "", []store.Member{member}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(lab.TagStudy("kept", []string{"for <the> paper"}, nil), lab.ArchiveStudy("shelved", true)); err != nil {
		t.Fatal(err)
	}
	s := startTest(t, Options{Lab: lab.Dir()})
	_, body := get(t, http.DefaultClient, "GET", s.URL(), nil)
	cards, archived, found := strings.Cut(body, "Archived: 1")
	if !found || !strings.Contains(cards, "for &lt;the&gt; paper") || strings.Contains(cards, "study=shelved") || !strings.Contains(archived, "study=shelved") {
		t.Error(body)
	}
}
