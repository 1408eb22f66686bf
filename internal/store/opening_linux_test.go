package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// TestEveryFailedCallOfALabIsTold lets each system call fail by which a lab is made, opened, copied, cleaned up, and by which a run is claimed or
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
		}, "fstatat getdents64 openat readlinkat unlinkat fstat ftruncate fchown", 2},
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
		"claiming": {func(l *Lab, _ string) error {
			_, _, err := l.Claim(spec(5))
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
			failures := 0
			faulttest.EachCall(t, syscall.EIO, func() error { return c.do(l, to) }, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				switch {
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
				if again, _, err := l.Claim(spec(1)); name == "removing" && err == nil {
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

// busyError is what SQLite says while another connection writes.
func busyError(t *testing.T) error {
	t.Helper()
	l := open(t, t.TempDir())
	tx, err := l.db.Begin()
	must(t, err)
	defer tx.Rollback()
	db, err := openDatabase(databasePath(l.dir), writing)
	must(t, err)
	defer db.Close()
	_, err = db.Exec("PRAGMA busy_timeout = 1")
	must(t, err)
	if _, err = db.Begin(); !isBusy(err) {
		t.Fatalf("the lock is held, and there is %v", err)
	}
	return err
}

// busyConn says that the database is busy to a query so many times.
type busyConn struct {
	driver.Connector
	query string
	times int
	err   error
}

func (b *busyConn) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return busyCalls{c.(sqliteConn), b}, nil
}

type busyCalls struct {
	sqliteConn
	b *busyConn
}

func (c busyCalls) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.Contains(query, c.b.query) && c.b.times > 0 {
		c.b.times--
		return nil, c.b.err
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c busyCalls) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.b.query == "begin" && c.b.times > 0 {
		c.b.times--
		return nil, c.b.err
	}
	return c.sqliteConn.BeginTx(ctx, opts)
}

// TestPreparingWaitsForOthers: another process that holds the file is waited for, for so long and no longer; one that writes proves that the file
// can be written to.
func TestPreparingWaitsForOthers(t *testing.T) {
	was := busyWait
	defer func() { busyWait = was }()
	busyWait = 100 * time.Millisecond
	busy := busyError(t)
	for name, c := range map[string]struct {
		query string
		times int
		whole bool
		fails bool
	}{
		"for a moment":      {"journal_mode", 3, false, false},
		"for too long":      {"journal_mode", 1 << 30, false, true},
		"while it migrates": {"begin", 1, false, true},
		"while it writes":   {"begin", 1, true, false},
	} {
		path := databasePath(t.TempDir())
		if c.whole {
			path = databasePath(doneLab(t))
		}
		inner, err := connector(path, writing)
		must(t, err)
		db := sql.OpenDB(&busyConn{inner, c.query, c.times, busy})
		begun := time.Now()
		err = prepare(db, path)
		var told *BusyError
		if errors.As(err, &told) != c.fails || !c.fails && err != nil || c.fails && (told.Path != path || !isBusy(err) || !strings.Contains(err.Error(), "another process has been writing")) {
			t.Errorf("busy %s: %v, and it must fail: %v", name, err, c.fails)
		}
		if spent := time.Since(begun); name == "for too long" && (spent < busyWait || spent > 20*busyWait) {
			t.Errorf("it waits for %v", spent)
		}
		must(t, db.Close())
	}
}

// cannotOpen is SQLite's error for a file that cannot be opened.
func cannotOpen(t *testing.T) error {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "missing", "x"))
	must(t, err)
	defer db.Close()
	_, err = db.Exec("SELECT * FROM sqlite_schema")
	if _, code := codeOf(err); code != sqliteCantOpen {
		t.Fatalf("a file in no folder: %v", err)
	}
	return err
}

// shut is a connector that fails so many times.
type shut struct {
	driver.Connector
	times int
	err   error
	tried int
}

func (s *shut) Connect(ctx context.Context) (driver.Conn, error) {
	if s.tried++; s.tried <= s.times {
		return nil, s.err
	}
	return s.Connector.Connect(ctx)
}

// TestConnectionsWaitForDescriptors: a file that cannot be opened is tried once more, and again while the process has too many files open; then the
// error says that.
func TestConnectionsWaitForDescriptors(t *testing.T) {
	was := busyWait
	defer func() { busyWait = was }()
	busyWait = 100 * time.Millisecond
	fails := cannotOpen(t)
	inner, err := connector(databasePath(doneLab(t)), writing)
	must(t, err)
	inner = inner.(patient).Connector
	for times, want := range map[int]int{0: 1, 1: 2, 2: 2} {
		s := &shut{Connector: inner, times: times, err: fails}
		c, err := patient{s}.Connect(t.Context())
		if (err == nil) != (times < 2) || err != nil && !errors.Is(err, fails) || s.tried != want {
			t.Errorf("it fails %d times: %d tries, %v", times, s.tried, err)
		}
		if err == nil {
			must(t, c.Close())
		}
	}
	other := errors.New("another error")
	s := &shut{Connector: inner, times: 1, err: other}
	if _, err := (patient{s}).Connect(t.Context()); !errors.Is(err, other) || s.tried != 1 {
		t.Errorf("another error is tried again: %d tries, %v", s.tried, err)
	}
	release := noDescriptors(t)
	s = &shut{Connector: inner, times: 1 << 30, err: fails}
	_, err = patient{s}.Connect(t.Context())
	release()
	if !errors.Is(err, syscall.EMFILE) || !errors.Is(err, fails) || s.tried < 3 {
		t.Errorf("too many open files: %d tries, %v", s.tried, err)
	}
	release = noDescriptors(t)
	time.AfterFunc(30*time.Millisecond, release)
	busyWait = 10 * time.Second
	c, err := patient{&shut{Connector: inner, err: fails}}.Connect(t.Context())
	if err != nil {
		t.Fatalf("descriptors are free again: %v", err)
	}
	must(t, c.Close())
	release = noDescriptors(t)
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := (patient{&shut{Connector: inner, times: 1 << 30, err: fails}}).Connect(ctx); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("its context has ended: %v", err)
	}
}

