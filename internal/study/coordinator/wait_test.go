package coordinator

import (
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
)

// TestAProcessThatWaitsSaysForWhat: at once, then when something is new, with the time that is left at the speed that it saw, ever more rarely.
func TestAProcessThatWaitsSaysForWhat(t *testing.T) {
	var w waiting
	start := time.Now()
	state := func(done, running, failed int) []store.Study {
		return []store.Study{{Name: "first", Runs: 8, Counts: map[store.Status]int{store.Done: done, store.Running: running, store.Failed: failed}},
			{Name: "second", Runs: 3, Counts: map[store.Status]int{store.Pending: 3}}}
	}
	for _, c := range []struct {
		at      time.Duration
		studies []store.Study
		want    string
	}{
		{0, state(1, 2, 0), "process 7 coordinates this lab for first (1 of 8 runs done); waiting for it (Ctrl-C stops waiting, not the runs)"},
		{10 * time.Second, state(1, 2, 0), ""},
		{30 * time.Second, state(3, 2, 1), "still waiting for first (3 of 8 runs done, about 1m0s left)"}, // two runs in 30 s, four to go
		{70 * time.Second, state(7, 0, 1), ""},
		{150 * time.Second, state(6, 1, 1), "still waiting for first (6 of 8 runs done, about 30s left)"},
	} {
		now := start.Add(c.at)
		if !w.due(now) || w.next.After(start) && w.due(now.Add(-time.Millisecond)) {
			t.Errorf("%v is not when it speaks: the next time is after %v", c.at, w.next.Sub(start))
		}
		if got := w.line("process 7", c.studies, now); got != c.want {
			t.Errorf("after %v: %q; wanted %q", c.at, got, c.want)
		}
	}
	if got := new(waiting).line("process 7", nil, start); got != "process 7 coordinates this lab; waiting for it (Ctrl-C stops waiting, not the runs)" {
		t.Errorf("nothing is seen: %q", got)
	}
	for range 10 {
		w.line("", nil, start)
	}
	if w.pause != mostPause {
		t.Errorf("it speaks every %v", w.pause)
	}
}
