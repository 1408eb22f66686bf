package serve

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"collapse.example/collapse/internal/script"
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

// TestTheFirstPageHasAScriptsOwnValues, if it reports none that have a column.
func TestTheFirstPageHasAScriptsOwnValues(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	for _, names := range [][]string{{"f1", "recall", "loss"}, {"accuracy", "f2"}} {
		spec := script.Spec{Command: []string{"sh", "x.sh"}, Epochs: 2, Horizon: 2, Settings: map[string]any{"reports": names[0]}}
		_, config, err := spec.Identity()
		if err != nil {
			t.Fatal(err)
		}
		lease, _, err := lab.Lease(store.Spec{Kind: store.Script, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range int64(2) {
			var rows []store.Value
			for i, name := range names {
				rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Split: "test", Measure: name}, Step: epoch + 1, Value: float64(i) + float64(epoch)/4})
			}
			if err := lease.AppendEpoch(epoch+1, rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := lease.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	s := startTest(t, Options{Lab: lab.Dir()})
	_, body := get(t, http.DefaultClient, "GET", s.URL(), nil)
	if !strings.Contains(body, `<th scope="col">reported</th>`) || !strings.Contains(body, "<td>test/f1 0.250, test/loss 2.25</td>") || strings.Contains(body, "f2 1.25") {
		t.Error(body)
	}
}
