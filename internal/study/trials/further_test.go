package trials

import (
	"testing"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// TestWhatGoesOnFromATrial is told beside what it has reached, in whatever order the runs are read.
func TestWhatGoesOnFromATrial(t *testing.T) {
	at := func(epochs int, s store.Status, reached int) Row {
		return Row{Trial: study.Trial{Role: study.RoleTrial, Epochs: epochs}, Status: s, Reached: reached}
	}
	first, second, third := at(4, store.Done, 4), at(12, store.Done, 12), at(36, store.Running, 20)
	for _, order := range [][]Row{{first, second, third}, {third, second, first}, {second, third, first}, {third, first, second}, {first, third, second}} {
		var f Found
		for _, r := range order {
			f.take(r)
		}
		if len(f.Rows) != 1 || f.Rows[0].Epochs != 12 || f.Rows[0].Further == nil || f.Rows[0].Further.Epochs != 36 || f.Rows[0].Further.Reached != 20 {
			t.Errorf("%+v", f.Rows)
		}
	}
	for _, c := range [][]Row{{first, second}, {at(36, store.Done, 36), at(12, store.Interrupted, 5)}, {at(4, store.Running, 2)}, {at(4, store.Running, 2), at(12, store.Pending, 0)}} {
		var f Found
		for _, r := range c {
			f.take(r)
		}
		if f.Rows[0].Further != nil {
			t.Errorf("%+v goes on with %+v", f.Rows[0], f.Rows[0].Further)
		}
	}
}
