package serve

import (
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
