package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A lab may be a stranger's. Its tables are those of this program, word for word, or it is refused: a view in the place of a table
// answers as slowly as it likes, a trigger does more than it is asked. What its rows call a run or a folder becomes part of a path, so
// it is parsed as it is read.

// ForeignRowError says that a row holds what this program does not write there.
type ForeignRowError struct {
	Lab    string // the file; filled in by the Reader
	Table  string
	Column string
	Value  string
	Want   string
}

func (e *ForeignRowError) Error() string {
	return fmt.Sprintf("store: %s: table %s has a row whose %s is %.100q, not %s; this program did not write it: nothing of it is used or removed",
		e.Lab, e.Table, e.Column, e.Value, e.Want)
}

// hashDigits is the length of a run's identity.
const hashDigits = 64

// isHash reports whether a text can be the identity of a run.
func isHash(s string) bool {
	return len(s) == hashDigits && strings.Trim(s, "0123456789abcdef") == ""
}

// isFolder reports whether a name is that of a run's folder, or of one that is being deleted.
func isFolder(name string) bool { return isHash(strings.TrimPrefix(name, trashPrefix)) }

// hashColumn reads the identity of a run.
type hashColumn string

func (h *hashColumn) Scan(v any) error {
	s, _ := v.(string)
	if !isHash(s) {
		return &ForeignRowError{Table: "run", Column: "hash", Value: fmt.Sprint(v), Want: "64 hexadecimal digits"}
	}
	*h = hashColumn(s)
	return nil
}

// longestName bounds each part of a series' name, in bytes. Pages and pictures write names out, so that a name of megabytes would take minutes.
const longestName = 1024

// withinBounds returns a key that was read, or an error if a part of it is no name.
func withinBounds(k Key, err error) (Key, error) {
	for _, part := range [...]struct{ column, name string }{{"series", k.Series}, {"split", k.Split}, {"layer", k.Layer}, {"measure", k.Measure}} {
		if err == nil && len(part.name) > longestName {
			err = &ForeignRowError{Table: "series", Column: part.column, Value: part.name, Want: fmt.Sprintf("a name of at most %d bytes", longestName)}
		}
	}
	return k, err
}

// kindColumn reads the kind of a run.
type kindColumn Kind

func (k *kindColumn) Scan(v any) error {
	s, _ := v.(string)
	if !Kind(s).known() {
		return &ForeignRowError{Table: "run", Column: "kind", Value: fmt.Sprint(v), Want: "a kind that this program knows"}
	}
	*k = kindColumn(s)
	return nil
}

// folderColumn reads the name of a folder that is to be deleted.
type folderColumn string

func (f *folderColumn) Scan(v any) error {
	s, _ := v.(string)
	if !isFolder(s) {
		return &ForeignRowError{Table: "removal", Column: "folder", Value: fmt.Sprint(v), Want: "64 hexadecimal digits, perhaps after " + trashPrefix}
	}
	*f = folderColumn(s)
	return nil
}

// SchemaError says that the tables of a lab are not those of this program.
type SchemaError struct {
	Path   string
	Schema int
	Differ []string // in words
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("store: %s is not as this program makes a lab (schema %d): %s. It is not read: a view or a trigger of somebody else can hang "+
		"every command. If you added it yourself, remove it with sqlite3 (DROP VIEW, DROP TRIGGER, DROP INDEX, DROP TABLE)", e.Path, e.Schema, strings.Join(e.Differ, "; "))
}

// object is a line of SQLite's table of tables.
type object struct{ kind, name, text string }

// mostObjects bounds how many are read; the program makes far fewer.
const mostObjects = 200

// readSchema returns a file's version of the schema and what it has, by kind and name.
func readSchema(ctx context.Context, db *sql.DB) (version int, has map[string]string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), type, name, coalesce(sql, '') FROM sqlite_schema LIMIT ?`, mostObjects)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	has = map[string]string{}
	for rows.Next() {
		var o object
		if err := rows.Scan(&version, &o.kind, &o.name, &o.text); err != nil {
			return 0, nil, err
		}
		if o.kind != "table" || o.name != "sqlite_stat1" && o.name != "sqlite_stat4" { // ANALYZE keeps its counts there
			has[o.kind+" "+o.name] = words(o.text)
		}
	}
	return version, has, rows.Err()
}

var comment = regexp.MustCompile("--[^\n]*")

// words is a definition without comments and the width of its spaces, which earlier versions wrote otherwise.
func words(definition string) string {
	return strings.Join(strings.Fields(comment.ReplaceAllString(definition, "")), " ")
}

// ownSchemas are the schemas that this program has made, by version.
var ownSchemas sync.Map

// ownSchema makes a schema anew, in so many steps, and reads it.
func ownSchema(steps []string) (map[string]string, error) {
	version := len(steps)
	if known, ok := ownSchemas.Load(version); ok {
		return known.(map[string]string), nil
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(strings.Join(steps, "\n")); err != nil {
		return nil, err
	}
	_, has, err := readSchema(context.Background(), db)
	if err == nil {
		ownSchemas.Store(version, has)
	}
	return has, err
}

// checkSchema returns a *SchemaError if a file, which is no newer than this program, has other tables than it makes in its steps.
func checkSchema(ctx context.Context, db *sql.DB, path string, steps []string) error {
	v, has, err := readSchema(ctx, db)
	if err != nil {
		return fmt.Errorf("store: %s: %w", path, err)
	}
	if v < 0 || v > len(steps) { // another process has just brought it to a newer schema
		return &NewerError{Path: path, Schema: v, Known: len(steps)}
	}
	own, err := ownSchema(steps[:v])
	if err != nil {
		return fmt.Errorf("store: making schema %d for comparison: %w", v, err)
	}
	if differ := differences(has, own); len(differ) > 0 {
		return &SchemaError{Path: path, Schema: v, Differ: differ}
	}
	return nil
}

// differences says in words how a schema differs from the program's own.
func differences(has, own map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if text, known := own[name]; !known {
			list = append(list, fmt.Sprintf("%.100q is not its own", name))
		} else if text != has[name] {
			list = append(list, fmt.Sprintf("%.100q is defined otherwise", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if _, there := has[name]; !there {
			list = append(list, fmt.Sprintf("%q is missing", name))
		}
	}
	first := func(what string) int {
		return slices.IndexFunc([]string{"view", "trigger", "table", ""}, func(kind string) bool { return strings.HasPrefix(what[1:], kind) })
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(first(a), first(b)) }) // a changed table changes its indices
	const named = 8
	if n := len(list); n > named {
		list = append(list[:named], fmt.Sprintf("and %d more", n-named))
	}
	return list
}

// rowsBetweenChecks is how often plausible is asked.
const rowsBetweenChecks = 1 << 14

// rowBytes is less than any row takes in the file.
const rowBytes = 8

// plausible returns an error if the file is too small for the rows that a query has given so far. In a file made for that, pages that share
// their children give rows without end.
func (r *Reader) plausible(rows int) error {
	var size int64
	for _, path := range []string{r.path, r.path + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	if int64(rows) > size/rowBytes {
		return fmt.Errorf("store: %s gives more rows than its %d bytes can hold; it is damaged, or was made to be read for ever", r.path, size)
	}
	return nil
}

// foreign names the lab in an error about a row; nil for any other error.
func (r *Reader) foreign(err error) *ForeignRowError {
	var row *ForeignRowError
	if !errors.As(err, &row) {
		return nil
	}
	named := *row
	named.Lab = databasePath(r.dir)
	return &named
}
