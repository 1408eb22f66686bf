package outfile

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// hasList reports whether a file has an access control list or attributes that a user gave it.
func hasList(path string) bool {
	names := make([]byte, 1<<16) // all that Linux gives
	n, err := unix.Listxattr(path, names)
	if err != nil {
		return false
	}
	return keeps(names[:n])
}

// keeps reports whether one of some names, each with a zero at its end, is of what a new file would lack.
func keeps(names []byte) bool {
	for name := range bytes.SplitSeq(names, []byte{0}) {
		if string(name) == "system.posix_acl_access" || bytes.HasPrefix(name, []byte("user.")) {
			return true
		}
	}
	return false
}
