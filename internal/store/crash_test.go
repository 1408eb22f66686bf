//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func init() { roles["crash"] = crash }

// crash does what STORE_TEST_DO says to the lab and kills itself at the step with the name or number STORE_TEST_STEP, without a
// chance to tidy up.
func crash(dir string) error {
	at, n := os.Getenv("STORE_TEST_STEP"), 0
	atStep = func(name string) {
		if n++; name == at || strconv.Itoa(n) == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	l, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	switch os.Getenv("STORE_TEST_DO") {
	case "remove":
		return l.Remove(hashOf(1))
	case "again":
		c, _, err := l.Again(spec(1))
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(filepath.Join(c.Dir, "new"), nil, 0o666), c.AppendEpoch(0, epochRows(1, 0)), c.Finish())
	}
	return nil
}

func hashOf(i int) string {
	config, err := Canonical(spec(i).Config)
	if err != nil {
		panic(err)
	}
	return Hash(spec(i).Kind, config)
}

// killedAt runs crash in a separate process and reports whether the process was killed: false means that it has fewer steps.
func killedAt(t *testing.T, dir, do string, step any) bool {
	t.Helper()
	t.Setenv("STORE_TEST_DO", do)
	t.Setenv("STORE_TEST_STEP", fmt.Sprint(step))
	cmd, _ := startRole(t, "crash", dir)
	err := cmd.Wait()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%s, step %v: %v", do, step, err)
	}
	return err != nil
}

// names lists what is in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// doneLab is a lab with two done runs, each with a file.
func doneLab(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	l, err := Open(dir, Options{})
	must(t, err)
	for i := 1; i <= 2; i++ {
		c := leased(t, l, spec(i))
		must(t, c.AppendEpoch(0, epochRows(3, 0)))
		must(t, os.WriteFile(filepath.Join(c.Dir, "old"), nil, 0o666))
		must(t, c.Finish())
	}
	must(t, l.Close())
	return dir
}

// TestARemovalKilledAnywhere kills Remove and Again at each of their steps. At no time is a run done without its folder, and opening
// the lab next deletes what is left.
func TestARemovalKilledAnywhere(t *testing.T) {
	for _, do := range []string{"remove", "again"} {
		steps := 0
		for killed := true; killed; steps++ {
			dir := doneLab(t)
			killed = killedAt(t, dir, do, steps+1)
			where := fmt.Sprintf("%s, step %d", do, steps+1)
			r, err := OpenReader(dir)
			must(t, err)
			run, err := r.Run(hashOf(1))
			must(t, r.Close())
			if err == nil && run.Status == Done {
				if _, err := os.Stat(r.RunDir(run.Hash)); err != nil {
					t.Errorf("%s: done, but %v", where, err)
				}
			}
			checkFinished(t, dir, where)
		}
		if steps < 6 {
			t.Errorf("%s has %d steps", do, steps)
		}
	}
}

// checkFinished opens a lab whose run 1 was being removed or started again: the run is either as it was, or new.
func checkFinished(t *testing.T, dir, where string) {
	t.Helper()
	l, err := Open(dir, Options{})
	must(t, err)
	defer l.Close()
	left := map[string]bool{}
	for _, name := range names(t, filepath.Join(dir, "runs")) {
		left[name] = true
	}
	run, err := l.Run(hashOf(1))
	untouched := err == nil && run.Status == Done && run.Generation == 1
	_, errOld := os.Stat(filepath.Join(l.RunDir(hashOf(1)), "old"))
	values, errValues := l.Values(hashOf(1))
	must(t, errValues)
	if (errOld == nil) != untouched || untouched && len(values) != 3 || !untouched && len(values) > 1 {
		t.Errorf("%s: %+v with %d values, old file: %v", where, run, len(values), errOld)
	}
	delete(left, hashOf(1))
	delete(left, hashOf(2))
	if len(left) != 0 {
		t.Errorf("%s: %v is left in runs", where, left)
	}
	var notes int
	must(t, l.db.QueryRow("SELECT count(*) FROM removal").Scan(&notes))
	if notes != 0 {
		t.Errorf("%s: %d removals are noted after they are done", where, notes)
	}
	if run, err := l.Run(hashOf(2)); err != nil || run.Status != Done {
		t.Errorf("%s: the other run: %+v, %v", where, run, err)
	}
	if untouched {
		return
	}
	c, _, err := l.Lease(spec(1))
	if errors.Is(err, ErrDone) { // all of it went through
		return
	}
	must(t, err)
	if got := names(t, c.Dir); len(got) > 0 && fmt.Sprint(got) != "[new]" {
		t.Errorf("%s: the next lease finds %v", where, got)
	}
	must(t, c.Interrupt())
}

