package wire

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/rundir"
)

// Pack writes the files in dir that keep accepts as a tar archive, under their paths relative to dir. A file that vanishes
// meanwhile, as old checkpoints do, is an error.
func Pack(w io.Writer, dir string, keep func(path string) bool) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || !keep(filepath.ToSlash(rel)) {
			return err
		}
		return packFile(t, path, filepath.ToSlash(rel))
	})
	if err := errors.Join(err, t.Close()); err != nil {
		return fmt.Errorf("study: packing %s: %w", dir, err)
	}
	return nil
}

// packList writes the named files of dir as a tar archive, under these names.
func packList(w io.Writer, dir string, list []string) error {
	t := tar.NewWriter(w)
	var err error
	for _, name := range list {
		if err = packFile(t, filepath.Join(dir, filepath.FromSlash(name)), name); err != nil {
			break
		}
	}
	if err := errors.Join(err, t.Close()); err != nil {
		return fmt.Errorf("study: packing %s: %w", dir, err)
	}
	return nil
}

func packFile(t *tar.Writer, path, name string) error {
	f, err := inputfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: info.Size(), Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}

// unpack creates dir anew from what Pack wrote, and returns once everything is on the disk.
func unpack(r io.Reader, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return syncTree(dir)
		}
		if err != nil {
			return fmt.Errorf("study: a run's files: %w", err)
		}
		if sparse(h) {
			return fmt.Errorf("study: a run's files: %q has holes, which could be of any size", h.Name)
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)) {
			return fmt.Errorf("study: a run's files: %q is not a plain file inside the run's folder", h.Name)
		}
		if err := unpackFile(t, filepath.Join(dir, filepath.FromSlash(h.Name))); err != nil {
			return fmt.Errorf("study: a run's files: %w", err)
		}
	}
}

// sparse reports whether a file is larger than its part of the archive.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func unpackFile(r io.Reader, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncTree makes the directory entries in dir durable, where folders can be synced.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return syncDir(path)
	})
}

func syncDir(path string) error {
	if err := (rundir.System{}).SyncDir(path); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	return nil
}

// MoveInto moves everything directly in from to the folder to, replacing entries of the same name, and removes from.
func MoveInto(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	for _, e := range entries {
		target := filepath.Join(to, e.Name())
		if err := os.RemoveAll(target); err != nil {
			return fmt.Errorf("study: %w", err)
		}
		if err := os.Rename(filepath.Join(from, e.Name()), target); err != nil {
			return fmt.Errorf("study: %w", err)
		}
	}
	if err := os.Remove(from); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	return syncDir(to)
}

// mergeInto moves every file in from to the same place in to, replacing what is there, and removes from. It returns once the names are on the
// disk: a run that goes on after these files does not make them again.
func mergeInto(from, to string) error {
	var folders []string
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			folders = append(folders, filepath.Join(to, rel))
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		return os.Rename(path, filepath.Join(to, rel))
	})
	for _, folder := range folders {
		err = errors.Join(err, syncDir(folder))
	}
	if err := errors.Join(err, os.RemoveAll(from)); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	return nil
}

// NewestOf returns the epoch of the newest checkpoint in a run's folder, 0 if there is none.
func NewestOf(dir string) int64 { return NewestUpTo(dir, math.MaxInt64) }

// NewestUpTo is NewestOf among epochs up to last.
func NewestUpTo(dir string, last int64) int64 {
	return int64(rundir.Dir(dir).NewestCheckpoint(int(min(last, math.MaxInt))))
}

// runFiles says which files of a run's folder go to the coordinator: all except half-written ones and the remains of older
// checkpoints. kept are the paths of files that the run has to keep.
func runFiles(newest int64, kept []string) func(path string) bool {
	rel := rundir.Dir("")
	all, last := filepath.ToSlash(rel.CheckpointsDir())+"/", filepath.ToSlash(rel.Checkpoint(int(newest)))+"/"
	return func(path string) bool {
		if slices.ContainsFunc(strings.Split(path, "/"), rundir.IsStaging) {
			return false
		}
		return !strings.HasPrefix(path, all) || strings.HasPrefix(path, last) || slices.Contains(kept, path)
	}
}
