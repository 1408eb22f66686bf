package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The file that makes a folder a lab, and the folders in it that hold nothing but what the program keeps there.
const labMark = "lab.sqlite"

var labFolders = map[string]bool{"runs": true, "queue": true}

// inLab refuses places in the folders of a lab, whichever the command works with: a run's folder goes with the run, and what is called like none
// is removed.
func inLab(path string) error {
	for at := nearest(path); filepath.IsAbs(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		lab := filepath.Dir(at)
		if !labFolders[filepath.Base(at)] {
			continue
		}
		if info, err := os.Lstat(filepath.Join(lab, labMark)); err == nil && info.Mode().IsRegular() {
			return &MisuseError{fmt.Sprintf("is in the lab %s, whose folder %s is the program's own: choose a place outside", lab, filepath.Base(at))}
		}
	}
	return nil
}

// nearest is a path without links, as far as it exists. It is not absolute if that cannot be found out, which the writer says better.
func nearest(path string) string {
	path, _ = filepath.Abs(path)
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
		return real
	}
	return filepath.Join(nearest(filepath.Dir(path)), filepath.Base(path))
}
