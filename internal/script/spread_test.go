package script

import (
	"math"
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
)

// TestTheTimeOfReportsThatAreReadTogether is spread evenly over them, and adds up to the time that passed.
func TestTheTimeOfReportsThatAreReadTogether(t *testing.T) {
	const passed = 600 * time.Millisecond
	j := &job{marked: time.Now().Add(-passed), lines: &lines{}}
	sum := 0.0
	for i, left := range []string{`{"epoch": 2}` + "\n" + `{"epoch": 4}`, `{"epoch": 4}`, ""} {
		j.lines.rest = []byte(left)
		epoch := []int{1, 2, 4}[i]
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
