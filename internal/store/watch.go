package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Watch tells whether anything in a lab has changed. It holds one connection but no transaction.
type Watch struct {
	ctx  context.Context
	conn *sql.Conn
	last int64
}

// Watch starts watching for changes.
func (r *Reader) Watch() (*Watch, error) {
	conn, err := r.db.Conn(r.ctx)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", r.dir, err)
	}
	w := &Watch{ctx: r.ctx, conn: conn}
	if _, err := w.Changed(); err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

// Changed reports whether any process has committed a change since the last call, or since Watch. It takes about ten microseconds.
func (w *Watch) Changed() (bool, error) {
	var v int64
	// data_version can only be compared on one connection (sqlite.org/pragma.html#pragma_data_version).
	if err := w.conn.QueryRowContext(w.ctx, "PRAGMA data_version").Scan(&v); err != nil {
		return false, fmt.Errorf("store: watching for changes: %w", err)
	}
	changed := v != w.last
	w.last = v
	return changed, nil
}

// Close stops watching.
func (w *Watch) Close() error { return w.conn.Close() }
