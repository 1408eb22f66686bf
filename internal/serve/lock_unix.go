//go:build unix

package serve

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock of an open file; false if another process has it. It goes with the process, however that ends.
func lockFile(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
