package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// crowded is a lab with one run of each state: 1 done, 2 interrupted, 3 running, 4 failed, 5 pending; 2 and 4 are computed elsewhere, and the
// folder of 6 is being removed.
func crowded(t *testing.T) *Lab {
	t.Helper()
	l := open(t, t.TempDir())
	for n := 1; n <= 4; n++ {
		c := leased(t, l, spec(n))
		must(t, c.AppendEpoch(1, rowsOf(n, 1)))
		must(t, []func() error{c.Finish, c.Interrupt, func() error { return nil }, func() error { return c.Fail(errors.New("reason")) }}[n-1]())
	}
	must(t, l.SaveStudy("study", "title", "source", []Member{{Spec: spec(1)}, {Spec: spec(5)}}))
	must(t, errors.Join(l.SetRemote(hashOf(2), 7), l.SetRemote(hashOf(4), 7), l.SetRemote(hashOf(3), 7)))
	_, err := l.db.Exec("INSERT INTO removal (folder) VALUES (?)", hashOf(6))
	must(t, err)
	return l
}

// statesOf are the states of all runs.
func statesOf(t *testing.T, r *Reader) map[string]Status {
	t.Helper()
	runs, err := r.List(Filter{})
	must(t, err)
	states := map[string]Status{}
	for _, run := range runs {
		states[run.Hash] = run.Status
	}
	return states
}

// TestASnapshotIsACopyInWhichNobodyWorks: runs that are worked on are interrupted there, whose results are elsewhere is forgotten but for runs that
// have ended, and the original stays as it was. What is dropped or restarted is so in the copy alone, which is a lab when it has been finished.
func TestASnapshotIsACopyInWhichNobodyWorks(t *testing.T) {
	l := crowded(t)
	before := tables(t, l)
	dir := t.TempDir()
	s, err := l.Snapshot(dir)
	must(t, err)
	want := map[string]Status{hashOf(1): Done, hashOf(2): Interrupted, hashOf(3): Interrupted, hashOf(4): Failed, hashOf(5): Pending}
	if got := statesOf(t, s.Reader); !maps.Equal(got, want) {
		t.Errorf("the copy has %v, want %v", got, want)
	}
	for n, remote := range map[int]uint64{1: 0, 2: 0, 3: 0, 4: 7} {
		if got, err := s.Remote(hashOf(n)); err != nil || got != remote {
			t.Errorf("run %d: remote %d, %v, want %d", n, got, err, remote)
		}
	}
	var leases int
	must(t, s.lab.db.QueryRow("SELECT count(*) FROM claim").Scan(&leases))
	if void, err := s.Void(); err != nil || leases != 0 || !maps.Equal(void, map[string]bool{hashOf(6): true}) {
		t.Errorf("%d leases; folders that are being removed: %v, %v", leases, void, err)
	}
	must(t, errors.Join(s.Drop(hashOf(2)), s.Restart(hashOf(1))))
	if err := errors.Join(s.Drop(hashOf(9)), s.Restart(hashOf(9))); !IsNotFound(err) {
		t.Errorf("a run that is not there: %v", err)
	}
	if _, err := OpenReader(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an unfinished copy is a lab: %v", err)
	}
	must(t, os.Mkdir(filepath.Join(dir, "runs"), 0o777))
	must(t, s.Finish())
	reader, err := OpenReader(dir)
	must(t, err)
	if _, err := reader.List(Filter{}); err != nil {
		t.Error(err)
	}
	must(t, reader.Close())
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 2 {
		t.Errorf("reading the copy has left %q, %v; wanted its database and its runs alone", left, err)
	}
	copied := open(t, dir)
	delete(want, hashOf(2))
	want[hashOf(1)] = Pending
	if got := statesOf(t, copied.Reader); !maps.Equal(got, want) {
		t.Errorf("the copy has %v, want %v", got, want)
	}
	for n, rows := range map[int]int{1: 0, 2: 0, 3: 2, 4: 2} {
		if v, err := copied.Values(hashOf(n)); err != nil || len(v) != rows {
			t.Errorf("run %d has %d rows, %v, want %d", n, len(v), err, rows)
		}
	}
	if run, err := copied.Run(hashOf(1)); err != nil || run.HasEpochs || !run.Finished.IsZero() {
		t.Errorf("the restarted run: %+v, %v", run, err)
	}
	if left, err := copied.removals(); err != nil || len(left) != 0 {
		t.Errorf("folders to be removed in the copy: %v, %v", left, err)
	}
	if after := tables(t, l); after != before {
		t.Errorf("the original has changed:\n%s\nwas\n%s", after, before)
	}
}

