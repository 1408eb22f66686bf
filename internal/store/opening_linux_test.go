package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/faulttest"
)

// told reports whether an error says that a call failed: with the system's error, or with SQLite's for it.
func told(err error) bool {
	return errors.Is(err, syscall.EIO) || IsUnusable(err)
}

// isLab checks that a lab opens, has the runs of doneLab and no damage.
func isLab(t *testing.T, what, dir string) {
	t.Helper()
	l, err := Open(dir, Options{})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer l.Close()
	for n := 1; n <= 2; n++ {
		run, err := l.Run(hashOf(n))
		values, _ := l.Values(hashOf(n))
		if err != nil || run.Status != Done || len(values) != 3 {
			t.Errorf("%s: run %d is %s with %d rows, %v", what, n, run.Status, len(values), err)
		}
	}
	if damage, err := l.Damage(); err != nil || damage != nil {
		t.Errorf("%s: %v, %v", what, damage, err)
	}
}

// TestEveryFailedCallOfALabIsTold lets each system call fail by which a lab is made, opened, copied, cleaned up, and by which a run is leased or
// removed. There is an error that says so, or another way; and the lab is whole.
func TestEveryFailedCallOfALabIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(t *testing.T, dir string) error
		around string // calls after whose failure there is another way
		syncs  int    // as many do not matter: SQLite syncs folders, too, and does not ask whether that was done
	}{
		"making": {func(t *testing.T, dir string) error {
			l, err := Open(filepath.Join(dir, "new", "lab"), Options{})
			if err == nil {
				err = l.Close()
			}
			return err
		}, "fstatat getdents64 openat readlinkat unlinkat fstat ftruncate fchown", 2}, // linkat is told
		"opening": {func(t *testing.T, dir string) error {
			l, err := Open(dir, Options{})
			if err == nil {
				err = l.Close()
			}
			return err
		}, "fstatat getdents64 openat readlinkat unlinkat fstat ftruncate fchown", 0},
		"looking": {func(t *testing.T, dir string) error {
			found, readable, err := Foreign(t.Context(), dir)
			if err == nil && (len(found) > 0 || !readable) {
				err = errors.New(fmt.Sprint(found))
			}
			return err
		}, "fstatat openat readlinkat unlinkat fstat ftruncate fchown pwrite64", 0},
		"mending": {func(t *testing.T, dir string) error {
			empty := filepath.Join(dir, "new", "lab")
			if err := errors.Join(os.MkdirAll(empty, 0o777), os.WriteFile(databasePath(empty), nil, 0o666)); err != nil {
				return err
			}
			r, err := OpenReader(empty)
			if err == nil {
				err = r.Close()
			}
			return err
		}, "fstatat getdents64 openat readlinkat unlinkat fstat ftruncate fchown pwrite64", 4},
		"reading": {func(t *testing.T, dir string) error {
			r, err := OpenReader(dir)
			if err == nil {
				_, err = r.List(Filter{})
				err = errors.Join(err, r.Close())
			}
			return err
		}, "fstatat openat readlinkat unlinkat fstat ftruncate fchown pwrite64", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := doneLab(t)
			failures, syncs := 0, 0
			faulttest.EachCall(t, syscall.EIO, func() error { return c.do(t, dir) }, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				switch {
				case err == nil && kind == "fsync":
					syncs++
				case err == nil && !strings.Contains(c.around, kind):
					t.Errorf("%s: no error", call)
				case err != nil && !told(err) && kind != "fstat":
					t.Errorf("%s: %v", call, err)
				case err != nil:
					failures++
				}
				isLab(t, call, dir)
				if name == "making" || name == "mending" { // the next call makes it
					l, err := Open(filepath.Join(dir, "new", "lab"), Options{})
					if err == nil {
						_, err = l.Ensure(spec(1))
						err = errors.Join(err, l.Close())
					}
					if err != nil {
						t.Errorf("%s: then %v", call, err)
					}
					must(t, os.RemoveAll(filepath.Join(dir, "new")))
				}
			})
			if failures < 5 || syncs > c.syncs {
				t.Errorf("%d failures are told, and of fsync %d are not", failures, syncs)
			}
		})
	}
}

