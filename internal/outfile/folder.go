package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Folder checks that files can be written to the folder path, the value of a flag, which is made later if it is not
// there. files are names inside it that will be written. It must be called after Reads.
func (o *Outputs) Folder(flag, path string, files ...string) error {
	if path == "-" {
		return fmt.Errorf("%s: %w", joined(flag, path), &MisuseError{"wanted a folder, which standard output cannot hold"})
	}
	if err := takesFiles(path); err != nil {
		return fmt.Errorf("%s: %w", joined(flag, path), cause(err))
	}
	for _, name := range files {
		inside := filepath.Join(path, name)
		if err := takesFiles(filepath.Dir(inside)); err != nil {
			return fmt.Errorf("%s: %w", joined(flag, path), cause(err))
		}
		if _, err := os.Stat(filepath.Dir(inside)); err != nil {
			continue // the folder will be new
		}
		f := &File{of: o, flag: flag}
		if err := f.check(inside); err != nil {
			return f.named(inside, err)
		}
		f.target.release()
	}
	return nil
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
