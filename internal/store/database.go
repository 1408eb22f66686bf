package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// cautious are the parameters of every connection: a lab may be a stranger's (sqlite.org/security.html).
const cautious = "&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"

// Bounds of what SQLite takes for a row, or for a text in it, and for a query. The longest text that the program itself makes is a list
// of runs' hashes, 67 bytes each.
const (
	longestRow   = 16 << 20
	longestQuery = 1 << 20
)

// openDatabase prepares a pool of connections; it does not touch the file yet.
func openDatabase(path, parameters string) (*sql.DB, error) {
	c, err := connector(path, parameters)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// connector makes the connections of a pool.
func connector(path, parameters string) (driver.Connector, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	name := filepath.ToSlash(abs)
	if name[0] != '/' { // a drive letter
		name = "/" + name
	}
	u := url.URL{Scheme: "file", Path: name, RawQuery: parameters + cautious + fmt.Sprintf("&_pragma=busy_timeout(%d)", busyWait.Milliseconds())}
	c, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	return patient{bounded{c}}, nil
}

// bounded makes connections with SQLite's limits set.
type bounded struct{ driver.Connector }

// sqliteConn is all that database/sql asks of a connection of this driver.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// boundedConn is a connection with the pool through which its limits were set: the driver sets limits by way of a pool alone.
type boundedConn struct {
	sqliteConn
	pool *sql.DB
}

// Close closes the connection, which is the pool's.
func (c boundedConn) Close() error { return c.pool.Close() }

func (b bounded) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	only := &ready{Connector: b.Connector, made: made}
	pool := sql.OpenDB(only)
	if err := limit(ctx, pool); err != nil {
		err = errors.Join(err, pool.Close())
		if !only.given { // nobody waits any more, so the pool never had it
			err = errors.Join(err, made.Close())
		}
		return nil, err
	}
	return boundedConn{made.(sqliteConn), pool}, nil
}

// ready hands out one connection that is already made.
type ready struct {
	driver.Connector
	made  driver.Conn
	given bool
}

func (r *ready) Connect(context.Context) (driver.Conn, error) {
	r.given = true
	return r.made, nil
}

// limit sets the limits of a pool's only connection.
func limit(ctx context.Context, pool *sql.DB) error {
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	_, length := sqlite.Limit(c, sqlite3.SQLITE_LIMIT_LENGTH, longestRow)
	_, query := sqlite.Limit(c, sqlite3.SQLITE_LIMIT_SQL_LENGTH, longestQuery)
	return errors.Join(length, query, c.Close())
}
