package cli

import (
	"slices"
	"testing"

	"collapse.example/collapse/internal/serve"
	"collapse.example/collapse/internal/store"
)

func TestThePageDescribesARun(t *testing.T) {
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	run, err := lab.Ensure(store.Spec{Kind: store.Train, Config: map[string]any{"run": map[string]any{"seed": 1}}, Tags: []string{"old"}})
	if err != nil {
		t.Fatal(err)
	}
	control := labControl{lab: lab}
	label, tag, untag, bad := "mine", "new", "old", "two\nlines"
	if err := control.Describe(run.Hash, serve.Description{Label: &label, Tag: &tag, Untag: &untag}); err != nil {
		t.Fatal(err)
	}
	if run, err = lab.Run(run.Hash); err != nil || run.Label != "mine" || !slices.Equal(run.Tags, []string{"new"}) {
		t.Errorf("%q %q %v", run.Label, run.Tags, err)
	}
	if control.Describe(run.Hash, serve.Description{Tag: &bad}) == nil {
		t.Error("a tag of two lines is taken")
	}
}