// noDescriptors lets this process open no more files until release is called.
func noDescriptors(t *testing.T) (release func()) {
	t.Helper()
	var old unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	low := old
	low.Cur = 3
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	return func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &old) }
}

// TestNetworkDisksAreRefused takes the disk of this test for one.
func TestNetworkDisksAreRefused(t *testing.T) {
	dir := t.TempDir()
	var s syscall.Statfs_t
	must(t, syscall.Statfs(dir, &s))
	was := networkMagic
	defer func() { networkMagic = was }()
	networkMagic = map[uint32]string{uint32(s.Type): "Test FS"}
	for _, at := range []string{dir, filepath.Join(dir, "new", "lab")} {
		var network *NetworkError
		if _, err := Open(at, Options{}); !errors.As(err, &network) || network.Dir != at || !strings.Contains(err.Error(), "network file system (Test FS)") {
			t.Errorf("%s: %v", at, err)
		}
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
	networkMagic = was
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o666))
	if err := refuseNetwork(filepath.Join(file, "lab")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file as a folder: %v", err)
	}
	if kind := mountType("/proc"); kind != "proc" {
		t.Errorf("/proc is mounted as %q", kind)
	}
	if kind := mountType(filepath.Join(dir, "missing")); kind != "" {
		t.Errorf("what is missing is mounted as %q", kind)
	}
}

// TestFoldersAreMadeFromTheTop: every new folder of a path is made, and a file in the way is an error that names it.
func TestFoldersAreMadeFromTheTop(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	for range 2 {
		must(t, makeFolders(deep))
	}
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o666))
	if _, err := Open(filepath.Join(file, "lab"), Options{}); !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), file) {
		t.Errorf("a file in the way: %v", err)
	}
	if err := syncDir(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
	for errno, tells := range map[syscall.Errno]bool{syscall.EINVAL: false, syscall.ENOTSUP: false, syscall.EPERM: false, syscall.EIO: true, syscall.ENOSPC: true} {
		syncs := 0
		faulttest.EachCall(t, errno, func() error { return syncDir(dir) }, func(call string, err error) {
			if !strings.HasPrefix(call, "fsync") {
				return
			}
			if syncs++; errors.Is(err, errno) != tells {
				t.Errorf("%s, %v: %v", call, errno, err)
			}
		})
		if syncs != 1 {
			t.Errorf("%d syncs", syncs)
		}
	}
	if text := fmt.Sprint(names(t, filepath.Join(dir, "a"))); text != "[b]" {
		t.Errorf("a holds %s", text)
	}
}
