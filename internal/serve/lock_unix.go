//go:build unix

package serve

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks an open file; false if another process holds the lock. The lock ends with the process, however that
// ends.
func lockFile(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
