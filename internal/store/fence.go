package store

import (
	"database/sql"
	"errors"
	"fmt"
)

// write runs one transaction that succeeds only while c is its run's lease.
func (c *Lease) write(do func(tx *sql.Tx) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.givenUp {
		panic("store: write through a lease that was given up")
	}
	return c.fenced(do)
}

// fenced is write for a caller that holds c.mu. Each write is also a heartbeat.
func (c *Lease) fenced(do func(tx *sql.Tx) error) error {
	err := c.lab.writePatiently(func(tx *sql.Tx) error {
		if err := c.fence(tx); err != nil {
			return err
		}
		return do(tx)
	})
	if errors.Is(err, ErrLost) {
		c.lose()
	}
	return err
}

// lose signals, once, that another process has the run. The caller holds c.mu.
func (c *Lease) lose() {
	if !c.isLost {
		c.isLost = true
		close(c.lost)
	}
}

// fence returns ErrLost unless c is its run's lease, and sets the heartbeat.
func (c *Lease) fence(tx *sql.Tx) error {
	res, err := tx.Exec("UPDATE claim SET heartbeat = ? WHERE run = ? AND generation = ?", c.lab.now().UnixMilli(), c.run, c.Generation)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = fmt.Errorf("run %.12s: %w", c.Hash, ErrLost)
	}
	return err
}
