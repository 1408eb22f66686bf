// Package descriptors knows how many files and connections this process may have open at once, and whether it has run out of them
// for the moment. Connections of strangers get a share, so that a reserve remains for the files of the work.
package descriptors

import (
	"errors"
	"os"
	"syscall"
)

// most bounds shares where the system allows more descriptors than anybody needs, or tells no limit.
const most = 1 << 16

// Share is how many connections may be open at a time when they may take one part in so many of the process's descriptors.
func Share(parts int) int { return max(1, min(limit(), most)/parts) }

// Scarce reports whether an error says that the process, or the system, has too many files open. That passes, and says nothing about
// any disk.
func Scarce(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) }

// Short returns the system's error if no file can be opened now because too many are open. Programs that open files through a library
// that hides the system's error ask it.
func Short() error {
	f, err := os.Open(os.DevNull)
	if err == nil {
		f.Close()
	}
	if Scarce(err) {
		return err
	}
	return nil
}
