package store

import (
	"database/sql"
	"errors"
	"fmt"
)

// Cancel stops a run, given by its whole hash: it becomes Interrupted, which Claim resumes, and the process that works on it, if
// there is one, gets ErrLost at its next write or beat. *NotFoundError; an error if the run has ended.
func (l *Lab) Cancel(hash string) error {
	return l.write(func(tx *sql.Tx) error {
		var id int64
		var status Status
		err := tx.QueryRow("SELECT id, status FROM run WHERE hash = ?", hash).Scan(&id, &status)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return &NotFoundError{Prefix: hash, Dir: l.dir}
		case err != nil:
			return err
		case status != Running && status != Pending:
			return fmt.Errorf("run %.12s is %s: there is nothing to cancel", hash, status)
		}
		if _, err := tx.Exec("DELETE FROM claim WHERE run = ?", id); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE run SET status = ?, finished = ? WHERE id = ?", Interrupted, l.now().UnixMilli(), id)
		return err
	})
}
