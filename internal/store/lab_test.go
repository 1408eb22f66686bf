package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenMakesALabAndKeepsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "a lab? 100% #1")
	if _, err := OpenReader(dir); err == nil || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "COLLAPSE_LAB") {
		t.Fatalf("reading a lab that is not there: %v", err)
	}
	l, err := Open(dir, Options{})
	must(t, err)
	must(t, leased(t, l, spec(1)).Finish())
	must(t, l.Close())
	r, err := OpenReader(dir)
	must(t, err)
	runs, err := r.List(Filter{})
	must(t, err)
	must(t, r.Close())
	if len(runs) != 1 || runs[0].Status != Done {
		t.Fatalf("runs %+v", runs)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if e.Name() != "runs" && !strings.HasPrefix(e.Name(), "lab.sqlite") {
			t.Errorf("stray %s", e.Name())
		}
	}
}

func TestTheConnectionIsAsPromised(t *testing.T) {
	l := open(t, t.TempDir())
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "foreign_keys": "1", "synchronous": "2", "busy_timeout": "10000", "user_version": fmt.Sprint(len(steps())),
	} {
		var got string
		must(t, l.db.QueryRow("PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
	copied, err := l.Snapshot(t.TempDir())
	must(t, err)
	must(t, copied.Close())
	for name, db := range map[string]*sql.DB{"a lab": l.db, "a copy": copied.lab.db} { // writers wait for each other in this process, not for SQLite
		if n := db.Stats().MaxOpenConnections; n != 1 {
			t.Errorf("%s is written through %d connections", name, n)
		}
	}
	if _, err := l.Reader.db.Exec("DELETE FROM run"); err == nil {
		t.Error("a reader can write")
	}
	if _, err := l.db.Exec("INSERT INTO tag (run, name) VALUES (99, 'x')"); err == nil {
		t.Error("foreign keys are not checked")
	}
}

// TestClosingEndsQueries: also those that still wait for a connection.
func TestClosingEndsQueries(t *testing.T) {
	r := open(t, t.TempDir()).Reader
	must(t, r.ctx.Err())
	must(t, r.Close())
	if r.ctx.Err() == nil {
		t.Error("queries of a closed lab go on")
	}
}

// TestWhyThereIsNoLab: a folder that cannot be looked into is not called one without a lab; a file of SQLite with a version of its own is another
// program's, also if it has no tables yet.
func TestWhyThereIsNoLab(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o666))
	if _, err := OpenReader(filepath.Join(file, "lab")); err == nil || strings.Contains(err.Error(), "there is no lab") || !strings.HasPrefix(err.Error(), "store: ") {
		t.Errorf("a file as a folder: %v", err)
	}
	execFile(t, dir, "PRAGMA user_version = 5")
	for name, open := range map[string]func() error{"reading": func() error { _, err := OpenReader(dir); return err }, "writing": func() error { _, err := Open(dir, Options{}); return err }} {
		if err := open(); err == nil || !strings.Contains(err.Error(), "is a SQLite file of another program") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOwnErrorsKeepTheirWords: what names the run or the study already does not get the name of the file, too.
func TestOwnErrorsKeepTheirWords(t *testing.T) {
	l := open(t, t.TempDir())
	for _, err := range []error{ErrLost, ErrDone, &HeldError{}, &NotFoundError{}, &StudyNotFoundError{}, &NotDoneError{}} {
		if got := l.explain(fmt.Errorf("run: %w", err)); got.Error() != "run: "+err.Error() {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	if err := l.explain(nil); err != nil {
		t.Error(err)
	}
	if err := l.explain(errDisk); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), databasePath(l.dir)) {
		t.Error(err)
	}
}

func execFile(t *testing.T, dir, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "lab.sqlite"))
	must(t, err)
	_, err = db.Exec(query)
	must(t, errors.Join(err, db.Close()))
}

func TestFilesThatAreNoLabOfOurs(t *testing.T) {
	for name, c := range map[string]struct {
		query, words string
	}{
		"newer":           {"PRAGMA user_version = 999", "newer collapse (schema 999"},
		"next":            {fmt.Sprintf("PRAGMA user_version = %d", len(steps())+1), "newer collapse"},
		"another program": {"PRAGMA application_id = 7", "another program"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l, err := Open(dir, Options{})
			must(t, err)
			must(t, l.Close())
			execFile(t, dir, c.query)
			before, err := os.ReadFile(filepath.Join(dir, "lab.sqlite"))
			must(t, err)
			_, err1 := Open(dir, Options{})
			_, err2 := OpenReader(dir)
			for _, err := range []error{err1, err2} {
				if err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "--lab") {
					t.Errorf("got %v", err)
				}
			}
			after, err := os.ReadFile(filepath.Join(dir, "lab.sqlite"))
			must(t, err)
			if string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
	for name, content := range map[string]string{"text": strings.Repeat("no database ", 100), "cut": "SQLite format 3\x00cut"} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "lab.sqlite"), []byte(content), 0o666))
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "lab.sqlite") {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "lab.sqlite")); err != nil || string(got) != content {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
	}
}