// TestEveryFailedCallOfAChangeOfFoldersIsTold does the same where a change of the tables and of folders belong together.
func TestEveryFailedCallOfAChangeOfFoldersIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(l *Lab, to string) error
		check func(t *testing.T, what string, l *Lab, err error)
	}{
		"removing": {func(l *Lab, _ string) error { return l.Remove(hashOf(1)) }, func(t *testing.T, what string, l *Lab, err error) {
			must(t, l.finishRemovals())
			_, gone := os.Stat(l.RunDir(hashOf(1)))
			_, run := l.Run(hashOf(1))
			if (run == nil) == (gone != nil) {
				t.Errorf("%s: the run: %v, its folder: %v", what, run, gone)
			}
		}},
		"collecting": {func(l *Lab, _ string) error {
			if err := os.MkdirAll(l.RunDir(hashOf(7)), 0o777); err != nil {
				return err
			}
			_, err := l.GC()
			return err
		}, func(t *testing.T, what string, l *Lab, err error) {
			if _, err := l.GC(); err != nil {
				t.Errorf("%s: then %v", what, err)
			}
			if left, _, err := l.Leftovers(); err != nil || len(left) != 0 {
				t.Errorf("%s: left over: %q, %v", what, left, err)
			}
		}},
		"leaseing": {func(l *Lab, _ string) error {
			_, _, err := l.Lease(spec(5))
			return err
		}, func(t *testing.T, what string, l *Lab, err error) {
			if held := l.Held(hashOf(5)); (held == nil || IsNotFound(held)) != (err != nil) {
				t.Errorf("%s: %v, and then %v", what, err, held)
			}
			if err == nil {
				_, folder := os.Stat(l.RunDir(hashOf(5)))
				must(t, errors.Join(folder, l.Cancel(hashOf(5))))
			}
		}},
		"starting over": {func(l *Lab, _ string) error {
			_, _, err := l.Again(spec(2))
			return err
		}, func(t *testing.T, what string, l *Lab, err error) {
			if held := l.Held(hashOf(2)); (held == nil) != (err != nil) {
				t.Errorf("%s: %v, and then %v", what, err, held)
			}
			must(t, l.finishRemovals())
			old, gone := os.Stat(filepath.Join(l.RunDir(hashOf(2)), "old"))
			run, found := l.Run(hashOf(2))
			values, _ := l.Values(hashOf(2))
			if found != nil || run.Status == Done && (gone != nil || len(values) != 3) || run.Status != Done && (gone == nil || len(values) != 0) {
				t.Errorf("%s: the run is %s with %d values and %v, %v", what, run.Status, len(values), old, found)
			}
			if run.Status == Running {
				must(t, l.Cancel(hashOf(2)))
			}
			if run.Status != Done { // as it was
				c := leased(t, l, spec(2))
				must(t, errors.Join(c.AppendEpoch(0, epochRows(3, 0)), os.WriteFile(filepath.Join(c.Dir, "old"), nil, 0o666), c.Finish()))
			}
		}},
		"copying": {func(l *Lab, to string) error {
			s, err := l.Snapshot(to)
			if err == nil {
				err = s.Finish()
			}
			return err
		}, func(t *testing.T, what string, l *Lab, err error) {}},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, doneLab(t))
			to := t.TempDir()
			failures, syncs := 0, 0
			faulttest.EachCall(t, syscall.EIO, func() error { return c.do(l, to) }, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				switch {
				case err == nil && kind == "fsync" && name == "copying":
					if syncs++; syncs > 4 { // SQLite’s own of the folder
						t.Errorf("%s: no error", call)
					}
				case err == nil && (kind == "renameat" || kind == "mkdirat"):
					t.Errorf("%s: no error", call)
				case err != nil && !told(err) && kind != "fstatat" && kind != "fstat": // what cannot be looked at counts as missing, or as there
					t.Errorf("%s: %v", call, err)
				case err != nil:
					failures++
				}
				c.check(t, call, l, err)
				if other, err := OpenReader(to); name == "copying" && err == nil { // it has its name when it is whole
					if runs, err := other.List(Filter{}); err != nil || len(runs) != 2 {
						t.Errorf("%s: the copy has %d runs, %v", call, len(runs), err)
					}
					must(t, other.Close())
				}
				must(t, errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o777)))
				if again, _, err := l.Lease(spec(1)); name == "removing" && err == nil {
					must(t, again.Finish())
				}
			})
			if failures < 3 {
				t.Errorf("%d failures are told", failures)
			}
		})
	}
}

