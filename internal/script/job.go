package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"collapse.example/collapse/internal/process"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// Options say how a run is carried out. They do not affect its result.
type Options struct {
	Folder string         // with the code; the script starts there
	Team   *parallel.Team // for measuring; the script is told how many threads it has
	From   string         // hash of a finished run that is the beginning of this one, or ""
	// RowsElsewhere is the epoch up to which rows are in another lab.
	RowsElsewhere int64

	Started  func(from int)    // the run continues after this epoch; may be nil, like the others
	Reported func(epoch int)   // the rows up to this epoch are stored
	Note     func(text string) // something the user may want to know
	Grace    time.Duration     // how long a script that is being stopped may continue; 0: 10 seconds
}

func (o Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// FailedError says that the run itself cannot be done: another attempt would end the same way.
type FailedError struct{ Why string }

func (e *FailedError) Error() string { return "script: " + e.Why }

func failed(format string, args ...any) error { return &FailedError{fmt.Sprintf(format, args...)} }

// NotAllowedError says that no folder with the code was named.
type NotAllowedError struct{}

func (*NotAllowedError) Error() string {
	return "script: this process may start none without --allow-scripts DIR, the folder with the code; `collapse study run FILE` starts those of a file"
}

// Durations of an attempt.
const (
	pollEvery  = 20 * time.Millisecond // between looks at the events
	stopGrace  = 10 * time.Second      // between SIGTERM and SIGKILL
	endsWithin = time.Minute           // how long a script may continue after saying that it is done
)

// Run computes a run in the lab by running its script, continuing from its newest checkpoint. A run that is done in the lab is not computed again.
//
// Errors: *FailedError (the run is marked failed), *ChangedError and *NotAllowedError (before anything starts), *store.HeldError, or
// an error of ctx; after any other error the run can be continued.
func Run(ctx context.Context, lab *store.Lab, spec Spec, opts Options) error {
	if opts.Folder == "" {
		return &NotAllowedError{}
	}
	hash, canonical, err := spec.Identity()
	if err != nil {
		return err
	}
	switch known, err := lab.Run(hash); {
	case err != nil && !store.IsNotFound(err):
		return err
	case err == nil && known.Status == store.Done:
		return nil
	case err == nil && known.Status == store.Failed:
		return failed("run %.12s failed before: %s", hash, known.Error)
	}
	code, err := spec.codeIn(opts)
	if err != nil {
		return err
	}
	lease, _, err := lab.Lease(store.Spec{Kind: store.Script, Config: canonical, Program: train.ThisProgram()})
	if errors.Is(err, store.ErrDone) {
		return nil
	}
	if err != nil {
		return err
	}
	stop := lease.KeepBeating()
	j := &job{lab: lab, lease: lease, spec: spec, opts: opts, code: code, dir: rundir.Dir(lease.Dir), names: map[string]bool{}}
	err = j.run(ctx)
	stop()
	return j.settle(err)
}

// job is one attempt at a run.
type job struct {
	lab   *store.Lab
	lease *store.Lease
	spec  Spec
	opts  Options
	code  string // the folder in which the script starts: opts.Folder, or that of the copy
	dir   rundir.Dir
	work  *workspace
	lines *lines
	child *process.Child
	log   *log

	from, last   int       // the epoch after which it continues, and the one last reported
	marked       time.Time // when the last report was applied, or the start
	names        map[string]bool
	loaded       map[string]string // digests of files that the script has read and that no list names
	unstored     []store.EpochRows // reported, not yet stored
	rowsUnstored int
	foreign      int       // number of lines of other generations or runs
	done         time.Time // when the script reported that
}

// settle records in the lab how the attempt ended.
func (j *job) settle(err error) error {
	var why *FailedError
	switch {
	case errors.Is(err, store.ErrLost):
		return err
	case err == nil:
		return j.lease.Finish()
	case errors.As(err, &why):
		return errors.Join(err, j.lease.Fail(err))
	}
	return errors.Join(err, j.lease.Interrupt())
}

func (j *job) run(ctx context.Context) (err error) {
	if err := j.begin(); err != nil {
		return err
	}
	if j.opts.Started != nil {
		j.opts.Started(j.from)
	}
	if j.work, err = newWorkspace(j.dir, j.lease.Generation); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.work.remove(j.dir)) }()
	defer j.work.keepBeating(j.lease.Lost())()
	j.lines = &lines{path: j.work.path(eventsFile), file: j.work.events}
	j.log = openLog(j.dir.ScriptLog())
	defer j.log.close()
	if err = j.start(); err == nil {
		err = j.follow(ctx)
	}
	if err == nil {
		err = j.complete()
	}
	return j.unlessCodeChanged(j.unlessElsewhere(err))
}

// probe is how much space must be free on the disk of a run's folder; with less, the disk counts as full.
const probe = 1 << 20

// unlessElsewhere returns err, unless err says that the run has failed and nothing can be written to its folder, or the lab is no longer
// there: a script that cannot save ends in many ways, none of which is the run's fault.
func (j *job) unlessElsewhere(err error) error {
	var why *FailedError
	if !errors.As(err, &why) {
		return err
	}
	if moved := j.lab.Moved(); moved != nil {
		return fmt.Errorf("script: %w; what the script made of that does not count: %s", moved, why.Why)
	}
	path := j.work.path("probe")
	full := os.WriteFile(path, make([]byte, probe), 0o666)
	os.Remove(path)
	if errors.Is(full, syscall.ENOSPC) || errors.Is(full, syscall.EDQUOT) {
		return fmt.Errorf("script: the disk is full: %w; what the script made of that does not count: %s", full, why.Why)
	}
	return err
}

