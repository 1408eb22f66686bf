package data

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"collapse.example/collapse/internal/inputfile"
)

// unpack takes the wanted files out of a .tar.gz, by their last names and with exactly their sizes, into a folder, and removes the
// archive. Nothing else in the archive is written, none of its names is used as a path, and at most twice the size of the wanted
// files is unpacked. Each file is put in place completely or not at all.
func unpack(archive, folder string, members []member) error {
	f, err := inputfile.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, gzipError(err))
	}
	want, limit := map[string]int64{}, int64(1<<20)
	for _, m := range members {
		want[m.name] = m.size
		limit += 2 * m.size
	}
	t := tar.NewReader(&io.LimitedReader{R: z, N: limit})
	for len(want) > 0 {
		h, err := t.Next()
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s is cut, or longer than the archive that was expected: %d of the wanted files not found", archive, len(want))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		name := path.Base(h.Name)
		size, wanted := want[name]
		if !wanted || h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size != size {
			return fmt.Errorf("%s: %s has %d bytes; want %d", archive, h.Name, h.Size, size)
		}
		if err := place(filepath.Join(folder, name), t, size); err != nil {
			return err
		}
		delete(want, name)
	}
	return os.Remove(archive)
}

// place writes a file under a temporary name and moves it to its place once it is complete and on the disk.
func place(path string, r io.Reader, size int64) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	n, err := io.Copy(f, r)
	if err == nil && n != size {
		err = fmt.Errorf("%s: %d bytes were unpacked; want %d", path, n, size)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return os.Rename(path+".new", path)
}

// syncDir makes the names in a folder durable, where folders can be synced.
func syncDir(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) && !os.IsPermission(err) {
		return fmt.Errorf("data: %s: %w", folder, err)
	}
	return nil
}
