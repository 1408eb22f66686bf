package train

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
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

// systemFS is the operating system's file system.
type systemFS struct{}

func (systemFS) MkdirAll(dir string) error        { return os.MkdirAll(dir, 0o777) }
func (systemFS) Create(path string) (File, error) { return os.Create(path) }
func (systemFS) Rename(from, to string) error     { return os.Rename(from, to) }
func (systemFS) RemoveAll(path string) error      { return os.RemoveAll(path) }

func (systemFS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a folder can not be synced there; NTFS journals the names
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		d.Close()
		return err
	}
	return d.Close()
}

// fileSum identifies a file's content.
type fileSum struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// writeSynced creates a file, lets write fill it, and returns once the content is on the disk.
func writeSynced(fs FS, path string, write func(io.Writer) error) (fileSum, error) {
	fail := func(doing string, err error) (fileSum, error) {
		return fileSum{}, fmt.Errorf("train: %s %s: %w", doing, path, err)
	}
	f, err := fs.Create(path)
	if err != nil {
		return fail("creating", err)
	}
	s := &summing{to: f}
	hash := sha256.New()
	b := bufio.NewWriterSize(io.MultiWriter(s, hash), 64<<10) // small tensors together; large ones pass by
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		f.Close()
		return fail("writing", err)
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return fail("syncing", err)
	}
	if err := f.Close(); err != nil {
		return fail("closing", err)
	}
	return fileSum{SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: s.n}, nil
}

// summing counts the bytes on their way.
type summing struct {
	to io.Writer
	n  int64
}

func (s *summing) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.n += int64(n)
	return n, err
}

// replaceFile makes path hold what write writes, or what it held before: never half of it.
func replaceFile(fs FS, path string, write func(io.Writer) error) error {
	tmp := path + ".tmp"
	if _, err := writeSynced(fs, tmp, write); err != nil {
		return err
	}
	if err := fs.Rename(tmp, path); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if err := fs.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("train: syncing the folder of %s: %w", path, err)
	}
	return nil
}
