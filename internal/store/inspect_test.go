package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignNamesAllThatIsNotItsOwn: each thing that the program does not write is named, and whether the tables can be trusted is said.
func TestForeignNamesAllThatIsNotItsOwn(t *testing.T) {
	own := []string{"queue.token", "queue.lock", "queue.health", "queue.health.tmp", "lab.sqlite-journal", "lab.sqlite" + newSuffix + "123-x"}
	for name, c := range map[string]struct {
		do       func(t *testing.T, l *Lab)
		readable bool
		want     []string // what is found, in order
	}{
		"nothing": {func(t *testing.T, l *Lab) {
			for _, name := range own {
				must(t, os.WriteFile(filepath.Join(l.dir, name), nil, 0o666))
			}
			for _, name := range []string{"queue", "queue.blobs"} {
				must(t, os.Mkdir(filepath.Join(l.dir, name), 0o777))
			}
			must(t, os.Mkdir(filepath.Join(l.dir, "runs", trashPrefix+hashOf(7)), 0o777))
		}, true, nil},
		"a file":        {func(t *testing.T, l *Lab) { must(t, os.WriteFile(filepath.Join(l.dir, "notes"), nil, 0o666)) }, true, []string{`"notes" is none of a lab's files`}},
		"a run's files": {func(t *testing.T, l *Lab) { must(t, os.Mkdir(filepath.Join(l.dir, "runs", "mine"), 0o777)) }, true, []string{"runs/mine is no run's folder"}},
		"links": {func(t *testing.T, l *Lab) {
			must(t, errors.Join(os.MkdirAll(filepath.Join(l.dir, "queue"), 0o777), os.Symlink("x", filepath.Join(l.RunDir(hashOf(1)), "a")), os.Symlink("y", filepath.Join(l.dir, "queue", "b"))))
		}, true, []string{"runs/" + hashOf(1) + "/a is a link", "queue/b is a link"}},
		"another hash": {func(t *testing.T, l *Lab) {
			query(t, l, "UPDATE run SET hash = ? WHERE hash = ?", hashOf(8), hashOf(1))
		}, false,
			[]string{"table run: ", "is no run's folder"}},
		"a removal": {func(t *testing.T, l *Lab) {
			query(t, l, "INSERT INTO removal (folder) VALUES (?), ('../victim')", hashOf(7))
		}, false, []string{`table removal: the folder "../victim" is no run's`}},
		"long texts": {func(t *testing.T, l *Lab) {
			query(t, l, "UPDATE run SET label = ?", strings.Repeat("x", 64<<10+1))
			query(t, l, "UPDATE run SET error = ?", strings.Repeat("x", 64<<10))
			query(t, l, "INSERT INTO tag (run, name) VALUES (1, ?), (2, 'short')", strings.Repeat("x", 64<<10+1))
		}, true, []string{"column run.label has 2 texts of more than 65536 bytes", "column tag.name has 1 texts"}},
		"a view": {func(t *testing.T, l *Lab) { query(t, l, "CREATE VIEW mine AS SELECT 1") }, false, []string{`"view mine" is not its own`}},
		"a link for its folder": {func(t *testing.T, l *Lab) {
			must(t, errors.Join(os.RemoveAll(filepath.Join(l.dir, "runs")), os.Symlink(t.TempDir(), filepath.Join(l.dir, "runs"))))
		}, false, []string{"is a link to"}},
		"no folder of runs": {func(t *testing.T, l *Lab) { must(t, os.RemoveAll(filepath.Join(l.dir, "runs"))) }, true, nil},
	} {
		l := open(t, t.TempDir())
		for n := 1; n <= 2; n++ {
			must(t, leased(t, l, spec(n)).Finish())
		}
		c.do(t, l)
		must(t, l.Close())
		found, readable, err := Foreign(t.Context(), l.dir)
		ok := len(found) == len(c.want) || name == "another hash" && len(found) == 1
		for i := range min(len(found), len(c.want)) {
			ok = ok && strings.Contains(found[i], c.want[i])
		}
		if err != nil || readable != c.readable || !ok {
			t.Errorf("%s: %q, readable %v, %v; want %q, %v", name, found, readable, err, c.want, c.readable)
		}
	}
}

// query changes a lab as another program does.
func query(t *testing.T, l *Lab, text string, args ...any) {
	t.Helper()
	if _, err := l.db.Exec(text, args...); err != nil {
		t.Fatal(err)
	}
}

// TestForeignNamesAFewOfMany: of very many rows that are not its own twenty are named.
func TestForeignNamesAFewOfMany(t *testing.T) {
	l := open(t, t.TempDir())
	for n := range 25 {
		query(t, l, "INSERT INTO run (hash, kind, config, status, created) VALUES (?, 'train', '{}', 'pending', 0)", strings.Replace(hashOf(n), hashOf(n)[:4], "0000", 1))
		query(t, l, "INSERT INTO removal (folder) VALUES (?)", fmt.Sprintf("mine%02d", n))
	}
	must(t, l.Close())
	found, _, err := Foreign(t.Context(), l.dir)
	runs, removals := 0, 0
	for _, text := range found {
		if strings.HasPrefix(text, `table run: the run "0000`) {
			runs++
		}
		if strings.HasPrefix(text, "table removal: ") {
			removals++
		}
	}
	if err != nil || runs != 20 || removals != 20 || len(found) != 40 {
		t.Errorf("%d runs and %d removals of %d are named, %v", runs, removals, len(found), err)
	}
}

// TestForeignOfNoLab: a folder without one is an error, and so is a look that is interrupted.
func TestForeignOfNoLab(t *testing.T) {
	if found, readable, err := Foreign(t.Context(), t.TempDir()); !errors.Is(err, os.ErrNotExist) || readable || found != nil {
		t.Errorf("%q, %v, %v", found, readable, err)
	}
	l := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // it ends beside the look, which may be done before
		if _, readable, err := Foreign(ctx, l.dir); errors.Is(err, context.Canceled) && !readable {
			return
		}
	}
	t.Error("a look goes on after an interrupt")
}
