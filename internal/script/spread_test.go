package script

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
)

// TestTheTimeOfReportsThatAreReadTogether is spread evenly over them, and adds up to the time that passed.
func TestTheTimeOfReportsThatAreReadTogether(t *testing.T) {
	const passed = 600 * time.Millisecond
	path := filepath.Join(t.TempDir(), eventsFile)
	if err := os.WriteFile(path, []byte(`{"epoch": 1}`+"\n"+`{"epoch": 2}`+"\n"+`{"epoch": 4}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	j := &job{marked: time.Now().Add(-passed), lines: &lines{path: path, file: file}}
	sum := 0.0
	for _, epoch := range []int{1, 2, 4} {
		if _, ok, err := j.lines.next(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		var each []store.Value
		for _, v := range j.rows(nil, epoch) {
			if v.Key == ReportKey {
				each = append(each, v)
			}
		}
		want := passed.Seconds() / 3 / float64(epoch-j.last)
		for _, v := range each {
			if sum += v.Value; math.Abs(v.Value-want) > want/10 {
				t.Errorf("epoch %d took %g s, wanted %g", v.Step, v.Value, want)
			}
		}
		if len(each) != epoch-j.last {
			t.Errorf("epoch %d: %d times", epoch, len(each))
		}
		j.last = epoch
	}
	if math.Abs(sum-passed.Seconds()) > 0.05 {
		t.Errorf("they add up to %g s of %v", sum, passed)
	}
}
