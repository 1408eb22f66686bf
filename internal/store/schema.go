package store

import (
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a SQLite file as a lab ("CLPS"), so that another program's file is not taken for an empty one.
const applicationID = 0x434c5053

// steps returns the migrations in order; step i brings schema i to schema i+1.
func steps() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil || len(names) == 0 {
		panic("store: no migrations are embedded")
	}
	texts := make([]string, len(names))
	for i, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			panic("store: an embedded migration cannot be read")
		}
		texts[i] = string(text)
	}
	return texts
}

// querier is a *sql.DB, *sql.Tx or *sql.Conn without a context.
type querier interface {
	QueryRow(query string, args ...any) *sql.Row
}

// version returns the schema of an opened file, 0 for an empty one. It is an error if the file is not a lab or was created by a
// newer program.
func version(db querier, path string, known int) (int, error) {
	var id, v, tables int
	err := db.QueryRow(`SELECT a.application_id, u.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id a, pragma_user_version u`).Scan(&id, &v, &tables)
	switch {
	case err != nil:
		return 0, fmt.Errorf("store: %s: %w", path, err)
	case id == 0 && v == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("store: %s is a SQLite file of another program, not a lab; choose another --lab", path)
	case v > known:
		return 0, &NewerError{Path: path, Schema: v, Known: known}
	}
	return v, nil
}

// NewerError is returned for a lab made by a newer version of the program.
type NewerError struct {
	Path          string
	Schema, Known int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("store: %s was made by a newer collapse (schema %d, this program knows up to %d); use that version, or choose another --lab",
		e.Path, e.Schema, e.Known)
}

// migrate brings an opened file to the newest schema, with all steps in one transaction: a process killed meanwhile leaves the old
// schema.
func migrate(db *sql.DB, path string, steps []string) error {
	v, err := version(db, path, len(steps))
	if err != nil || v == len(steps) {
		return err
	}
	tx, err := db.Begin()
	if isBusy(err) {
		return busy(path, err)
	}
	if err != nil {
		return fmt.Errorf("store: %s: %w", path, err)
	}
	defer tx.Rollback()
	if v, err = version(tx, path, len(steps)); err != nil { // another process may have been faster
		return err
	}
	for ; v < len(steps); v++ {
		if _, err := tx.Exec(steps[v]); err != nil {
			return fmt.Errorf("store: %s: bringing schema %d to %d: %w", path, v, v+1, err)
		}
		atStep("migrated")
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, v)); err != nil {
		return fmt.Errorf("store: %s: %w", path, err)
	}
	atStep("before the commit")
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store: %s: %w", path, err)
	}
	atStep("committed")
	return nil
}

// isEmpty reports whether a file has no tables yet.
func isEmpty(db querier) bool {
	var tables int
	err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return err == nil && tables == 0
}
