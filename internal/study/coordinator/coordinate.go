package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/parallel"
)

// coordinate does the work while this process holds the lock.
func (e *coordinator) coordinate(ctx context.Context) error {
	if err := e.connect(); err != nil {
		return err
	}
	defer func() {
		e.broker.Close()
		if e.server != nil {
			e.server.Close()
		}
	}()
	if err := errors.Join(e.together(ctx), e.persist(ctx, e.takeUp)); err != nil {
		return err
	}
	e.sweepBlobs(ctx, false)
	err := e.work(ctx)
	if err == nil {
		e.sweepBlobs(ctx, true)
	}
	return errors.Join(err, e.release())
}

// takeUp makes this process the queue's coordinator and brings queue and lab in line.
func (e *coordinator) takeUp(ctx context.Context) error {
	if err := e.makeFolder(); err != nil {
		return err
	}
	owner, err := "this lab", error(nil) // whose lock this process holds
	if e.o.Remote != nil {
		owner, err = ownerOf(e.lab)
	}
	if err != nil {
		return err
	}
	if e.c, err = e.broker.Coordinate(ctx, owner); err != nil {
		return err
	}
	last, err := e.c.LastGeneration(ctx)
	if err == nil {
		err = e.lab.ForgetRemotes(last)
	}
	if err != nil {
		return err
	}
	if e.o.Rebuild {
		if err := e.rebuild(ctx); err != nil {
			return err
		}
	}
	return e.submitAll(ctx)
}

// connect starts the embedded server, or connects to the named cluster.
func (e *coordinator) connect() error {
	var err error
	if e.o.Remote != nil {
		e.broker, err = queue.Connect(*e.o.Remote, e.o.Queue)
		return err
	}
	if e.server, err = queue.StartServer(queue.ServerOptions{Dir: filepath.Join(e.lab.Dir(), "queue"), Listen: e.o.Listen, Token: e.o.Token, Queue: e.o.Queue.Name,
		CertFile: e.o.CertFile, KeyFile: e.o.KeyFile, Logf: e.o.Logf}); err != nil {
		return err
	}
	if e.server.URL() != "" {
		scripts := ""
		if e.o.Scripts != "" {
			scripts = " --allow-scripts DIR"
		}
		if e.o.CertFile != "" {
			scripts += " --ca FILE"
		}
		e.o.Logf(Announcement+": collapse worker --connect %s --token-file FILE%s", e.server.URL(), scripts)
	}
	if e.broker, err = e.server.Connect(e.o.Queue); err != nil {
		e.server.Close()
	}
	return err
}

// Announcement begins the log line with the address.
const Announcement = "workers elsewhere join with"

// ownerOf returns the name of a lab in the queue of a shared cluster.
func ownerOf(lab *store.Lab) (string, error) {
	dir, err := filepath.Abs(lab.Dir())
	if err != nil {
		return "", fmt.Errorf("study: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("study: %w", err)
	}
	return "the lab " + dir + " on " + host, nil
}

// submitAll brings the queue in line with the studies: wanted runs are submitted, others are taken out. Slots of an earlier
// coordinator died with it, since this process holds the lock now.
func (e *coordinator) submitAll(ctx context.Context) error {
	if _, err := e.c.Free(ctx, wire.IsLocal); err != nil {
		return err
	}
	there, err := e.c.Jobs(ctx)
	if err != nil {
		return err
	}
	var unwanted []string
	e.mu.Lock()
	for _, id := range there {
		if e.open[id] == nil {
			unwanted = append(unwanted, id)
		}
	}
	e.mu.Unlock()
	if err := e.c.Cancel(ctx, unwanted...); err != nil {
		return err
	}
	if there, err = e.withdrawStale(ctx, there); err != nil {
		return err
	}
	jobs, err := e.missing(ctx, there)
	if err != nil {
		return err
	}
	return e.submit(ctx, jobs...)
}

// withdrawStale takes runs that nobody computes out of the queue, and returns the jobs that stay: interrupted ones, which wait behind those that
// were not begun, and scripts, whose file may say something else by now that makes no other runs.
func (e *coordinator) withdrawStale(ctx context.Context, there []string) (stay []string, err error) {
	leases, err := e.c.Leases(ctx)
	if err != nil {
		return nil, err
	}
	held := map[string]bool{}
	for _, c := range leases {
		held[c.Job] = c.Held
	}
	for _, id := range there {
		e.mu.Lock()
		r := e.open[id]
		e.mu.Unlock()
		if r == nil || !r.begun() && r.Kind != store.Script || held[id] {
			stay = append(stay, id)
		} else if err := e.c.Withdraw(ctx, id); err != nil {
			return nil, err
		}
	}
	return stay, nil
}

// missing lists the open runs as jobs, in order, without those that are in the queue and those that a worker holds: a held run
// without a job is about to be reported as ended.
func (e *coordinator) missing(ctx context.Context, there []string) ([]queue.Job, error) {
	have := map[string]bool{}
	for _, id := range there {
		have[id] = true
	}
	leases, err := e.c.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range leases {
		have[c.Job] = have[c.Job] || c.Held
	}
	return e.jobsWithout(have), nil
}

func (e *coordinator) jobsWithout(have map[string]bool) []queue.Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []*openRun
	for id, r := range e.open {
		if !have[id] {
			list = append(list, r)
		}
	}
	sortByPosition(list)
	jobs := make([]queue.Job, len(list))
	for i, r := range list {
		jobs[i] = r.job()
	}
	if e.ensemble.Members > 1 {
		inShapes(jobs)
	}
	return jobs
}

