package serve

import (
	"reflect"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// TestARunThatGrowsIsReadAsAWholeOneIs reads a run after each of its epochs, once by a cache that has the earlier ones and once
// afresh, and the run as it was must not change under its reader.
func TestARunThatGrowsIsReadAsAWholeOneIs(t *testing.T) {
	dir := t.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Config: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	kept := newCache()
	load := func(c *cache, measures []string) judge.Run {
		t.Helper()
		row, err := reader.Run(lease.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if measures == nil {
			run, err := c.load(reader, row)
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		runs, err := c.newest(reader, []store.Run{row}, measures)
		if err != nil {
			t.Fatal(err)
		}
		return runs[0]
	}
	same := func(when string) {
		t.Helper()
		for _, measures := range [][]string{nil, findings.StudyMeasures} {
			if got, want := load(kept, measures), load(newCache(), measures); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: kept %+v\nafresh %+v", when, got, want)
			}
		}
	}
	same("at the start")
	var early judge.Run
	for epoch := int64(1); epoch <= 6; epoch++ {
		rows := epochRows(epoch)
		if epoch > 3 { // a measure that comes later than others
			rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Split: "test", Measure: "loss"}, Step: epoch, Missing: "none"})
		}
		if err := lease.AppendEpoch(epoch, rows); err != nil {
			t.Fatal(err)
		}
		if epoch == 4 {
			continue // two at once
		}
		same("after an epoch")
		if epoch == 2 {
			early = load(kept, nil)
		}
	}
	if n := len(early.Series("train", "loss")); n != 2 || early.LastStep() != 2 {
		t.Errorf("a run read after two epochs now has %d, to epoch %d", n, early.LastStep())
	}
	if err := lease.Interrupt(); err != nil {
		t.Fatal(err)
	}
	again, _, err := lab.Lease(store.Spec{Kind: store.Train, Config: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.DeleteAfter(3); err != nil {
		t.Fatal(err)
	}
	same("after going back")
	if err := again.AppendEpoch(7, epochRows(7)); err != nil {
		t.Fatal(err)
	}
	same("after another attempt")
	if err := again.Finish(); err != nil {
		t.Fatal(err)
	}
	same("at the end")
}
