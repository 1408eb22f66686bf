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
	late := &unclosed{Connector: inner, query: fails} // SQLite opens the file at the first query
	if c, err := (patient{late}).Connect(t.Context()); c != nil || !errors.Is(err, fails) || late.open != 0 || late.made != 2 {
		t.Errorf("it fails at the first query: %v, %v, %d of %d open", c, err, late.open, late.made)
	}
	late.query = errDisk
	if c, err := (patient{late}).Connect(t.Context()); err != nil || c == nil || late.open != 1 { // which the first query of its user meets again
		t.Errorf("another error at the first query: %v, %v", c, err)
	} else {
		must(t, c.Close())
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
	for path, want := range map[string]int{deep: 0, filepath.Join(dir, "x"): 1, filepath.Join(dir, "y", "z", ""): 2} { // folders that get a new name
		synced := 0
		faulttest.EachCall(t, syscall.EIO, func() error { return makeFolders(path) }, func(call string, err error) {
			if strings.HasPrefix(call, "fsync") {
				if synced++; !errors.Is(err, syscall.EIO) {
					t.Errorf("%s, %s: %v", path, call, err)
				}
			}
			if path != deep {
				must(t, errors.Join(os.RemoveAll(filepath.Join(dir, "x")), os.RemoveAll(filepath.Join(dir, "y"))))
			}
		})
		if synced != want {
			t.Errorf("%s: %d folders are synced, want %d", path, synced, want)
		}
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
