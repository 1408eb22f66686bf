package store

import (
	"errors"

	"modernc.org/sqlite"
)

const sqliteIOErr = 10

// IsUnusable reports whether an error of a lab says that its file cannot be read, written or opened, by fault of the disk or of
// permissions.
func IsUnusable(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqliteReadOnly, sqliteIOErr, sqliteCantOpen:
		return true
	}
	return false
}
