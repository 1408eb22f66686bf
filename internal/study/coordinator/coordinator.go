// Package coordinator coordinates studies: it keeps the queue in line with the lab, applies what workers send, and alone writes their
// results.
//
// Read coordinator.go for Execute and its options, then coordinate.go for what runs side by side. Results come in through untrusted.go
// (what is accepted), apply.go (rows, beginnings, stale messages) and adopt.go (files, ends). reconcile.go follows changes by users,
// orphans.go handles runs that nobody reports on, takeover.go and promote.go the checkpoints that runs continue from, blobs.go the
// files kept with the queue.
package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/version"
)

// Options say where the runs of studies are computed. They do not affect the results.
type Options struct {
	Slots   int          // runs side by side in this process; 0: none, workers elsewhere compute all
	Threads int          // of all slots together
	Engines *engine.Pool // for runs that another process computes; nil: this process can do none of those
	Members int          // of those that are computed in one batch; 0: as many as are useful, 1: none
	Wider   bool         // as many slots as it takes for that

	Listen            string // opens the queue to workers on other machines, "host:port"; "": closed
	Token             string
	CertFile, KeyFile string // TLS, with Listen

	Remote *queue.Remote // an existing NATS cluster instead of the embedded server
	Queue  queue.Options // Logf is set by Execute, and so is Version, to that of this program, if it is ""
	Blobs  string        // folder shared with workers, for what is too large for a message; "": the queue's object store

	// Scripts is the folder with the code of scripts that slots of this process may start; "": none.
	Scripts string

	// OtherBuild continues studies that another build of the program has begun.
	OtherBuild bool

	// Rebuild first applies every result that the queue still holds, for a lab that lost some.
	Rebuild bool

	// More is called when all runs have ended: it may add runs to the studies in the lab, and says whether it has. They are computed in the same
	// session, so that workers stay. nil: there are none.
	More func() (bool, error)

	Watch func(Event)                      // receives events, one call at a time; may be nil
	Logf  func(format string, args ...any) // logs what the user may want to know; may be nil
}

// Event is a change in a set of studies under way.
type Event struct {
	Snapshot
	Ended *Ended // the run that just ended, if this is what changed
}

// Snapshot is how far studies have got.
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
	Payload    string // what computed it
	Failed     bool
	Text       string // the outcome, or why it failed
}

// Summary says how a call of Execute ended.
type Summary struct {
	Runs, Done, Failed int
	Cancelled          bool
}

// Execute computes the runs of the named studies that the lab does not hold, in order, and returns when all have ended, including
// those that fail. When ctx ends, it stops cleanly and returns an error that wraps the context's; calling it again continues the
// work.
//
// Only one process at a time does this for a lab. A second one waits, showing the progress of the studies, and takes over if the
// first ends before they do.
func Execute(ctx context.Context, lab *store.Lab, names []string, o Options) (Summary, error) {
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.Watch == nil {
		o.Watch = func(Event) {}
	}
	if o.More == nil {
		o.More = func() (bool, error) { return false, nil }
	}
	o.Queue.Version, o.Queue.Logf = cmp.Or(o.Queue.Version, version.ID()), o.Logf
	e := &coordinator{lab: lab, o: o, names: names, open: map[string]*openRun{}, working: map[string]*openRun{}, remote: map[string]*remoteRun{},
		emptied: make(chan struct{}, 1), started: time.Now()}
	if err := e.load(); err != nil {
		return Summary{}, err
	}
	if len(e.open) == 0 && !o.Rebuild && !e.folderLeft() {
		return e.summary(), nil
	}
	if err := errors.Join(e.mayStart(), e.sameBuild()); err != nil {
		return e.summary(), err
	}
	lock, err := e.lockOrFollow(ctx)
	if err != nil || lock == nil {
		return e.summary(), e.stopped(err)
	}
	defer lock.Release()
	err = Contained(func() error { return e.coordinate(ctx) })
	return e.summary(), e.stopped(err)
}

// coordinator coordinates the runs of some studies.
type coordinator struct {
	lab   *store.Lab
	o     Options
	names []string

	folder string // of this lab's blobs, inside o.Blobs; "" if that is ""

	ensemble train.Ensemble // of runs that another process computes

	server  *queue.Server // nil: another process has it
	broker  *queue.Broker
	c       *queue.Coordinator
	started time.Time

	mu        sync.Mutex
	open      map[string]*openRun // runs that have not ended, by hash
	working   map[string]*openRun // those that a worker computes
	runs      int
	done      int
	failed    int
	doneHere  float64 // runs, or parts of runs, done since started
	cancelled bool
	closing   int         // ended runs that are no longer in open and are being reported
	revision  string      // of the studies in the lab, when they were read
	finished  func()      // ends the work once nothing is left
	abort     func(error) // ends the work early

	emptied chan struct{} // capacity 1; a value means that nothing may be left

	scarce sync.Once // says that too many files are open
	noted  sync.Map  // texts that were told about a run

	watchMu sync.Mutex
	told    time.Time // when progress was last reported

	remoteMu sync.Mutex            // held while results are applied
	remote   map[string]*remoteRun // runs of workers elsewhere
	epochs   map[string]int64      // epochs per run, as far as known
}

// openRun is a run that has not ended.
type openRun struct {
	store.StudyRun
	worker   string    // that computes it; "": none
	heard    time.Time // of that worker
	progress study.Progress
	broken   int // number of times its result could not be used
}

// load reads from the lab which runs of the studies have ended and which have not. Runs that are already open keep what is known
// about them.
func (e *coordinator) load() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.revision, err = e.lab.StudyRevision(); err != nil { // read first: later changes will be read again
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

func (e *coordinator) count(r store.StudyRun, cancelled bool, open map[string]*openRun) {
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

func (e *coordinator) summary() Summary {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Summary{Runs: e.runs, Done: e.done, Failed: e.failed, Cancelled: e.cancelled}
}

// mayStart refuses runs of scripts that the slots of this process may not start: every attempt would fail.
func (e *coordinator) mayStart() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, run := range e.open {
		if run.Kind == store.Script && e.o.Slots > 0 && e.o.Scripts == "" {
			return fmt.Errorf("study: runs of %s are a script's, which only `collapse study run FILE` starts, of the file named there, and `collapse study resume %s --allow-scripts DIR`, of the code in DIR",
				strings.Join(e.names, ", "), strings.Join(e.names, " "))
		}
	}
	return nil
}

func (e *coordinator) nothingLeft() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open) == 0 && e.closing == 0
}
