package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// target is what a name stands for, once links have been followed.
type target struct {
	asked  string      // as the user wrote it
	path   string      // what is opened
	info   os.FileInfo // nil: not there yet
	opaque bool        // a link that cannot be followed by name, as in /proc/PID/fd: it is opened as it stands
	open   *os.File    // a descriptor of this process, duplicated; nil for names in a file system
}

// mostLinks is how many links are followed, as Linux does.
const mostLinks = 40

// resolve follows a name to what it stands for.
func resolve(asked string) (target, error) {
	t := target{asked: asked, path: asked}
	for range mostLinks {
		if n, own := descriptor(t.path); own {
			return t.descriptor(n)
		}
		info, err := os.Lstat(t.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return t.absent()
		case err != nil:
			return t, err
		case info.Mode()&fs.ModeSymlink == 0:
			t.info = info
			return t, t.fileWanted()
		case inDescriptors(t.path):
			t.opaque = true
			t.info, err = os.Stat(t.path)
			return t, err
		}
		if err := t.step(); err != nil {
			return t, err
		}
	}
	return t, errors.New("too many levels of symbolic links")
}

// step goes on to where a link points.
func (t *target) step() error {
	to, err := os.Readlink(t.path)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(to) {
		dir, err := realDir(t.path)
		if err != nil {
			return err
		}
		to = dir + string(filepath.Separator) + to // not Join: a ".." after a link is not the folder before it
	}
	t.path = to
	return nil
}

// realDir is the folder of a name, without links.
func realDir(path string) (string, error) {
	dir, _ := filepath.Split(path)
	return filepath.EvalSymlinks(dir)
}

// descriptor takes a duplicate of an open descriptor.
func (t target) descriptor(n int) (_ target, err error) {
	if t.open, err = duplicate(n); err != nil {
		return t, err
	}
	if t.info, err = t.open.Stat(); err != nil { // what can be written to is no folder
		t.release()
	}
	return t, err
}

// absent completes the name of a file that is not there yet, so that two spellings of it compare equal.
func (t target) absent() (target, error) {
	dir, err := realDir(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		dir, _ := filepath.Split(t.path)
		return t, fmt.Errorf("there is no folder %s", filepath.Clean(dir))
	}
	if err != nil {
		return t, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return t, err
	}
	t.path = filepath.Join(dir, filepath.Base(t.path))
	return t, nil
}

// fileWanted refuses what cannot hold a file's content.
func (t *target) fileWanted() error {
	switch mode := t.info.Mode(); {
	case mode.IsDir():
		return &MisuseError{"is a folder; wanted the name of a file"}
	case mode&fs.ModeSocket != 0:
		return &MisuseError{"is a socket; wanted a file, a pipe or a device"}
	}
	return nil
}

// same reports whether two names stand for one file. Devices such as /dev/null may be written twice.
func (t *target) same(other *target) bool {
	if t.info == nil || other.info == nil {
		return t.info == nil && other.info == nil && t.path != "" && t.path == other.path
	}
	return t.info.Mode()&fs.ModeCharDevice == 0 && os.SameFile(t.info, other.info)
}

// outside refuses a file that lies below one of some folders.
func (t *target) outside(folders []string) error {
	if len(folders) == 0 || t.open != nil || t.path == "" {
		return nil
	}
	dir, err := realDir(t.path)
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	for _, folder := range folders {
		if rel, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(rel) {
			return &MisuseError{fmt.Sprintf("this command reads what %s holds and would overwrite it: choose another name", folder)}
		}
	}
	return nil
}

// release closes what resolve has opened.
func (t *target) release() {
	if t.open != nil {
		t.open.Close()
		t.open = nil
	}
}

// writable reports what stands in the way of writing, without changing anything.
func (t *target) writable() error {
	switch {
	case t.open != nil:
		return nil
	case t.info == nil:
		return probe(filepath.Dir(t.path))
	case t.info.Mode().IsRegular():
		f, err := os.OpenFile(t.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return mayWrite(t.path) // opening a pipe or a device can wait, or do something
}

// probe finds out whether a folder takes new files; modes alone do not tell (read-only disks, access lists, root).
func probe(dir string) error {
	writing.RLock()
	defer writing.RUnlock()
	f, err := createIn(dir, 0o600)
	if err != nil {
		return fmt.Errorf("the folder %s takes no new file: %w", dir, cause(err))
	}
	return errors.Join(cause(f.Close()), cause(os.Remove(f.Name())))
}
