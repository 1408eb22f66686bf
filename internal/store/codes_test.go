package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// sqliteErrors are errors that SQLite gives, by what has happened.
func sqliteErrors(t *testing.T) map[string]error {
	t.Helper()
	in := func(parameters, prepare, do string, change func(path string)) error {
		path := filepath.Join(t.TempDir(), "x")
		db, err := sql.Open("sqlite", "file:"+path)
		must(t, err)
		_, err = db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, words TEXT NOT NULL);" + prepare)
		must(t, errors.Join(err, db.Close()))
		if change != nil {
			change(path)
		}
		db, err = openDatabase(path, parameters)
		must(t, err)
		defer db.Close()
		_, err = db.Exec(do)
		return err
	}
	return map[string]error{
		"read-only": in("mode=ro", "", "INSERT INTO t (words) VALUES ('x')", nil),
		"cannot open": in("mode=ro", "", "SELECT * FROM t", func(path string) {
			must(t, os.Remove(path))
		}),
		"corrupt": in("mode=rw", "", "SELECT * FROM t", func(path string) {
			b, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, append(b[:100], bytes.Repeat([]byte{0xff}, len(b)-100)...), 0o666))
		}),
		"too large":      in("mode=rw", "", fmt.Sprintf("INSERT INTO t (words) SELECT hex(zeroblob(%d))", longestRow), nil),
		"mismatch":       in("mode=rw", "", "INSERT INTO t VALUES ('no number', 'x')", nil),
		"not a database": in("mode=rw", "", "SELECT * FROM t", func(path string) { must(t, os.WriteFile(path, bytes.Repeat([]byte("text "), 1000), 0o666)) }),
		"full":           in("mode=rw&_pragma=max_page_count(2)", "", "INSERT INTO t (words) SELECT hex(zeroblob(20000))", nil),
		"null":           in("mode=rw", "", "INSERT INTO t (words) VALUES (NULL)", nil),
	}
}

// TestWhatErrorsSay: each of SQLite's errors, and of the system's, belongs to the disk, to the file's content, to its room, or to none of them.
func TestWhatErrorsSay(t *testing.T) {
	all := sqliteErrors(t)
	all["locked"] = busyError(t)
	for name, err := range all {
		if _, code := codeOf(err); code == 0 {
			t.Fatalf("%s: SQLite says %v", name, err)
		}
	}
	for name, err := range map[string]error{"ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT, "EMFILE": errors.Join(syscall.EMFILE, all["cannot open"]), "ENFILE": errors.Join(syscall.ENFILE, all["cannot open"]),
		"schema": &SchemaError{}, "row": &ForeignRowError{}, "nothing": nil} {
		all[name] = err
	}
	for name, err := range all {
		err = errorf(err)
		got := fmt.Sprint(IsUnusable(err), IsDamaged(err), IsFull(err), isBusy(err), needsWritableDir(err))
		want := map[string]string{
			"read-only": "true false false false true", "cannot open": "true false false false true", "corrupt": "false true false false false", "too large": "false true false false false",
			"mismatch": "false true false false false", "not a database": "false true false false false", "full": "false false true false false", "locked": "false false false true false",
			"ENOSPC": "false false true false false", "EDQUOT": "false false true false false", "EMFILE": "false false false false true", "ENFILE": "false false false false true",
			"schema": "false true false false false", "row": "false true false false false"}[name]
		if want == "" {
			want = "false false false false false"
		}
		if got != want {
			t.Errorf("%s (%v): unusable, damaged, full, busy, needs a folder: %s; want %s", name, err, got, want)
		}
	}
}

// errorf is an error as callers of this package see it.
func errorf(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %w", err)
}

