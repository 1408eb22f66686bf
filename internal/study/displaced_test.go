package study

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestDisplaced counts what was begun, and offers the line by which other code counts only if runs have that identity.
func TestDisplaced(t *testing.T) {
	before := []store.StudyRun{{Hash: "a", Status: store.Pending}, {Hash: "b", Status: store.Pending}}
	if words := Displaced("s", before, nil, false); words != "" {
		t.Errorf("nobody has begun them: %s", words)
	}
	before[1].Status = store.Interrupted
	if words := Displaced("s", before, nil, false); !strings.HasPrefix(words, "1 run of another version of s, whose settings the file does not ask for any more, is no longer part of it") || strings.Contains(words, "same_as") {
		t.Error(words)
	}
	if words := Displaced("s", before, nil, true); !strings.Contains(words, ", would no longer be part of it; the lab keeps it (collapse runs list), and it would count again once") {
		t.Error(words)
	}
	final := []store.StudyRun{{Hash: "c", Status: store.Done, Payload: trialMark + `{"role":"best"}` + "\n"}}
	if words := Displaced("s", final, nil, false); words != "1 final run of s counts no more, as seeds, final settings or the best are others now; the lab keeps them (collapse runs list)" {
		t.Error(words)
	}
	if words := Displaced("s", append(final, before...), nil, false); !strings.HasPrefix(words, "2 runs of another version of s") {
		t.Error(words)
	}
	if words := Displaced("s", before, []Item{{Hash: "b"}}, false); words != "" {
		t.Errorf("it stays: %s", words)
	}
}
