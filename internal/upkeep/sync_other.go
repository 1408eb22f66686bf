//go:build !linux

package upkeep

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/rundir"
)

// syncTree returns once all that was written below dir is on the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return rundir.System{}.SyncDir(path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
