package store

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

// inState leases a run, if need be, and leaves it in a state: "dead" is Running by a process that has ended, "cancelled" Interrupted by a user.
func inState(t *testing.T, l *Lab, n int, state string) (hash string) {
	t.Helper()
	if state == string(Pending) {
		run, err := l.Ensure(spec(n))
		must(t, err)
		return run.Hash
	}
	c := leased(t, l, spec(n))
	must(t, c.AppendEpoch(1, rowsOf(n, 1)))
	switch state {
	case "dead":
		query(t, l, "UPDATE claim SET pid_started = 'long ago' WHERE run = ?", c.run)
	case "cancelled":
		must(t, l.Cancel(c.Hash))
	case string(Done):
		must(t, c.Finish())
	case string(Failed):
		must(t, c.Fail(errDisk))
	case string(Interrupted):
		must(t, c.Interrupt())
	}
	return c.Hash
}

// TestWhatEachCallMakesOfEachState: the state that a run has after a call, or why the call is refused, which then changes nothing. Times are those of
// the lab's clock, and a run that will be gone on with has no end.
func TestWhatEachCallMakesOfEachState(t *testing.T) {
	none := func() error { return nil }
	for call, c := range map[string]struct {
		do   func(l *Lab, n int, hash string) error
		want map[string]string // by state; words of a refusal after "no: "
	}{
		"cancel": {func(l *Lab, _ int, hash string) error { return l.Cancel(hash) }, map[string]string{
			"pending": "interrupted cancelled ended", "running": "interrupted cancelled ended", "dead": "interrupted cancelled ended", "interrupted": "interrupted cancelled ended",
			"done": "no: is done: there is nothing to cancel", "failed": "no: is failed: there is nothing to cancel", "cancelled": "no: is interrupted: there is nothing to cancel"}},
		"release": {func(l *Lab, _ int, hash string) error { return l.Release(hash) }, map[string]string{
			"failed": "interrupted", "interrupted": "interrupted", "cancelled": "interrupted", "dead": "interrupted",
			"pending": "no: is pending: there is nothing to resume", "running": "no: is running: there is nothing to resume", "done": "no: is done: there is nothing to resume"}},
		"reopen": {func(l *Lab, _ int, hash string) error { return l.Reopen(hash, none) }, map[string]string{
			"pending": "pending", "done": "interrupted", "failed": "failed " + errDisk.Error() + " ended", "interrupted": "interrupted ended", "cancelled": "interrupted cancelled ended", "dead": "interrupted",
			"running": "no: is being worked on"}},
		"lease": {func(l *Lab, n int, _ string) error { _, _, err := l.Lease(spec(n)); return err }, map[string]string{
			"pending": "running", "failed": "running", "interrupted": "running", "cancelled": "running", "dead": "running",
			"running": "no: is being worked on", "done": "no: " + ErrDone.Error()}},
		"again": {func(l *Lab, n int, _ string) error { _, _, err := l.Again(spec(n)); return err }, map[string]string{
			"pending": "running", "failed": "running", "interrupted": "running", "cancelled": "running", "dead": "running", "done": "running", "running": "no: is being worked on"}},
		"remove": {func(l *Lab, _ int, hash string) error { return l.Remove(hash) }, map[string]string{
			"pending": "gone", "failed": "gone", "interrupted": "gone", "cancelled": "gone", "dead": "gone", "done": "gone", "running": "no: is being worked on"}},
		"measure": {func(l *Lab, _ int, hash string) error { _, err := l.AddMeasured(hash, nil, Program{}, ""); return err }, map[string]string{
			"done": "done ended", "pending": "no: is pending, not done", "failed": "no: is failed, not done", "interrupted": "no: is interrupted, not done",
			"cancelled": "no: is interrupted, not done", "running": "no: is running, not done", "dead": "no: is running, not done"}},
	} {
		clock := newClock()
		l := openAt(t, t.TempDir(), Options{Now: clock.Now})
		n := 0
		for state, want := range c.want {
			n++
			hash := inState(t, l, n, state)
			before, _ := l.Run(hash)
			clock.pass(time.Second)
			err := c.do(l, n, hash)
			after, missing := l.Run(hash)
			got := strings.Join(strings.Fields(fmt.Sprint(after.Status, " ", after.Error)), " ")
			if !after.Finished.IsZero() {
				got += " ended"
			}
			if IsNotFound(missing) {
				got = "gone"
			}
			if words, refused := strings.CutPrefix(want, "no: "); refused {
				if err == nil || !strings.Contains(err.Error(), words) || fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("%s, %s: %v, and the run is %+v; want %q and %+v", call, state, err, after, words, before)
				}
			} else if err != nil || got != want {
				t.Errorf("%s, %s: %q, %v; want %q", call, state, got, err, want)
			}
			if call == "cancel" && err == nil && !after.Finished.Equal(clock.Now()) || (call == "lease" || call == "again") && err == nil && !after.Started.Equal(clock.Now()) {
				t.Errorf("%s, %s: ended %v, begun %v, and it is %v", call, state, after.Finished, after.Started, clock.Now())
			}
		}
	}
}

