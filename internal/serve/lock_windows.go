package serve

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks an open file; false if another process holds the lock. The lock ends with the process, however that
// ends.
func lockFile(f *os.File) bool {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped)) == nil
}
