package rundir

import (
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/jail"
)

// inside is the operating system's file system below the folder of a run: a link there leads no write, rename or removal out of it.
type inside struct{ dir string }

// at gives do the folder and path relative to it.
func (f inside) at(path string, do func(root *os.Root, rel string) error) error {
	rel, err := filepath.Rel(f.dir, path)
	if err != nil {
		return err
	}
	root, err := jail.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, rel)
}

// MkdirAll also makes the folder of the run itself.
func (f inside) MkdirAll(dir string) error {
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return err
	}
	return f.at(dir, func(root *os.Root, rel string) error { return root.MkdirAll(rel, 0o777) })
}

func (f inside) Create(path string) (made File, err error) {
	err = f.at(path, func(root *os.Root, rel string) (err error) {
		made, err = root.Create(rel)
		return err
	})
	return made, err
}

func (f inside) Rename(from, to string) error {
	return f.at(from, func(root *os.Root, rel string) error {
		target, err := filepath.Rel(f.dir, to)
		if err != nil {
			return err
		}
		return root.Rename(rel, target)
	})
}

func (f inside) RemoveAll(path string) error {
	err := f.at(path, func(root *os.Root, rel string) error { return root.RemoveAll(rel) })
	if os.IsNotExist(err) { // the folder of the run
		return nil
	}
	return err
}

// SyncDir changes nothing, so it is the operating system's: the folder above the run's is synced, too.
func (inside) SyncDir(dir string) error { return System{}.SyncDir(dir) }
