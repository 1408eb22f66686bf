package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Snapshot is the database of a copy that is being made. It is a Reader of the copy, whose folders the caller makes, and gets its name,
// which makes a folder a lab, in Finish.
type Snapshot struct {
	*Reader
	lab  *Lab
	part string
}

// partSuffix ends the name of the database of an unfinished copy.
const partSuffix = ".part"

// Snapshot writes the tables as they are at one moment, while others go on writing, into a new database for the folder dir. Nobody works
// on the copy's runs, and its queue is empty.
func (r *Reader) Snapshot(dir string) (*Snapshot, error) {
	part := databasePath(dir) + partSuffix
	if _, err := r.db.Exec("VACUUM INTO ?", part); err != nil {
		return nil, errors.Join(fmt.Errorf("store: copying %s to %s: %w", databasePath(r.dir), part, err), os.RemoveAll(part))
	}
	db, err := openDatabase(part, writing)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	reader := &Reader{dir: dir, db: db}
	l := &Lab{Reader: reader, db: db}
	s := &Snapshot{Reader: reader, lab: l, part: part}
	if err := errors.Join(prepare(db, part), l.write(forgetWork)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// forgetWork takes out of the tables who works on runs, here and elsewhere: that is the work on the original. Runs that are being
// removed, or start over, have no folder that counts.
func forgetWork(tx *sql.Tx) error {
	for _, query := range []string{
		"DELETE FROM claim",
		"UPDATE run SET status = 'interrupted' WHERE status = 'running'",
		"UPDATE run SET remote = 0 WHERE remote <> 0 AND status NOT IN ('done', 'failed')",
	} {
		if err := execute(tx, query); err != nil {
			return err
		}
	}
	return nil
}

// Void lists the runs whose folders in the original are on their way out.
func (s *Snapshot) Void() (map[string]bool, error) {
	return collectMap[string, bool](s.Reader, "SELECT folder, true FROM removal")
}

// Drop takes a run out of the copy.
func (s *Snapshot) Drop(hash string) error {
	return s.lab.change(hash, func(tx *sql.Tx, id int64, _ Run) error { return execute(tx, "DELETE FROM run WHERE id = ?", id) })
}

// Restart takes what was computed of a run out of the copy.
func (s *Snapshot) Restart(hash string) error {
	return s.lab.change(hash, func(tx *sql.Tx, id int64, _ Run) error {
		if err := clearRun(tx, id); err != nil {
			return err
		}
		return execute(tx, "UPDATE run SET status = ?, error = '', finished = NULL WHERE id = ?", Pending, id)
	})
}

// Close ends the work on the database.
func (s *Snapshot) Close() error { return s.lab.db.Close() }

// Finish gives the database its name.
func (s *Snapshot) Finish() error {
	err := s.lab.write(func(tx *sql.Tx) error { return execute(tx, "DELETE FROM removal") })
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if err := os.Rename(s.part, databasePath(s.dir)); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return syncDir(filepath.Dir(s.part))
}

// Kept reports whether the attempts of a run up to a generation still count: it was neither removed nor started over since. there is
// false if it was removed.
func (r *Reader) Kept(hash string, generation int64) (kept, there bool, err error) {
	err = r.db.QueryRow(`SELECT ?2 = 0 OR EXISTS (SELECT 1 FROM attempt WHERE run = run.id AND generation = ?2) FROM run WHERE hash = ?1`,
		hash, generation).Scan(&kept)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return kept, true, r.wrap(err)
}
