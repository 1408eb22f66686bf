package faulttest

import (
	"os"
	"path/filepath"
	"syscall"

	"collapse.example/collapse/internal/longtest"
)

const (
	memoryDisk = "/dev/shm"
	memoryName = "collapse-test-*"
	memoryFree = 1 << 30    // bytes that must be free there
	memoryType = 0x01021994 // of a tmpfs
	noExec     = 8          // a flag of a mounted file system
)

// InMemory has tests make their temporary folders on the memory disk, if the system has one with room and nobody has chosen where:
// files and SQLite's commits cost a fraction of the time there, and what a test sees is the same. Whole tests (package longtest) stay
// on the ordinary disk. A TestMain calls it, and the function that it returns at its end.
func InMemory() (leave func()) {
	stay := func() {}
	if longtest.Whole() || os.Getenv("TMPDIR") != "" || os.Getenv("GOTMPDIR") != "" {
		return stay
	}
	var fs syscall.Statfs_t
	if syscall.Statfs(memoryDisk, &fs) != nil || int64(fs.Type) != memoryType || int64(fs.Flags)&noExec != 0 {
		return stay
	}
	sweepMemory()
	if syscall.Statfs(memoryDisk, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < memoryFree {
		return stay
	}
	dir, err := os.MkdirTemp(memoryDisk, memoryName)
	if err != nil {
		return stay
	}
	lock := lockFolder(dir, 0)
	if _, err := os.Stat(dir); lock == nil || err != nil { // somebody swept it before it was locked
		return stay
	}
	os.Chmod(dir, 0o777|os.ModeSticky) // as /tmp: some tests play other users
	os.Setenv("TMPDIR", dir)
	return func() {
		os.Unsetenv("TMPDIR")
		os.RemoveAll(dir)
		lock.Close()
	}
}

// sweepMemory removes what tests have left there that were killed or took too long: it would stay in memory. The others are locked.
func sweepMemory() {
	list, _ := filepath.Glob(filepath.Join(memoryDisk, memoryName))
	for _, dir := range list {
		if lock := lockFolder(dir, syscall.LOCK_NB); lock != nil {
			os.RemoveAll(dir)
			lock.Close()
		}
	}
}

// lockFolder opens a folder and locks it until it is closed, or until the process ends; nil if that cannot be.
func lockFolder(dir string, how int) *os.File {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how) != nil {
		f.Close()
		return nil
	}
	return f
}
