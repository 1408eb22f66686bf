package store

import (
	"database/sql"
	"fmt"
)

// cancelled is the Error of an Interrupted run that Cancel stopped. Claim clears it.
const cancelled = "cancelled"

// Cancelled reports whether a person stopped the run: studies leave it alone until a person lets it go on.
func (r Run) Cancelled() bool { return r.Status == Interrupted && r.Error == cancelled }

// Cancelled is Run.Cancelled.
func (r StudyRun) Cancelled() bool { return r.Status == Interrupted && r.Error == cancelled }

// Cancel stops a run, given by its whole hash: it becomes Interrupted, which Claim resumes, and the process that works on it, if
// there is one, gets ErrLost at its next write or beat. Studies leave it out until Release, OpenStudy or SaveStudy.
// *NotFoundError; an error if the run has ended.
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

// Release makes a run that failed or was stopped ready to go on, from its checkpoint where it has one; whoever coordinates a study of
// it takes it up. *NotFoundError; an error if the run is in another state.
func (l *Lab) Release(hash string) error {
	return l.change(hash, func(tx *sql.Tx, id int64, r Run) error {
		if r.Status != Failed && r.Status != Interrupted {
			return fmt.Errorf("run %.12s is %s: there is nothing to resume", hash, r.Status)
		}
		return execute(tx, "UPDATE run SET status = ?, error = '', finished = NULL WHERE id = ?", Interrupted, id)
	})
}

// change lets a person change a run, and tells whoever works on its studies.
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
