package upkeep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ckpt is the folder of a run's checkpoints, which are folders named by their epochs.
const ckpt = "ckpt"

// staging are folders in which the files of a worker elsewhere arrive.
var staging = regexp.MustCompile(`^g[0-9]+$`)

// checkpoints copies the checkpoints that a run has now. Each gets its name once it is whole. Old ones vanish while newer ones come, so
// it looks again until the newest that it saw is there; a run that outpaces that for long has none in the copy and starts again there.
func (c *copier) checkpoints(hash string) error {
	from, to := filepath.Join(c.lab.RunDir(hash), ckpt), filepath.Join(c.home(hash), ckpt)
	const looks = 100
	for range looks {
		epochs, err := numbered(from)
		if err != nil || len(epochs) == 0 {
			return err
		}
		for _, epoch := range slices.Backward(epochs) { // the newest stays longest
			if err := c.checkpoint(from, to, strconv.Itoa(epoch)); err != nil {
				return err
			}
		}
		if _, err := os.Stat(filepath.Join(to, strconv.Itoa(epochs[len(epochs)-1]))); err == nil {
			return nil
		}
	}
	return nil
}

// checkpoint copies one, unless it is there, or vanishes on the way.
func (c *copier) checkpoint(from, to, name string) error {
	final, part := filepath.Join(to, name), filepath.Join(to, ".part")
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(to, 0o777)); err != nil {
		return err
	}
	whole, err := c.whole(filepath.Join(from, name), part)
	if err != nil || !whole {
		return errors.Join(err, os.RemoveAll(part))
	}
	return os.Rename(part, final)
}

// whole copies a folder and reports whether all that it held at the beginning was there to the end.
func (c *copier) whole(from, to string) (bool, error) {
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

// tree copies a folder with what is below it. Names that begin with a dot or end in .tmp are half-written, and files that vanish are
// replaced by newer ones: what is missing from the copy then is found by whoever looks at the run as a whole. want, if not nil, chooses
// among the names in the folder itself.
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
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".tmp") || want != nil && !want(name) {
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

// numbered lists the folders whose names are numbers, ascending.
func numbered(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && e.IsDir() && n > 0 && strconv.Itoa(n) == e.Name() {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// syncFolder makes the names in a folder durable, where folders can be synced.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !os.IsPermission(err) {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	return nil
}
