package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/serve"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/trials"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// labControl does what the page asks for. A stopped run is taken from its process, which learns it at its next write. A resumed run
// is left to the process that coordinates the lab; if there is none, or if it ends without computing the run, the run is computed
// here, one at a time. A resumed study is coordinated here under the same rule.
type labControl struct {
	a    *app
	lab  *store.Lab
	turn chan struct{} // one place, for the run that computes
	jobs *sync.WaitGroup

	mu      *sync.Mutex
	studies map[string]bool // resumed here; true: asked for again since
}

func newLabControl(a *app, lab *store.Lab) labControl {
	engineFlags{}.engines(a, 0) // before concurrent runs ask for it
	return labControl{a, lab, make(chan struct{}, 1), new(sync.WaitGroup), new(sync.Mutex), map[string]bool{}}
}

func (c labControl) Run(_ context.Context, do serve.Action, hash string) error {
	if do == serve.Cancel {
		return c.lab.Cancel(hash)
	}
	run, err := c.lab.Run(hash)
	ended := run.Status == store.Failed || run.Status == store.Interrupted
	switch {
	case err != nil:
		return err
	case run.Kind != store.Train:
		return fmt.Errorf("only training runs can be computed from the page, not one of kind %s", run.Kind)
	case do == serve.Resume && run.Status != store.Interrupted || !ended && run.Status != store.Done:
		return fmt.Errorf("the run is %s: it cannot be told to %s", run.Status, do)
	}
	if ended {
		if err := c.lab.Release(hash); err != nil {
			return err
		}
	}
	c.jobs.Go(func() {
		if run.Status == store.Done || c.unleased(hash) {
			c.compute(hash, run.Status == store.Done)
		}
	})
	return nil
}

// unleased waits while a coordinating process may lease the run, and reports whether it is left to this process.
func (c labControl) unleased(hash string) bool {
	for {
		lock, err := queue.TakeLock(filepath.Join(c.lab.Dir(), "queue.lock"))
		if err == nil {
			lock.Release()
		}
		run, gone := c.lab.Run(hash) // read after the lock: a coordinator that has ended may have leased it before
		if gone != nil || run.Status != store.Interrupted || run.Cancelled() {
			return false
		}
		var held *queue.HeldError
		if !errors.As(err, &held) {
			return true
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-c.a.ctx.Done():
			return false
		}
	}
}

// compute resumes a run, or computes it again, when its turn comes.
func (c labControl) compute(hash string, again bool) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-c.a.ctx.Done():
		return
	}
	team := parallel.NewTeam(c.a.flags.Threads)
	defer team.Close()
	err := coordinator.Contained(func() error {
		_, err := train.Resume(c.a.ctx, c.lab, hash, train.Options{Team: team, Again: again, Engines: engineFlags{}.engines(c.a, 0)})
		return err
	})
	var held *store.HeldError // a coordinator was quicker
	if err != nil && !errors.As(err, &held) && !errors.Is(err, store.ErrLost) {
		c.a.logf("run %.12s: %v", hash, err)
	}
}

// Describe writes the label and the tags of a run.
func (c labControl) Describe(hash string, as serve.Description) error {
	for _, change := range []struct {
		words *string
		write func(hash, words string) error
	}{{as.Label, c.lab.SetLabel}, {as.Tag, c.lab.Tag}, {as.Untag, c.lab.Untag}} {
		if change.words == nil {
			continue
		}
		if err := change.write(hash, *change.words); err != nil {
			return err
		}
	}
	return nil
}

// Remark writes about a study.
func (c labControl) Remark(study, remark string) error { return c.lab.SetRemark(study, remark) }

func (c labControl) Study(_ context.Context, do serve.Action, name string) error {
	var err error
	switch do {
	case serve.Cancel:
		return c.lab.CancelStudy(name)
	case serve.Resume:
		err = c.lab.OpenStudy(name)
	default:
		_, err = c.lab.RetryStudy(name)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, here := c.studies[name]; here {
		c.studies[name] = true
		return nil
	}
	c.studies[name] = false
	c.jobs.Go(func() { c.execute(name) })
	return nil
}

// execute resumes a study for as long as the page asks for it.
func (c labControl) execute(name string) {
	for again := true; again; {
		if err := coordinator.Contained(func() error { return c.once(name) }); err != nil && c.a.ctx.Err() == nil {
			c.a.logf("study %s: %v", name, err)
		}
		c.mu.Lock()
		if again = c.studies[name] && c.a.ctx.Err() == nil; again {
			c.studies[name] = false
		} else {
			delete(c.studies, name)
		}
		c.mu.Unlock()
	}
}

// once computes what a study or a search lacks.
func (c labControl) once(name string) error {
	o := coordinator.Options{Slots: c.a.threads(), Wider: true, Threads: c.a.threads(), Logf: c.a.logf, Engines: engineFlags{}.engines(c.a, 0)}
	s, err := c.lab.Study(name)
	if err != nil {
		return err
	}
	search, err := study.SearchOf(s)
	switch {
	case err != nil:
	case search != nil:
		_, err = trials.Run(c.a.ctx, c.lab, search, o)
	default:
		_, err = coordinator.Execute(c.a.ctx, c.lab, []string{name}, o)
	}
	return err
}
