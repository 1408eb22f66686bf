package store

import (
	"database/sql"
	"errors"
)

// write runs one transaction that holds the lab's write lock from the start. It waits for another process for busyWait, then returns
// a *BusyError.
func (l *Lab) write(do func(tx *sql.Tx) error) error {
	tx, err := l.db.Begin()
	if isBusy(err) {
		return busy(databasePath(l.dir), err)
	}
	if err != nil {
		return l.wrap(err)
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return l.explain(err)
	}
	return l.explain(tx.Commit())
}

// writePatiently is write for work under way, which must not end because another process blocks it: it waits until Options.Context ends.
func (l *Lab) writePatiently(do func(tx *sql.Tx) error) error {
	for {
		err := l.write(do)
		var busy *BusyError
		if !errors.As(err, &busy) || l.ctx.Err() != nil {
			return err
		}
		l.waiting(busy)
	}
}

// execute runs a statement that returns no rows.
func execute(tx *sql.Tx, query string, args ...any) error {
	_, err := tx.Exec(query, args...)
	return err
}

// explain adds the file name to errors of SQLite; this package's own errors already name the run.
func (r *Reader) explain(err error) error {
	var held *HeldError
	var missing *NotFoundError
	var study *StudyNotFoundError
	var open *NotDoneError
	if err == nil || errors.As(err, &open) || errors.Is(err, ErrLost) || errors.Is(err, ErrDone) || errors.As(err, &held) || errors.As(err, &missing) || errors.As(err, &study) {
		return err
	}
	return r.wrap(err)
}

// AppendEpoch writes an epoch's rows in one transaction, all or none. A row replaces an earlier one with the same key and step. A
// NaN or infinite Value is stored as missing.
func (c *Lease) AppendEpoch(epoch int64, rows []Value) error {
	return c.AppendEpochs([]EpochRows{{epoch, rows}})
}

// AppendEpochs is AppendEpoch for several epochs, in ascending order, in one transaction.
func (c *Lease) AppendEpochs(epochs []EpochRows) error {
	if len(epochs) == 0 {
		return nil
	}
	var parts []Part
	for _, e := range epochs {
		parts = append(parts, Part{c, e})
	}
	fresh := map[Key]int64{}
	err := c.write(func(tx *sql.Tx) error {
		if err := c.lab.insertParts(tx, parts, fresh); err != nil {
			return err
		}
		return noteEpoch(tx, c, epochs[len(epochs)-1].Epoch)
	})
	if err == nil {
		c.lab.learn(fresh)
	}
	return err
}

// DeleteAfter deletes the rows of epochs later than epoch, in one transaction: a run that resumes from the checkpoint of an epoch
// calls it first. -1 deletes all.
func (c *Lease) DeleteAfter(epoch int64) error {
	return c.write(func(tx *sql.Tx) error {
		if err := execute(tx, "DELETE FROM value WHERE run = ? AND epoch > ?", c.run, epoch); err != nil {
			return err
		}
		return execute(tx, "UPDATE run SET last_epoch = iif(? < 0, NULL, min(last_epoch, ?)) WHERE id = ?", epoch, epoch, c.run)
	})
}

// Beat records that this process is alive and returns ErrLost if it has lost the run.
func (c *Lease) Beat() error { return c.write(func(*sql.Tx) error { return nil }) }

// Lost is closed once a heartbeat or a write has found that another process has the run.
func (c *Lease) Lost() <-chan struct{} { return c.lost }

// Finish marks the run Done and gives up the lease. In a lab that was moved it, as Fail, marks the run Interrupted and returns a *MovedError.
func (c *Lease) Finish() error { return c.giveUp(Done, "") }

// Fail marks the run Failed, with cause as the reason, and gives up the lease.
func (c *Lease) Fail(cause error) error { return c.giveUp(Failed, cause.Error()) }

// Interrupt marks the run Interrupted, which Lease resumes, and gives up the lease.
func (c *Lease) Interrupt() error { return c.giveUp(Interrupted, "") }

func (c *Lease) giveUp(status Status, reason string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.givenUp {
		return nil
	}
	moved := c.lab.Moved()
	if moved != nil { // its files are not where its rows are, and that is no failure of its own
		status, reason = Interrupted, ""
	}
	err := c.fenced(func(tx *sql.Tx) error {
		err := execute(tx, "UPDATE run SET status = ?, error = ?, finished = ? WHERE id = ?", status, reason, c.lab.now().UnixMilli(), c.run)
		if err != nil {
			return err
		}
		return execute(tx, "DELETE FROM claim WHERE run = ?", c.run)
	})
	if err == nil || errors.Is(err, ErrLost) {
		c.givenUp = true
	}
	return errors.Join(err, moved)
}