// TestMigrate brings files of every earlier schema, and of schemas to come, to the newest.
func TestMigrate(t *testing.T) {
	plan := append(steps(), "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT 'none'", "CREATE TABLE later (x INTEGER)")
	for from := range plan {
		path := filepath.Join(t.TempDir(), "lab.sqlite")
		db, err := openDatabase(path, "_txlock=immediate")
		must(t, err)
		must(t, migrate(db, path, plan[:from]))
		if from > 0 {
			_, err = db.Exec("INSERT INTO run (hash, kind, config, status, created) VALUES ('a', 'train', '{}', 'done', 0)")
			must(t, err)
		}
		broken := append(append([]string{}, plan...), "CREATE TABLE more (y INTEGER)", "NOT SQL")
		if err := migrate(db, path, broken); err == nil {
			t.Fatal("a broken migration went through")
		}
		if v, err := version(db, path, len(plan)); err != nil || v != from {
			t.Fatalf("after a broken migration from %d: schema %d, %v", from, v, err)
		}
		must(t, migrate(db, path, plan))
		must(t, migrate(db, path, plan)) // nothing to do
		if v, err := version(db, path, len(plan)); err != nil || v != len(plan) {
			t.Fatalf("from %d: schema %d, %v", from, v, err)
		}
		var runs int
		must(t, db.QueryRow("SELECT (SELECT count(*) FROM run WHERE note = 'none') + (SELECT count(*) FROM later)").Scan(&runs))
		if runs != min(from, 1) {
			t.Errorf("from %d: %d runs came through", from, runs)
		}
		must(t, db.Close())
	}
}

func TestAReaderNamesAnOlderLab(t *testing.T) {
	dir := t.TempDir()
	path := databasePath(dir)
	db, err := openDatabase(path, "")
	must(t, err)
	_, err = db.Exec(fmt.Sprintf("PRAGMA application_id = %d; CREATE TABLE x (y)", applicationID))
	must(t, errors.Join(err, db.Close()))
	if _, err := OpenReader(dir); err == nil || !strings.Contains(err.Error(), "schema 0, older than") {
		t.Fatalf("got %v", err)
	}
}

func TestWatchSeesCommitsOfOthers(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	r, err := OpenReader(dir)
	must(t, err)
	defer r.Close()
	w, err := r.Watch()
	must(t, err)
	defer w.Close()
	expect := func(want bool) {
		t.Helper()
		if got, err := w.Changed(); err != nil || got != want {
			t.Fatalf("changed: %v, %v, want %v", got, err, want)
		}
	}
	expect(false)
	c := leased(t, l, spec(1))
	expect(true)
	expect(false)
	must(t, c.AppendEpoch(0, epochRows(1, 0)))
	must(t, c.AppendEpoch(1, epochRows(1, 1)))
	expect(true)
	expect(false)
}

// TestTheWriteAheadLogCutAnywhere cuts the log of a crashed writer at many lengths: the lab opens
// with the epochs that are whole in it, and no part of another.
func TestTheWriteAheadLogCutAnywhere(t *testing.T) {
	const epochs, rows = 6, 40
	dir := t.TempDir()
	l := open(t, dir)
	c := leased(t, l, spec(1))
	for e := range int64(epochs) {
		must(t, c.AppendEpoch(e, epochRows(rows, e)))
	}
	base, err := os.ReadFile(databasePath(dir))
	must(t, err)
	wal, err := os.ReadFile(databasePath(dir) + "-wal")
	must(t, err)
	most := -1
	for cut := 0; cut <= len(wal); cut += 1 + len(wal)/97 {
		if cut+len(wal)/97 >= len(wal) {
			cut = len(wal)
		}
		copyDir := t.TempDir()
		must(t, os.WriteFile(databasePath(copyDir), base, 0o666))
		must(t, os.WriteFile(databasePath(copyDir)+"-wal", wal[:cut], 0o666))
		again, err := Open(copyDir, Options{})
		must(t, err)
		values, err := again.Values(c.Hash)
		must(t, err)
		whole := 0
		if run, err := again.Run(c.Hash); err == nil && run.HasEpochs {
			whole = int(run.LastEpoch) + 1
		}
		must(t, again.Close())
		if len(values) != whole*rows || whole < most {
			t.Fatalf("cut at %d of %d: %d values, %d whole epochs, %d before", cut, len(wal), len(values), whole, most)
		}
		most = whole
	}
	if most != epochs {
		t.Fatalf("the uncut log has %d epochs, want %d", most, epochs)
	}
}
