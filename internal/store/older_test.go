package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// olderLab is a lab of an earlier schema, as programs of that time left it: two runs of a study, one done and one under way, with values.
func olderLab(t *testing.T, schema int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	db, err := openDatabase(databasePath(dir), writing)
	must(t, err)
	db.SetMaxOpenConns(1)
	must(t, migrate(db, databasePath(dir), steps()[:schema]))
	do := func(since int, query string, args ...any) {
		if schema < since {
			return
		}
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(query, err)
		}
	}
	for n, status := range []Status{Done, Running} {
		config, err := Canonical(spec(n + 1).Config)
		must(t, err)
		do(1, `INSERT INTO run (id, hash, kind, config, status, generation, last_epoch, created) VALUES (?, ?, 'train', ?, ?, 1, 2, ?)`, n+1, hashOf(n+1), string(config), status, n)
		do(1, `INSERT INTO attempt VALUES (?, 1, 5, 'host', 'v1', 'generic', 'linux', 'amd64', '', '')`, n+1)
	}
	do(1, "INSERT INTO claim VALUES (2, 1, 'elsewhere', 'elsewhere', 7, 'then', 5)")
	do(1, "INSERT INTO tag VALUES (1, 'tag')")
	do(1, "INSERT INTO series VALUES (1, 'epoch', 'train', '', 'loss'), (2, 'epoch', 'train', '', 'vci')")
	do(1, "INSERT INTO value VALUES (1, 1, 1, 1, 0.5, NULL), (1, 1, 2, 2, 0.25, NULL), (1, 2, 2, 2, 4, NULL), (2, 1, 1, 1, 3, NULL)")
	do(2, "INSERT INTO study VALUES (1, 'study', 'title', 'source', 'open', 3, 5)")
	do(2, "INSERT INTO study_run VALUES (1, 1, 1, 'note', ''), (1, 2, 2, 'other', '')")
	do(removalSchema, "INSERT INTO removal VALUES ('mine')")
	do(remarks, "INSERT INTO remark VALUES ('study', 'words')")
	do(measuredLater, "INSERT INTO measured VALUES (1, 2, 2, 9, 'v1', 'generic', 'ckpt/2', NULL)")
	do(archives, "INSERT INTO archived VALUES (1)")
	do(studyTags, "INSERT INTO study_tag VALUES (1, 'mine')")
	must(t, db.Close())
	return dir
}

// TestLabsOfEarlierSchemasAnswerEveryQuestion: what a schema does not know is missing, and nothing else is.
func TestLabsOfEarlierSchemasAnswerEveryQuestion(t *testing.T) {
	for schema := readable; schema <= len(steps()); schema++ {
		r, err := OpenReader(olderLab(t, schema))
		must(t, err)
		defer r.Close()
		l := &Lab{Reader: r}
		var failed []string
		questions := readings(t)
		for _, name := range slices.Sorted(maps.Keys(questions)) {
			if err := questions[name](l); err != nil && name != "recent" { // of the newest schema a run is held
				failed = append(failed, fmt.Sprint(name, ": ", err))
			}
		}
		var want []string
		for name, since := range map[string]int{"archived": archives, "later": measuredLater, "remark": remarks, "studytags": studyTags} {
			if schema < since {
				want = append(want, name+": an empty answer")
			}
		}
		slices.Sort(want)
		if !slices.Equal(failed, want) {
			t.Errorf("schema %d: %q, want %q", schema, failed, want)
		}
		removals, err := r.foreignRemovals()
		if told := len(removals) == 1 && strings.Contains(removals[0], `the folder "mine" is no run's`); err != nil || told != (schema >= removalSchema) || !told && len(removals) > 0 {
			t.Errorf("schema %d: removals %q, %v", schema, removals, err)
		}
		atEnd := 2
		if schema >= measuredLater {
			atEnd = 1
		}
		if rows, err := r.RowsPerStep(hashOf(1), "epoch", []string{}); err != nil || !maps.Equal(rows, map[int64]int{1: 1, 2: atEnd}) {
			t.Errorf("schema %d: rows %v, %v", schema, rows, err)
		}
	}
	for schema := 1; schema < readable; schema++ {
		want := fmt.Sprintf("has schema %d, older than this program's %d", schema, len(steps()))
		if _, err := OpenReader(olderLab(t, schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("schema %d: %v, want %q", schema, err, want)
		}
	}
}

// TestMigrationsSayWhichFails: the error names the file, and the schemas between which it failed.
func TestMigrationsSayWhichFails(t *testing.T) {
	path := databasePath(olderLab(t, 2))
	db, err := openDatabase(path, writing)
	must(t, err)
	defer db.Close()
	for plan, want := range map[string]string{"NOT SQL": "bringing schema 2 to 3", "SELECT 1;": "bringing schema 3 to 4"} {
		all := append(steps()[:2:2], plan, "NOT SQL")
		if err := migrate(db, path, all); err == nil || !strings.HasPrefix(err.Error(), "store: "+path+": "+want+": ") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if v, err := version(db, path, 9); err != nil || v != 2 {
		t.Errorf("schema %d, %v", v, err)
	}
	known := map[int]any{}
	ownSchemas.Range(func(v, has any) bool { known[v.(int)] = has; return true })
	ownSchemas.Clear()
	defer func() {
		for v, has := range known {
			ownSchemas.Store(v, has)
		}
	}()
	if err := checkSchema(t.Context(), db, path, []string{"NOT SQL", ""}); err == nil || !strings.HasPrefix(err.Error(), "store: making schema 2 for comparison: ") {
		t.Errorf("a schema that cannot be made: %v", err)
	}
	var foreign *SchemaError // a step too few
	if err := checkSchema(t.Context(), db, path, []string{steps()[0], ""}); !errors.As(err, &foreign) || foreign.Schema != 2 || foreign.Path != path {
		t.Errorf("another schema: %v", err)
	}
	ownSchemas.Clear()
	must(t, checkSchema(t.Context(), db, path, steps()))
}