// TestErrorsSayWhatToDo: the words of errors that a user sees.
func TestErrorsSayWhatToDo(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	_, err := l.Run(hashOf(2))
	_, study := l.Study("none")
	for _, e := range []struct {
		err  error
		want []string
	}{
		{err, []string{"store: the lab " + l.dir + " has no run \"" + hashOf(2) + "\"", "collapse runs list"}},
		{study, []string{"the lab " + l.dir + ` has no study "none"`, "study list", "study run FILE"}},
		{&BusyError{Path: "p", cause: errDisk}, []string{"store: p: another process has been writing for 10s; try again: the disk does not answer"}},
		{&BusyError{Path: "p", Holder: "process 7"}, []string{"store: p: process 7 has held the lab's write lock for 10s; wait for it or end it"}},
		{&BusyError{Path: "p", Holder: "process 7", Resume: "kill -CONT 7"}, []string{"process 7 is suspended", "(kill -CONT 7)"}},
		{readOnly(sqliteErrors(t)["read-only"], "p"), []string{"store: p cannot be written to: may this user write", "readonly"}},
		{readOnly(errDisk, "p"), []string{"store: p: the disk does not answer"}},
		{&MovedError{"d"}, []string{"no longer in d", "--lab"}},
		{&NewerError{"p", 9, 5}, []string{"p was made by a newer collapse (schema 9, this program knows up to 5)"}},
	} {
		for _, want := range e.want {
			if e.err == nil || !strings.Contains(e.err.Error(), want) {
				t.Errorf("%v; want %q", e.err, want)
			}
		}
	}
	must(t, c.Finish())
}

// TestALabThatIsMoved: nobody leases or ends a run in a lab that is no longer where it was opened; the run stays to be gone on with.
func TestALabThatIsMoved(t *testing.T) {
	for name, move := range map[string]func(t *testing.T, l *Lab){
		"moved": func(t *testing.T, l *Lab) { must(t, os.Rename(l.dir, l.dir+"2")) },
		"replaced": func(t *testing.T, l *Lab) {
			must(t, os.Rename(l.path, l.path+"2"))
			must(t, os.WriteFile(l.path, nil, 0o666))
		},
	} {
		l := open(t, filepath.Join(t.TempDir(), "lab"))
		c, failed := leased(t, l, spec(1)), leased(t, l, spec(2))
		must(t, l.Moved())
		move(t, l)
		var moved *MovedError
		if _, _, err := l.Lease(spec(3)); !errors.As(err, &moved) || moved.Dir != l.dir {
			t.Errorf("%s: leaseing: %v", name, err)
		}
		if err := errors.Join(c.Finish()); !errors.As(err, &moved) {
			t.Errorf("%s: finishing: %v", name, err)
		}
		if err := failed.Fail(errDisk); !errors.As(err, &moved) {
			t.Errorf("%s: failing: %v", name, err)
		}
		for _, n := range []int{1, 2} {
			if run, err := l.Run(hashOf(n)); err != nil || run.Status != Interrupted || run.Error != "" {
				t.Errorf("%s: run %d is %s, %q, %v", name, n, run.Status, run.Error, err)
			}
		}
	}
}

// TestWrongCallsAreRefused: what no caller may ask for is an error, or a panic where it is a bug, and changes nothing.
func TestWrongCallsAreRefused(t *testing.T) {
	l := open(t, t.TempDir())
	c := leased(t, l, spec(1))
	before := tables(t, l)
	unknown, list := spec(2), spec(3)
	unknown.Kind, list.Config = "nonsense", []int{1}
	must(t, c.AppendEpochs(nil))
	if err := l.SaveStudy("s", "", "", []Member{{Spec: list}}); err == nil || !strings.Contains(err.Error(), "want a JSON object, found [1]") {
		t.Errorf("a configuration that is a list: %v", err)
	}
	for name, do := range map[string]func() (any, error){
		"ensure": func() (any, error) { return l.Ensure(list) },
		"claim":  func() (any, error) { _, _, err := l.Lease(list); return nil, err },
	} {
		if _, err := do(); err == nil || !strings.Contains(err.Error(), "want a JSON object") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, do := range map[string]func(){
		"an unknown kind":           func() { _, _ = l.Ensure(unknown) },
		"steps of nothing":          func() { _, _ = l.MissingSteps(c.Hash, Key{}, 1, 0, 9) },
		"steps that begin beside":   func() { _, _ = l.MissingSteps(c.Hash, Key{}, 3, 2, 9) },
		"a folder that is no run's": func() { _ = l.trash("../x") },
		"a folder that is nobody's": func() { _ = l.removeTrash("x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
	if after := tables(t, l); after != before {
		t.Errorf("the lab has changed:\n%s\nwas\n%s", after, before)
	}
	if !Ended(1<<30) || Ended(os.Getpid()) {
		t.Error("a process that is not there lives, or this one does not")
	}
	text, err := Canonical([]byte(`{"b":[1.0],"a":null}`))
	must(t, err)
	if raw, err := Canonical(json.RawMessage(`{"b":[1.0],"a":null}`)); err != nil || string(raw) != string(text) || string(raw) != `{"a":null,"b":[1]}` {
		t.Errorf("%s and %s, %v", raw, text, err)
	}
}