// start starts the script.
func (j *job) start() error {
	folder, err := filepath.Abs(j.code)
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	dir, err := filepath.Abs(string(j.dir))
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	if err := os.MkdirAll(j.dir.CheckpointsDir(), 0o777); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	info := runInfo{Format: contract, Run: j.lease.Hash, Generation: j.lease.Generation, Settings: j.spec.Settings, Seed: j.spec.Seed, Epochs: j.spec.Epochs,
		Horizon: j.spec.Horizon, FromEpoch: j.from, Dir: dir, Events: j.work.path(eventsFile), Heartbeat: j.work.path(heartbeatFile),
		Captures: j.work.path(capturesDir), Threads: max(1, j.opts.Team.Threads()), Device: os.Getenv("CUDA_VISIBLE_DEVICES")}
	if j.from > 0 {
		info.Checkpoint = rundir.Dir(dir).Checkpoint(j.from)
	}
	if err := j.work.tell(info); err != nil {
		return err
	}
	line := j.spec.line()
	if _, own := j.spec.Settings[epochsFlag]; j.spec.Args != "" && !own && slices.Contains(j.spec.Flags(folder), epochsFlag) {
		line = append(line, "--"+epochsFlag, fmt.Sprint(j.spec.Horizon))
	}
	noteStart(j.dir, line, j.spec.Code)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, info.environment(j.work.path(runFile)), j.log, j.log
	j.marked = time.Now()
	if j.child, err = process.Start(cmd); errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return failed("%s cannot be started in %s: %v", line[0], folder, err)
	}
	if err != nil {
		return fmt.Errorf("script: starting %s: %w", line[0], err)
	}
	return nil
}

// follow applies what the script reports until it has ended, and stops the script if it must not continue.
func (j *job) follow(ctx context.Context) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for ended := false; ; {
		select {
		case <-j.child.Ended():
			ended = true
		case <-poll.C:
		case <-j.lease.Lost():
			j.child.Stop(0) // another process may already have started the script again
			return store.ErrLost
		case <-ctx.Done():
			return j.stopped(ctx)
		}
		err := j.read(ctx)
		if err == nil {
			err = j.overdue()
		}
		if err != nil {
			j.child.Stop(j.grace(err))
			return err
		}
		if ended {
			return nil
		}
		if !j.done.IsZero() && time.Since(j.done) > endsWithin {
			j.opts.note("the script has said that it is done and did not end; it was stopped")
			j.child.Stop(j.opts.graceOrDefault())
			return j.read(ctx)
		}
	}
}

func (o Options) graceOrDefault() time.Duration {
	if o.Grace > 0 {
		return o.Grace
	}
	return stopGrace
}

// grace is how long a script may continue after an error: not at all once another process has the run.
func (j *job) grace(err error) time.Duration {
	if errors.Is(err, store.ErrLost) {
		return 0
	}
	return j.opts.graceOrDefault()
}

// stopped ends the script because ctx has ended, and applies what it still reports.
func (j *job) stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	gone := make(chan struct{})
	go func() { defer close(gone); j.child.Stop(j.opts.graceOrDefault()) }()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.opts.graceOrDefault())
	defer cancel()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for ended := false; !ended; {
		select {
		case <-gone:
			ended = true
		case <-poll.C:
		}
		if err := j.read(last); err != nil {
			<-gone
			if errors.Is(err, store.ErrLost) {
				return err
			}
			break // the epoch is computed again
		}
	}
	return cause
}

// overdue ends a script that has reported nothing for too long.
func (j *job) overdue() error {
	if quiet := time.Since(j.marked); j.spec.Silence > 0 && j.done.IsZero() && quiet > j.spec.Silence {
		return failed("the script has reported nothing for %v (silence = %q)%s", quiet.Round(time.Second), j.spec.Silence, lastWords(j.log.lastLines(5)))
	}
	return nil
}

// lastWords ends a sentence about a script with what it printed last.
func lastWords(words string) string {
	if words == "" {
		return "; it printed nothing"
	}
	return "; its last words:\n" + words
}

// complete reports whether the script has done the run, once it has ended and all its reports are applied.
func (j *job) complete() error {
	err := j.child.Err()
	var exit *exec.ExitError
	switch {
	case !j.done.IsZero():
	case errors.As(err, &exit) && signalled(exit):
		return fmt.Errorf("script: it was ended by a signal (%v) after epoch %d", err, j.last)
	case err != nil:
		words, advice := j.log.lastLines(12), ""
		if _, flags, unknown := strings.Cut(words, "unrecognized arguments: "); j.spec.Args != "" && unknown { // argparse's
			flags, _, _ = strings.Cut(flags, "\n")
			advice = fmt.Sprintf(" (args = \"flags\" passes every setting and the seed as a flag: let the script take %s, or leave args out and read all with run.setting)", flags)
		}
		return failed("the script ended with %v after epoch %d of %d%s%s", err, j.last, j.spec.Epochs, advice, lastWords(words))
	case j.lines.cutShort():
		return failed("the last line of %s is cut short; wanted a line that ends", eventsFile)
	default:
		return failed("the script ended after epoch %d of %d without saying that it was done; wanted {\"done\": true} as its last line (run.done() in Python)%s",
			j.last, j.spec.Epochs, lastWords(j.log.lastLines(5)))
	}
	if j.last < j.spec.Epochs {
		return failed("the script is done after epoch %d of %d; wanted a report of epoch %d: one that stops early reports its last numbers as of that epoch", j.last, j.spec.Epochs, j.spec.Epochs)
	}
	if err := j.prune(); err != nil {
		return err
	}
	j.work.close()
	if err := j.writer().Sweep(); err != nil {
		return fmt.Errorf("script: removing what earlier attempts left: %w", err)
	}
	return nil
}

// signalled reports whether a program was ended by a signal.
func signalled(err *exec.ExitError) bool {
	status, ok := err.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}
