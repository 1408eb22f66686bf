package store

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/jail"
)

// tamper makes a lab with one run and changes its database as a stranger may.
func tamper(t *testing.T, queries ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "lab")
	l, err := Open(dir, Options{})
	must(t, err)
	c, _, err := l.Lease(spec(1))
	must(t, err)
	must(t, errors.Join(c.AppendEpoch(1, epochRows(3, 1)), c.Finish(), l.Close()))
	db, err := sql.Open("sqlite", databasePath(dir))
	must(t, err)
	defer db.Close()
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return dir
}

// victim makes a folder of the user's beside a lab.
func victim(t *testing.T, lab string) (file string) {
	t.Helper()
	file = filepath.Join(filepath.Dir(lab), "victim", "thesis.tex")
	must(t, errors.Join(os.Mkdir(filepath.Dir(file), 0o777), os.WriteFile(file, []byte("precious"), 0o666)))
	return file
}

// TestForeignRowsAreRefused has rows whose names lead out of the lab. Nothing is read or removed, and the error names the value.
func TestForeignRowsAreRefused(t *testing.T) {
	names := []string{"../../victim", "", "ABC", strings.Repeat("a", 63), strings.Repeat("A", 64), strings.Repeat("a", 64) + "/../../../victim"}
	for _, name := range names {
		dir := tamper(t, fmt.Sprintf("UPDATE run SET hash = '%s'", name))
		r, err := OpenReader(dir)
		must(t, err)
		var foreign *ForeignRowError
		for what, read := range map[string]func() error{
			"List":     func() error { _, err := r.List(Filter{}); return err },
			"Run":      func() error { _, err := r.Run(name); return err },
			"Progress": func() error { _, err := r.Progress([]string{name}); return err },
		} {
			if err := read(); !errors.As(err, &foreign) || foreign.Table != "run" || foreign.Value != name || !strings.Contains(err.Error(), databasePath(dir)) {
				t.Errorf("%s of a run called %q: %v", what, name, err)
			}
		}
		must(t, r.Close())
	}
	for _, name := range append(names, ".trash-x/../../../victim", ".trash-", trashPrefix+trashPrefix+hashOf(1)) {
		dir := tamper(t, fmt.Sprintf("INSERT INTO removal VALUES ('%s'), ('%s')", hashOf(7), name))
		file := victim(t, dir)
		must(t, os.Mkdir(filepath.Join(dir, "runs", hashOf(7)), 0o777))
		l, err := Open(dir, Options{})
		if foreign := new(ForeignRowError); !errors.As(err, &foreign) || foreign.Table != "removal" || foreign.Value != name {
			t.Errorf("a removal of %q: %v", name, err)
			if err == nil {
				l.Close()
			}
		}
		for _, path := range []string{file, filepath.Join(dir, "runs", hashOf(7))} {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("a removal of %q: %v", name, err)
			}
		}
	}
}

// TestForeignSchemasAreRefused: a lab has the program's own tables, or it is not read.
func TestForeignSchemasAreRefused(t *testing.T) {
	endless := "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c)"
	for want, queries := range map[string][]string{
		`"view run" is not its own`:        {"ALTER TABLE run RENAME TO run_0", "CREATE VIEW run AS SELECT * FROM run_0, " + endless},
		`"view mine" is not its own`:       {"CREATE VIEW mine AS SELECT 1"},
		`"trigger t" is not its own`:       {"CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END"},
		`"table run" is defined otherwise`: {"ALTER TABLE run ADD COLUMN more TEXT"},
		`"index run_recent" is missing`:    {"DROP INDEX run_recent"},
		`"view tidy" is defined otherwise`: {"DROP VIEW tidy", "CREATE VIEW tidy AS SELECT 1"},
		`"table other" is not its own`:     {"CREATE TABLE other (x)"},
		`"index i" is not its own`:         {"CREATE INDEX i ON run (upper(label))"},
	} {
		dir := tamper(t, queries...)
		for what, open := range map[string]func() error{
			"OpenReader": func() error { _, err := OpenReader(dir); return err },
			"Open":       func() error { _, err := Open(dir, Options{}); return err },
		} {
			if err := open(); !errors.As(err, new(*SchemaError)) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want that %s", what, err, want)
			}
		}
	}
	dir := tamper(t, "ANALYZE")
	r, err := OpenReader(dir)
	must(t, err)
	must(t, r.Close())
}

