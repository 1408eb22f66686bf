package outfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// write makes the target hold what fill writes.
func (t *target) write(ctx context.Context, fill func(io.Writer) error) error {
	defer t.release()
	switch {
	case t.open != nil:
		return through(ctx, t.open, fill)
	case t.info == nil || t.info.Mode().IsRegular() && !t.opaque:
		return t.store(ctx, fill)
	}
	f, err := openThrough(ctx, t.path)
	if err != nil {
		return err
	}
	return errors.Join(through(ctx, f, fill), cause(f.Close()))
}

// through writes to a pipe or device. A write that waits ends with ctx.
func through(ctx context.Context, f *os.File, fill func(io.Writer) error) error {
	defer endWith(ctx, f)()
	return buffered(ctx, f, fill)
}

// endWith lets writes that wait end with ctx, until stop is called.
func endWith(ctx context.Context, f *os.File) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Now()) }) // not every device has deadlines
}

// Pipe opens a named pipe for writing. It waits for a reader, as writes do, until ctx ends.
func Pipe(ctx context.Context, path string) (io.WriteCloser, error) {
	f, err := openThrough(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &pipe{guarded{ctx, f}, f, endWith(ctx, f)}, nil
}

// pipe is the writing end of a pipe.
type pipe struct {
	guarded
	file *os.File
	stop func() bool
}

func (p *pipe) Close() error {
	p.stop()
	return cause(p.file.Close())
}

// writing is held for reading while a regular file is written, or a folder is changed.
var writing sync.RWMutex

// Finish waits for the regular files that are being written and lets no other begin: for a program that exits while its work may
// go on, so that no temporary file stays.
func Finish() {
	writing.Lock()
	live.Range(func(s, _ any) bool {
		_ = s.(*spooled).root.RemoveAll(s.(*spooled).dir)
		return true
	})
}

// store writes a regular file: first all of it beside the old one, then in its place.
func (t *target) store(ctx context.Context, fill func(io.Writer) error) error {
	writing.RLock()
	defer writing.RUnlock()
	spool, beside, err := t.spool()
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name()) // gone already once it has the target's name
	err = buffered(ctx, spool, fill)
	if err == nil && beside {
		err = flush(spool)
	}
	replaces := err == nil && beside && t.replaceable(spool)
	if err = errors.Join(err, cause(spool.Close())); err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
		return err
	case t.info == nil:
		return cause(os.Rename(spool.Name(), t.path))
	case replaces && os.Rename(spool.Name(), t.path) == nil: // refused for files mounted one by one and in sticky folders
		return nil
	}
	return overwrite(t.path, spool.Name())
}

// spool is a temporary file: beside the target, or among temporary files if the target is there and its folder takes no
// other.
func (t *target) spool() (f *os.File, beside bool, err error) {
	mode := fs.FileMode(0o666)
	if t.info != nil {
		mode = 0o600 // until it has the mode of the old file
	}
	if f, err = createIn(filepath.Dir(t.path), mode); err == nil {
		return f, true, nil
	}
	if t.info == nil || errors.Is(err, syscall.ENOSPC) {
		return nil, false, cause(err)
	}
	if f, err = createIn(os.TempDir(), 0o600); err != nil {
		return nil, false, fmt.Errorf("its folder takes no new file, nor does that of temporary files, %s: %w", os.TempDir(), cause(err))
	}
	return f, false, nil
}

// replaceable gives the spool what the old file has, and reports whether nothing of it is lost.
func (t *target) replaceable(spool *os.File) bool {
	return t.info != nil && !hasMore(t.path, t.info) && inherit(spool, t.info) == nil && spool.Chmod(t.info.Mode().Perm()) == nil
}

// overwrite copies the spool into a file that stays the same one. What lies beyond the old end comes first: a disk that
// is full is noticed before anything is overwritten.
func overwrite(path, name string) (err error) {
	spool, err := os.Open(name)
	if err != nil {
		return cause(err)
	}
	defer spool.Close()
	size, err := spool.Seek(0, io.SeekEnd)
	if err != nil {
		return cause(err)
	}
	to, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return cause(err)
	}
	defer func() { err = errors.Join(err, cause(to.Close())) }()
	old, err := to.Seek(0, io.SeekEnd)
	if err != nil {
		return cause(err)
	}
	if err := extend(to, spool, old, size); err != nil {
		return err
	}
	if _, err := io.Copy(io.NewOffsetWriter(to, 0), io.NewSectionReader(spool, 0, min(old, size))); err != nil {
		return cause(err)
	}
	if err := to.Truncate(size); err != nil {
		return cause(err)
	}
	return flush(to)
}

// extend writes the part of the spool beyond the old end of a file, or leaves the file as it was.
func extend(to, spool *os.File, old, size int64) error {
	if size <= old {
		return nil
	}
	_, err := io.Copy(io.NewOffsetWriter(to, old), io.NewSectionReader(spool, old, size-old))
	if err == nil {
		err = flush(to)
	}
	if err != nil {
		return errors.Join(cause(err), cause(to.Truncate(old)))
	}
	return nil
}

// flush waits for the disk. A file system that cannot do this is not an error.
func flush(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return cause(err)
}

// createIn makes a new temporary file. Its name is short: that of the target may be as long as names can be.
func createIn(dir string, mode fs.FileMode) (*os.File, error) {
	for {
		name := filepath.Join(dir, ".collapse-"+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