// job is what the queue holds of a run. Those that were interrupted go first: somebody waits for them, and their checkpoints take room.
func (r *openRun) job() queue.Job {
	priority := queue.Normal
	if r.begun() {
		priority = queue.High
	}
	return queue.Job{ID: r.Hash, Kind: string(r.Kind), Priority: priority, Payload: []byte(r.Payload)}
}

// begun reports whether a process had begun the run before this one.
func (r *openRun) begun() bool { return r.Status == store.Interrupted || r.Status == store.Running }

// work runs all parts side by side until nothing is open or one part fails.
func (e *coordinator) work(ctx context.Context) error {
	all, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.mu.Lock()
	e.finished, e.abort = func() { cancel(errFinished) }, cancel
	if len(e.open) == 0 {
		e.finished()
	}
	e.mu.Unlock()
	var wg sync.WaitGroup
	part := func(f func(context.Context) error) {
		wg.Go(func() {
			if err := e.persist(all, f); err != nil && all.Err() == nil {
				cancel(err)
			}
		})
	}
	part(func(ctx context.Context) error {
		return e.c.Receive(ctx, func(list []queue.Message) error { return e.apply(ctx, list) })
	})
	part(e.watchLeases)
	part(e.c.Guard)
	part(e.watchHealth)
	part(e.watchLab)
	part(e.sweepOften)
	if e.server != nil {
		part(e.watchDisk)
	}
	if e.o.Slots > 0 {
		part(e.localSlots)
	}
	wg.Wait()
	if err := context.Cause(all); !errors.Is(err, errFinished) {
		return err
	}
	return nil
}

var errFinished = errors.New("study: finished")

var errCancelled = errors.New("study: the run was cancelled")

// localSlots are the workers of this process. They write to the lab directly.
func (e *coordinator) localSlots(ctx context.Context) error {
	teams := make(chan *parallel.Team, e.o.Slots)
	for range e.o.Slots {
		team := parallel.NewTeam(max(1, e.o.Threads/e.o.Slots))
		defer team.Close()
		teams <- team
	}
	return e.broker.Work(ctx, queue.WorkerOptions{Name: fmt.Sprintf("%s%d", wire.LocalPrefix, os.Getpid()), Slots: e.o.Slots},
		func(ctx context.Context, t *queue.Task) ([]byte, error) {
			team := <-teams
			defer func() { teams <- team }()
			return nil, Contained(func() error { return e.compute(ctx, t, team) })
		})
}

// compute computes a run in this process, continuing from where a worker elsewhere left it.
func (e *coordinator) compute(ctx context.Context, t *queue.Task, team *parallel.Team) error {
	kind, err := study.KindNamed(t.Kind)
	if err != nil {
		return err
	}
	if run, err := e.lab.Run(t.ID); err == nil && run.Cancelled() {
		return errors.Join(e.takeBack(t), queue.Postpone(errCancelled)) // watchLab takes the job out of the queue
	}
	// Apply what workers elsewhere have sent of the run before asking how far it has got.
	if err := e.c.Settled(ctx, t.ID); err != nil {
		return err
	}
	if err := e.takeBack(t); err != nil {
		return err
	}
	state, err := e.prepare(ctx, t, kind)
	if err != nil {
		return err
	}
	err = kind.Compute(ctx, e.lab, t.ID, string(t.Payload), study.Env{Team: team, Engines: e.o.Engines, Ensemble: e.ensemble, Scripts: e.o.Scripts, StartOver: e.opened(), Started: func(from int64) { e.voidState(ctx, t, state, from) }, Saved: func(int64) {},
		Note:     func(text string) { e.note(t.ID, text) },
		Progress: func(p study.Progress) { e.progress(t.ID, thisProcess, p) }})
	if errors.Is(err, store.ErrLost) { // lost to a user, or to another process
		return queue.Postpone(err)
	}
	return e.localTrouble(t.ID, err)
}

// note tells the user about a run; what holds for many is said of the first.
func (e *coordinator) note(hash, text string) {
	if _, again := e.noted.LoadOrStore(text, true); !again {
		e.o.Logf("run %.12s: %s", hash, text)
	}
}

func sortByPosition(list []*openRun) {
	slices.SortFunc(list, func(a, b *openRun) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Hash, b.Hash))
	})
}
