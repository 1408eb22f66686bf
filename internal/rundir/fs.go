package rundir

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// FS is what writing a run's files asks of the operating system. Tests make each call fail in turn.
type FS interface {
	MkdirAll(dir string) error
	Create(path string) (File, error)
	SyncDir(dir string) error // makes the names in dir durable
	Rename(from, to string) error
	RemoveAll(path string) error
}

// File is a file being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// System is the operating system's file system.
type System struct{}

func (System) MkdirAll(dir string) error        { return os.MkdirAll(dir, 0o777) }
func (System) Create(path string) (File, error) { return os.Create(path) }
func (System) Rename(from, to string) error     { return os.Rename(from, to) }
func (System) RemoveAll(path string) error      { return os.RemoveAll(path) }

// SyncDir does nothing where folders cannot be synced, as on Windows: NTFS journals the names.
func (System) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) && !os.IsPermission(err) {
		return err
	}
	return nil
}

// ReplaceFile makes path hold what write writes, or what it held before: never half of it.
func ReplaceFile(fs FS, path string, write func(io.Writer) error) error {
	if err := rename(fs, path, write); err != nil {
		return err
	}
	return fs.SyncDir(filepath.Dir(path))
}

// rename writes a file beside path, waits for the disk, and gives it the name.
func rename(fs FS, path string, write func(io.Writer) error) error {
	tmp := path + ".tmp"
	if err := create(fs, tmp, write); err != nil {
		return err
	}
	return fs.Rename(tmp, path)
}

// create makes a file, lets write fill it, and returns once the content is on the disk.
func create(fs FS, path string, write func(io.Writer) error) error {
	f, err := fs.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 64<<10) // small tensors together; large ones pass by
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Sum identifies a file's content.
type Sum struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// createSummed is create, synced, with the sum of what was written.
func createSummed(fs FS, path string, write func(io.Writer) error) (Sum, error) {
	hash, n := sha256.New(), byteCount(0)
	err := create(fs, path, func(w io.Writer) error { return write(io.MultiWriter(w, hash, &n)) })
	return Sum{SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: int64(n)}, err
}

// Size counts the bytes that write writes.
func Size(write func(io.Writer) error) (int64, error) {
	var n byteCount
	err := write(&n)
	return int64(n), err
}

type byteCount int64

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}
