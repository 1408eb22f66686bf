//go:build unix

package cli

import (
	"os"
	"strings"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestStatusSaysWhatAStudyWaitsFor: for another study, or for somebody to continue it; one that has ended or runs waits for nothing.
func TestStatusSaysWhatAStudyWaitsFor(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	l, err := store.Open(lab, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	member := func(config string) []store.Member {
		return []store.Member{{Spec: store.Spec{Kind: store.Solve, Config: []byte(config)}}}
	}
	for name, config := range map[string]string{"waits": `{"x":1}`, "other": `{"x":2}`} {
		if err := l.SaveStudy(name, "", "", member(config)); err != nil {
			t.Fatal(err)
		}
	}
	status := func(name string) string {
		out, _ := called(t, 0, "--lab", lab, "study", "status", name)
		return out
	}
	if out := status("mine"); strings.Contains(out, "none of its runs") {
		t.Errorf("it has ended: %s", out)
	}
	if out := status("waits"); !strings.Contains(out, "none of its runs is computed now; unless a process has it open for workers, continue with: collapse --lab "+lab+" study resume waits\n") {
		t.Error(out)
	}
	lease, _, err := l.Lease(store.Spec{Kind: store.Solve, Config: []byte(`{"x":2}`)})
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Interrupt()
	if out := status("waits"); !strings.Contains(out, "none of its runs is computed now: the lab computes other first (0 of 1 runs done)\n") {
		t.Error(out)
	}
	if out := status("other"); strings.Contains(out, "none of its runs") {
		t.Errorf("it runs: %s", out)
	}
}

// TestStatusOfTheOnlyStudy: its name may be left out; of several it is asked for, and without one it is said how to make it.
func TestStatusOfTheOnlyStudy(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	called(t, 0, "--lab", lab, "study", "rm", "mine")
	if _, errs := called(t, 2, "--lab", lab, "study", "status"); !strings.Contains(errs, "this lab has no study; `collapse study run FILE` makes one") {
		t.Error(errs)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	if out, _ := called(t, 0, "--lab", lab, "study", "status"); !strings.HasPrefix(out, "mine: done;") {
		t.Error(out)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(scriptGrid, `name = "mine"`, "name = \"other\"", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	if _, errs := called(t, 2, "--lab", lab, "study", "status"); !strings.Contains(errs, "which of 2 studies? `collapse study list` shows them; the newest is other") {
		t.Error(errs)
	}
}
