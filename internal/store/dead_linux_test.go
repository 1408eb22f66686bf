package store

import (
	"fmt"
	"testing"
	"time"
)

func init() { roles["claim"] = leaseAndWait }

// leaseAndWait leases the run of a study, and waits to be killed.
func leaseAndWait(dir string) error {
	l, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if _, _, err := l.Lease(spec(0)); err != nil {
		return err
	}
	fmt.Println("claimed")
	time.Sleep(time.Hour) // without a timer the runtime may end a process in which nothing can happen
	return nil
}

// TestARunWhoseProcessHasEndedIsNotRunning for any reader, though its row says so until another process leases it.
func TestARunWhoseProcessHasEndedIsNotRunning(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, Options{})
	must(t, err)
	defer l.Close()
	run, err := l.Ensure(spec(0))
	must(t, err)
	must(t, l.SaveStudy("s", "", "", members(0)))
	cmd, out := startRole(t, "claim", dir)
	_, err = out.ReadString('\n')
	must(t, err)
	is := func(want, other Status) {
		t.Helper()
		found, err := l.Run(run.Hash)
		must(t, err)
		prefixed, err := l.Find(run.Hash[:8])
		must(t, err)
		listed, err := l.List(Filter{Statuses: []Status{want}, Study: "s"})
		must(t, err)
		none, err := l.List(Filter{Statuses: []Status{other}})
		must(t, err)
		ofStudy, err := l.StudyRuns("s", want)
		must(t, err)
		noneOfStudy, err := l.StudyRuns("s", other)
		must(t, err)
		s, err := l.Study("s")
		must(t, err)
		counts, err := l.RunCounts()
		must(t, err)
		p, err := l.Progress(nil)
		must(t, err)
		if found.Status != want || prefixed.Status != want || len(listed) != 1 || listed[0].Status != want || len(none) != 0 || len(ofStudy) != 1 || len(noneOfStudy) != 0 ||
			s.Counts[want] != 1 || s.Counts[other] != 0 || len(counts) != 1 || counts[0].Status != want || len(p.Active) != 1 || p.Active[0].Status != want {
			t.Errorf("want %s: %s, %s, %d and %d in lists, %d and %d of the study, counts %v and %+v, progress %+v", want, found.Status, prefixed.Status, len(listed), len(none),
				len(ofStudy), len(noneOfStudy), s.Counts, counts, p.Active)
		}
	}
	is(Running, Interrupted)
	must(t, cmd.Process.Kill())
	cmd.Wait()
	is(Interrupted, Running)
	must(t, l.Release(run.Hash)) // as a page's "go on" does
	c, before, err := l.Lease(spec(0))
	if err != nil || before.Status != Interrupted {
		t.Fatalf("%+v, %v", before, err)
	}
	is(Running, Interrupted)
	must(t, c.Finish())
}
