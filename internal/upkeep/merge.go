package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// Merged says what came from another lab.
type Merged struct {
	From       string   `json:"from"`
	Runs       []string `json:"runs"`                // taken over
	Here       int      `json:"here"`                // finished here before: they stay as they are
	Unfinished int      `json:"unfinished"`          // there: nothing of them is taken
	Busy       []string `json:"busy,omitempty"`      // computed here now
	Restarted  []string `json:"restarted,omitempty"` // started over or removed there meanwhile
	Files      int      `json:"files"`
	Bytes      int64    `json:"bytes"`           // of the files beside the database
	Links      []string `json:"links,omitempty"` // in folders of runs: nothing of them is taken
}

// Merge takes the finished runs of another lab over into this one, with their files or, if numbers is set, without them (as CopyRows). A run
// becomes done here in one transaction, after its files are here: a killed merge leaves whole runs, and the next one goes on. tell is called
// before each run that is taken over.
func Merge(ctx context.Context, lab *store.Lab, from *store.Reader, numbers bool, tell func(done, all int)) (Merged, error) {
	c := &copier{ctx: ctx, lab: from, to: lab.Dir(), rows: numbers}
	m := Merged{From: from.Dir(), Runs: []string{}}
	same, err := sameFolder(lab.Dir(), from.Dir())
	if err == nil && same {
		err = fmt.Errorf("%s is this lab; name another one", from.Dir())
	}
	if err != nil {
		return m, err
	}
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

// take takes over one run, if it is done there and not here.
func (m *Merged) take(c *copier, lab *store.Lab, run store.Run) error {
	if run.Status != store.Done {
		m.Unfinished++
		return nil
	}
	if has, err := lab.Run(run.Hash); err == nil && has.Status == store.Done {
		m.Here++
		return nil
	}
	all, err := c.lab.Finished(run.Hash)
	var open *store.NotDoneError
	if errors.As(err, &open) || errors.As(err, new(*store.NotFoundError)) {
		m.Restarted = append(m.Restarted, run.Hash)
		return nil
	}
	if err != nil {
		return err
	}
	lease, _, err := lab.Lease(store.Spec{Kind: run.Kind, Config: json.RawMessage(run.Config), Label: run.Label, Tags: run.Tags, Program: run.Program})
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
	stop := lease.KeepBeating()
	kept, err := c.replace(lease, run)
	stop()
	if err == nil && kept {
		if err = lease.Adopt(all); err == nil {
			m.Runs = append(m.Runs, run.Hash)
			return nil
		}
	}
	if !kept {
		m.Restarted = append(m.Restarted, run.Hash)
	}
	return errors.Join(err, emptyFolder(lease.Dir), lease.Interrupt())
}

// replace gives a leased run the files of the other lab's. kept says that they were whole until the end.
func (c *copier) replace(lease *store.Lease, run store.Run) (kept bool, err error) {
	if err := lease.DeleteAfter(-1); err != nil { // what follows is not what they were computed with
		return true, err
	}
	if err := emptyFolder(lease.Dir); err != nil {
		return true, err
	}
	if c.rows || rundir.Dir(c.lab.RunDir(run.Hash)).HasRowsOnly() {
		err = c.words(run.Hash)
	} else {
		err = c.tree(run.Hash, c.home(run.Hash), nil)
	}
	if err == nil {
		err = syncTree(lease.Dir)
	}
	if err != nil {
		return true, err
	}
	kept, there, err := c.lab.Kept(run.Hash, run.Generation)
	return kept && there, err
}

// emptyFolder removes what earlier attempts at a run left.
func emptyFolder(dir string) error {
	if err := jail.Check(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}
