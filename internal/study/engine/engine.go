// Package engine coordinates studies: it keeps the queue in line with the lab, applies what workers send, and is the only one that writes
// their results.
//
// Open engine.go for Execute and its options, then coordinate.go: what runs side by side. Results come in by untrusted.go (what may be
// said), apply.go (rows, beginnings, stale messages) and adopt.go (files, ends). reconcile.go follows what people change, orphans.go
// what nobody reports, takeover.go and promote.go the checkpoints that a run goes on from, blobs.go what is left with the queue.
package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	processes "collapse/internal/engine"
	"collapse/internal/queue"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/internal/version"
)

// Options say where the runs of studies are computed. Nothing here changes their results.
type Options struct {
	Slots   int             // runs side by side in this process; 0: none, workers elsewhere do everything
	Threads int             // of all slots together
	Engines *processes.Pool // for runs that a process beside this program computes; nil: this process can do none

	Listen            string // opens the queue to workers on other machines, "host:port"; "": no
	Token             string
	CertFile, KeyFile string // TLS, with Listen

	Remote *queue.Remote // an existing NATS cluster instead of the embedded server
	Queue  queue.Options // Version and Logf are set by Execute
	Blobs  string        // folder that workers share, for what is too large for a message; "": the queue's object store

	// Scripts is the folder of the code of scripts that slots of this process may start; "": none.
	Scripts string

	// Rebuild first applies every result that the queue still holds, for a lab that lost some.
	Rebuild bool

	Watch func(Event)                      // is told how it goes, one call at a time; may be nil
	Logf  func(format string, args ...any) // is told what a person may want to know; may be nil
}

// Event is a change in a set of studies under way.
type Event struct {
	Snapshot
	Ended *Ended // the run that just ended, if that is what changed
}

// Snapshot is how far studies are.
type Snapshot struct {
	Runs, Done, Failed int
	Working            []Working
	Left               time.Duration // 0 while unknown
}

// Working is a run that is being computed.
type Working struct {
	Hash, Note, Worker string
	Progress           study.Progress
}

// Ended is a run that has ended.
type Ended struct {
	Hash, Note string
	Failed     bool
	Text       string // what came out, or why it failed
}

// Summary is how a call of Execute ended.
type Summary struct {
	Runs, Done, Failed int
	Cancelled          bool
}

// Execute computes the runs of the named studies that the lab does not hold, in order, and returns when
// all have ended, failed ones included. When ctx ends it stops cleanly and returns an error that wraps
// the context's; calling it again goes on.
//
// One process at a time does this for a lab. A second one waits, showing how far the studies are, and
// takes over if the first ends before them.
func Execute(ctx context.Context, lab *store.Lab, names []string, o Options) (Summary, error) {
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.Watch == nil {
		o.Watch = func(Event) {}
	}
	o.Queue.Version, o.Queue.Logf = version.Version, o.Logf
	e := &engine{lab: lab, o: o, names: names, open: map[string]*openRun{}, working: map[string]*openRun{}, remote: map[string]*remoteRun{},
		emptied: make(chan struct{}, 1), started: time.Now()}
	if err := e.load(); err != nil {
		return Summary{}, err
	}
	if len(e.open) == 0 && !o.Rebuild && !e.folderLeft() {
		return e.summary(), nil
	}
	if err := e.mayStart(); err != nil {
		return e.summary(), err
	}
	lock, err := e.lockOrFollow(ctx)
	if err != nil || lock == nil {
		return e.summary(), e.stopped(err)
	}
	defer lock.Release()
	err = e.coordinate(ctx)
	return e.summary(), e.stopped(err)
}

// engine coordinates the runs of some studies.
type engine struct {
	lab   *store.Lab
	o     Options
	names []string

	folder string // of this lab's blobs, below o.Blobs; "" without that

	server  *queue.Server // nil: another process's
	broker  *queue.Broker
	c       *queue.Coordinator
	started time.Time

	mu        sync.Mutex
	open      map[string]*openRun // runs that have not ended, by hash
	working   map[string]*openRun // those that a worker computes
	runs      int
	done      int
	failed    int
	doneHere  float64 // runs, or parts of runs, that were done since started
	cancelled bool
	closing   int         // ended runs that are not in open any more and are being told
	revision  int64       // of the studies in the lab, when they were read
	finished  func()      // ends the work once nothing is left
	abort     func(error) // ends the work before

	emptied chan struct{} // holds one: nothing may be left

	watchMu sync.Mutex
	told    time.Time // of progress

	remoteMu sync.Mutex            // held while results are applied
	remote   map[string]*remoteRun // runs of workers elsewhere
	epochs   map[string]int64      // that runs have, as far as it was asked
}

