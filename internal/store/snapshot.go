package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Snapshot is the database of a copy that is being made. It is a Reader of the copy, whose folders the caller makes. Finish gives it
// the name that makes the folder a lab.
type Snapshot struct {
	*Reader
	lab  *Lab
	part string
}

// partSuffix ends the name of the database of an unfinished copy.
const partSuffix = ".part"

// Snapshot writes the tables as they are at one moment, while others continue to write, into a new database for the folder dir. In
// the copy nobody works on runs, and the queue is empty.
func (r *Reader) Snapshot(dir string) (*Snapshot, error) {
	part := databasePath(dir) + partSuffix
	if _, err := r.db.ExecContext(r.ctx, "VACUUM INTO ?", part); err != nil {
		return nil, errors.Join(fmt.Errorf("store: copying %s to %s: %w", databasePath(r.dir), part, err), os.RemoveAll(part))
	}
	db, err := openDatabase(part, writing)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	reader := newReader(dir, part, db, len(steps()))
	l := &Lab{Reader: reader, db: db}
	s := &Snapshot{Reader: reader, lab: l, part: part}
	if err := errors.Join(prepare(db, part), l.write(forgetWork)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// forgetWork removes from the tables who works on runs, here and elsewhere, since they work on the original. The folders of runs
// that are being removed, or start over, do not count.
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

// Void lists the runs whose folders in the original are being removed.
func (s *Snapshot) Void() (map[string]bool, error) {
	return collectMap[string, bool](s.Reader, "SELECT folder, true FROM removal")
}

// Drop removes a run from the copy.
func (s *Snapshot) Drop(hash string) error {
	return s.lab.change(hash, func(tx *sql.Tx, id int64, _ Run) error { return execute(tx, "DELETE FROM run WHERE id = ?", id) })
}

// Restart removes what was computed of a run from the copy.
func (s *Snapshot) Restart(hash string) error {
	return s.lab.change(hash, func(tx *sql.Tx, id int64, _ Run) error {
		if err := clearRun(tx, id); err != nil {
			return err
		}
		return execute(tx, "UPDATE run SET status = ?, error = '', finished = NULL WHERE id = ?", Pending, id)
	})
}

// Close closes the database.
func (s *Snapshot) Close() error { return s.lab.db.Close() }

// Finish gives the database its final name. Until somebody writes to the copy, it is one plain file: reading it leaves nothing beside it.
func (s *Snapshot) Finish() error {
	err := s.lab.write(func(tx *sql.Tx) error { return execute(tx, "DELETE FROM removal") })
	if err == nil {
		err = s.plain()
	}
	if err := closeWhole(s.lab.db, s.part, err); err != nil {
		return err
	}
	if err := os.Rename(s.part, databasePath(s.dir)); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return syncDir(filepath.Dir(s.part))
}

// plain ends the use of a write-ahead log.
func (s *Snapshot) plain() error {
	var mode string
	err := s.lab.db.QueryRow("PRAGMA journal_mode = DELETE").Scan(&mode)
	if err == nil && mode != "delete" {
		err = fmt.Errorf("store: %s: its write-ahead log could not be ended (mode %s)", s.part, mode)
	}
	return err
}

// Kept reports whether the attempts of a run up to a generation still count, that is, whether it was neither removed nor started
// over since. there is false if it was removed.
func (r *Reader) Kept(hash string, generation int64) (kept, there bool, err error) {
	err = r.db.QueryRowContext(r.ctx, `SELECT ?2 = 0 OR EXISTS (SELECT 1 FROM attempt WHERE run = run.id AND generation = ?2) FROM run WHERE hash = ?1`,
		hash, generation).Scan(&kept)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return kept, true, r.wrap(err)
}