// TestLongTextsAreRefused: SQLite refuses a text that no row of a lab needs, before memory is taken for it.
// TestRowsThatAFileCannotHold: eight bytes are less than any row takes; the log beside the file counts, too.
func TestRowsThatAFileCannotHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	must(t, errors.Join(os.WriteFile(path, make([]byte, 800), 0o666), os.WriteFile(path+"-wal", make([]byte, 80), 0o666)))
	r := &Reader{path: path}
	must(t, r.plausible(110))
	if err := r.plausible(111); err == nil || !strings.Contains(err.Error(), path+" gives more rows than its 880 bytes can hold") {
		t.Errorf("%v", err)
	}
}

// TestManyDifferencesAreCounted: eight are named, views and triggers first.
func TestManyDifferencesAreCounted(t *testing.T) {
	has, own := map[string]string{"table z": "", "index z": "", "view z": "", "trigger z": ""}, map[string]string{}
	want := []string{`"view z" is not its own`, `"trigger z" is not its own`, `"table z" is not its own`, `"index z" is not its own`}
	for i := range 4 {
		own[fmt.Sprintf("table y%d", i)] = ""
	}
	got := differences(has, own)
	if len(got) != 8 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[7] != want[3] {
		t.Errorf("%q", got)
	}
	own["table y4"], own["table y5"] = "", ""
	if got := differences(has, own); len(got) != 9 || got[8] != "and 2 more" || got[7] == want[3] {
		t.Errorf("%q", got)
	}
	has["table y4"] = "other"
	if got := differences(has, own); len(got) != 9 || !slices.Contains(got, `"table y4" is defined otherwise`) {
		t.Errorf("%q", got)
	}
}

// TestOtherSchemasAreRefused: a version that comes while the file is being opened is refused as one that was there before, and none can be negative.
func TestOtherSchemasAreRefused(t *testing.T) {
	for _, version := range []int{-1, len(steps()) + 1} {
		path := databasePath(tamper(t, fmt.Sprintf("PRAGMA user_version = %d", version)))
		db, err := openDatabase(path, "mode=ro")
		must(t, err)
		var newer *NewerError
		if err := checkSchema(t.Context(), db, path, steps()); !errors.As(err, &newer) || *newer != (NewerError{path, version, len(steps())}) {
			t.Errorf("schema %d: %v", version, err)
		}
		must(t, db.Close())
	}
}

func TestLongTextsAreRefused(t *testing.T) {
	dir := tamper(t, fmt.Sprintf("UPDATE run SET label = CAST(zeroblob(%d) AS TEXT)", longestRow+1))
	r, err := OpenReader(dir)
	must(t, err)
	defer r.Close()
	if _, err := r.List(Filter{}); err == nil || !strings.Contains(err.Error(), "too big") {
		t.Errorf("a label of %d bytes: %v", longestRow+1, err)
	}
}

// TestEndlessTablesEnd has a table whose pages share their children, so that a small file gives 400⁴ times its rows.
func TestEndlessTablesEnd(t *testing.T) {
	dir := tamper(t)
	db, err := sql.Open("sqlite", databasePath(dir))
	must(t, err)
	var root, pages int
	must(t, errors.Join(db.QueryRow("SELECT rootpage, (SELECT page_count FROM pragma_page_count) FROM sqlite_schema WHERE name = 'run'").Scan(&root, &pages), db.Close()))
	file, err := os.ReadFile(databasePath(dir))
	must(t, err)
	const size, levels = 4096, 4
	page := func(n int) []byte { return file[(n-1)*size : n*size] }
	file = append(file, make([]byte, levels*size)...)
	leaf := pages + levels
	copy(page(leaf), page(root))
	for i := range levels {
		at, child := root, pages+1+i
		if i > 0 {
			at = pages + i
		}
		copy(page(at), sharedChildren(size, 400, child))
	}
	binary.BigEndian.PutUint32(file[28:], uint32(leaf)) // the number of pages
	must(t, os.WriteFile(databasePath(dir), file, 0o666))
	r, err := OpenReader(dir)
	must(t, err)
	defer r.Close()
	_, err = collect(r, func(scan func(...any) error) (n int, err error) { return n, scan(&n) }, "SELECT created FROM run NOT INDEXED")
	if err == nil || !strings.Contains(err.Error(), "more rows than its") {
		t.Errorf("reading it: %v", err)
	}
}

