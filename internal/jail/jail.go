// Package jail keeps the program inside folders that a stranger may have filled, such as a lab that came with a cloned repository. A
// link there leads where the stranger wants: what is read behind it ends on a page, what is removed behind it is the user's.
//
// Check is the door of a folder whose files are used by their paths: no link below it leads out. Top is the door of a folder whose own
// entries must be no links at all, but for those that this user allows (allowed.go). What removes, renames or writes goes through an
// os.Root besides, so that a link that comes later leads nowhere.
package jail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/inputfile"
)

// LinkError says that a link is not followed.
type LinkError struct {
	Path   string
	Target string // what it says, not where that leads
	Hint   string // what to do; may be ""
}

func (e *LinkError) Error() string {
	hint := e.Hint
	if hint == "" {
		hint = "remove it, or put what it leads to in its place"
	}
	return fmt.Sprintf("%s is a link to %s and is not followed, for a stranger may have made it: %s", e.Path, e.Target, hint)
}

func linkError(path, hint string) *LinkError {
	target, err := os.Readlink(path)
	if err != nil {
		target = "somewhere"
	}
	return &LinkError{Path: path, Target: target, Hint: hint}
}

// isLink recognises links, and what Windows has beside them.
func isLink(mode fs.FileMode) bool { return mode&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// Check returns a *LinkError if dir is a link, or if one below it leads out of it. A folder that is missing is in order.
func Check(dir string) error {
	return links(dir, func(rel string) error {
		if rel != "." && staysIn(dir, rel) {
			return nil
		}
		return linkError(filepath.Join(dir, rel), "")
	})
}

// Below returns a *LinkError if dir, or a step from there to path, is a link. It is Check for one file of many.
func Below(dir, path string) error {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && isLink(info.Mode()) {
			return linkError(at, "")
		}
		if at == filepath.Clean(dir) || at == filepath.Dir(at) {
			return nil
		}
	}
}

// Links lists the links below a folder, relative to it, with slashes.
func Links(dir string) (list []string, err error) {
	err = links(dir, func(rel string) error {
		list = append(list, filepath.ToSlash(rel))
		return nil
	})
	return list, err
}

// links calls found with each link below a folder, or with "." if the folder itself is one.
func links(dir string, found func(rel string) error) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // from the beginning, or meanwhile
			return nil
		}
		if err != nil || !isLink(e.Type()) {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return found(rel)
	})
}

// staysIn reports whether a link below a folder leads to something below it, or to nothing.
func staysIn(dir, rel string) bool {
	root, err := OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(rel)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// OpenRoot is os.OpenRoot for a folder that is no link itself.
func OpenRoot(dir string) (*os.Root, error) {
	if info, err := os.Lstat(dir); err == nil && isLink(info.Mode()) {
		return nil, linkError(dir, "")
	}
	return os.OpenRoot(dir)
}

// OpenRegular opens a regular file for reading. A link is a *LinkError, and a pipe is not waited for.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	before, err := root.Lstat(name)
	if err == nil {
		err = regular(root, name, before)
	}
	if err != nil {
		return nil, err
	}
	return openSame(root, name, os.O_RDONLY, 0, before)
}

func regular(root *os.Root, name string, info fs.FileInfo) error {
	path := filepath.Join(root.Name(), name)
	switch {
	case isLink(info.Mode()):
		return linkError(path, "")
	case !info.Mode().IsRegular():
		return &inputfile.KindError{Path: path, Mode: info.Mode()}
	}
	return nil
}

// openSame opens a file and makes sure that it is the one that was looked at before.
func openSame(root *os.Root, name string, flag int, perm fs.FileMode, before fs.FileInfo) (*os.File, error) {
	f, err := root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%s was replaced meanwhile", filepath.Join(root.Name(), name))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Open opens a regular file directly in the folder dir, and makes it if flag has os.O_CREATE. A link is a *LinkError.
func Open(dir, name string, flag int, perm fs.FileMode) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for {
		before, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
			f, err := root.OpenFile(name, flag|os.O_EXCL, perm) // O_EXCL follows no link that comes meanwhile
			if errors.Is(err, fs.ErrExist) {
				continue // another process was faster
			}
			return f, err
		}
		if err == nil {
			err = regular(root, name, before)
		}
		if err != nil {
			return nil, err
		}
		f, err := openSame(root, name, flag&^(os.O_CREATE|os.O_TRUNC), perm, before)
		if err == nil && flag&os.O_TRUNC != 0 { // only now is it known to be that file
			err = f.Truncate(0)
		}
		if err != nil && f != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, err
	}
}