// openRun is a run that has not ended.
type openRun struct {
	store.StudyRun
	worker   string // that computes it, "" if none
	progress study.Progress
	broken   int // times that its result could not be used
}

// load reads the studies from the lab: which runs have ended and which have not. Runs already open keep
// what is known of them.
func (e *engine) load() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.revision, err = e.lab.StudyRevision(); err != nil { // first: what changes from here on is read again
		return err
	}
	open, seen := map[string]*openRun{}, map[string]bool{}
	e.runs, e.done, e.failed, e.cancelled = 0, 0, 0, false
	for _, name := range e.names {
		s, err := e.lab.Study(name)
		if err != nil {
			return err
		}
		runs, err := e.lab.StudyRuns(name)
		if err != nil {
			return err
		}
		e.cancelled = e.cancelled || s.Cancelled
		for _, r := range runs {
			if seen[r.Hash] {
				continue
			}
			seen[r.Hash] = true
			e.count(r, s.Cancelled, open)
		}
	}
	e.open = open
	maps.DeleteFunc(e.working, func(hash string, _ *openRun) bool { return open[hash] == nil })
	return nil
}

func (e *engine) count(r store.StudyRun, cancelled bool, open map[string]*openRun) {
	e.runs++
	switch {
	case r.Status == store.Done:
		e.done++
	case r.Status == store.Failed:
		e.failed++
	case cancelled:
	case r.Cancelled():
		e.cancelled = true
	case e.open[r.Hash] != nil:
		open[r.Hash] = e.open[r.Hash]
	default:
		open[r.Hash] = &openRun{StudyRun: r}
	}
}

func (e *engine) summary() Summary {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Summary{Runs: e.runs, Done: e.done, Failed: e.failed, Cancelled: e.cancelled}
}

// stopped explains an end before the end.
func (e *engine) stopped(err error) error {
	if err == nil {
		return nil
	}
	if store.IsFull(err) {
		return &FullError{Dir: e.lab.Dir(), Studies: e.names, Cause: err}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		s := e.summary()
		return fmt.Errorf("study: stopped with %d of %d runs finished; continue with: collapse study resume %s: %w", s.Done, s.Runs, strings.Join(e.names, " "), err)
	}
	return err
}

// mayStart refuses runs of scripts that the slots of this process would have to start without leave: every attempt would fail.
func (e *engine) mayStart() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, run := range e.open {
		if run.Kind == store.Script && e.o.Slots > 0 && e.o.Scripts == "" {
			return fmt.Errorf("study: runs of %s are a script's, which only `collapse study run FILE` starts, of the file named there, and `collapse study resume NAME --allow-scripts DIR`, of the code in DIR",
				strings.Join(e.names, ", "))
		}
	}
	return nil
}

// followEvery is how often a second process looks how far the first is.
const followEvery = 500 * time.Millisecond

// lockOrFollow takes the lab's lock, or waits for it while another process has it. It returns no lock
// when there is nothing left to do.
func (e *engine) lockOrFollow(ctx context.Context) (*queue.Lock, error) {
	for told := false; ; told = true {
		lock, err := queue.TakeLock(filepath.Join(e.lab.Dir(), "queue.lock"))
		var held *queue.HeldError
		if !errors.As(err, &held) {
			return lock, err
		}
		if !told {
			e.o.Logf("%s coordinates this lab; waiting for it (Ctrl-C stops waiting, not the runs)", held.Holder)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(followEvery):
		}
		if err := e.load(); err != nil {
			return nil, err
		}
		e.tell(nil)
		if e.nothingLeft() {
			return nil, nil
		}
	}
}

func (e *engine) nothingLeft() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open) == 0 && e.closing == 0
}
