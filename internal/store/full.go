package store

import (
	"errors"
	"syscall"

	"modernc.org/sqlite"
)

// More result codes of SQLite.
const (
	sqliteFull         = 13
	sqliteIOErrShmSize = 10 | 19<<8 // the index of the write-ahead log cannot grow
)

// IsFull reports whether an error, of a lab or of files beside it, says that the disk is full.
func IsFull(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) && (e.Code()&0xff == sqliteFull || e.Code() == sqliteIOErrShmSize) {
		return true
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