// sharedChildren is an interior page of a table, all of whose cells are one that leads to child (sqlite.org/fileformat2.html#b_tree_pages).
func sharedChildren(size, cells, child int) []byte {
	p := make([]byte, size)
	cell := size - 5
	p[0] = 5
	binary.BigEndian.PutUint16(p[3:], uint16(cells))
	binary.BigEndian.PutUint16(p[5:], uint16(cell))
	binary.BigEndian.PutUint32(p[8:], uint32(child))
	for i := range cells {
		binary.BigEndian.PutUint16(p[12+2*i:], uint16(cell))
	}
	binary.BigEndian.PutUint32(p[cell:], uint32(child))
	p[cell+4] = 1
	return p
}

// TestInterruptEndsQueries has a query that would take hours.
func TestInterruptEndsQueries(t *testing.T) {
	r, err := OpenReader(tamper(t))
	must(t, err)
	defer r.Close()
	ended := make(chan error)
	go func() {
		_, err := collect(r, func(scan func(...any) error) (n int, err error) { return n, scan(&n) },
			"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c")
		ended <- err
	}()
	r.Interrupt()
	if err := <-ended; err == nil {
		t.Error("an endless query has ended by itself")
	}
}

// TestLinksInPlaceOfOwnFiles: the lab's own files are no links, unless this user says so outside of the lab.
func TestLinksInPlaceOfOwnFiles(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	for _, name := range []string{"lab.sqlite", "lab.sqlite-wal", "runs", "queue", "queue.lock", "queue.blobs", "queue.token"} {
		dir := tamper(t)
		file := victim(t, dir)
		target := filepath.Join("..", "victim")
		if filepath.Ext(name) != "" {
			target = filepath.Join(target, "thesis.tex")
		}
		if name == "runs" || name == "lab.sqlite" {
			must(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, "moved")))
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		for what, open := range map[string]func() error{
			"OpenReader": func() error { _, err := OpenReader(dir); return err },
			"Open":       func() error { _, err := Open(dir, Options{}); return err },
		} {
			if err := open(); !errors.As(err, new(*jail.LinkError)) || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
				t.Errorf("%s, %s is a link: %v", what, name, err)
			}
		}
		if text, err := os.ReadFile(file); string(text) != "precious" {
			t.Errorf("%s: the file behind it: %q, %v", name, text, err)
		}
	}
}

// TestALinkOfTheUsersOwn: runs is on another disk, and the user's own file of links says so. What is no run's folder there stays.
func TestALinkOfTheUsersOwn(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	dir := tamper(t)
	disk := filepath.Join(t.TempDir(), "disk")
	must(t, os.Rename(filepath.Join(dir, "runs"), disk))
	if err := os.Symlink(disk, filepath.Join(dir, "runs")); err != nil {
		t.Skip(err)
	}
	_, err := Open(dir, Options{})
	if !errors.As(err, new(*jail.LinkError)) {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(err.Error(), "links.toml:\n")
	userDir, err := os.UserConfigDir()
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(userDir, "collapse"), 0o777))
	must(t, os.WriteFile(filepath.Join(userDir, "collapse", "links.toml"), []byte(lines), 0o666))
	l, err := Open(dir, Options{})
	if err != nil {
		t.Fatalf("with the lines that the error asks for: %v", err)
	}
	defer l.Close()
	for _, name := range []string{".ssh", hashOf(5)} {
		must(t, os.Mkdir(filepath.Join(disk, name), 0o777))
	}
	gone, err := l.GC()
	if _, there := os.Stat(filepath.Join(disk, ".ssh")); err != nil || there != nil || len(gone) != 1 || gone[0] != hashOf(5) {
		t.Errorf("GC: %v, %v, %v", gone, err, there)
	}
	must(t, os.Remove(filepath.Join(dir, "runs")))
	must(t, os.Symlink(t.TempDir(), filepath.Join(dir, "runs")))
	if _, err := l.GC(); !errors.As(err, new(*jail.LinkError)) {
		t.Errorf("the same link to another place: %v", err)
	}
}

