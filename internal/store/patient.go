package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"collapse.example/collapse/internal/descriptors"
)

// patient opens connections to a database, and waits up to busyWait while the process has too many files open. SQLite calls that
// "unable to open database file", as if the disk were broken.
type patient struct{ driver.Connector }

// Connect implements driver.Connector.
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	for start, again := time.Now(), false; ; again = true {
		c, err := p.open(ctx)
		if _, code := codeOf(err); code != sqliteCantOpen {
			return c, err
		}
		switch short := descriptors.Short(); {
		case short == nil && again:
			return nil, err
		case short == nil: // descriptors may have become free since
			continue
		case ctx.Err() != nil || time.Since(start) > busyWait:
			return nil, fmt.Errorf("%w (%w)", short, err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// open opens a connection and all its files, which SQLite does at the first query.
func (p patient) open(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.(driver.QueryerContext).QueryContext(ctx, "PRAGMA schema_version", nil)
	if err == nil {
		err = rows.Close()
	}
	if _, code := codeOf(err); code == sqliteCantOpen {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil // the first query of its user meets any other error again
}
