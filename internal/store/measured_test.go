package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestValuesMeasuredLater: what a finished run has stays, what it lacks comes with where it is from, and a second call changes nothing.
func TestValuesMeasuredLater(t *testing.T) {
	l := open(t, t.TempDir())
	c, _, err := l.Lease(spec(1))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	key := func(name string) Key { return Key{"epoch", "train", "", name} }
	must(c.AppendEpoch(2, []Value{{Key: key("nc1"), Step: 2, Value: 0.5}, {Key: key("rank"), Step: 2, Missing: "too much work"}, {Key: key("cdnv"), Step: 2, Missing: "one class"}}))
	now := time.UnixMilli(1_000_000)
	l.now = func() time.Time { return now }
	rows := []Value{{Key: key("nc1"), Step: 2, Value: 9}, {Key: key("rank"), Step: 2, Value: 3}, {Key: key("cdnv"), Step: 2, Missing: "another reason"},
		{Key: key("vci"), Step: 2, Value: 0.25}, {Key: key("vci"), Step: 1, Value: 0.75}, {Key: key("seli"), Step: 2, Missing: "no classifier"}}
	var open *NotDoneError
	if n, err := l.AddMeasured(c.Hash, rows, Program{}, "x"); !errors.As(err, &open) || n != 0 {
		t.Fatalf("of a run under way: %d, %v", n, err)
	}
	must(c.Finish())
	before, err := l.Values(c.Hash)
	must(err)
	if len(before) != 3 {
		t.Fatalf("a run under way got values: %v", before)
	}
	for turn, want := range []int{3, 0} {
		now = now.Add(time.Hour)
		n, err := l.AddMeasured(c.Hash, rows, Program{Version: "v7", Kernel: "generic"}, "features/2")
		if must(err); n != want {
			t.Errorf("turn %d adds %d values; wanted %d", turn, n, want)
		}
		found, err := l.Values(c.Hash)
		must(err)
		var text []string
		for _, v := range found {
			text = append(text, fmt.Sprintf("%s %d %g %s", v.Measure, v.Step, v.Value, v.Missing))
		}
		if want := []string{"cdnv 2 0 one class", "nc1 2 0.5 ", "rank 2 3 ", "seli 2 0 no classifier", "vci 1 0.75 ", "vci 2 0.25 "}; !slices.Equal(text, want) {
			t.Errorf("turn %d: %q; wanted %q", turn, text, want)
		}
		if rows, err := l.RowsPerStep(c.Hash, "epoch", []string{}); err != nil || len(rows) != 1 || rows[2] != 3 {
			t.Errorf("turn %d: the run itself has rows %v, %v", turn, rows, err)
		}
		from, err := l.MeasuredLater(c.Hash)
		must(err)
		at := time.UnixMilli(1_000_000).Add(time.Hour)
		if want := []Measured{{1, 1, at, "v7", "generic", "features/2"}, {2, 2, at, "v7", "generic", "features/2"}}; !slices.Equal(from, want) {
			t.Errorf("turn %d: from %v; wanted %v", turn, from, want)
		}
	}
	// An attempt that computes epoch 2 again takes its values and their origin away, those of epoch 1 stay.
	must(l.Reopen(c.Hash, func() error { return nil }))
	c, _, err = l.Lease(spec(1))
	must(err)
	must(c.DeleteAfter(1))
	if from, err := l.MeasuredLater(c.Hash); err != nil || len(from) != 1 || from[0].Epoch != 1 {
		t.Errorf("from %v, %v", from, err)
	}
	if n, err := l.AddMeasured("nosuch", rows, Program{}, "x"); !IsNotFound(err) || n != 0 {
		t.Errorf("of no run: %d, %v", n, err)
	}
}