// TestAFolderWithLinksIsNotLeased: what a run would write or remove there is not the lab's.
func TestAFolderWithLinksIsNotLeased(t *testing.T) {
	dir := tamper(t)
	file := victim(t, dir)
	l := open(t, dir)
	run, err := l.Ensure(spec(2))
	must(t, err)
	must(t, os.MkdirAll(l.RunDir(run.Hash), 0o777))
	if err := os.Symlink(filepath.Dir(file), filepath.Join(l.RunDir(run.Hash), "ckpt")); err != nil {
		t.Skip(err)
	}
	if _, _, err := l.Lease(spec(2)); !errors.As(err, new(*jail.LinkError)) {
		t.Errorf("leaseing it: %v", err)
	}
	if err := l.Tidy(run.Hash, func() error { t.Error("it was tidied"); return nil }); !errors.As(err, new(*jail.LinkError)) {
		t.Errorf("tidying it: %v", err)
	}
	c, _, err := l.Again(spec(2)) // its folder goes, and the link with it
	must(t, err)
	must(t, c.Interrupt())
	if text, err := os.ReadFile(file); string(text) != "precious" {
		t.Errorf("the file behind the link: %q, %v", text, err)
	}
}

// TestLongNamesAreRefused, as they are read and written: pages and pictures write names out.
func TestLongNamesAreRefused(t *testing.T) {
	dir := tamper(t, fmt.Sprintf("UPDATE series SET measure = hex(zeroblob(%d)) || id", longestName))
	r, err := OpenReader(dir)
	must(t, err)
	defer r.Close()
	runs, err := r.List(Filter{})
	must(t, err)
	hash := runs[0].Hash
	for what, read := range map[string]func() error{
		"Keys":      func() error { _, err := r.Keys(hash); return err },
		"Values":    func() error { _, err := r.Values(hash); return err },
		"Since":     func() error { _, err := r.Since(hash, 0, nil); return err },
		"RowsAfter": func() error { _, err := r.RowsAfter(hash, 0); return err },
		"PickEach": func() error {
			_, err := r.PickEach([]string{hash}, []string{strings.Repeat("00", longestName) + "1"})
			return err
		},
	} {
		if err := read(); !errors.As(err, new(*ForeignRowError)) || !strings.Contains(err.Error(), "a name of at most") || len(err.Error()) > 1000 {
			t.Errorf("%s: %v", what, err)
		}
	}
	l, err := Open(t.TempDir(), Options{})
	must(t, err)
	defer l.Close()
	c, _, err := l.Lease(spec(1))
	must(t, err)
	for part, key := range map[string]func(name string) Key{
		"series": func(name string) Key { return Key{name, "a", "b", "c"} }, "split": func(name string) Key { return Key{"a", name, "b", "c"} },
		"layer": func(name string) Key { return Key{"a", "b", name, "c"} }, "measure": func(name string) Key { return Key{"a", "b", "c", name} },
	} {
		var foreign *ForeignRowError
		if err := c.AppendEpoch(1, []Value{{Key: key(strings.Repeat("x", longestName+1)), Step: 1}}); !errors.As(err, &foreign) || foreign.Column != part {
			t.Errorf("a long %s: %v", part, err)
		}
		must(t, c.AppendEpoch(1, []Value{{Key: key(strings.Repeat("x", longestName)), Step: 1}}))
	}
	if values, err := l.Values(c.Hash); err != nil || len(values) != 4 {
		t.Errorf("names that are just short enough: %d, %v", len(values), err)
	}
}

// TestForeignKindsAreRefused: a run of no kind made a coordinator panic.
func TestForeignKindsAreRefused(t *testing.T) {
	for what, kind := range map[string]string{"none": "''", "another": "'x'", "a long one": fmt.Sprintf("hex(zeroblob(%d))", longestName)} {
		r, err := OpenReader(tamper(t, "UPDATE run SET kind = "+kind))
		must(t, err)
		defer r.Close()
		for call, read := range map[string]func() error{
			"List":      func() error { _, err := r.List(Filter{}); return err },
			"RunCounts": func() error { _, err := r.RunCounts(); return err },
		} {
			if err := read(); !errors.As(err, new(*ForeignRowError)) || len(err.Error()) > 1000 {
				t.Errorf("%s, %s: %v", what, call, err)
			}
		}
	}
}
