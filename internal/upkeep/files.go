package upkeep

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
)

// checkpoints copies the checkpoints that a run has now. Each gets its name once it is whole. Old ones vanish while newer ones come, so
// it looks again until the newest that it saw is there; a run that outpaces that for long has none in the copy and starts again there.
func (c *copier) checkpoints(hash string) error {
	from, to := rundir.Dir(c.lab.RunDir(hash)), rundir.Dir(c.home(hash))
	if _, err := c.list(rundir.Dir(hash).CheckpointsDir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	const looks = 100
	for range looks {
		epochs, err := from.Checkpoints()
		if err != nil || len(epochs) == 0 {
			return err
		}
		for _, epoch := range slices.Backward(epochs) { // the newest stays longest
			if err := c.checkpoint(hash, epoch); err != nil {
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
func (c *copier) checkpoint(hash string, epoch int) error {
	to := rundir.Dir(c.home(hash))
	if _, err := os.Stat(to.Checkpoint(epoch)); err == nil {
		return nil
	}
	part := to.FetchedCheckpoint()
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(to.CheckpointsDir(), 0o777)); err != nil {
		return err
	}
	whole, err := c.whole(rundir.Dir(hash).Checkpoint(epoch), part)
	if err != nil || !whole {
		return errors.Join(err, os.RemoveAll(part))
	}
	return to.Writer(nil).PlaceCheckpoint(epoch)
}

// list lists a folder of a run; fs.ErrNotExist for anything else. A link on the way is not followed, but noted.
func (c *copier) list(name string) ([]fs.DirEntry, error) {
	hash, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	var link *jail.LinkError
	if errors.As(jail.Below(c.lab.RunDir(hash), filepath.Join(c.runs.Name(), name)), &link) {
		c.note(strings.TrimPrefix(link.Path, c.runs.Name()+string(filepath.Separator)))
		return nil, fs.ErrNotExist
	}
	if info, err := c.runs.Lstat(name); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	return fs.ReadDir(c.runs.FS(), filepath.ToSlash(name))
}

// note keeps the name of a link, once.
func (c *copier) note(name string) {
	if name = "runs/" + filepath.ToSlash(name); !slices.Contains(c.Links, name) {
		c.Links = append(c.Links, name)
	}
}

// whole copies a folder and reports whether all that it held at the beginning was there to the end.
func (c *copier) whole(from, to string) (bool, error) {
	entries, err := c.list(from)
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
	entries, err := c.list(from)
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

// file copies a regular file; anything else is none of a run's. A link is noted, and as good as missing: what it leads to is not the lab's.
func (c *copier) file(from, to string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	info, err := c.runs.Lstat(from)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		c.note(from)
		return fs.ErrNotExist
	}
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	r, err := c.runs.Open(from)
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
		return fmt.Errorf("copying %s: %w", filepath.Join(c.runs.Name(), from), err)
	}
	c.Files++
	c.Bytes += n
	return nil
}
