package store

import (
	"database/sql"
	"fmt"
)

// cancelled is the Error of an Interrupted run that was stopped by Cancel. Lease clears it.
const cancelled = "cancelled"

// Cancelled reports whether a user stopped the run: studies leave it alone until a user resumes it.
func (r Run) Cancelled() bool { return r.Status == Interrupted && r.Error == cancelled }

// Cancelled is Run.Cancelled.
func (r StudyRun) Cancelled() bool { return r.Status == Interrupted && r.Error == cancelled }

// Cancel stops a run, given by its whole hash: it becomes Interrupted, which Lease resumes, and the process that works on it, if
// any, gets ErrLost at its next write or beat. Studies skip it until Release, OpenStudy or SaveStudy. The error is *NotFoundError
// for an unknown run; a run that has ended is an error, too.
func (l *Lab) Cancel(hash string) error {
	return l.change(hash, func(tx *sql.Tx, id int64, r Run) error {
		if r.Status == Done || r.Status == Failed || r.Cancelled() {
			return fmt.Errorf("run %.12s is %s: there is nothing to cancel", hash, r.Status)
		}
		if err := execute(tx, "DELETE FROM claim WHERE run = ?", id); err != nil {
			return err
		}
		return execute(tx, "UPDATE run SET status = ?, error = ?, finished = ? WHERE id = ?", Interrupted, cancelled, l.now().UnixMilli(), id)
	})
}

// Release makes a failed or stopped run ready to continue, from its checkpoint if it has one; the coordinator of a study with this
// run picks it up. The error is *NotFoundError for an unknown run; a run in another state is an error, too.
func (l *Lab) Release(hash string) error {
	return l.change(hash, func(tx *sql.Tx, id int64, r Run) error {
		dead := r.Status == Running && l.free(tx, id, hash) == nil
		if r.Status != Failed && r.Status != Interrupted && !dead {
			return fmt.Errorf("run %.12s is %s: there is nothing to resume", hash, r.Status)
		}
		return execute(tx, "UPDATE run SET status = ?, error = '', finished = NULL WHERE id = ?", Interrupted, id)
	})
}

// change applies a user's change to a run, and makes the coordinators of its studies notice.
func (l *Lab) change(hash string, do func(tx *sql.Tx, id int64, r Run) error) error {
	return l.write(func(tx *sql.Tx) error {
		id, run, err := scanRun(tx.QueryRow(selectRun+"WHERE hash = ?", hash).Scan)
		if err = l.missing(hash, err); err != nil {
			return err
		}
		if err := do(tx, id, run); err != nil {
			return err
		}
		return execute(tx, "UPDATE study SET revision = revision + 1 WHERE id IN (SELECT study FROM study_run WHERE run = ?)", id)
	})
}