// TestNoFileOfALabStaysOpen: whatever opens a lab, or fails to, leaves as many files open as there were.
func TestNoFileOfALabStaysOpen(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(list)
	}
	lab := doneLab(t)
	for name, do := range map[string]func() error{
		"reading": func() error {
			r, err := OpenReader(lab)
			if err == nil {
				_, err = r.List(Filter{})
				err = errors.Join(err, r.Close())
			}
			return err
		},
		"watching": func() error {
			r, err := OpenReader(lab)
			if err != nil {
				return err
			}
			w, err := r.Watch()
			if err == nil {
				err = w.Close()
			}
			return errors.Join(err, r.Close())
		},
		"writing": func() error {
			l, err := Open(lab, Options{})
			if err == nil {
				err = errors.Join(l.SetLabel(hashOf(1), "words"), l.Close())
			}
			return err
		},
		"mending": func() error {
			dir := t.TempDir()
			must(t, os.WriteFile(databasePath(dir), nil, 0o666))
			r, err := OpenReader(dir)
			if err == nil {
				err = r.Close()
			}
			return err
		},
		"copying": func() error {
			l, err := Open(lab, Options{})
			if err != nil {
				return err
			}
			s, err := l.Snapshot(t.TempDir())
			if err == nil {
				err = s.Finish()
			}
			return errors.Join(err, l.Close())
		},
		"another program's": func() error {
			dir := t.TempDir()
			execFile(t, dir, "CREATE TABLE mine (x)")
			_, reading := OpenReader(dir)
			_, writing := Open(dir, Options{})
			if reading == nil || writing == nil {
				return errors.New("it is opened")
			}
			return nil
		},
		"a foreign view": func() error {
			dir := tamper(t, "CREATE VIEW mine AS SELECT 1")
			_, reading := OpenReader(dir)
			_, writing := Open(dir, Options{})
			if reading == nil || writing == nil {
				return errors.New("it is opened")
			}
			return nil
		},
	} {
		must(t, do()) // what is opened once for all
		before := count()
		must(t, do())
		if after := count(); after != before {
			t.Errorf("%s: %d files were open, and then %d", name, before, after)
		}
	}
}

// TestPreparingIsWholeOrNone lets each call to a database fail while it is made ready: the error says why, and the next one makes it ready.
func TestPreparingIsWholeOrNone(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) (path string){
		"new":   func(t *testing.T) string { return databasePath(t.TempDir()) },
		"there": func(t *testing.T) string { return databasePath(doneLab(t)) },
		"old": func(t *testing.T) string {
			path := databasePath(t.TempDir())
			db, err := openDatabase(path, writing)
			must(t, err)
			must(t, migrate(db, path, steps()[:readable]))
			must(t, db.Close())
			return path
		},
	} {
		path := make(t)
		c, err := connector(path, writing)
		must(t, err)
		f := &failing{Connector: c}
		l := &Lab{Reader: &Reader{}}
		var db *sql.DB
		f.each(t, l, name, func() error {
			if db != nil {
				must(t, db.Close())
			}
			db = sql.OpenDB(f)
			db.SetMaxOpenConns(1)
			if name != "there" {
				for _, suffix := range []string{"", "-wal", "-shm"} {
					must(t, os.RemoveAll(path+suffix))
				}
				path2 := make(t)
				must(t, os.MkdirAll(filepath.Dir(path), 0o777))
				if name == "old" {
					must(t, copyFile(path, path2))
				}
			}
			return prepare(db, path)
		}, func(what string, err error) {
			if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s fails: %v", what, err)
			}
		})
		if v, err := version(db, path, len(steps())); err != nil || v != len(steps()) {
			t.Errorf("%s: schema %d, %v", name, v, err)
		}
		must(t, db.Close())
	}
}
