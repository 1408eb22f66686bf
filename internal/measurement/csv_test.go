package measurement

import (
	"errors"
	"runtime"
	"testing"

	"collapse.example/collapse/measure"
)

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestRowsOfManyClassesAreNotHeld: the rows of a million classes are written as they are made. Where the first ones cannot be, no others are.
func TestRowsOfManyClassesAreNotHeld(t *testing.T) {
	r := &measure.Report{PerClass: map[string]measure.Vector{"mean_norm": make(measure.Vector, 1_000_000)}, Margins: make(measure.Vector, 1_000_000)}
	m := &Result{Columns: []Column{NewColumn("features", r)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := m.WriteCSV(fullDisk{})
	runtime.ReadMemStats(&after)
	if err == nil || after.TotalAlloc-before.TotalAlloc > 4<<20 {
		t.Errorf("%d bytes were allocated for rows that nobody takes: %v", after.TotalAlloc-before.TotalAlloc, err)
	}
}
