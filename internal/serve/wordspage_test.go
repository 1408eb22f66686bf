package serve

import (
	"net/http"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
)

// TestWordsAreExplained: tiles, dials and verdicts lead to the page of words, to a place that it has.
func TestWordsAreExplained(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	_, words := get(t, http.DefaultClient, "GET", s.URL()+"words", nil)
	for _, e := range explanations {
		if !strings.Contains(words, ` id="`+e.place+`"`) {
			t.Errorf("%s: the page of words has no %s", e.word, e.place)
		}
	}
	for _, c := range []struct {
		template, place string
		data            any
	}{
		{"tiles", "nc4", []tile{{"0.1", "NC4 (train)"}}},
		{"tiles", "figure-word-dilation", []tile{{"0.1", "dilation √NC1 (test)"}}},
		{"dials", "figure-word-nc2", []measurement.ShownDial{{Name: "NC2"}}},
		{"verdict", "cannot-tell", judge.CannotTell},
		{"verdict", "holds", judge.Fails},
	} {
		var b strings.Builder
		if err := templates().ExecuteTemplate(&b, c.template, c.data); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `<a class="word" href="/words#`+c.place+`">`) {
			t.Errorf("%s: %s", c.place, b.String())
		}
	}
	var plain strings.Builder
	if err := templates().ExecuteTemplate(&plain, "tiles", []tile{{"3", "epoch"}}); err != nil || strings.Contains(plain.String(), "<a") {
		t.Errorf("an epoch needs no explanation: %v %s", err, &plain)
	}
}