// TestASnapshotThatCannotBeMade says why, and leaves nothing that looks like a part of one.
func TestASnapshotThatCannotBeMade(t *testing.T) {
	l := crowded(t)
	dir := t.TempDir()
	part := databasePath(dir) + partSuffix
	must(t, os.WriteFile(part, []byte("in the way"), 0o666))
	if s, err := l.Snapshot(dir); s != nil || err == nil || !strings.Contains(err.Error(), "copying "+databasePath(l.dir)+" to "+part) {
		t.Errorf("something is in the way: %v, %v", s, err)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
	s, err := l.Snapshot(dir)
	must(t, err)
	must(t, os.Mkdir(databasePath(dir), 0o777)) // the name is taken
	must(t, os.WriteFile(filepath.Join(databasePath(dir), "x"), nil, 0o666))
	if err := s.Finish(); err == nil || !strings.Contains(err.Error(), "store: rename ") {
		t.Errorf("the name is taken: %v", err)
	}
	s, err = l.Snapshot(t.TempDir())
	must(t, err)
	must(t, s.Close())
	if err := s.Finish(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a copy that was closed: %v", err)
	}
}

// TestReopenedRunsAreComputedAgain: a finished run becomes interrupted and keeps its rows, others stay what they are, and the folder is tidied while
// nobody can lease the run. A run that is worked on is left alone.
func TestReopenedRunsAreComputedAgain(t *testing.T) {
	l := crowded(t)
	before := changesOfStudies(t, l)
	for n, want := range map[int]Status{1: Interrupted, 2: Interrupted, 4: Failed, 5: Pending} {
		tidied := false
		must(t, l.Reopen(hashOf(n), func() error { tidied = true; return nil }))
		run, err := l.Run(hashOf(n))
		must(t, err)
		values, err := l.Values(hashOf(n))
		if err != nil || run.Status != want || !tidied || n == 1 && !run.Finished.IsZero() || n != 5 && len(values) != 2 {
			t.Errorf("run %d is %s with %d rows, tidied %v, finished %v, %v; want %s", n, run.Status, len(values), tidied, run.Finished, err, want)
		}
	}
	if after := changesOfStudies(t, l); after != before+2 { // runs 1 and 5 are in the study
		t.Errorf("the studies' revision was %d and is %d", before, after)
	}
	never := func() error { t.Error("a folder is tidied"); return nil }
	var held *HeldError
	if err := l.Reopen(hashOf(3), never); !errors.As(err, &held) || !strings.Contains(err.Error(), "is being worked on by process ") {
		t.Errorf("a run that is worked on: %v", err)
	}
	if err := l.Reopen(hashOf(9), never); !IsNotFound(err) || !strings.Contains(err.Error(), "has no run") {
		t.Errorf("a run that is not there: %v", err)
	}
	failed := errors.New("no")
	if err := l.Reopen(hashOf(1), func() error { return failed }); !errors.Is(err, failed) || !strings.Contains(err.Error(), "run "+hashOf(1)[:12]) {
		t.Errorf("a folder that cannot be tidied: %v", err)
	}
}

// TestWhatIsNotVoidStays: a folder that no removal names is left alone, and a run that is not there was not kept.
func TestWhatIsNotVoidStays(t *testing.T) {
	l := crowded(t)
	before := tables(t, l)
	must(t, l.finishRemoval(hashOf(1)))
	if _, err := os.Stat(l.RunDir(hashOf(1))); err != nil || tables(t, l) != before {
		t.Errorf("the folder of a run that stays: %v", err)
	}
	for n, c := range map[int]struct {
		generation  int64
		kept, there bool
	}{1: {1, true, true}, 2: {0, true, true}, 3: {2, false, true}, 9: {1, false, false}} {
		if kept, there, err := l.Kept(hashOf(n), c.generation); err != nil || kept != c.kept || there != c.there {
			t.Errorf("run %d, generation %d: kept %v, there %v, %v", n, c.generation, kept, there, err)
		}
	}
	few, every, err := l.outline(hashOf(1), 1)
	if err != nil || every != 1 || len(few) != 2 {
		t.Errorf("of a short run with more values than wanted there are %d, one in %d, %v", len(few), every, err)
	}
	newLab(&Reader{}, nil, Options{}).waiting(nil) // nobody wants to know
}

// TestTakeRows: the run has the other's rows of the given series up to a step, in place of its own, each under the epoch of its step.
func TestTakeRows(t *testing.T) {
	l := open(t, t.TempDir())
	from := leased(t, l, spec(1))
	for epoch := int64(1); epoch <= 4; epoch++ {
		rows := rowsOf(1, epoch)
		for _, series := range []string{"lr", "other"} {
			rows = append(rows, Value{Key: Key{Series: series, Measure: "m"}, Step: epoch, Value: float64(epoch)})
		}
		must(t, from.AppendEpoch(epoch, rows))
	}
	to := leased(t, l, spec(2))
	for _, epoch := range []int64{0, 1, 9} { // its own go, whatever their epoch
		must(t, to.AppendEpoch(epoch, []Value{{Key: Key{Series: "own", Measure: "m"}, Step: epoch, Value: 1}}))
	}
	must(t, to.TakeRows(from.Hash, 3, "epoch", "lr"))
	wanted, err := l.Values(from.Hash)
	must(t, err)
	wanted = slices.DeleteFunc(wanted, func(v Value) bool { return v.Series == "other" || v.Step > 3 })
	if got, err := l.Values(to.Hash); err != nil || len(wanted) != 9 || !slices.Equal(got, wanted) {
		t.Errorf("%v, %v; want %v", got, err, wanted)
	}
	byEpoch, err := l.RowsAfter(to.Hash, 0)
	must(t, err)
	for i, e := range byEpoch {
		if len(byEpoch) != 3 || e.Epoch != int64(i+1) || len(e.Rows) != 3 {
			t.Errorf("epoch %d of %d: %v", i, len(byEpoch), e)
		}
	}
	must(t, to.TakeRows(from.Hash, 0, "epoch"))
	if got, err := l.Values(to.Hash); err != nil || len(got) != 0 {
		t.Errorf("no rows are taken: %v, %v", got, err)
	}
}
