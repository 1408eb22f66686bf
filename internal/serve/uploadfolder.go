package serve

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Upload folders lie in the system's temporary folder, each with a file that its process keeps locked. A killed process leaves its
// folders behind; the next server finds them unlocked and removes them, but not those of running servers.
const (
	folderName = "collapse-measure-"
	lockName   = "lock"
	// oldFolder is the age at which a folder without a lock file counts as dead: its process was killed before it made the file, or
	// was of a version without locks.
	oldFolder = 24 * time.Hour
)

// folder holds the files of one upload.
type folder struct {
	dir  string
	lock *os.File
}

// newFolder makes a folder. If another process sweeps it before it is locked, a new one is made.
func newFolder() (*folder, error) {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		dir, err := os.MkdirTemp("", folderName)
		if err != nil {
			return nil, err
		}
		f := &folder{dir: dir}
		held, err := f.hold()
		if err == nil && (held || attempt == attempts) { // a file system without locks: no other process can take this one either
			return f, nil
		}
		if clearing := f.remove(); err != nil && attempt == attempts || clearing != nil {
			return nil, errors.Join(err, clearing)
		}
	}
}

// hold takes the folder's lock; false if another process has it or the folder is gone.
func (f *folder) hold() (held bool, err error) {
	path := filepath.Join(f.dir, lockName)
	if f.lock, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return false, err
	}
	own, err := f.lock.Stat()
	if err != nil {
		return false, err
	}
	locked := lockFile(f.lock)
	there, err := os.Lstat(path)
	return locked && err == nil && os.SameFile(own, there), nil
}

// remove removes the folder.
func (f *folder) remove() error {
	if f.lock != nil {
		f.lock.Close() // a process that takes the lock now removes the folder as well
	}
	return os.RemoveAll(f.dir)
}

// sweepFolders removes the folders that killed processes left. Unreadable folders belong to another user.
func sweepFolders() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), folderName+"*"))
	if err != nil {
		return // the temporary folder's name is not a valid pattern: the folders stay
	}
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && abandoned(dir, info) {
			os.RemoveAll(dir) // the next server tries again what is left
		}
	}
}

// abandoned reports whether no process holds a folder.
func abandoned(dir string, info os.FileInfo) bool {
	path := filepath.Join(dir, lockName)
	stat, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return time.Since(info.ModTime()) > oldFolder
	case err != nil || !stat.Mode().IsRegular():
		return false
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return lockFile(f)
}
