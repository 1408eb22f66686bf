package store

import (
	"errors"
	"syscall"

	"modernc.org/sqlite"

	"collapse.example/collapse/internal/descriptors"
)

// Result codes of SQLite (sqlite.org/rescode.html).
const (
	sqliteBusy         = 5
	sqliteReadOnly     = 8
	sqliteIOErr        = 10
	sqliteCorrupt      = 11
	sqliteFull         = 13
	sqliteCantOpen     = 14
	sqliteTooBig       = 18
	sqliteMismatch     = 20
	sqliteNotADatabase = 26
	sqliteIOErrShmSize = sqliteIOErr | 19<<8 // the index of the write-ahead log cannot grow
)

// codeOf returns SQLite's result code in an error, with its extension and in its plain form; 0 for any other error.
func codeOf(err error) (extended, code int) {
	var e *sqlite.Error
	if errors.As(err, &e) {
		extended = e.Code()
	}
	return extended, extended & 0xff
}

func isBusy(err error) bool {
	_, code := codeOf(err)
	return code == sqliteBusy
}

// needsWritableDir recognises SQLite's error when it cannot create the index of the write-ahead log.
func needsWritableDir(err error) bool {
	_, code := codeOf(err)
	return code == sqliteCantOpen || code == sqliteReadOnly
}

// IsUnusable reports whether an error of a lab says that its file cannot be read, written or opened because of the disk or of
// permissions.
func IsUnusable(err error) bool {
	_, code := codeOf(err)
	return !descriptors.Scarce(err) && (code == sqliteReadOnly || code == sqliteIOErr || code == sqliteCantOpen)
}

// IsDamaged reports whether an error of a lab says that its tables hold what this program did not write. No second try reads them.
func IsDamaged(err error) bool {
	_, code := codeOf(err)
	return code == sqliteCorrupt || code == sqliteTooBig || code == sqliteMismatch || code == sqliteNotADatabase ||
		errors.As(err, new(*ForeignRowError)) || errors.As(err, new(*SchemaError))
}

// IsFull reports whether an error, from a lab or from the files next to it, says that the disk is full.
func IsFull(err error) bool {
	extended, code := codeOf(err)
	return code == sqliteFull || extended == sqliteIOErrShmSize || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
