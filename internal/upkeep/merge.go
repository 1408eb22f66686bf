package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// Merged says what came from another lab.
type Merged struct {
	From       string    `json:"from"`
	Runs       []string  `json:"runs"`                // taken over
	Here       int       `json:"here"`                // finished here before: they stay as they are
	Unfinished int       `json:"unfinished"`          // there: nothing of them is taken
	Busy       []string  `json:"busy,omitempty"`      // computed here now
	Restarted  []string  `json:"restarted,omitempty"` // started over or removed there meanwhile
	Refused    []Refused `json:"refused,omitempty"`   // something is wrong with them there
	Files      int       `json:"files"`
	Bytes      int64     `json:"bytes"`           // of the files beside the database
	Links      []string  `json:"links,omitempty"` // in folders of runs: nothing of them is taken
}

// Refused is a run that was not taken over, and why.
type Refused struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

// Merge takes the finished runs of another lab over into this one, with their files or, if numbers is set, without them (as CopyRows). The files of a
// run are copied first; then the run becomes done here, and its files come into their place, in one transaction. So a run is whole or as it was,
// also after a kill, and the next merge goes on. tell is called before each run that is looked at.
func Merge(ctx context.Context, lab *store.Lab, from *store.Reader, numbers bool, tell func(done, all int)) (m Merged, err error) {
	m = Merged{From: from.Dir(), Runs: []string{}}
	same, err := sameFolder(lab.Dir(), from.Dir())
	if err == nil && same {
		err = fmt.Errorf("%s is this lab; name another one", from.Dir())
	}
	if err != nil {
		return m, err
	}
	staging, remove, err := lab.Staging()
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	c := &copier{ctx: ctx, lab: from, to: staging, rows: numbers}
	if c.runs, err = os.OpenRoot(filepath.Join(from.Dir(), "runs")); err != nil {
		return m, fmt.Errorf("reading the other lab: %w", err)
	}
	defer c.runs.Close()
	all, err := from.List(store.Filter{})
	if err != nil {
		return m, err
	}
	for i, run := range all {
		tell(i, len(all))
		if err := errors.Join(ctx.Err(), m.take(c, lab, run)); err != nil {
			return m, err
		}
	}
	m.Files, m.Bytes, m.Links = c.Files, c.Bytes, c.Links
	return m, nil
}

func sameFolder(a, b string) (bool, error) {
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two), errors.Join(err1, err2)
}

// take takes over one run, if it is done there and not here. Its errors are of this lab; what is wrong there is noted.
func (m *Merged) take(c *copier, lab *store.Lab, run store.Run) error {
	if run.Status != store.Done {
		m.Unfinished++
		return nil
	}
	had, err := lab.Run(run.Hash)
	if err == nil && had.Status == store.Done {
		m.Here++
		return nil
	}
	if err != nil && !store.IsNotFound(err) {
		return err
	}
	all, kept, err := c.stage(run)
	defer os.RemoveAll(c.home(run.Hash))
	switch {
	case c.ctx.Err() != nil || store.IsFull(err):
		return errors.Join(err, c.ctx.Err())
	case err != nil:
		m.Refused = append(m.Refused, Refused{run.Hash, err.Error()})
		return nil
	case !kept:
		m.Restarted = append(m.Restarted, run.Hash)
		return nil
	}
	lease, before, err := lab.Lease(store.Spec{Kind: run.Kind, Config: json.RawMessage(run.Config), Program: run.Program})
	switch {
	case errors.Is(err, store.ErrDone):
		m.Here++
		return nil
	case errors.As(err, new(*store.HeldError)):
		m.Busy = append(m.Busy, run.Hash)
		return nil
	case err != nil:
		return err
	}
	if err := lease.Adopt(all, c.home(run.Hash)); err != nil {
		return errors.Join(err, lease.Release(before, had.Hash != ""))
	}
	m.Runs = append(m.Runs, run.Hash)
	return nil
}

// stage reads a run and copies its files beside the lab's. kept says that they were those of this run until the end.
func (c *copier) stage(run store.Run) (all store.Finished, kept bool, err error) {
	all, err = c.lab.Finished(run.Hash)
	if errors.As(err, new(*store.NotDoneError)) || store.IsNotFound(err) {
		return all, false, nil
	}
	if err != nil {
		return all, false, err
	}
	if c.rows || rundir.Dir(c.lab.RunDir(run.Hash)).HasRowsOnly() {
		err = c.words(run.Hash)
	} else if err = os.MkdirAll(c.home(run.Hash), 0o777); err == nil {
		err = c.tree(run.Hash, c.home(run.Hash), nil)
	}
	if err == nil {
		err = syncTree(c.home(run.Hash))
	}
	if err != nil {
		return all, false, err
	}
	kept, there, err := c.lab.Kept(run.Hash, run.Generation)
	return all, kept && there, err
}
