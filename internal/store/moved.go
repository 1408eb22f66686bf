package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// MovedError says that a lab is no longer where this process opened it. No run has failed for that.
type MovedError struct{ Dir string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("store: the lab that this process works in is no longer in %s: it was moved, replaced or removed meanwhile; put it back or name its new folder (--lab), then call the same again", e.Dir)
}

// Moved returns a *MovedError if the lab is no longer where it was opened. What is written by path then goes elsewhere, while its tables stay
// within reach.
func (r *Reader) Moved() error {
	now, err := os.Stat(r.path)
	if r.file != nil && (errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, r.file)) {
		return &MovedError{Dir: r.dir}
	}
	return nil // any other trouble is that of whoever meets it
}
