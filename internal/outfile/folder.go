package outfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder is an output that is a folder of files: those that one command makes, and whatever else is there. A nil Folder is one that was not
// asked for.
//
// The program knows its own files by a list that it keeps in the folder (see folderlist.go). It replaces and removes only files that are in the
// list and as it wrote them. If another file is where one is to be written, that is a *ForeignError, and nothing is written.
type Folder struct {
	of   *Outputs
	flag string
	kind string
	path string
}

// Folder checks that files can be written to the folder path, the value of a flag, and returns it; nil for "". The folder is made when it
// is written. kind says in words what it is for; a folder has one. files are names inside it that will be written. Folder must be called
// after Reads.
func (o *Outputs) Folder(flag, path, kind string, files ...string) (*Folder, error) {
	if path == "" {
		return nil, nil
	}
	f := &Folder{o, flag, kind, path}
	if path == "-" {
		return nil, f.named(&MisuseError{"wanted a folder, which standard output cannot hold"})
	}
	if err := inLab(path); err != nil {
		return nil, f.named(err)
	}
	if err := takesFiles(path); err != nil {
		return nil, f.named(err)
	}
	for _, name := range files {
		inside := filepath.Join(path, name)
		if err := takesFiles(filepath.Dir(inside)); err != nil {
			return nil, f.named(err)
		}
		if _, err := os.Stat(filepath.Dir(inside)); err != nil {
			continue // the folder will be new
		}
		file := &File{of: o, flag: flag}
		if err := file.check(inside); err != nil {
			return nil, file.named(inside, err)
		}
		file.target.release()
	}
	for _, other := range o.folders {
		if sameFolder(path, other.path) {
			return nil, f.named(&MisuseError{joined(other.flag, other.path) + " is the same folder: give each output its own"})
		}
	}
	if err := f.ours(files); err != nil {
		return nil, f.named(err)
	}
	o.folders = append(o.folders, f)
	return f, nil
}

// At is the folder path in a program that reads no files which it could overwrite.
func At(path, kind string) *Folder {
	return &Folder{of: New(context.Background(), io.Discard), kind: kind, path: path}
}

func sameFolder(a, b string) bool {
	there, errA := os.Stat(a)
	other, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(there, other)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// Path is the folder's name.
func (f *Folder) Path() string { return f.path }

func (f *Folder) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", joined(f.flag, f.path), cause(err))
}

// ours refuses names that stand for something else than files of the program.
func (f *Folder) ours(names []string) error {
	root, err := os.OpenRoot(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	in := inside{root, f.of.ctx}
	old, err := in.list(f.kind)
	if err != nil {
		return err
	}
	foreign := &ForeignError{folder: f.path, Unlisted: len(old) == 0}
	for _, name := range names {
		name = filepath.ToSlash(name)
		found, err := in.look(name)
		if err != nil {
			return err
		}
		if !found.absent && !old.has(name, found.sum) {
			foreign.Names = append(foreign.Names, name)
		}
	}
	return foreign.orNil()
}

// ForeignError says that files which are not as this program wrote them are in the way.
type ForeignError struct {
	Names    []string // in the folder, with slashes
	Unlisted bool     // the folder has no list of what the program wrote
	folder   string
}

func (e *ForeignError) orNil() error {
	if len(e.Names) == 0 {
		return nil
	}
	return e
}

func (e *ForeignError) Error() string {
	const most = 5
	names := make([]string, 0, most)
	for _, name := range e.Names[:min(most, len(e.Names))] {
		names = append(names, filepath.Join(e.folder, filepath.FromSlash(name)))
	}
	words := strings.Join(names, ", ")
	if more := len(e.Names) - most; more > 0 {
		words = fmt.Sprintf("%s and %d more files", words, more)
	}
	return fmt.Sprintf("not written by this program, or changed since, and in the way: %s. Nothing was written there; choose another folder, or move what is in the way", words)
}

// takesFiles checks a folder, or the nearest one above it that exists.
func takesFiles(path string) error {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return probe(at)
		case err == nil && at == filepath.Clean(path):
			return &MisuseError{"is not a folder; wanted one, or a name that is free"}
		case err == nil:
			return &MisuseError{at + " is not a folder"}
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return err
		}
		if _, err := os.Lstat(at); err == nil {
			return &MisuseError{at + " is a link to a folder that does not exist"}
		}
		if filepath.Dir(at) == at {
			return err
		}
	}
}
