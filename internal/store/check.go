package store

import (
	"database/sql"
	"fmt"
	"time"

	"collapse.example/collapse/internal/jail"
)

// RowsPerStep counts the rows of one series of a run at each step, leaving out some measures, and rows that the run did not have when it
// ended (AddMeasured).
func (r *Reader) RowsPerStep(hash, series string, without []string) (map[int64]int, error) {
	query := `SELECT v.step, count(*) FROM value v JOIN series s ON s.id = v.series
		WHERE v.run = (SELECT id FROM run WHERE hash = ?) AND s.series = ? AND s.measure NOT IN (SELECT value FROM json_each(?))`
	if r.schema >= measuredLater {
		query += " AND NOT EXISTS (SELECT 1 FROM measured m WHERE m.run = v.run AND m.series = v.series AND m.step = v.step AND m.instead IS NULL)"
	}
	return collectMap[int64, int](r, query+" GROUP BY v.step", hash, series, jsonList(without))
}

// Infinite counts the infinite values of a run, which readers show as missing, and returns the first step that has one.
func (r *Reader) Infinite(hash string) (n int, first int64, err error) {
	err = r.db.QueryRowContext(r.ctx, `SELECT count(*), coalesce(min(step), 0) FROM value
		WHERE run = (SELECT id FROM run WHERE hash = ?) AND value IN (9e999, -9e999)`, hash).Scan(&n, &first)
	return n, first, r.wrap(err)
}

// Damage has SQLite check its file, and returns its complaints, at most twenty.
func (r *Reader) Damage() ([]string, error) {
	found, err := collect(r, func(scan func(...any) error) (text string, err error) { return text, scan(&text) }, "PRAGMA quick_check(20)")
	if err != nil || len(found) == 1 && found[0] == "ok" {
		found = nil
	}
	return found, err
}

// Held returns *HeldError if a process that may be alive works on the run.
func (r *Reader) Held(hash string) error {
	var id int64
	err := r.missing(hash, r.db.QueryRowContext(r.ctx, "SELECT id FROM run WHERE hash = ?", hash).Scan(&id))
	if err == nil {
		err = free(r.db, id, hash, thisProcess(), time.Now(), stale)
	}
	return r.explain(err)
}

// Reopen makes a run that no process works on ready to be computed again where it is incomplete: a finished run becomes Interrupted,
// and the coordinator of a study with this run picks it up. Its rows stay. tidy, which changes the run's folder, is called after
// that, while nobody can lease the run. *NotFoundError, *HeldError.
func (l *Lab) Reopen(hash string, tidy func() error) error {
	err := l.change(hash, func(tx *sql.Tx, id int64, r Run) error {
		if err := l.free(tx, id, hash); err != nil {
			return err
		}
		if r.Status != Done {
			return nil
		}
		return execute(tx, "UPDATE run SET status = ?, finished = NULL WHERE id = ?", Interrupted, id)
	})
	if err != nil {
		return err
	}
	atStep("reopened")
	return l.Tidy(hash, tidy)
}

// Tidy calls tidy, which changes the folder of a run, while nobody can lease the run. *NotFoundError, *HeldError.
func (l *Lab) Tidy(hash string, tidy func() error) error {
	return l.write(func(tx *sql.Tx) error {
		if err := l.freeRun(tx, hash); err != nil {
			return err
		}
		if err := jail.Check(l.RunDir(hash)); err != nil {
			return err
		}
		if err := tidy(); err != nil {
			return fmt.Errorf("run %.12s: %w", hash, err)
		}
		return nil
	})
}
