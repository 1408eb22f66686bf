package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unclosed makes connections that cannot be closed without an error, and counts those that are open.
type unclosed struct {
	driver.Connector
	open, made int
	err        error // of closing
	query      error // of a query
}

func (u *unclosed) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := u.Connector.Connect(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	u.open++
	u.made++
	return unclosedConn{c.(sqliteConn), u}, nil
}

type unclosedConn struct {
	sqliteConn
	u *unclosed
}

func (c unclosedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.u.query != nil {
		return nil, c.u.query
	}
	return c.sqliteConn.QueryContext(ctx, query, args)
}

func (c unclosedConn) Close() error {
	c.u.open--
	return errors.Join(c.u.err, c.sqliteConn.Close())
}

// TestClosingTellsWhatFails: of a lab, its reader, a copy and a database that has just been made.
func TestClosingTellsWhatFails(t *testing.T) {
	used := func(path string) *sql.DB {
		inner, err := connector(path, writing)
		must(t, err)
		db := sql.OpenDB(&unclosed{Connector: inner, err: errDisk})
		must(t, db.Ping())
		return db
	}
	path := databasePath(doneLab(t))
	idle := func() *sql.DB { return sql.OpenDB(&unclosed{}) }
	reader := func(db *sql.DB) *Reader { return newReader(filepath.Dir(path), path, db, len(steps())) }
	for name, shut := range map[string]func() error{
		"a reader":        func() error { return reader(used(path)).Close() },
		"a lab's reader":  func() error { return (&Lab{Reader: reader(used(path)), db: idle()}).Close() },
		"a lab's writer":  func() error { return (&Lab{Reader: reader(idle()), db: used(path)}).Close() },
		"a connection":    func() error { return boundedConn{pool: used(path)}.Close() },
		"a copy":          func() error { return (&Snapshot{lab: &Lab{db: used(path)}}).Close() },
		"a new database":  func() error { return closeWhole(used(path), path, nil) },
		"a broken one":    func() error { return closeWhole(used(path), path, errNotMade) },
		"nothing is open": func() error { return errors.Join(errDisk, (&Lab{Reader: reader(idle()), db: idle()}).Close()) },
	} {
		if err := shut(); !errors.Is(err, errDisk) || errors.Is(err, errNotMade) != (name == "a broken one") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errNotMade = errors.New("it was not made")

// TestAClosedLabIsNotWatched, nor does its watch go on.
func TestAClosedLabIsNotWatched(t *testing.T) {
	r, err := OpenReader(doneLab(t))
	must(t, err)
	w, err := r.Watch()
	must(t, err)
	must(t, w.Close())
	if changed, err := w.Changed(); err == nil || changed || !strings.HasPrefix(err.Error(), "store: watching for changes: ") {
		t.Errorf("a watch that was closed: %v, %v", changed, err)
	}
	must(t, r.Close())
	if w, err := r.Watch(); w != nil || err == nil || !strings.HasPrefix(err.Error(), "store: "+r.dir+": ") {
		t.Errorf("%v, %v", w, err)
	}
}

// TestConnectionsWithoutLimitsAreNone: a connection whose limits cannot be set is closed, and is an error.
func TestConnectionsWithoutLimitsAreNone(t *testing.T) {
	inner, err := connector(databasePath(doneLab(t)), writing)
	must(t, err)
	plain := &unclosed{Connector: inner.(patient).Connector.(bounded).Connector}
	if c, err := (bounded{plain}).Connect(t.Context()); err == nil || c != nil || plain.open != 0 {
		t.Errorf("a connection that takes no limits: %v, %v, %d open", c, err, plain.open)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	plain.err = errDisk
	if c, err := (bounded{plain}).Connect(stopped); !errors.Is(err, context.Canceled) || !errors.Is(err, errDisk) || c != nil || plain.open != 0 {
		t.Errorf("a connection that nobody waits for: %v, %v, %d open", c, err, plain.open)
	}
	if _, err := connector("x", "%zz"); err == nil || !strings.HasPrefix(err.Error(), "store: x: ") {
		t.Errorf("parameters that cannot be read: %v", err)
	}
	if _, err := openDatabase("x", "%zz"); err == nil {
		t.Error("a database with such parameters is opened")
	}
	db, err := openDatabase(databasePath(doneLab(t)), writing)
	must(t, err)
	defer db.Close()
	long := "SELECT 1 /*" + strings.Repeat("x", longestQuery) + "*/"
	if _, err := db.Exec(long); err == nil || !IsDamaged(err) {
		t.Errorf("a query of %d bytes: %v", len(long), err)
	}
}

// TestWhereNoFolderIs: a name in a working directory that is gone cannot be found, and says so.
func TestWhereNoFolderIs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	must(t, os.Mkdir(dir, 0o777))
	t.Chdir(dir)
	must(t, os.Remove(dir))
	_, opening := Open("lab", Options{})
	_, connecting := openDatabase("lab.sqlite", writing)
	for name, err := range map[string]error{"opening": opening, "connecting": connecting, "its disk": refuseNetwork("lab")} {
		if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "store: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
