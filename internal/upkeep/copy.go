package upkeep

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Copied says what a copy holds.
type Copied struct {
	Dir       string   `json:"dir"`
	Runs      int      `json:"runs"`
	Open      int      `json:"open"` // of them, not done
	Files     int      `json:"files"`
	Bytes     int64    `json:"bytes"` // of the files beside the database
	Restarted []string `json:"restarted,omitempty"`
	Links     []string `json:"links,omitempty"` // in folders of runs: nothing of them is copied
}

// Copy copies a lab to the folder dest, which must not exist or be empty, while processes may go on writing to it. The copy is a lab of
// its own: a run that is done there has its files, and another one goes on there to the same numbers as here. It has no queue.
//
// The order makes it whole. The checkpoints of unfinished runs come first: the rows before a checkpoint are in the lab before it has
// its name, so the database, which comes next, reaches every one of them. The folders of the runs that are done in that database come
// last: nothing changes in them any more, but for removals and new starts, which are looked for after each. All is written beside dest
// and renamed.
func Copy(ctx context.Context, lab *store.Reader, dest string) (Copied, error) {
	return copyTo(lab, dest, &copier{ctx: ctx, lab: lab})
}

// CopyRows is Copy without the files of runs: their configurations, values and studies are a few megabytes. A run that is done stays done,
// and Check does not miss its files; any other run begins at its start in the copy.
func CopyRows(ctx context.Context, lab *store.Reader, dest string) (Copied, error) {
	return copyTo(lab, dest, &copier{ctx: ctx, lab: lab, rows: true})
}

func copyTo(lab *store.Reader, dest string, c *copier) (Copied, error) {
	place, err := destination(lab.Dir(), dest)
	if err != nil {
		return Copied{}, err
	}
	to, err := newBeside(place)
	if err != nil {
		return Copied{}, err
	}
	c.to, c.Copied = to, Copied{Dir: dest}
	if c.runs, err = os.OpenRoot(filepath.Join(lab.Dir(), "runs")); err == nil {
		defer c.runs.Close()
		err = c.copy()
	}
	if err != nil {
		return Copied{}, errors.Join(err, os.RemoveAll(to))
	}
	if err := settle(to, place); err != nil {
		return Copied{}, errors.Join(err, os.RemoveAll(to))
	}
	return c.Copied, nil
}

type copier struct {
	Copied
	ctx  context.Context
	lab  *store.Reader
	runs *os.Root // folder runs of the lab: no link leads out of it
	to   string
	rows bool // no files of runs
	snap *store.Snapshot
	open map[string]int64 // unfinished runs, with their generation before their checkpoints were copied
}

// ahead is called between the steps of a copy. Tests let the original go on there.
var ahead = func(step string) {}

func (c *copier) copy() error {
	if err := os.Mkdir(filepath.Join(c.to, "runs"), 0o777); err != nil {
		return fmt.Errorf("copying the lab: %w", err)
	}
	all, err := c.lab.List(store.Filter{})
	if err != nil {
		return err
	}
	c.open = map[string]int64{}
	for _, run := range all {
		if run.Status == store.Done {
			continue
		}
		c.open[run.Hash] = run.Generation
		if c.rows {
			continue
		}
		if err := c.checkpoints(run.Hash); err != nil {
			return err
		}
	}
	ahead("checkpoints")
	if c.snap, err = c.lab.Snapshot(c.to); err != nil {
		return err
	}
	ahead("database")
	if err := c.folders(); err != nil {
		return errors.Join(err, c.snap.Close())
	}
	ahead("folders")
	if err := syncTree(c.to); err != nil {
		return errors.Join(err, c.snap.Close())
	}
	return c.snap.Finish()
}

// folders copies what the runs of the snapshot have beside it.
func (c *copier) folders() error {
	runs, err := c.snap.List(store.Filter{})
	if err != nil {
		return err
	}
	void, err := c.snap.Void()
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := c.folder(run, void[run.Hash]); err != nil {
			return fmt.Errorf("run %.12s: %w", run.Hash, err)
		}
	}
	return nil
}

func (c *copier) folder(run store.Run, void bool) error {
	var err error
	switch {
	case void:
		err = os.RemoveAll(c.home(run.Hash))
	case c.rows && run.Status == store.Done:
		err = c.words(run.Hash)
	case c.rows:
	case run.Status == store.Done:
		if err = os.RemoveAll(c.home(run.Hash)); err == nil {
			err = c.tree(run.Hash, c.home(run.Hash), nil)
		}
	default:
		err = c.tree(run.Hash, c.home(run.Hash), func(name string) bool { return name != rundir.Dir("").CheckpointsDir() })
	}
	if err != nil {
		return err
	}
	kept, there, err := c.lab.Kept(run.Hash, run.Generation)
	switch {
	case err != nil:
		return err
	case !there:
		return errors.Join(c.snap.Drop(run.Hash), os.RemoveAll(c.home(run.Hash)))
	case !kept || void && run.Status == store.Done:
		c.Restarted = append(c.Restarted, run.Hash)
		err = errors.Join(c.snap.Restart(run.Hash), os.RemoveAll(c.home(run.Hash)))
	case run.Status != store.Done && c.rows:
		err = c.snap.Restart(run.Hash)
	case run.Status != store.Done:
		err = c.reach(run)
	}
	c.Runs++
	if run.Status != store.Done || !kept {
		c.Open++
	}
	return err
}