// TestALeaseDoesNotFindAVoidFolder leases a run whose removal was killed after its commit, through a lab that was already open.
func TestALeaseDoesNotFindAVoidFolder(t *testing.T) {
	dir := doneLab(t)
	l := open(t, dir)
	if !killedAt(t, dir, "remove", "removed") { // its folder exists, its rows are gone
		t.Fatal("not killed")
	}
	if got := names(t, l.RunDir(hashOf(1))); fmt.Sprint(got) != "[old]" {
		t.Fatalf("the folder holds %v", got)
	}
	c := leased(t, l, spec(1))
	if got := names(t, c.Dir); len(got) != 0 {
		t.Errorf("the new run finds %v", got)
	}
	must(t, c.Finish())
}

// TestALabKilledWhileItIsMade kills Open at each of its steps: the next Open makes a complete lab, and readers never see part of one.
func TestALabKilledWhileItIsMade(t *testing.T) {
	steps := 0
	for killed := true; killed; steps++ {
		dir := t.TempDir()
		killed = killedAt(t, dir, "open", steps+1)
		if r, err := OpenReader(dir); err == nil {
			must(t, r.Close())
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("step %d: a reader sees %v", steps+1, err)
		}
		l, err := Open(dir, Options{})
		must(t, err)
		c := leased(t, l, spec(1))
		must(t, c.Finish())
		must(t, l.Close())
		if got := fmt.Sprint(names(t, dir)); got != "[lab.sqlite runs]" {
			t.Errorf("step %d: the lab holds %s", steps+1, got)
		}
	}
	if steps < 8 {
		t.Errorf("%d steps", steps)
	}
}

// TestAnEmptyDatabaseBecomesALab opens what an earlier version left if it was killed while creating a lab: an empty file, or one
// with nothing but the write-ahead log turned on.
func TestAnEmptyDatabaseBecomesALab(t *testing.T) {
	for name, query := range map[string]string{"no bytes": "", "a header": "PRAGMA journal_mode = WAL"} {
		dir := t.TempDir()
		must(t, os.WriteFile(databasePath(dir), nil, 0o666))
		if query != "" {
			execFile(t, dir, query)
		}
		r, err := OpenReader(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if runs, err := r.List(Filter{}); err != nil || len(runs) != 0 {
			t.Errorf("%s: %v, %v", name, runs, err)
		}
		must(t, r.Close())
	}
}

// TestAMigrationKilledAnywhere kills the migration from each earlier schema at each step: the lab has the old schema or the new one.
func TestAMigrationKilledAnywhere(t *testing.T) {
	for from := 1; from < len(steps()); from++ {
		n := 0
		for killed := true; killed; n++ {
			dir := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(dir, "runs"), 0o777))
			db, err := openDatabase(databasePath(dir), writing)
			must(t, err)
			must(t, migrate(db, databasePath(dir), steps()[:from]))
			_, err = db.Exec("INSERT INTO run (hash, kind, config, status, created) VALUES (?, 'train', '{}', 'done', 0)", hashOf(1))
			must(t, errors.Join(err, db.Close()))
			killed = killedAt(t, dir, "open", n+1)
			l, err := Open(dir, Options{})
			must(t, err)
			if run, err := l.Run(hashOf(1)); err != nil || run.Status != Done {
				t.Errorf("from %d, step %d: %+v, %v", from, n+1, run, err)
			}
			must(t, l.Close())
		}
		if want := len(steps()) - from + 3; n < want {
			t.Errorf("from %d: %d steps, wanted at least %d", from, n, want)
		}
	}
}

// TestAnOlderLabCanBeRead reads a lab of the previous schema, which a reader does not change.
func TestAnOlderLabCanBeRead(t *testing.T) {
	dir := t.TempDir()
	db, err := openDatabase(databasePath(dir), writing)
	must(t, err)
	must(t, migrate(db, databasePath(dir), steps()[:readable]))
	_, err = db.Exec("INSERT INTO run (hash, kind, config, status, created) VALUES (?, 'train', '{}', 'done', 0)", hashOf(1))
	must(t, errors.Join(err, db.Close()))
	r, err := OpenReader(dir)
	must(t, err)
	defer r.Close()
	if run, err := r.Run(hashOf(1)); err != nil || run.Status != Done {
		t.Errorf("%+v, %v", run, err)
	}
	if left, _, err := r.Leftovers(); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
