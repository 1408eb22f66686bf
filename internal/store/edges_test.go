package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDatabasesThatOthersMakeStay: what a killed process of this host left of a new lab goes; what a living one makes, and what is called otherwise, stays.
func TestDatabasesThatOthersMakeStay(t *testing.T) {
	dir := t.TempDir()
	made := func(maker any) string { return fmt.Sprint("lab.sqlite", newSuffix, maker) }
	stays := []string{made(fmt.Sprint(os.Getpid(), "-x")), made("x-1"), made(""), "other" + newSuffix + "4194304-x"}
	for _, name := range append([]string{made("4194304-a"), made("4194304-a-wal"), made("4194304")}, stays...) {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	l := open(t, dir)
	slices.Sort(stays)
	got := slices.DeleteFunc(names(t, dir), func(name string) bool { return !strings.Contains(name, newSuffix) })
	if !slices.Equal(got, stays) {
		t.Errorf("%q stay, want %q", got, stays)
	}
	removeDatabase(filepath.Join(dir, made("x-1")))
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		must(t, os.WriteFile(filepath.Join(dir, "x"+suffix), nil, 0o666))
	}
	removeDatabase(filepath.Join(dir, "x"))
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, "x") || name == made("x-1") {
			t.Errorf("%s is left of a database that was removed", name)
		}
	}
	sweepNew(filepath.Join(dir, "missing", "lab.sqlite"))
	must(t, l.Moved())
}

// TestWhatIsEmpty: a file of no bytes and one that is missing; a database without tables, if it can be asked.
func TestWhatIsEmpty(t *testing.T) {
	dir := t.TempDir()
	must(t, errors.Join(os.WriteFile(filepath.Join(dir, "empty"), nil, 0o666), os.WriteFile(filepath.Join(dir, "full"), []byte("x"), 0o666)))
	for name, want := range map[string]bool{"empty": true, "missing": true, "full": false, "full/x": false} {
		if got := emptyOrMissing(filepath.Join(dir, name)); got != want {
			t.Errorf("%s is empty: %v", name, got)
		}
	}
	db, err := openDatabase(filepath.Join(dir, "empty"), writing)
	must(t, err)
	before := isEmpty(db)
	_, err = db.Exec("CREATE TABLE x (y)")
	must(t, err)
	after := isEmpty(db)
	must(t, db.Close())
	if !before || after || isEmpty(db) {
		t.Errorf("a new database is empty: %v, then: %v, closed: %v", before, after, isEmpty(db))
	}
	if _, err := version(db, "p", 1); err == nil || !strings.HasPrefix(err.Error(), "store: p: ") {
		t.Errorf("a closed database: %v", err)
	}
}

// TestALabOfNoSchemaIsLeftAlone: a file that calls itself a lab and has other tables is refused before it is changed.
func TestALabOfNoSchemaIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	execFile(t, dir, fmt.Sprintf("PRAGMA application_id = %d; CREATE TABLE x (y)", applicationID))
	before, err := os.ReadFile(databasePath(dir))
	must(t, err)
	var foreign *SchemaError
	if _, err := Open(dir, Options{}); !errors.As(err, &foreign) || foreign.Schema != 0 {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(databasePath(dir)); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
}

// TestDamageIsTold: SQLite's complaints about a file are passed on, and a sound one has none.
func TestDamageIsTold(t *testing.T) {
	l := open(t, t.TempDir())
	if found, err := l.Damage(); found != nil || err != nil {
		t.Errorf("a sound file: %q, %v", found, err)
	}
	query(t, l, "PRAGMA writable_schema = ON")
	query(t, l, "UPDATE sqlite_schema SET sql = replace(sql, 'label      TEXT    NOT NULL', 'label      TEXT    NOT NULL CHECK (label <> '''')') WHERE name = 'run'")
	must(t, l.Close())
	db, err := openDatabase(l.path, writing)
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	r := newReader(l.dir, l.path, db, len(steps()))
	for n := 1; n <= 2; n++ {
		for _, text := range []string{"PRAGMA ignore_check_constraints = ON", fmt.Sprintf("INSERT INTO run (hash, kind, config, status, created) VALUES ('%s', 'train', '{}', 'done', 0)", hashOf(n)), "PRAGMA ignore_check_constraints = OFF"} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := r.Damage(); err != nil || len(found) != n || !strings.Contains(found[0], "CHECK constraint failed in run") {
			t.Errorf("%d rows that break a rule: %q, %v", n, found, err)
		}
	}
	l.Reader.db, l.db = sql.OpenDB(&unclosed{}), sql.OpenDB(&unclosed{}) // for the end of the test
}

