package train

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"collapse.example/collapse/internal/rundir"
)

var errCrash = errors.New("the machine stopped")

// faultFS is the operating system's file system, except that call number failAt (from 1) fails. With fatal set, the machine stops
// there: every later call fails, too, and powerOff discards what was never synced.
type faultFS struct {
	rundir.System
	failAt int
	fatal  bool
	err    error // of the failing call

	calls   int
	log     []string // name of each call
	dirty   map[string]bool
	created map[string]bool // files whose folder is not synced since
	renamed [][2]string     // renames whose parent is not synced since
}

func newFaultFS(failAt int, fatal bool, err error) *faultFS {
	return &faultFS{failAt: failAt, fatal: fatal, err: err, dirty: map[string]bool{}, created: map[string]bool{}}
}

func (f *faultFS) fails(call string) error {
	f.calls++
	f.log = append(f.log, call)
	if f.calls == f.failAt || f.fatal && f.failAt > 0 && f.calls > f.failAt {
		return f.err
	}
	return nil
}

func (f *faultFS) MkdirAll(dir string) error {
	if err := f.fails("mkdir"); err != nil {
		return err
	}
	return f.System.MkdirAll(dir)
}

func (f *faultFS) RemoveAll(path string) error {
	if err := f.fails("remove"); err != nil {
		return err
	}
	for _, set := range []map[string]bool{f.dirty, f.created} {
		for name := range set {
			if strings.HasPrefix(name, path+string(filepath.Separator)) {
				delete(set, name)
			}
		}
	}
	f.renamed = slices.DeleteFunc(f.renamed, func(r [2]string) bool { return r[1] == path })
	return f.System.RemoveAll(path)
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.fails("rename"); err != nil {
		return err
	}
	if err := f.System.Rename(from, to); err != nil {
		return err
	}
	f.carry(from, to)
	f.renamed = append(f.renamed, [2]string{from, to})
	return nil
}

func (f *faultFS) SyncDir(dir string) error {
	if err := f.fails("sync folder"); err != nil {
		return err
	}
	for name := range f.created {
		if filepath.Dir(name) == dir {
			delete(f.created, name)
		}
	}
	kept := f.renamed[:0]
	for _, r := range f.renamed {
		if filepath.Dir(r[1]) != dir {
			kept = append(kept, r)
		}
	}
	f.renamed = kept
	return nil // the real disk is not waited for: these tests make thousands of files
}

func (f *faultFS) Create(path string) (rundir.File, error) {
	if err := f.fails("create"); err != nil {
		return nil, err
	}
	file, err := f.System.Create(path)
	if err != nil {
		return nil, err
	}
	f.dirty[path], f.created[path] = true, true
	return &faultFile{File: file, fs: f, path: path}, nil
}

type faultFile struct {
	rundir.File
	fs   *faultFS
	path string
}

// Write fails as on a full disk: half of the bytes are written.
func (w *faultFile) Write(p []byte) (int, error) {
	if err := w.fs.fails("write"); err != nil {
		n, _ := w.File.Write(p[:len(p)/2])
		return n, err
	}
	return w.File.Write(p)
}

func (w *faultFile) Sync() error {
	if err := w.fs.fails("sync"); err != nil {
		return err
	}
	delete(w.fs.dirty, w.path)
	return nil
}

func (w *faultFile) Close() error {
	err := w.fs.fails("close")
	return errors.Join(err, w.File.Close())
}

// powerOff leaves on the disk the least that its contract allows: unsynced renames did not happen, unsynced contents are truncated,
// and unsynced names are gone.
func (f *faultFS) powerOff() error {
	for i := len(f.renamed) - 1; i >= 0; i-- {
		from, to := f.renamed[i][0], f.renamed[i][1]
		if err := os.Rename(to, from); err != nil {
			return err
		}
		f.carry(to, from)
	}
	for path := range f.dirty {
		if info, err := os.Stat(path); err == nil {
			if err := os.Truncate(path, info.Size()/2); err != nil {
				return err
			}
		}
	}
	for path := range f.created {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// carry renames what is remembered of a path and of all below it.
func (f *faultFS) carry(from, to string) {
	for _, set := range []map[string]bool{f.dirty, f.created} {
		for name := range set {
			if rest, below := strings.CutPrefix(name, from); below && (rest == "" || rest[0] == filepath.Separator) {
				delete(set, name)
				set[to+rest] = true
			}
		}
	}
}

var errFull = &os.PathError{Op: "write", Path: "disk", Err: syscall.ENOSPC}