// TestVersionsOfAStudy: a run counts for the last program that leased it, unless it has failed or has not begun.
func TestVersionsOfAStudy(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.SaveStudy("s", "", "", members(1, 2, 3, 4, 5, 6)))
	with := func(n int, version string) *Lease {
		s := spec(n)
		s.Program.Version = version
		return leased(t, l, s)
	}
	must(t, errors.Join(with(1, "1").Finish(), with(2, "1").Interrupt(), with(3, "1").Interrupt(), with(4, "1").Fail(errDisk)))
	with(3, "2")
	must(t, errors.Join(with(5, "").Finish(), with(7, "3").Finish()))
	if got, err := l.StudyVersions("s"); err != nil || !maps.Equal(got, map[string]int{"1": 2, "2": 1}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := l.Held(hashOf(3)); !errors.As(err, new(*HeldError)) {
		t.Errorf("a run that is worked on: %v", err)
	}
	if err := l.Held(hashOf(99)); !IsNotFound(err) {
		t.Errorf("a run that is not there: %v", err)
	}
	must(t, l.Held(hashOf(1)))
}

// TestALostLeaseEndsOnce: the first call of a lease that was lost says so, and calling again does nothing; a beat after the end does nothing, either.
func TestALostLeaseEndsOnce(t *testing.T) {
	l := open(t, t.TempDir())
	lost, held := leased(t, l, spec(1)), leased(t, l, spec(2))
	must(t, l.Cancel(lost.Hash))
	if lost.beatIfHeld() || !held.beatIfHeld() {
		t.Error("a lost lease beats, or one that is held does not")
	}
	if err := lost.Finish(); !errors.Is(err, ErrLost) {
		t.Errorf("a lost lease ends with %v", err)
	}
	must(t, errors.Join(lost.Finish(), lost.Interrupt(), held.Finish()))
	before := tables(t, l)
	if lost.beatIfHeld() || held.beatIfHeld() {
		t.Error("a lease that was given up beats")
	}
	if after := tables(t, l); after != before {
		t.Errorf("it beat:\n%s\nwas\n%s", after, before)
	}
	for stale, want := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Minute: 10 * time.Second, 6 * time.Second: time.Second} {
		if got := newLab(&Reader{}, nil, Options{Stale: stale}).beatEvery(); got != want {
			t.Errorf("stale after %v: a beat every %v, want %v", stale, got, want)
		}
	}
}

// TestABeatThatFailsIsTriedAgain: a disk that does not answer once does not end the beating.
func TestABeatThatFailsIsTriedAgain(t *testing.T) {
	f := &failing{}
	l := studied(t, f)
	c := leased(t, l, spec(3))
	f.each(t, l, "beating", c.Beat, func(what string, err error) {
		f.n, f.armed = 0, true
		held := c.beatIfHeld()
		if f.armed = false; !held {
			t.Errorf("%s fails, and the lease is called lost", what)
		}
	})
	select {
	case <-c.Lost():
		t.Error("a lease is lost to a disk that does not answer")
	default:
	}
}

// TestReopeningTellsEveryFailure: of both transactions, and the folder is tidied only after the first.
func TestReopeningTellsEveryFailure(t *testing.T) {
	f := &failing{}
	l := studied(t, f)
	var tidied bool
	f.each(t, l, "reopening", func() error {
		tidied = false
		f.armed = false
		query(t, l, "UPDATE run SET status = 'done' WHERE hash = ?", hashOf(1))
		f.armed = true
		return l.Reopen(hashOf(1), func() error { tidied = true; return nil })
	}, func(what string, err error) {
		run, found := l.Run(hashOf(1))
		if !errors.Is(err, errDisk) || found != nil || tidied && run.Status != Interrupted {
			t.Errorf("%s fails: %v; tidied %v, and the run is %s, %v", what, err, tidied, run.Status, found)
		}
	})
}

// TestRecentRunsLeaveOutTheDead: a run whose process has ended is none of those that run.
func TestRecentRunsLeaveOutTheDead(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.SaveStudy("s", "", "", members(1, 2, 3, 4)))
	for n, state := range map[int]string{1: "running", 2: "dead", 3: "interrupted", 4: "dead"} {
		inState(t, l, n, state)
	}
	for state, want := range map[Status]int{Running: 1, Interrupted: 1, Done: 0} { // those that are stored as interrupted alone: it looks at few runs
		if list, err := l.RecentOfStudy("s", state, 9); err != nil || len(list) != want {
			t.Errorf("%s: %+v, %v; want %d", state, list, err, want)
		}
	}
	for states, want := range map[string]int{"running": 1, "interrupted": 3, "running interrupted": 4, "pending": 0, "": 4} {
		var list []Status
		for _, s := range strings.Fields(states) {
			list = append(list, Status(s))
		}
		if runs, err := l.StudyRuns("s", list...); err != nil || len(runs) != want {
			t.Errorf("%q: %d runs of the study, %v; want %d", states, len(runs), err, want)
		}
	}
	s, err := l.Study("s")
	if err != nil || s.Runs != 4 || s.Open() != 4 || s.Counts[Running] != 1 || s.Counts[Interrupted] != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}
