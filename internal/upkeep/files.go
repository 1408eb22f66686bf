package upkeep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"collapse/internal/rundir"
)

// checkpoints copies the checkpoints that a run has now. Each gets its name once it is whole. Old ones vanish while newer ones come, so
// it looks again until the newest that it saw is there; a run that outpaces that for long has none in the copy and starts again there.
func (c *copier) checkpoints(hash string) error {
	from, to := rundir.Dir(c.lab.RunDir(hash)), rundir.Dir(c.home(hash))
	const looks = 100
	for range looks {
		epochs, err := from.Checkpoints()
		if err != nil || len(epochs) == 0 {
			return err
		}
		for _, epoch := range slices.Backward(epochs) { // the newest stays longest
			if err := c.checkpoint(from, to, epoch); err != nil {
				return err
			}
		}
		if _, err := os.Stat(to.Checkpoint(epochs[len(epochs)-1])); err == nil {
			return nil
		}
	}
	return nil
}

// checkpoint copies one, unless it is there, or vanishes on the way.
func (c *copier) checkpoint(from, to rundir.Dir, epoch int) error {
	if _, err := os.Stat(to.Checkpoint(epoch)); err == nil {
		return nil
	}
	part := to.FetchedCheckpoint()
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(to.CheckpointsDir(), 0o777)); err != nil {
		return err
	}
	whole, err := c.whole(from.Checkpoint(epoch), part)
	if err != nil || !whole {
		return errors.Join(err, os.RemoveAll(part))
	}
	return to.Writer(nil).PlaceCheckpoint(epoch)
}

// whole copies a folder and reports whether all that it held at the beginning was there to the end.
func (c *copier) whole(from, to string) (bool, error) {
	if info, err := os.Stat(from); err == nil && !info.IsDir() {
		return false, nil
	}
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := errors.Join(err, os.Mkdir(to, 0o777)); err != nil {
		return false, err
	}
	for _, e := range entries {
		err := c.file(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// tree copies a folder with what is below it, but for what is half-written. Files that vanish are replaced by newer ones: what is missing
// from the copy then is found by whoever looks at the run as a whole. want, if not nil, chooses among the names in the folder itself.
func (c *copier) tree(from, to string, want func(name string) bool) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := errors.Join(err, os.MkdirAll(to, 0o777)); err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if rundir.IsStaging(name) || want != nil && !want(name) {
			continue
		}
		if e.IsDir() {
			err = c.tree(filepath.Join(from, name), filepath.Join(to, name), nil)
		} else {
			err = c.file(filepath.Join(from, name), filepath.Join(to, name))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// file copies a regular file; anything else is none of a run's.
func (c *copier) file(from, to string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, r)
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	c.Files++
	c.Bytes += n
	return nil
}
