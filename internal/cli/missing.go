package cli

import (
	"errors"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/spelling"
)

// mostLike is how many files a folder may have for one of them to be suggested.
const mostLike = 1000

// meantFile is the rest of a sentence about a file that does not exist: the one of its kind beside it that was probably meant, or "".
func meantFile(err error) string {
	var missing *inputfile.MissingError
	if !errors.As(err, &missing) {
		return ""
	}
	dir := filepath.Dir(missing.Path)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > mostLike {
		return ""
	}
	var like []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == filepath.Ext(missing.Path) {
			like = append(like, e.Name())
		}
	}
	if name := spelling.Nearest(filepath.Base(missing.Path), like); name != "" {
		return "; did you mean " + filepath.Join(dir, name) + "?"
	}
	return ""
}
