// Package inputfile opens and reads files that a user names: regular files only, and never more than a limit. A pipe would make the
// program wait for ever, a device such as /dev/zero fill its memory.
package inputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// Limits of files that are read whole.
const (
	Line   = 64 << 10  // a token
	Text   = 1 << 20   // configurations and studies, which people write
	Bundle = 16 << 20  // certificates
	Record = 256 << 20 // what programs write
)

// KindError says that a name is not a regular file.
type KindError struct {
	Path string
	Mode fs.FileMode
}

func (e *KindError) Error() string {
	hint := ""
	if e.Mode&fs.ModeNamedPipe != 0 {
		hint = " (write what the pipe gives to a file first)"
	}
	return fmt.Sprintf("%s is %s; want a regular file%s", e.Path, kind(e.Mode), hint)
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

// MissingError says that no file has a name.
type MissingError struct {
	Path string
	err  error
}

func (e *MissingError) Error() string { return "there is no file " + e.Path }

// Unwrap is the system's error, an *fs.PathError.
func (e *MissingError) Unwrap() error { return e.err }

// Open opens a regular file for reading, through links, and never waits. It is a *KindError for anything else, a *MissingError for nothing.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path) // to open a device can change it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{path, err}
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &KindError{path, info.Mode()}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() { // it was replaced meanwhile
		err = &KindError{path, info.Mode()}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// SizeError says that a file is larger than it can be.
type SizeError struct {
	Path        string
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s has %d bytes or more; at most %d are read: is it the right file?", e.Path, e.Size, e.Limit)
}

// Read returns what is in a regular file of at most limit bytes. Errors are those of Open, a *SizeError, or of reading.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, &SizeError{path, info.Size(), limit}
	}
	b := make([]byte, info.Size())
	n, err := io.ReadFull(f, b)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		return b[:n], nil
	}
	if err != nil {
		return nil, err
	}
	// Files that grow, or such as /proc has, whose size is not known before they are read.
	rest, err := io.ReadAll(io.LimitReader(f, min(limit, math.MaxInt64-1)-int64(n)+1))
	if err != nil {
		return nil, err
	}
	if int64(n+len(rest)) > limit {
		return nil, &SizeError{path, limit + 1, limit}
	}
	return append(b, rest...), nil
}

// Check is Read for a file that something else will read.
func Check(path string, limit int64) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > limit {
		err = &SizeError{path, info.Size(), limit}
	}
	return err
}