// words copies how a finished run was started, and says that its other files were left behind.
func (c *copier) words(hash string) error {
	home := rundir.Dir(c.home(hash))
	if err := errors.Join(os.RemoveAll(string(home)), os.MkdirAll(string(home), 0o777)); err != nil {
		return err
	}
	names := []string{rundir.Dir("").Config(), rundir.Dir("").ScriptCommand(), rundir.Dir("").ScriptCode()}
	if err := c.tree(hash, string(home), func(name string) bool { return slices.Contains(names, name) }); err != nil {
		return err
	}
	return os.WriteFile(home.RowsOnly(), nil, 0o666)
}

// reach takes checkpoints out of the copy that its rows or files do not reach: the original went back to an earlier one meanwhile. The
// run goes on from the one before, or from its start.
func (c *copier) reach(run store.Run) error {
	if before, _, err := c.snap.Kept(run.Hash, c.open[run.Hash]); err != nil || !before { // they are of a start before this one
		return errors.Join(err, os.RemoveAll(rundir.Dir(c.home(run.Hash)).CheckpointsDir()))
	}
	if run.Kind != store.Train {
		return nil
	}
	found, err := train.Inspect(c.snap.Reader, run)
	if err != nil || len(found.Wrong) == 0 {
		return err
	}
	return found.Clear(c.snap.Reader, run.Hash)
}

func (c *copier) home(hash string) string { return filepath.Join(c.to, "runs", hash) }

// destination is the folder that becomes the copy, without links: those on the way to it stay. It must not lie in the lab, where it
// would be taken for a part of it.
func destination(lab, dest string) (string, error) {
	real, err := withoutLinks(dest)
	if err != nil {
		return "", fmt.Errorf("%s cannot take a copy: %w", dest, err)
	}
	within, err := withoutLinks(lab)
	if err != nil {
		return "", fmt.Errorf("copying the lab: %w", err)
	}
	if rel, err := filepath.Rel(within, real); err == nil && rel != "." && filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s lies in the lab that is copied; name a folder outside of %s", dest, lab)
	}
	return real, nil
}

// withoutLinks follows the links of a path whose last folders may not exist yet.
func withoutLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	missing := ""
	for at := path; ; at, missing = filepath.Dir(at), filepath.Join(filepath.Base(at), missing) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		if _, there := os.Lstat(at); there == nil && errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s is a link to a folder that does not exist", at)
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			return "", err
		}
	}
}

// newBeside makes the folder that becomes dest, beside it, so that a copy that is cut short has another name.
func newBeside(dest string) (string, error) {
	if entries, err := os.ReadDir(dest); err == nil && len(entries) > 0 {
		return "", fmt.Errorf("%s is not empty (it has %s); a copy needs a folder of its own: name a new one", dest, entries[0].Name())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot take a copy: %w", dest, err)
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		return "", fmt.Errorf("making the folder of the copy: %w", err)
	}
	prefix := "." + filepath.Base(dest) + ".copy-"
	sweep(filepath.Dir(dest), prefix)
	to := filepath.Join(filepath.Dir(dest), prefix+strconv.Itoa(os.Getpid())+"-"+rand.Text()[:8])
	if err := os.Mkdir(to, 0o777); err != nil {
		return "", fmt.Errorf("making the folder of the copy: %w", err)
	}
	return to, nil
}

// sweep removes copies to the same name that processes of this host were making when they were killed.
func sweep(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // making the new one says so
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		maker, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(maker); ok && err == nil && store.Ended(pid) {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// settle gives the copy its name, and the mode of the empty folder that has it.
func settle(to, dest string) error {
	if was, err := os.Stat(dest); err == nil {
		if err := os.Chmod(to, was.Mode().Perm()); err != nil {
			return fmt.Errorf("naming the copy: %w", err)
		}
	}
	if err := os.Remove(dest); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty folder
		return fmt.Errorf("%s cannot be replaced by the copy: %w; name a new folder in it", dest, err)
	}
	if err := os.Rename(to, dest); err != nil {
		return fmt.Errorf("naming the copy: %w", err)
	}
	return rundir.System{}.SyncDir(filepath.Dir(dest))
}