// TestSumsOfManyRuns: of one series alone; 0 for a run that lacks it.
func TestSumsOfManyRuns(t *testing.T) {
	l := open(t, t.TempDir())
	key := Key{"spent", "", "", "core_seconds"}
	for n := 1; n <= 2; n++ {
		c := leased(t, l, spec(n))
		for step := int64(1); step <= 3; step++ {
			must(t, c.AppendEpoch(step, []Value{{Key: key, Step: step, Value: float64(n) * float64(step)}, {Key: Key{"spent", "", "", "other"}, Step: step, Value: 100}}))
		}
	}
	inState(t, l, 3, "done")
	got, err := l.SumEach([]string{hashOf(2), "nobody", hashOf(3), hashOf(1)}, key)
	if err != nil || !slices.Equal(got, []float64{12, 0, 0, 6}) {
		t.Errorf("%v, %v", got, err)
	}
	p, err := l.Progress(nil)
	must(t, err)
	run, err := l.Ensure(spec(9))
	must(t, err)
	if now, err := l.Progress([]string{run.Hash}); err != nil || now.Newest <= p.Newest || now.Runs != p.Runs+1 || len(now.Active) != len(p.Active)+1 {
		t.Errorf("%+v, and with another run %+v, %v", p, now, err)
	}
}

// asking is a connector that calls before each time a query is prepared.
type asking struct {
	driver.Connector
	before func(query string)
}

func (a *asking) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := a.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return askingConn{c.(sqliteConn), a}, nil
}

type askingConn struct {
	sqliteConn
	a *asking
}

func (c askingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.a.before(query)
	return c.sqliteConn.PrepareContext(ctx, query)
}

// TestTheFirstOfTwoPreparedStatementsStays: of two that prepare the same query at once, both use the first statement, and the other is closed.
func TestTheFirstOfTwoPreparedStatementsStays(t *testing.T) {
	path := databasePath(doneLab(t))
	inner, err := connector(path, writing)
	must(t, err)
	a := &asking{inner, func(string) {}}
	r := newReader(filepath.Dir(path), path, sql.OpenDB(a), len(steps()))
	defer r.Close()
	const question = "SELECT count(*) FROM run"
	var first *sql.Stmt
	a.before = func(string) {
		a.before = func(string) {}
		first, err = r.prepared(question)
		must(t, err)
	}
	second, err := r.prepared(question)
	must(t, err)
	again, err := r.prepared(question)
	if first == nil || second != first || again != first || err != nil {
		t.Errorf("%p, %p and %p, %v", first, second, again, err)
	}
	var n int
	if err := second.QueryRow().Scan(&n); err != nil || n != 2 {
		t.Errorf("%d runs, %v", n, err)
	}
}

// TestNewNamesAreRead: a reader that knows the names of a lab's series learns those that come later.
func TestNewNamesAreRead(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	for step, measure := range []string{"b", "c", "a"} {
		must(t, c.AppendEpoch(int64(step), []Value{{Key: Key{Series: "epoch", Measure: measure}, Step: int64(step), Value: 1}}))
		values, err := l.Values(c.Hash)
		must(t, err)
		var got []string
		for _, v := range values {
			got = append(got, fmt.Sprint(v.Measure, v.Step))
		}
		if want := []string{"b0", "b0 c1", "a2 b0 c1"}[step]; strings.Join(got, " ") != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
}
