package engine

import (
	"io/fs"
	"os"
	"path/filepath"
)

// folderName is how the folders of engines are called, below the folder of temporary files.
const folderName = "collapse-python-"

// unpack writes the package into a folder of its own that only this user can enter or change, and returns the function that removes it.
// Python runs whatever lies beside the package, such as a numpy.py, or byte code that it takes for the package's: nothing that could
// have been put there before is read, as in a cache folder. The folder stays until the engine has ended, since engines import late.
func unpack(files fs.FS) (dir string, remove func(), err error) {
	sweep()
	for {
		if dir, err = os.MkdirTemp("", folderName); err != nil { // with mode 0700
			return "", nil, err
		}
		lock := lockFolder(dir)
		if _, err := os.Lstat(dir); err == nil {
			remove = func() {
				os.RemoveAll(dir)
				lock.unlock()
			}
			break
		}
		lock.unlock() // a sweep was faster than the lock
	}
	if err = os.CopyFS(dir, files); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// sweep removes the folders of this user's programs that were killed: a living one holds its folder's lock.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), folderName+"*"))
	if err != nil {
		return // the name of the folder of temporary files is no pattern: the folders stay
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !own(info) {
			continue
		}
		if lock := lockFolder(dir); lock != nil {
			os.RemoveAll(dir)
			lock.unlock()
		}
	}
}
