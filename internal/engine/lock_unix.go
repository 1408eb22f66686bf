//go:build unix

package engine

import (
	"os"
	"syscall"
)

// folderLock is a lock on a folder that ends with the process, however that ends.
type folderLock struct{ f *os.File }

// lockFolder locks a folder; nil if another process holds its lock.
func lockFolder(dir string) *folderLock {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return &folderLock{f}
}

func (l *folderLock) unlock() {
	if l != nil {
		l.f.Close()
	}
}

// own reports whether a file belongs to this user.
func own(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
