package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { roles["hold"] = holdTheLock }

// holdTheLock takes the lab's write lock, reports that, and keeps it until the process ends.
func holdTheLock(dir string) error {
	db, err := openDatabase(databasePath(dir), writing)
	if err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	fmt.Println("held")
	time.Sleep(time.Hour)
	return nil
}

// TestASuspendedProcessHoldsTheWriteLock stops a process in the middle of a transaction: the error of a user's change names that
// process; a lease's write waits until the process has continued or ended.
func TestASuspendedProcessHoldsTheWriteLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := make(chan *BusyError, 100)
	l, err := Open(dir, Options{Waiting: func(e *BusyError) { told <- e }})
	must(t, err)
	defer l.Close()
	_, err = l.db.Exec("PRAGMA busy_timeout = 100") // each try, not the whole waiting
	must(t, err)
	c := leased(t, l, spec(1))
	cmd, out := startRole(t, "hold", dir)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	must(t, cmd.Process.Signal(syscall.SIGSTOP))
	for _, _, stopped := lockHolder(databasePath(dir)); !stopped; _, _, stopped = lockHolder(databasePath(dir)) {
		time.Sleep(time.Millisecond)
	}
	err = l.Cancel(c.Hash)
	var busy *BusyError
	if want := fmt.Sprintf("kill -CONT %d", cmd.Process.Pid); !errors.As(err, &busy) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "suspended") {
		t.Fatalf("%v; wanted %q in it", err, want)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- c.AppendEpoch(1, epochRows(3, 1)) }()
	for range 3 {
		select {
		case e := <-told:
			if e.Resume != busy.Resume {
				t.Errorf("told %v", e)
			}
		case err := <-wrote:
			t.Fatalf("the write did not wait: %v", err)
		}
	}
	must(t, cmd.Process.Kill())
	must(t, <-wrote)
	must(t, c.Finish())
}

func TestWaitingForTheLockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Open(dir, Options{Context: ctx, Waiting: func(*BusyError) { cancel() }})
	must(t, err)
	defer l.Close()
	c := leased(t, l, spec(1))
	_, err = l.db.Exec("PRAGMA busy_timeout = 100")
	must(t, err)
	cmd, out := startRole(t, "hold", dir)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if err := c.AppendEpoch(1, epochRows(3, 1)); !errors.As(err, &busy) || busy.Resume != "" || !strings.Contains(err.Error(), fmt.Sprintf("process %d (", cmd.Process.Pid)) {
		t.Errorf("%v", err)
	}
	if pid, name, suspended := lockHolder(databasePath(t.TempDir())); pid != 0 || name != "" || suspended {
		t.Errorf("process %d (%s) holds the lock of a file that is not there", pid, name)
	}
}

func TestTheHolderIsReadFromTheTableOfLocks(t *testing.T) {
	const table = `1: FLOCK  ADVISORY  WRITE 11 fd:01:5 0 EOF
2: POSIX  ADVISORY  READ 12 fd:01:5 120 120
2: -> POSIX  ADVISORY  WRITE 13 fd:01:5 120 120
3: POSIX  ADVISORY  WRITE 14 fd:01:5 121 128
4: POSIX  ADVISORY  WRITE 15 fd:01:6 120 120
5: broken
6: POSIX  ADVISORY  WRITE 15 fd:01:x 120 120
7: POSIX  ADVISORY  WRITE 15 fd:01:0 120 120
8: POSIX  ADVISORY  WRITE 16 fd:01:5 0 119
9: FLOCK  ADVISORY  WRITE 17 fd:01:5 120 120
`
	for _, c := range []struct {
		more string
		want int
	}{
		{"", 0},
		{"6: POSIX  ADVISORY  WRITE 16 fd:01:5 120 120\n", 16},
		{"6: POSIX  ADVISORY  WRITE 17 00:2f:5 120 127\n", 17},
		{"6: POSIX  ADVISORY  WRITE 18 00:2f:5 0 EOF\n", 18},
		{"6: POSIX  ADVISORY  WRITE 19 00:2f:7 1073741825 1073741825\n", 19},
		{"6: POSIX  ADVISORY  WRITE 20 00:2f:18446744073709551615 120 120\n", 0}, {"6: POSIX  ADVISORY  WRITE -1 00:2f:5 120 120\n", 0},
		{"6: POSIX  ADVISORY  WRITE 0 00:2f:5 120 120\n", 0}, {"6: POSIX  ADVISORY  WRITE 1 00:2f:5 120 120\n", 1},
		{"6: POSIX  ADVISORY  WRITE 20 00:2f:5 119 120\n", 20},
		{"6: POSIX  ADVISORY  WRITE 20 00:2f:5 120\n", 0},
	} {
		if got := holderIn(strings.NewReader(table+c.more), 5, 7); got != c.want {
			t.Errorf("%q: process %d, wanted %d", c.more, got, c.want)
		}
	}
	if got := holderIn(strings.NewReader("1: POSIX  ADVISORY  WRITE 21 00:2f:18446744073709551615 120 120"), 5, math.MaxUint64); got != 21 {
		t.Errorf("a file with the largest number: process %d", got)
	}
	if got := holderIn(strings.NewReader("1: POSIX  ADVISORY  WRITE 22 00:2f:0 120 120"), inode("missing"), inode("missing")); got != 0 {
		t.Errorf("process %d holds the lock of a file that is not there", got)
	}
	for words, e := range map[string]*BusyError{"process 7": {}, "process 7 (vim)": {Holder: "vim"}} {
		if e.heldBy(7, e.Holder, false); e.Holder != words || e.Resume != "" {
			t.Errorf("%+v, want %s", e, words)
		}
	}
}

// TestTheHolderIsUnknownWithoutFiles: a process that can open no more files cannot ask who holds the lock, and says so in the error of a write.
func TestTheHolderIsUnknownWithoutFiles(t *testing.T) {
	l := open(t, t.TempDir())
	tx, err := l.db.Begin()
	must(t, err)
	defer tx.Rollback()
	pid, _, suspended := lockHolder(l.path)
	release := noDescriptors(t)
	none, name, stopped := lockHolder(l.path)
	kind := mountType("/proc")
	release()
	if pid == 0 || suspended || none != 0 || name != "" || stopped {
		t.Errorf("process %d holds the lock (suspended %v), and without files process %d (%q, suspended %v)", pid, suspended, none, name, stopped)
	}
	if kind != "" || inode(l.path+"-missing") != 0 || inode(l.path) == 0 {
		t.Errorf("without files /proc is %q; a file that is missing is number %d, one that is there %d", kind, inode(l.path+"-missing"), inode(l.path))
	}
	if text := busy(l.path+"-missing", errDisk).Error(); !strings.Contains(text, "another process has been writing") {
		t.Error(text)
	}
}
